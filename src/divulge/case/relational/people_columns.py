"""Columns that describe the rows of each person: how many, what is common, first, last, least and largest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.case.relational.persons import DAY, time_of
from divulge.core.distinct_values import distinct_values
from divulge.core.relations import Relation
from divulge.kernels.counts.contingency import joint
from divulge.kernels.relations import totals_of

__all__ = [
    "Owned",
    "columns_of_people",
    "described_column",
    "describes",
    "is_target",
    "key_values",
    "own_columns",
    "places_in_order",
    "recurring_keys",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_FEATURES = 60
"""Columns of a person from other tables at most."""
_COMMONEST = 6  # values of a category that are counted
_RARE = (0.01, 0.2)  # shares of people who have a value once or more, for it to be a column of its own
_MOST_RARE = 3
_MADE = re.compile(
    r"(?P<of>.+): (?:rows(?: with the \w+ commonest value)?|ever the \w+ commonest value|mean|sum|minimum|maximum"
    r"|(?:commonest|first|last) value|first|last|days from first to last|distinct values|all values)",
    re.DOTALL,
)
_BETWEEN = " | "
_RECURRING = 0.5  # share of synthetic rows that name what a real row names, from which keys count as values
_TOO_MANY = "of {} columns that describe the rows of a person {} are made columns of a person, some of each"


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """Rows of one table that belong to people, in one role."""

    person: Ints
    row: Ints
    n_people: int


def columns_of_people(
    linked: Linked, root: str, owned: Mapping[str, Sequence[Owned]], joined: Mapping[str, Sequence[Relation]]
) -> tuple[list[pl.DataFrame], tuple[str, ...], list[str]]:
    """Return for each role a row for each person, which columns are those of the people's own table, and notes.

    Parameters
    ----------
    root
        The table of the people.
    owned
        Which rows of the other tables belong to whom.
    joined
        Of each table the relations to those that describe its rows.
    """
    columns = [_root_columns(linked, root, joined[root], role) for role in linked.roles]
    features: list[list[pl.Series]] = [[] for _ in linked.roles]
    for name, own in owned.items():
        described = [list(_columns_of_rows(linked, name, joined[name], role)) for role in linked.roles]
        for i, made in enumerate(features):
            made += _features(linked, name, own, described, i)
    notes = [_TOO_MANY.format(len(features[0]), MOST_FEATURES)] if len(features[0]) > MOST_FEATURES else []
    kept = _first_of_each([f.name for f in features[0]])
    frames = [pl.DataFrame([*own, *(more[i] for i in kept)]) for own, more in zip(columns, features, strict=True)]
    return frames, tuple(f.name for f in columns[0]), notes


def _first_of_each(names: Sequence[str]) -> list[int]:
    """Return the places of the columns that are kept: of each described column the first, then the second."""
    described = [name.rpartition(": ")[0] for name in names]
    turn = [described[:i].count(own) for i, own in enumerate(described)]
    return sorted(np.argsort(turn, kind="stable")[:MOST_FEATURES].tolist())


def is_target(column: str) -> bool:
    """Return whether a column that describes the rows of people says what somebody wants to know."""
    return column.endswith((": rows", ": sum")) or ": ever the " in column


def described_column(column: str) -> str:
    """Return the column of a table that a column of people was made of: itself if it is one; "" of a number of rows.

    Examples
    --------
    >>> described_column("visits.ward: ever the 9th commonest value"), described_column("users.age")
    ('visits.ward', 'users.age')
    """
    made = _MADE.fullmatch(column)
    return column if made is None else made["of"] if "." in made["of"] else ""


def _nth(k: int) -> str:
    of_ten = {1: "st", 2: "nd", 3: "rd"}
    return f"{k}{'th' if k % 100 in (11, 12, 13) else of_ten.get(k % 10, 'th')}"


def own_columns(linked: Linked, table: str) -> list[str]:
    """Return the columns of a table that are compared: all but keys and ignored ones."""
    return [c.name for c in linked.case(table).schema.columns if "ignore" not in c.roles and c.kind != "constant"]


def recurring_keys(linked: Linked, people: str) -> list[str]:
    """Return the key columns of people of which a synthetic value is a real one: numbers of persons may recur."""
    case, keys = linked.case(people), {c for r in linked.schema.children(people) for c in r.parent_key}
    recur = lambda: [c for c in sorted(keys) if _share_recurring([case.codes(c, binned=False)]) > 0]  # noqa: E731
    return linked.once(("recurring keys", people), recur)


def _share_recurring(codes: Sequence[Sequence[NDArray[Any]]]) -> float:
    """Return the share of the rows of the second table whose value is one of the others; codes, 0 for missing."""
    if len(codes[0]) < 2:
        return 0.0
    of_roles = joint([[c[i] for c in codes] for i in range(len(codes[0]))], [1 + max(map(np.max, c)) for c in codes])[0]
    known = np.all([np.asarray(c[1]) > 0 for c in codes], axis=0)
    people = np.concatenate([of_roles[0], *of_roles[2:]])
    return float(np.isin(of_roles[1][known], people).mean()) if known.any() else 0.0


def key_values(linked: Linked, relation: Relation) -> list[tuple[NDArray[np.int32], ...]] | None:
    """Return the codes of the columns by which rows name a table that describes them; None where these do not recur.

    Tables that describe rows usually stand on all sides, so that their keys are values: which doctor, which shop.
    """
    return linked.once(("key values", relation), lambda: _key_values(linked, relation))


def _key_values(linked: Linked, relation: Relation) -> list[tuple[NDArray[np.int32], ...]] | None:
    case = linked.case(relation.child)
    codes = [case.codes(c, binned=False) for c in relation.child_key]
    if not all(len(c[0]) for c in codes) or _share_recurring(codes) < _RECURRING:
        return None
    of_strangers = [(c[0], c[2]) for c in codes if len(c) > 2]
    return codes if not of_strangers or _share_recurring(of_strangers) >= _RECURRING else None


def describes(linked: Linked, relation: Relation) -> bool:
    """Return whether a table says something of the rows that name it: by a column, or by its key."""
    return bool(_told_by(linked, relation)) or key_values(linked, relation) is not None


def _told_by(linked: Linked, relation: Relation) -> list[str]:
    """Return the columns of a table that describe the rows that name it."""
    schema = linked.case(relation.parent).schema
    return [c for c in own_columns(linked, relation.parent) if schema[c].kind not in ("identifier", "text")]


def _title(relation: Relation, joined: Sequence[Relation]) -> str:
    """Return the name of a describing table, with the key where several lead to it."""
    several = sum(r.parent == relation.parent for r in joined) > 1
    return f"{relation.parent} by {', '.join(relation.child_key)}" if several else relation.parent


def _root_columns(linked: Linked, root: str, joined: Sequence[Relation], role: str) -> list[pl.Series]:
    frame = linked.frame(root, role)
    out = [frame[c].alias(f"{root}.{c}") for c in (*own_columns(linked, root), *recurring_keys(linked, root))]
    for relation in joined:
        rows, title = linked.rows(relation, role), _title(relation, joined)
        place = pl.Series(np.where(rows >= 0, rows, -1)).replace(-1, None)
        above = linked.frame(relation.parent, role)
        out += [above[c].gather(place).alias(f"{title}.{c}") for c in own_columns(linked, relation.parent)]
    return out or [pl.Series("rows", np.ones(frame.height, dtype=np.int64))]


class _DescribingColumn(NamedTuple):
    """A column of the rows of a table, or of what describes them."""

    name: str
    case: Case
    column: str
    codes: Ints
    """Of each row of the table; 0 for missing."""
    is_key: bool = False
    """Whether its values are keys of what describes the rows, which are categories whatever they look like."""


def _columns_of_rows(linked: Linked, table: str, joined: Sequence[Relation], role: str) -> Iterator[_DescribingColumn]:
    """Yield the columns that say something of the rows of a table in one role."""
    case, which = linked.case(table), ROLES.index(role)
    for c in own_columns(linked, table):
        yield _DescribingColumn(f"{table}.{c}", case, c, case.codes(c, binned=False)[which].astype(np.int64))
    for relation in joined:
        above, title = linked.case(relation.parent), _title(relation, joined)
        for c in _told_by(linked, relation):
            codes = np.maximum(linked.gathered([relation], c, role, binned=False), 0)
            yield _DescribingColumn(f"{table}.{title}.{c}", above, c, codes.astype(np.int64))
        keys = key_values(linked, relation)
        if keys is not None and len(keys) == 1:
            (key,) = relation.child_key
            yield _DescribingColumn(f"{table}.{key}", case, key, keys[0][which].astype(np.int64), is_key=True)


def _features(
    linked: Linked, table: str, every: Sequence[Owned], described: Sequence[Sequence[_DescribingColumn]], which: int
) -> Iterator[pl.Series]:
    """Yield what the rows of each person of a role are on the whole, shape (n_people,) each; columns by role."""
    owned = every[which]
    person, n = owned.person, owned.n_people
    yield pl.Series(f"{table}: rows", np.bincount(person, minlength=n))
    order = _in_order(linked, table, owned, described[which])
    for k, (name, case, column, codes, is_key) in enumerate(described[which]):
        own, pooled = codes[owned.row], case.pooled(column)
        kind = case.schema[column].kind
        if kind in ("text", "identifier") and not is_key:
            yield _texts(name, pooled.levels.cast(pl.String), own, person, n)
        elif case.encoded.is_number(column) and not is_key:
            yield from _numbers(name, case.numbers(column)[own], pooled.family == "datetime", person, n, order)
        else:
            shares = _shares([columns[k].codes for columns in described], every, len(pooled.levels))
            yield from _categories(name, pooled.levels.cast(pl.String), shares, own, person, n, order)


def _shares(codes: Sequence[Ints], every: Sequence[Owned], n_levels: int) -> Floats:
    """Return the share of the people of real and holdout who have each value, shape (n_levels,)."""
    people, sides = np.zeros(n_levels + 1), [0, 2][: max(1, len(every) - 1)]
    for i in sides:
        pairs = distinct_values(every[i].person * (n_levels + 1) + codes[i][every[i].row])
        people += np.bincount(pairs % (n_levels + 1), minlength=n_levels + 1)
    return people[1:] / max(1, sum(every[i].n_people for i in sides))


def places_in_order(
    linked: Linked, table: str, owned: Sequence[Owned], joined: Sequence[Relation]
) -> list[Ints | None]:
    """Return the rows of people of each role in the order of time; None where no column says it."""
    return [
        _in_order(linked, table, own, list(_columns_of_rows(linked, table, joined, role)))
        for role, own in zip(linked.roles, owned, strict=True)
    ]


def _in_order(linked: Linked, table: str, owned: Owned, described: Sequence[_DescribingColumn]) -> Ints | None:
    time = time_of(linked.case(table).schema)
    if time is None:
        return None
    (when,) = (c.codes for c in described if c.name == f"{table}.{time}")
    rest = [c.codes[owned.row] for c in described if c.name != f"{table}.{time}"]
    # ties by what else stands there, so that the order of the file says nothing
    return np.lexsort([*rest, when[owned.row], owned.person])


def _numbers(
    name: str, numbers: Floats, is_time: bool, person: Ints, n: int, order: Ints | None
) -> Iterator[pl.Series]:
    known = np.isfinite(numbers)
    found = dict(totals_of(person[known], numbers[known], n))
    if is_time:
        first, last = found["minimum"], found["maximum"]
        for what, values in (("first", first), ("last", last)):
            yield pl.Series(f"{name}: {what}", values, nan_to_null=True).cast(pl.Int64).cast(pl.Datetime("us"))
        yield pl.Series(f"{name}: days from first to last", (last - first) / DAY, nan_to_null=True)
        return
    for what, values in found.items():
        yield pl.Series(f"{name}: {what}", values, nan_to_null=True)
    if order is not None:
        yield pl.Series(f"{name}: last", _last(numbers, person, n, order), nan_to_null=True)


def _last(values: Floats, person: Ints, n: int, order: Ints) -> Floats:
    """Return the last value of each person; nan where a person has none."""
    out = np.full(n, np.nan)
    ends = order[np.flatnonzero(np.diff(person[order], append=-1) != 0)]
    out[person[ends]] = values[ends]
    return out


def _categories(
    name: str, levels: pl.Series, shares: Floats, codes: Ints, person: Ints, n: int, order: Ints | None
) -> Iterator[pl.Series]:
    size = len(levels) + 1
    pairs, count = np.unique(person * size + codes, return_counts=True)
    of, code = np.divmod(pairs, size)
    known = code > 0
    of, code, count = of[known], code[known], count[known]
    yield pl.Series(f"{name}: distinct values", np.bincount(of, minlength=n))
    # the commonest value of a person; of equally common ones that of most people, then the first
    by = np.lexsort((-code, shares[code - 1], count, of))
    ends = by[np.flatnonzero(np.diff(of[by], append=-1) != 0)]
    commonest = np.zeros(n, dtype=np.int64)
    commonest[of[ends]] = code[ends]
    yield _values(f"{name}: commonest value", levels, commonest)
    if order is not None:
        for what, places in (("first", order[::-1]), ("last", order)):
            found = _last(codes.astype(np.float64), person, n, places)
            yield _values(f"{name}: {what} value", levels, np.nan_to_num(found).astype(np.int64))
    ranked = 1 + np.lexsort((np.arange(len(shares)), -shares))
    for k, level in enumerate(ranked[:_COMMONEST].tolist(), 1):
        has = code == level
        yield pl.Series(
            f"{name}: rows with the {_nth(k)} commonest value",
            np.bincount(of[has], count[has], minlength=n).astype(int),
        )
    least, most = _RARE
    rare = [k for k, level in enumerate(ranked) if k >= _COMMONEST and least <= shares[level - 1] <= most]
    for k in rare[:_MOST_RARE]:
        yield pl.Series(
            f"{name}: ever the {_nth(k + 1)} commonest value", np.bincount(of[code == ranked[k]], minlength=n) > 0
        )


def _values(name: str, levels: pl.Series, codes: Ints) -> pl.Series:
    return pl.concat([pl.Series([None], dtype=pl.String), levels]).gather(codes).alias(name)


def _texts(name: str, levels: pl.Series, codes: Ints, person: Ints, n: int) -> pl.Series:
    """Return all texts of each person as one, in alphabetical order."""
    known = codes > 0
    frame = pl.DataFrame({"person": person[known], "code": codes[known]}).sort("person", "code")
    frame = frame.with_columns(text=levels.gather(frame["code"].cast(pl.Int64) - 1))
    all_texts = frame.group_by("person", maintain_order=True).agg(pl.col("text").str.join(_BETWEEN))
    joined = pl.DataFrame({"person": np.arange(n)}).join(all_texts, on="person", how="left", maintain_order="left")
    return joined["text"].alias(f"{name}: all values")
