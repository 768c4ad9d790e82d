"""Inference from rows: synthetic rows that are near on the known columns answer. All targets of a run are searched for
in one walk, as each knows all columns but the target.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats, shown_by
from divulge.attacks.inference._guesses import Guesses
from divulge.attacks.inference._target import TargetValues, target_values
from divulge.case.case import Case
from divulge.case.cells import cells_in_parts
from divulge.case.distances import distance_columns
from divulge.case.encoded import MeasuredColumns
from divulge.core.coded_scores import Scores, coded, decoded
from divulge.core.hashing import once
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Rows
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.knn_vote import Answered, Values, answers, of_a_copy
from divulge.kernels.neighbours.leave_one_out import LeftOut, answers_without, pays
from divulge.kernels.neighbours.left_out_blocks import Blocks, RowsToVote, answers_in_blocks
from divulge.kernels.runtime import has_loops

__all__ = ["HOW", "by_agreement", "by_distance", "expect", "of_a_full_copy"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

_NOBODY = np.zeros(0, dtype=np.int32)

HOW = {
    "nearest record": "the nearest synthetic row on the known columns answers; of rows that tie each with equal chance",
    "CAP": "a synthetic row that agrees with most of the known columns (binned) answers; of rows that tie each with "
    "equal chance",
    "k-vote": "the {k} nearest synthetic rows vote, with all that tie with the last of them; a number collects the "
    "votes within the tolerance",
}


def by_distance(case: Case, keys: Sequence[str] | None, secret: TargetValues, k: int) -> dict[str, Guesses]:
    """Return the answers of the nearest synthetic row, and of the k nearest; `keys` None: all other columns."""
    found = _answered(case, keys, secret, k, binned=False)
    # rounded: distances in another unit of a number differ in their last digits, and sort people apart
    sure = np.round(1 - np.minimum(found.distance, 1.0), 9)
    return {
        "nearest record": Guesses(found.nearest, sure, HOW["nearest record"]),
        "k-vote": Guesses(found.vote, found.share, HOW["k-vote"].format(k=k)),
    }


def by_agreement(case: Case, keys: Sequence[str] | None, secret: TargetValues) -> dict[str, Guesses]:
    """Return the answers of the synthetic rows that agree in most known columns, numbers binned."""
    found = _answered(case, keys, secret, 1, binned=True)
    return {"CAP": Guesses(found.nearest, found.share, HOW["CAP"])}


def of_a_full_copy(
    case: Case, known: Sequence[str], secret: TargetValues, right: Floats, *, binned: bool
) -> float | None:
    """Return the residual of a full copy of the real table; people without a member's record keep their score."""
    records = np.concatenate([_known_hashes(case, known, secret.name, i, binned) for i in case.encoded.people])
    n = case.n_rows("real")
    copied = of_a_copy(records, n, _values(secret, _NOBODY))
    copied = np.where(np.isnan(copied), right, copied)
    return shown_by(copied[:n], copied[n:])


def _known_hashes(case: Case, known: Sequence[str], target: str, which: int, binned: bool) -> NDArray[np.uint64]:
    """Return a hash of what is known of each row of a table: a sum over columns, here all of them less the target."""
    encoded, used = case.encoded, tuple(case.schema.usable())
    if {*known, target} != {*used}:
        return encoded.row_hashes(known, which, binned=binned)
    whole = encoded.once(
        ("row hashes", used, binned, which), lambda: encoded.row_hashes(used, which, binned=binned), [which]
    )
    return whole - encoded.row_hashes([target], which, binned=binned)


def _answered(case: Case, keys: Sequence[str] | None, secret: TargetValues, k: int, *, binned: bool) -> Answered:
    """Return the answers about people of the synthetic rows that count, searched by the known columns."""
    n_people = case.n_rows("real") + case.n_rows("holdout")
    if keys is None and pays(case.n_rows("synthetic"), n_people):
        return _shared(case).answered(case, secret, k, binned)
    known = [c for c in distance_columns(case, keys)[0] if c != secret.name]
    ruled = case.encoded.measured_columns(known, binned=binned)
    if keys is not None and case.synthetic_in_files:
        return _of_cells(case, ruled, secret, k, binned)
    kept = _kept(case, [*ruled.columns, secret.name])
    if len(kept) == case.n_rows("synthetic"):
        index = ruled.index("synthetic", case.progress)
    else:
        index = Index(ruled.ruler, ruled.rows("synthetic").take(kept), progress=case.progress)
    return answers(index, ruled.distinct("people"), _values(secret, secret.synthetic[kept]), k)


def _of_cells(case: Case, ruled: MeasuredColumns, secret: TargetValues, k: int, binned: bool) -> Answered:
    """Return the answers of synthetic rows that lie in files: those that are equal in all that counts are one."""
    names = (*ruled.columns, secret.name)
    codes, times = case.encoded.once(
        ("cells of synthetic rows", names), lambda: cells_in_parts(case.encoded, 1, names, binned=False)
    )
    each = np.ones(len(codes[0]), dtype=np.int64) if times is None else times
    each = each // np.gcd.reduce(each)  # a table in which every row is repeated counts once
    reference = Distinct.of_counts(ruled.rows_of_codes(codes[:-1]), each)
    index = Index(ruled.ruler, reference, progress=case.progress)
    return answers(index, ruled.distinct("people"), _values(secret, codes[-1], each), k)


