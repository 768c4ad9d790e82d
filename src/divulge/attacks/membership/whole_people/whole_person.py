"""Membership of a whole person, of whom several linked tables have rows: one score, and those of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.results import NO_HOLDOUT, RATES, WHOLE, Scored, judgements, shown
from divulge.attacks.membership.whole_people.blind import blind_check_of_people, visible_of
from divulge.attacks.membership.whole_people.scores import GROUPS, person_scores_of
from divulge.attacks.membership.whole_people.tables import ORDER, LinkedPeople, people_of
from divulge.attacks.other_people import by_unit
from divulge.case.relational.linked import Linked
from divulge.core.result import Individual, Result
from divulge.stats.score_tests import score_tests

__all__ = ["SHARES", "no_holdout", "whole_person"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARES = (0.1, 0.05, 0.02, 0.01)
"""Shares of all people, those with the highest scores, among whom members are counted."""


def whole_person(
    linked: Linked, unit: str | None = None, together: Mapping[str, Ints] | None = None
) -> tuple[Result, ...]:
    """Return how well members are told from strangers by all that linked tables have of a person.

    The first result is about the whole person, the others about the parts of the score: the row of the person
    ("parent"), the rows below taken one by one, as sets together with the parent, and as sets alone. P-values are
    corrected over all of them.

    Parameters
    ----------
    linked
        Tables with real, synthetic and holdout rows.
    unit
        Name of the table that has one row for each person; None takes the one above all others.
    together
        For "real" and "holdout" who counts together, shape (n_people,): they score as the highest of them does, and
        share a label. None where each person is his own.

    Raises
    ------
    SettingError
        It is not clear which table has the people, or no other table has rows of theirs.
    """
    people = people_of(linked, unit)
    case = linked.case(people.table)
    blind = blind_check_of_people(people, case.rng(f"membership blind {_data_hash(people)}"))
    found = person_scores_of(people, case.rng("membership halves"))
    by_name: dict[str, tuple[Floats, float | None]] = {WHOLE: (found.whole, None)}
    by_name |= {GROUPS[group]: (score, found.weights[group]) for group, score in found.groups.items()}
    settings = {
        "people": people.table,
        "tables": sorted(rows.table for rows in people.below),
        "reference": "real and holdout without the person",
    }
    visible = visible_of(people, RATES[0])
    scored = []
    for name, (score, weight) in by_name.items():
        everybody = np.full(people.n_members + people.n_strangers, np.nan)
        everybody[people.asked] = score
        own = Individual(real=everybody[: people.n_members], holdout=everybody[people.n_members :])
        members, strangers = by_unit(everybody, people.n_members, None if together is None else dict(together))
        scored.append(Scored(name, members, strangers, settings, (), blind, case.level, visible, own, SHARES, weight))
    shares = [SHARES] * len(scored)
    tests = score_tests(
        np.column_stack([s.members for s in scored]),
        np.column_stack([s.strangers for s in scored]),
        shares=shares,
        level=case.level,
        rng=case.rng("membership labels"),
    )
    told = [*_of_tables(linked, people), *people.notes, ORDER]
    return tuple(
        shown(s, test, told if not i else ())
        for i, (s, test) in enumerate(zip(scored, judgements(scored, tests, shares), strict=True))
    )


def no_holdout() -> Result:
    """Return the result where there are no strangers."""
    return Result(attack="membership", variant=WHOLE, verdict="no holdout", notes=(NO_HOLDOUT,))


def _data_hash(people: LinkedPeople) -> int:
    """Return a number that the people make, whatever their order."""
    return int(np.bitwise_xor.reduce(people.whole, initial=np.uint64(0)))


def _of_tables(linked: Linked, people: LinkedPeople) -> Sequence[str]:
    names = (people.table, *(rows.table for rows in people.below))
    return [f"{name}: {note}" for name in names for note in linked.case(name).notes]
