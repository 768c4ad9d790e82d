"""People of linked tables of whom all rows stand under one synthetic person: how many, and who is named by it.

The counts are facts, whatever a test says. A person is named only where chance can hardly do this: the rows are so rare
together, nobody else has nearly as many of them, and no stranger's history that is as rare stands so. One person alone
is named by this as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.copying.histories import WHOLE_HISTORY
from divulge.case.case import Case
from divulge.case.relational.persons import History
from divulge.core import records
from divulge.core.result import Result
from divulge.kernels.row_sets import RowSets, pairs_of, row_sets

__all__ = ["WholeHistories", "whole_histories"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SPARE = 7.0  # bits beyond those of all pairs of people, and beyond those that anybody else shares
_OF_STRANGERS = 3.0  # strangers speak up first
_AT_ONCE, _MOST = 2e7, 1e9  # pairs with an equal row that are added up at once, and in all
_NO_HOLDOUT = "there are no strangers, who would show how many such histories chance makes"
_SMALLER = "the holdout has fewer people than the real tables, too few to show how many such histories chance makes"
_STRANGERS = "histories as rare, of strangers, stand so too, so that something other than copying makes them"
_COMMON = "each of these histories is common enough for chance, or somebody else has nearly all of it"


@dataclass(frozen=True, slots=True, eq=False)
class WholeHistories:
    """Whose rows of a table all stand under one synthetic person."""

    members: Bools
    """Shape (n_real,)."""
    strangers: Bools | None
    named: Bools
    """Shape (n_real,): members whom it names, or nobody where `why_not_named` says so."""
    why_not_named: str | None
    reasons: tuple[str | None, ...]
    """Of each member which rows stand so."""

    def to_facts(self) -> records.Histories:
        """Return the counts of people, as in assessment.json."""
        return records.Histories(
            members=int(self.members.sum()),
            strangers=None if self.strangers is None else int(self.strangers.sum()),
            named=int(self.named.sum()),
            why_not_named=self.why_not_named,
        )


def whole_histories(case: Case, results: Sequence[Result]) -> WholeHistories | None:
    """Return whose rows all stand under one synthetic person; None but of linked tables whose histories were compared.

    A member is named if all of this holds, in one table or in all together. The rows have log2(n m) + 7 bits, of n
    people of real and holdout and m synthetic ones, where a row that one in k people has counts log2(k) bits. Nobody
    else has rows of theirs of so many bits that fewer than 7 are left. No stranger whose rows have log2(n m) + 3 bits,
    3 of them beyond anybody else's, stands so. There are as many strangers as members.
    """
    if case.persons is None:
        return None
    by_keys = {r.keys: r for r in results if r.variant == WHOLE_HISTORY}
    known = [(h, by_keys[h.keys]) for h in case.persons.histories if not (h.part or h.values) and h.keys in by_keys]
    found = [(h, r.individual) for h, r in known if r.individual is not None]
    if not found:
        return None
    n, m = case.n_rows("real"), case.n_rows("holdout")
    hits = np.zeros(n + m, dtype=bool)
    told: list[str | None] = [None] * n
    rare = np.zeros((2, n + m), dtype=bool)  # by the rule for members, and by that for strangers
    for history, scores in found:
        strangers = np.zeros(0) if scores.holdout is None else scores.holdout
        stands = np.concatenate([scores.real, strangers]) >= 1
        hits |= stands
        rare |= _rare(case, history, stands, len(found))
        told = _with_reasons(told, history, stands[:n])
    telling, speaking = rare[0][:n], rare[1][n:]
    why = None
    if not case.has_holdout:
        why = _NO_HOLDOUT
    elif speaking.any():
        why = _STRANGERS
    elif m < n:
        why = _SMALLER
    elif not telling.any():
        why = _COMMON
    return WholeHistories(
        members=hits[:n],
        strangers=hits[n:] if case.has_holdout else None,
        named=telling if why is None else np.zeros(n, dtype=bool),
        why_not_named=why if hits[:n].any() else None,
        reasons=tuple(told),
    )


def _with_reasons(told: Sequence[str | None], history: History, stands: Bools) -> list[str | None]:
    """Return which rows of each member stand together; those of several tables are told in place of those of one."""
    n_rows = np.bincount(history.person[0], minlength=len(stands)).tolist()
    where = " + ".join(map(repr, history.keys))
    return [
        f"all {n} rows of {where} stand under one synthetic person" if is_there else before
        for before, n, is_there in zip(told, n_rows, stands.tolist(), strict=True)
    ]


def _rare(case: Case, history: History, stands: Bools, n_histories: int) -> Bools:
    """Return whose rows chance can hardly put together, by the rule for members and by that for strangers."""
    n = case.n_rows("real")
    ids = np.concatenate([p + i * n for i, p in enumerate((history.person[0], *history.person[2:]))])
    sets = row_sets(np.concatenate([history.content[0], *history.content[2:]]), ids)
    people = np.unique(ids)
    bits = math.log2(len(stands)) - np.log2(np.maximum(1, np.bincount(sets.has[1])))
    own = np.bincount(sets.has[0], bits[sets.has[1]], len(people))
    pairs = len(stands) * max(1, len(np.unique(history.person[1]))) * n_histories
    out = np.zeros((2, len(stands)), dtype=bool)
    candidates = np.flatnonzero(stands[people] & (own >= math.log2(pairs) + _OF_STRANGERS))
    shared = np.full(len(people), np.inf)
    for part, most in _shared(sets, bits, candidates, _groups(case)[people]):
        shared[part] = most
    for rule, spare in enumerate((_SPARE, _OF_STRANGERS)):
        enough = candidates[(own >= math.log2(pairs) + spare)[candidates] & (own - shared >= spare)[candidates]]
        out[rule, people[enough]] = True
    return out


def _groups(case: Case) -> Ints:
    """Return a number of each person, members first, that those share who are linked together."""
    known = [units for role in ("real", "holdout") if (units := case.units(role)) is not None]
    if not known:
        return np.arange(case.n_rows("real") + case.n_rows("holdout"))
    sides = [k + i * (1 + int(known[0].max(initial=0))) for i, k in enumerate(known)]
    return np.concatenate(sides)


def _shared(sets: RowSets, bits: Floats, candidates: Ints, groups: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Yield the bits of the rows that each candidate shares with whoever shares most; of so many as time allows."""
    work = np.cumsum(pairs_of(sets)[candidates])
    candidates = candidates[work <= _MOST]
    weighted = sets.matrix.copy()
    weighted.data = weighted.data * bits[weighted.indices]
    others = sets.matrix.T.tocsr()
    for block in np.unique(work[: len(candidates)] // _AT_ONCE):
        part = candidates[work[: len(candidates)] // _AT_ONCE == block]
        both = (weighted[part] @ others).tocoo()
        row, other = both.coords
        is_other = groups[other] != groups[part][row]
        most = np.zeros(len(part))
        np.maximum.at(most, row[is_other], both.data[is_other])
        yield part, most