def _values(secret: TargetValues, reference: Codes, times: Ints | None = None) -> Values:
    """Return the values of the target in order, those of the reference rows given by their codes."""
    order, first, last = secret.window()
    place = _places(order)
    return Values(first[order], last[order], place[reference], place[secret.people], times)


def _places(order: Ints) -> Codes:
    """Return the place of each code in the order of the values."""
    place = np.empty(len(order), dtype=np.int32)  # a value for each person and row, of all targets at once
    place[order] = np.arange(len(order))
    return place


def _kept(case: Case, columns: Sequence[str]) -> Ints:
    """Return the synthetic rows that count; a table in which every row is repeated counts once."""
    names = tuple(sorted(columns))
    return case.encoded.once(("kept once", names), lambda: once(case.encoded.row_hashes(names, 1)))


# ---------------------------------------------------------------- all targets in one walk


def expect(case: Case, settings: Sequence[Mapping[str, Any]]) -> None:
    """Announce the calls of a run: the first search for one of their targets finds the answers about all of them."""
    _shared(case).expected = tuple(s["target"] for s in settings if s.get("keys") is None)


def _shared(case: Case) -> _Shared:
    return case.encoded.once(("inference from rows",), _Shared)


class _Shared:
    """The answers about the targets of a run that were found together, until each is asked for."""

    def __init__(self) -> None:
        self.expected: tuple[str, ...] = ()
        self._lock = threading.Lock()
        self._found: dict[tuple[str, float, int, bool], tuple[Scores, ...] | None] = {}

    def answered(self, case: Case, secret: TargetValues, k: int, binned: bool) -> Answered:
        """Return the answers about a target by all other columns, and forget them: they are large."""

        def key(target: str) -> tuple[str, float, int, bool]:
            return target, secret.share, k, binned

        with self._lock:
            if self._found.get(key(secret.name)) is None:
                used = distance_columns(case)[0]
                others = [t for t in self.expected if t in used and t != secret.name and key(t) not in self._found]
                targets = [secret.name, *(others if secret.name in used else ())]
                secrets = [secret, *(target_values(case, t, secret.share) for t in targets[1:])]
                found = _searched(case, used, secrets, k, binned)
                while targets:
                    self._found[key(targets.pop())] = _in_little_memory(found.pop())
            out = self._found[key(secret.name)]
            self._found[key(secret.name)] = None
        assert out is not None
        return Answered(*map(decoded, out))


def _in_little_memory(found: Answered) -> tuple[Scores, ...]:
    return tuple(coded(a) for a in (found.nearest, found.distance, found.vote, found.share))


def _searched(
    case: Case, used: Sequence[str], secrets: Sequence[TargetValues], k: int, binned: bool
) -> list[Answered]:  # fmt: skip
    """Return the answers about each target by all used columns but the target."""
    ruled = case.encoded.measured_columns(used, binned=binned)
    names = sorted({*used, *(s.name for s in secrets)})
    wanted = ("nearest", "share") if binned else ("nearest", "distance", "vote", "share")  # see `by_agreement`
    people, spill = ruled.distinct("people"), case.encoded.spill
    if spill is not None and spill.blocks(case.n_rows("synthetic")) > 1 and has_loops(0):
        left_out = [LeftOut(*ruled.without(s.name), _values(s, _NOBODY)) for s in secrets]
        blocks = Blocks(spill.folder, spill.rows_of_block(case.n_rows("synthetic")))
        voting = _voting(case, ruled, names, secrets)
        return answers_in_blocks(ruled.ruler, voting, people, left_out, k, blocks, case.progress, wanted)
    kept = _kept(case, names)
    left_out = [LeftOut(*ruled.without(s.name), _values(s, s.synthetic[kept])) for s in secrets]
    reference = _distinct(case, ruled, names, kept)
    return answers_without(ruled.ruler, reference, people, left_out, k, case.progress, wanted)


def _voting(case: Case, ruled: MeasuredColumns, names: Sequence[str], secrets: Sequence[TargetValues]) -> RowsToVote:
    """Return the synthetic rows, made when they are asked for."""
    codes = [case.codes(n, binned=False)[1] for n in names]
    place = [_places(s.window()[0]) for s in secrets]

    def codes_of(rows: Ints) -> Codes:
        return np.column_stack([c[rows].astype(np.int32) for c in codes])

    def places(rows: Ints) -> Codes:
        return np.column_stack([own[s.synthetic[rows]] for own, s in zip(place, secrets, strict=True)])

    return RowsToVote(ruled.source("synthetic"), codes_of, places)


def _distinct(case: Case, ruled: MeasuredColumns, names: Sequence[str], kept: Ints) -> Distinct:
    """Return the synthetic rows that count; those that are equal in the values of all columns are one."""
    codes = np.column_stack([case.codes(n, binned=False)[1][kept] for n in names])
    same = Distinct.of(Rows(np.empty((len(kept), 0)), codes))
    rows = ruled.rows("synthetic")
    rows = rows if len(kept) == len(rows) else rows.take(kept)
    alone = same.of_row is None
    return Distinct(rows, rows if alone else rows.take(same.first()), same.of_row, same.times, same.start, same.members)
