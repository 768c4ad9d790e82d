"""Preconditions of people with many rows: references hold, nobody is on both sides, equal windows and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.case.relational.linked import Linked
from divulge.case.relational.people_columns import Owned
from divulge.core.records import LENGTHS, PEOPLE_APART, REFERENCES, WINDOW, Precondition
from divulge.core.relations import Relation
from divulge.kernels.counts.contingency import joint

__all__ = ["people_checks"]

Ints = NDArray[np.int64]

_LEVEL = 0.001  # of each check, over all tables
_PLACES = 10


def people_checks(
    linked: Linked,
    people: str,
    owned: Mapping[str, Sequence[Owned]],
    ways: Mapping[str, Sequence[tuple[Relation, ...]]],
    together: Sequence[Ints],
) -> Iterator[Precondition]:
    """Yield what must hold for people of linked tables besides what holds for the table of people.

    Parameters
    ----------
    people
        The table of the people.
    owned, ways
        As in `RowsOfPeople`.
    together
        For each role and person a number that all who are linked share: they were drawn together, and are one.
    """
    named = {r for r in linked.relations if r.parent == r.child == people}
    yield _references(linked, named | {r for table in owned for way in ways[table] for r in way})
    if "holdout" in linked.roles:
        groups = [np.unique(t, return_inverse=True)[1].ravel() for t in together]
        yield _apart(linked, people)
        yield _lengths(owned, groups)
        if found := _window(linked, owned, groups):
            yield found


def _references(linked: Linked, relations: set[Relation]) -> Precondition:
    """Return whether each row of a real table that has a key belongs to somebody."""
    told, lost = [], 0
    for relation in linked.relations:
        for role in linked.roles if relation in relations else ():
            facts = linked.key_facts(relation, role)
            n_missing = 0 if relation.parent == relation.child else facts.missing  # who names nobody is somebody
            for n, what in ((facts.orphans, "have a key that leads nowhere"), (n_missing, "have no key")):
                if n:
                    told.append(f"{role}: {n:,} of {facts.n_children:,} rows of {relation.child!r} {what}")
            lost += facts.orphans if role != "synthetic" else 0
    if not told:
        return Precondition(check=REFERENCES, ok=True, detail="each row belongs to a person")
    left = "rows of nobody were left out, and of the synthetic ones only what stands in them was compared"
    detail = f"{'; '.join(told)}; {left}"
    return Precondition(check=REFERENCES, ok=not lost, detail=detail)


def _apart(linked: Linked, people: str) -> Precondition:
    """Return whether nobody is in real and holdout: no key with the same values beside it."""
    from scipy.stats import binom

    case, keys = linked.case(people), {c for r in linked.schema.children(people) for c in r.parent_key}
    others = [c.name for c in case.schema.columns if c.name not in keys and "ignore" not in c.roles]
    if not others or not keys:
        detail = "not tested: people have no key, or no values besides it"
        return Precondition(check=PEOPLE_APART, ok=True, tested=False, detail=detail)
    (real, holdout), (mine, theirs) = (
        joint(
            [[case.codes(c, binned=False)[i] for c in names] for i in (0, 2)],
            [case.n_codes(c, binned=False) for c in names],
        )[0]
        for names in (sorted(keys), others)
    )
    common, at, there = np.intersect1d(real, holdout, return_indices=True)
    mine, theirs = mine[at], theirs[there]
    both = int((mine == theirs).sum())
    # keys may start anew in each file, and files be sorted: then keys some places apart have as often the same values
    apart = [np.mean(mine[k:] == theirs[:-k]) for k in range(1, 1 + min(_PLACES, len(common) - 1))]
    chance = float(np.max(apart, initial=0.0))
    if not both or binom.sf(both - 1, len(common), min(1.0, chance)) >= _LEVEL:
        return Precondition(check=PEOPLE_APART, ok=True, detail="nobody is in real and holdout, by key and values")
    detail = f"{both:,} of {len(real):,} people of real are in holdout too, with the same key and the same values"
    return Precondition(check=PEOPLE_APART, ok=False, detail=detail)


def _lengths(owned: Mapping[str, Sequence[Owned]], groups: Sequence[Ints]) -> Precondition:
    """Return whether members have as many rows as strangers: a rank test for each table."""
    from scipy.stats import mannwhitneyu

    told = []
    for table, found in owned.items():
        mine, theirs = (np.bincount(found[i].person, minlength=len(groups[i])) for i in (0, 2))
        means = [np.bincount(groups[i], n) / np.bincount(groups[i]) for i, n in ((0, mine), (2, theirs))]
        if len(mine) and len(theirs) and mannwhitneyu(*means).pvalue < _LEVEL / len(owned):
            told.append(f"{table!r}: {mine.mean():.2f} rows of a member, {theirs.mean():.2f} of a stranger")
    if told:
        return Precondition(check=LENGTHS, ok=False, detail="; ".join(told))
    return Precondition(check=LENGTHS, ok=True, detail="members have as many rows as strangers")


def _window(linked: Linked, owned: Mapping[str, Sequence[Owned]], groups: Sequence[Ints]) -> Precondition | None:
    """Return whether the times of members and strangers begin and end alike; None where no column is a time."""
    told, n_tests = [], 0
    for table, found in owned.items():
        case = linked.case(table)
        for column in (c.name for c in case.schema.columns if c.kind == "datetime"):
            n_tests += 1
            times = [case.numbers(column)[case.codes(column, binned=False)[i]][found[i].row] for i in (0, 2)]
            persons = [groups[i][found[i].person] for i in (0, 2)]
            p = min(_alike(persons, [sign * t for t in times]) for sign in (1, -1))
            told.append((p, f"{table}.{column}"))
    if not n_tests:
        return None
    unlike = [f"{name!r}" for p, name in told if 2 * p * n_tests < _LEVEL]
    if unlike:
        detail = f"{', '.join(unlike)}: members and strangers do not cover the same time; cut them alike"
        return Precondition(check=WINDOW, ok=False, detail=detail)
    return Precondition(check=WINDOW, ok=True, detail="the times of members and strangers begin and end alike")


def _alike(persons: Sequence[Ints], times: Sequence[NDArray[np.float64]]) -> float:
    """Return the p-value of a test that the people with the latest times are of both sides.

    How many people of one side are later than all of the other has a known law where sides are drawn at random.
    """
    last = []
    for person, time in zip(persons, times, strict=True):
        known = np.isfinite(time)
        if not known.any():
            return 1.0
        own = np.full(int(person.max()) + 1, -np.inf)
        np.maximum.at(own, person[known], time[known])
        last.append(own[np.isfinite(own)])
    mine, theirs = last
    late = int((mine > theirs.max()).sum()), int((theirs > mine.max()).sum())
    n, m = len(mine), len(theirs)
    k = max(late)
    both = np.arange(k)
    # the first k of all in order are of one side
    return float(min(1.0, sum(np.prod((size - both) / (n + m - both)) for size in (n, m))))
