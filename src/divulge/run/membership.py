"""`divulge.membership` and `divulge.changes`: the attacks, once it is known that their scores fit into memory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from divulge.attacks.checks import in_doubt
from divulge.attacks.entry import Attack, Results
from divulge.attacks.membership.blind import LEVEL, TOLD
from divulge.attacks.membership.changes import Changes
from divulge.attacks.membership.changes import changes as changes_between
from divulge.attacks.membership.membership import membership as attack
from divulge.attacks.membership.whole_people.tables import check_people
from divulge.attacks.membership.whole_people.whole_person import no_holdout, whole_person
from divulge.attacks.registry import answer, made_alone, worded
from divulge.case.case import build_case
from divulge.case.comparable.check import numbers
from divulge.case.door import public_function
from divulge.case.preconditions import check_all
from divulge.case.relational.people import linked_together, rows_of_people
from divulge.case.relational.people_checks import people_checks
from divulge.core.errors import SettingError
from divulge.core.memory import read_as_told
from divulge.core.records import Precondition
from divulge.core.relations import RelationalSchema
from divulge.core.result import Result
from divulge.core.schema import Schema
from divulge.measures.linked.tables import linked_tables
from divulge.run.forecasting.memory_check import check_membership
from divulge.run.planning.options import Reading, listed
from divulge.tables.counting import COUNTING
from divulge.tables.opening import load

__all__ = ["changes", "check_settings_of_people", "membership", "membership_checked", "people_checked"]


@read_as_told
def _answer(entry: Attack, settings: dict[str, Any], *, beyond_memory: bool = False, **shared: Any) -> Result | Results:
    """Return the results of the attack, once it is known that its scores fit into memory.

    Parameters
    ----------
    beyond_memory
        Whether to begin although the scores are not expected to fit into the memory that this process may use.

    Raises
    ------
    SizeError
        The scores do not fit into the memory that there is.
    """
    if _are_several(shared):
        return membership_of_people(settings, **shared)
    if not beyond_memory and shared.get("engine") not in COUNTING:  # an engine reads nothing, and the attack says so
        opened = {name: load(shared.pop(name, None), name) for name in ("real", "synthetic", "holdout")}
        _check(list(opened.values()), settings | shared)
        shared |= opened
    return answer(entry, settings, **shared)


def _of_tables(
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    schema: Schema | RelationalSchema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> None:
    """State what the attack takes: this signature and these descriptions are read, no more.

    Parameters
    ----------
    real
        The training data of the synthesizer: a frame, or the path of a file; several linked tables as a dictionary of
        them by name.
    synthetic
        The synthetic table, also a list of several tables of one training set, attacked together; or a dictionary.
    holdout
        People of the same population that the synthesizer never saw. None leaves out what needs them.
    schema
        Kinds of columns that are not to be inferred; of several tables also the relations.
    unit
        Column of the person or household, where it has several rows; of several tables the name of the one that has a
        row for each person. None takes the one above all others.
    ignore
        Columns that are left out.
    missing
        Texts that stand for missing.
    seed
        Of everything that is drawn at random.
    level
        Of the intervals.
    """


membership = public_function(attack.entry, _answer, _of_tables, answer)


def _are_several(given: Mapping[str, Any]) -> bool:
    """Return whether the tables of a call are several linked ones."""
    tables = [given.get(name) for name in ("real", "synthetic", "holdout")]
    return any(isinstance(t, Mapping) for t in tables) or isinstance(given.get("schema"), RelationalSchema)


def check_settings_of_people(settings: Mapping[str, Any], *, ignore: Sequence[str] = (), engine: str = "auto") -> None:
    """Raise a SettingError where a setting of one table is given for linked tables."""
    if engine in COUNTING:
        raise SettingError(
            f"engine: {engine} counts rows where they are, and relations need every row. hint: engine='memory' reads "
            "them."
        )
    given = [name for name, value in {**settings, "ignore": ignore}.items() if value not in (None, False, (), [])]
    if given:
        more = "give columns the role 'ignore' in the schema" if given[0] == "ignore" else "leave it out"
        raise SettingError(
            f"{given[0]}: this is a setting of one table; whole people have one score, fixed before. hint: {more}."
        )


def membership_of_people(
    settings: Mapping[str, Any],
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    engine: str = "auto",
    **shared: Any,
) -> tuple[Result, ...]:
    """Return the membership of whole people of several linked tables.

    Parameters
    ----------
    settings
        Those of the attack on one table; none of them may be given.
    real, synthetic, holdout
        Dictionaries of tables by name.
    unit
        Name of the table that has a row for each person.
    ignore, engine
        May not be given: columns are ignored by the schema, and rows are needed in memory.
    shared
        Schema, missing, seed and level.

    Raises
    ------
    SettingError
        A setting of one table is given; some side is one table; the people have no rows.
    """
    check_settings_of_people(settings, ignore=ignore, engine=engine)
    began = time.perf_counter()
    if holdout is None:
        return (worded(no_holdout(), attack.entry),)
    found, _ = people_checked(real, synthetic, holdout, unit=unit, **shared)
    seconds = (time.perf_counter() - began) / len(found)
    return tuple(replace(r, seconds=seconds) for r in found)


def people_checked(
    real: Any, synthetic: Any, holdout: Any, *, unit: str | None, **shared: Any
) -> tuple[tuple[Result, ...], list[Precondition]]:
    """Return the membership of whole people, and the preconditions of comparing members with strangers.

    Parameters
    ----------
    real, synthetic, holdout
        Dictionaries of tables by name.
    unit
        Name of the table that has a row for each person.
    shared
        Schema, missing, seed and level.
    """
    linked = linked_tables(real, synthetic, holdout, **shared)
    check_people(linked, unit)
    rows = rows_of_people(linked, unit)
    together, linking = linked_together(linked, rows)
    found = whole_person(linked, unit, {"real": together[0], "holdout": together[2]} if linking else None)
    checks = list(people_checks(linked, rows.people, rows.owned, rows.ways, together))
    failing = [c for c in checks if not c.ok]
    told = [*([linking] if linking else []), *(f"precondition not met: {c.check}: {c.detail}" for c in failing)]
    noted = [replace(r, notes=(*r.notes, *(() if i else told))) for i, r in enumerate(found)]
    results = tuple(worded(r, attack.entry) for r in in_doubt(noted, [c.check for c in failing]))
    return results, [*checks, _blind(results[0])]


@read_as_told
def changes(
    real_before: Any,
    synthetic_before: Any,
    real_after: Any,
    synthetic_after: Any,
    *,
    unit: str,
    columns: Sequence[str] | None = None,
    scores: Sequence[str] | str | None = None,
    schema: Schema | None = None,
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
    beyond_memory: bool = False,
) -> Changes:
    """Return how well two releases tell who left between them, and who joined.

    Each score says how much nearer the first synthetic table is to a leaver's record than the second one. Leavers are
    compared with those who stayed, by the record in the first real table. For those who joined both releases change
    places. No score looks at who left, so that a permutation of the labels is an exact test, if leaving was unrelated
    to the columns. Where a classifier that never sees a synthetic table tells leavers from stayers, the verdict is
    "cannot tell".

    Parameters
    ----------
    real_before, synthetic_before
        Training table and synthetic table of the first release; the latter also as a list of tables.
    real_after, synthetic_after
        Those of the second release.
    unit
        Column of the person in both real tables. Rows of one id are one person, who scores as the highest record.
    columns
        Compare only these columns; None takes all that a distance can compare.
    scores
        Names of scores: mean rank (the headline), nearest, nearest 5, 2-way, 3-way and 4-way margins. None takes all.
    schema, missing, seed, level
        As in every attack.
    beyond_memory
        Whether to begin although the scores are not expected to fit into the memory that this process may use.

    Returns
    -------
    Changes
        P-values are corrected over all scores and both questions.

    Raises
    ------
    ColumnError, SettingError, TableError
        A table or a setting cannot be used; no id stands in both real tables, a row has none, or nobody left or joined.
    SizeError
        The scores do not fit into the memory that there is.

    Notes
    -----
    "excess found" means that the recipients of both tables learn who left. Whether the second table still holds traces
    of the leavers is another question: `membership(leavers, synthetic_after, holdout=...)`.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> draw = np.random.default_rng(0).normal
    >>> people = pl.DataFrame({c: draw(size=300) for c in "abc"}).with_row_index("id")
    >>> copied = [t.drop("id").sample(fraction=0.8, seed=1) for t in (people, people[40:])]
    >>> found = changes(people, copied[0], people[40:], copied[1], unit="id", scores="nearest")
    >>> found.n_left, found.n_stayed, found.left[0].verdict
    (40, 260, 'excess found')
    """
    before, after = load(real_before, "real before"), load(real_after, "real after")
    released = [load(table, "synthetic") for table in (synthetic_before, synthetic_after)]
    settings: dict[str, Any] = {"columns": columns, "schema": schema, "missing": missing}
    if not beyond_memory:
        _check([before, [one for table in released for one in _each(table)], after], settings)
    return changes_between(
        before, released[0], after, released[1], unit=unit, scores=scores, seed=seed, level=level, **settings
    )


def membership_checked(
    real: Any,
    synthetic: Sequence[Any],
    holdout: Any,
    *,
    schema: Schema | None,
    unit: str | None,
    missing: Sequence[str],
    seed: int,
    level: float,
    **settings: Any,
) -> tuple[tuple[Result, ...], list[Precondition]]:
    """Return the membership scores, and the preconditions of comparing members with strangers, from one case.

    Parameters
    ----------
    real, synthetic, holdout
        Tables.
    schema, unit, missing, seed, level
        As in every attack.
    settings
        Of the attack: columns, scores, known_members.
    """
    case = build_case(
        real, list(synthetic), holdout, schema=schema, unit=unit, missing=missing, seed=seed, level=level
    ).collected("this attack needs every row")
    found = made_alone(attack.entry, case, settings)
    results = (found,) if isinstance(found, Result) else tuple(found)
    return results, [*check_all(case), _blind(results[0])]


def _blind(first: Result) -> Precondition:
    """Return the blind check of the attack as a precondition."""
    name = "blind check"
    area, p = (first.context.get(f"{what} without the synthetic table") for what in ("AUC", "p-value"))
    if area is None or p is None:
        why = "people are in both tables, or too few are in one"
        return Precondition(check=name, ok=True, tested=False, detail=f"not tested: {why}")
    made = numbers({"AUC": area, "p": p})
    if p <= LEVEL:
        return Precondition(check=name, ok=False, detail=TOLD.format(area, p), numbers=made)
    told = (
        f"a classifier that never sees the synthetic table does not tell members from strangers (AUC {area:.3f}, "
        f"p = {p:.2g})"
    )
    return Precondition(check=name, ok=True, detail=told, numbers=made)


def _each(table: Any) -> list[Any]:
    return list(table) if isinstance(table, list | tuple) else [table]


def _check(tables: Sequence[Any], settings: dict[str, Any]) -> None:
    """Refuse scores that are not expected to fit into memory, before a table is read."""
    named = settings.get("columns")
    columns = [named] if isinstance(named, str) else named if isinstance(named, list | tuple) else None
    reading = Reading(
        settings.get("schema"), settings.get("unit"), missing=listed("missing", settings.get("missing", ()))
    )
    check_membership(tables, reading, columns)
