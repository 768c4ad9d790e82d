"""All rows of each person by their contents: table by table, without times, value by value, and all tables together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.column_facts import OWN_NUMBERS, share_alone
from divulge.case.relational.linked import Linked
from divulge.case.relational.people_columns import Owned, key_values, own_columns, places_in_order
from divulge.case.relational.persons import (
    DAYS,
    TIMELESS,
    History,
    Steps,
    by_column,
    days_alone,
    intervals,
    time_of,
    values_alone,
)
from divulge.core.relations import Relation
from divulge.kernels.counts.contingency import joint

__all__ = ["histories_of"]

Ints = NDArray[np.int64]
Ways = Mapping[str, Sequence[Sequence[Relation]]]

_TEXTS = ("identifier", "text")
_MEASURED = ("numeric", "datetime")


def histories_of(
    linked: Linked,
    root: str,
    ways: Ways,
    owned: Mapping[str, Sequence[Owned]],
    joined: Mapping[str, Sequence[Relation]],
) -> Iterator[History]:
    """Yield the rows of people in each table, and in all with the person's own, by their contents.

    Synthetic rows whose key leads nowhere are those of a person of that key: they stand in the table whoever has them.

    Parameters
    ----------
    root
        The table of the people.
    ways, owned, joined
        As in `RowsOfPeople`.
    """
    parts, first = {}, linked.n_rows(root, "synthetic") if "synthetic" in linked.roles else 0
    for name, own in owned.items():
        loose = _loose(linked, name, ways[name], own, first)
        first = max(first, 1 + int(loose.person.max(initial=-1)))
        time, whole = time_of(linked.case(name).schema), _history(linked, name, own, joined[name], loose)
        yield from _values(linked, name, own, loose)
        if whole is None:
            continue
        parts[name] = whole = replace(whole, intervals=_intervals(linked, name, own, time))
        if time is not None and (timeless := _history(linked, name, own, joined[name], loose, without=time)):
            parts[name] = replace(whole, steps=_steps(linked, name, own, joined[name], timeless))
            yield timeless
        if (day := days_alone(linked.case(name), own_columns(linked, name))) is not None:
            days = _taken(day, own, loose)
            yield History((name,), days, days, _persons(own, loose), DAYS)
        alone = values_alone(linked.case(name), own_columns(linked, name))
        taken = (((f"{name}.{c}",), _taken(values, own, loose)) for c, values in alone)
        yield from by_column(taken, _persons(own, loose))
    yield from parts.values()
    if not parts:
        return
    content, alike = (_contents(linked, root, joined[root], binned=binned) for binned in (False, True))
    people = [] if content is None or alike is None else [
        History((root,), content, alike, tuple(np.arange(len(c)) for c in content))
    ]  # fmt: skip
    every = [*people, *parts.values()]
    if len(every) > 1:
        which = range(len(linked.roles))
        content, alike = (
            tuple(_numbered([getattr(h, what) for h in every], i) for i in which) for what in ("content", "alike")
        )
        persons = tuple(np.concatenate([h.person[i] for h in every]) for i in which)
        yield History(tuple(k for h in every for k in h.keys), content, alike, persons)


def _loose(linked: Linked, table: str, ways: Sequence[Sequence[Relation]], owned: Sequence[Owned], first: int) -> Owned:
    """Return the synthetic rows that lead nowhere, under numbers from `first` on; rows of one key are one person's."""
    nobody = np.zeros(0, dtype=np.int64)
    if "synthetic" not in linked.roles:
        return Owned(nobody, nobody, 0)
    case, n = linked.case(table), linked.n_rows(table, "synthetic")
    rows = np.setdiff1d(np.arange(n), owned[1].row)
    codes = [case.codes(c, binned=False)[1] for c in ways[0][0].child_key]
    key = joint([codes], [case.n_codes(c, binned=False) for c in ways[0][0].child_key])[0][0].astype(np.int64)
    alone = np.any([c == 0 for c in codes], axis=0)  # without a key each row is a person's of its own
    key = np.where(alone, int(key.max(initial=0)) + 1 + np.arange(n), key)
    return Owned(first + np.unique(key[rows], return_inverse=True)[1].ravel(), rows, 0)


def _taken(numbers: Sequence[Ints], owned: Sequence[Owned], loose: Owned) -> tuple[Ints, ...]:
    """Return the numbers of the rows of people, of the synthetic table also of those that lead to nobody."""
    return tuple(
        np.concatenate([c[o.row], c[loose.row]]) if i == 1 else c[o.row]
        for i, (c, o) in enumerate(zip(numbers, owned, strict=True))
    )


def _persons(owned: Sequence[Owned], loose: Owned) -> tuple[Ints, ...]:
    return tuple(np.concatenate([o.person, loose.person]) if i == 1 else o.person for i, o in enumerate(owned))


def _history(
    linked: Linked, table: str, owned: Sequence[Owned], joined: Sequence[Relation], loose: Owned, *, without: str = ""
) -> History | None:
    """Return the rows of people in one table; None where no column is compared."""
    content, alike = (_contents(linked, table, joined, binned=binned, without=without) for binned in (False, True))
    if content is None or alike is None:
        return None
    exact, coarse = (_taken(numbers, owned, loose) for numbers in (content, alike))
    same = all((a == b).all() for a, b in zip(exact, coarse, strict=True))
    return History((table,), exact, exact if same else coarse, _persons(owned, loose), TIMELESS * bool(without))


def _values(linked: Linked, table: str, owned: Sequence[Owned], loose: Owned) -> Iterator[History]:
    """Yield each column of names, texts, or numbers and times of one's own, by itself; numbers of rows are left out."""
    case = linked.case(table)
    keys = {c for r in linked.schema.parents(table) for c in r.child_key}
    keys |= {c for r in linked.schema.children(table) for c in r.parent_key}
    for column in case.schema.columns:
        named = "ignore" not in column.roles or "primary" in column.roles
        telling = column.kind in _TEXTS or (
            column.kind in _MEASURED and share_alone(case.pooled(column.name), case.encoded.people)[0] >= OWN_NUMBERS
        )
        if not telling or column.name in keys or not named or _numbers_rows(linked, table, column.name):
            continue
        codes = tuple(c.astype(np.int64) for c in case.codes(column.name, binned=False))
        found = zip(_taken(codes, owned, loose), _persons(owned, loose), strict=True)
        content, persons = zip(*((c[c > 0], p[c > 0]) for c, p in found), strict=True)
        numbers = column.kind == "identifier" or "that differ" in column.why
        yield History((f"{table}.{column.name}",), content, content, persons, values=True, numbers=numbers)


def _numbers_rows(linked: Linked, table: str, column: str) -> bool:
    """Return whether a column of whole numbers counts the rows of the real table, with hardly a gap."""
    pooled = linked.case(table).pooled(column)
    if pooled.family != "number" or not pooled.integer:
        return False
    levels = pooled.levels.filter(pooled.counts[0][1:] > 0)
    return len(levels) > 0 and float(levels.max()) - float(levels.min()) < 2 * len(levels)


def _steps(
    linked: Linked, table: str, owned: Sequence[Owned], joined: Sequence[Relation], timeless: History
) -> tuple[Steps, ...]:
    """Return the rows of people in the order of time."""
    orders = places_in_order(linked, table, owned, joined)
    return tuple(
        Steps(values[order], own.person[order])
        for values, own, order in zip(timeless.alike, owned, orders, strict=True)
    )


def _intervals(linked: Linked, table: str, owned: Sequence[Owned], time: str | None) -> tuple[Steps, ...] | None:
    """Return the intervals between the rows of people; None where no column with numbers or times orders them."""
    case = linked.case(table)
    if time is None or case.schema[time].kind not in _MEASURED or case.is_unread(time):
        return None
    numbers = case.numbers(time)
    when = [numbers[c] for c in case.codes(time, binned=False)]
    return intervals([(w[own.row], own.person) for w, own in zip(when, owned, strict=True)])


def _numbered(contents: Sequence[tuple[Ints, ...]], which: int) -> Ints:
    """Return the contents of one role of several tables, those of each with numbers of their own."""
    sizes = [1 + max((int(c.max(initial=-1)) for c in content), default=-1) for content in contents]
    starts = np.cumsum([0, *sizes])
    return np.concatenate([c[which] + start for c, start in zip(contents, starts, strict=False)])


def _contents(
    linked: Linked, table: str, joined: Sequence[Relation], *, binned: bool, without: str = ""
) -> tuple[Ints, ...] | None:
    """Return a number for what stands in each row of each role; None where no column is compared."""
    case = linked.case(table)
    named = [c for c in own_columns(linked, table) if c != without and case.schema[c].kind not in _TEXTS]
    columns: list[tuple[Sequence[Any], int]] = [
        (case.codes(c, binned=binned), case.n_codes(c, binned=binned)) for c in named
    ]
    for relation in joined:
        above = linked.case(relation.parent)
        for c in own_columns(linked, relation.parent):
            if above.schema[c].kind not in _TEXTS:
                codes = [linked.gathered([relation], c, r, binned=binned) + np.int32(1) for r in linked.roles]
                columns.append((codes, above.n_codes(c, binned=binned) + 1))
        columns += [(key, 1 + max(int(k.max(initial=0)) for k in key)) for key in key_values(linked, relation) or ()]
    if not columns:
        return None
    codes_of = [[codes[i] for codes, _ in columns] for i in range(len(linked.roles))]
    return tuple(found.astype(np.int64) for found in joint(codes_of, [n for _, n in columns])[0])
