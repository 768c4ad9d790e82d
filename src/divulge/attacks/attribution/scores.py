"""Scores of each cell of keys and target: CAP and its limits, and the modal guess."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import (
    Floats,
)
from divulge.core.errors import SettingError
from divulge.kernels.counts.contingency import ContingencyTable, Ints
from divulge.kernels.counts.hamming import nearest_votes
from divulge.kernels.counts.hamming_plain import Keys, NearestVotes
from divulge.stats import Outcomes

Unseen = Literal["skip", "zero", "nearest"]
_UNSEEN = ("skip", "zero", "nearest")
_CAP_PAPER = "Baillargeon and Charest, A Closer Look at the CAP Risk Measure for Synthetic Datasets."


def cap_scores(table: ContingencyTable, unseen: Unseen) -> Floats:
    """Return the CAP of each cell, shape (n_cells,); nan for a cell that is skipped."""
    scores = table.shares(table.s, table.s_key)
    if unseen == "zero":
        return np.nan_to_num(scores, nan=0.0)
    if unseen == "nearest":
        votes, cells, key = _nearest(table)
        scores[cells] = votes.of_cell / votes.total[key]
    return scores


def _nearest(table: ContingencyTable, *, modal: bool = False) -> tuple[NearestVotes, Ints, Ints]:
    """Return the counts of the nearest synthetic rows of each unseen key, the cells of these keys, and the key of each.

    Keys have the same numbers as in the counts.
    """
    if not table.s.any():
        raise SettingError("unseen='nearest': the synthetic table has no rows. hint: check the file.")
    codes = table.key_codes
    cells = np.flatnonzero(table.s_key[table.key] == 0)
    unseen = _keys_of(table, codes, cells)
    seen = _keys_of(table, codes, np.flatnonzero(table.s))
    votes = nearest_votes(unseen, seen, table.n_targets, modal=modal, at_least=1)
    return votes, cells, np.repeat(np.arange(len(unseen)), np.diff(unseen.start))


def _keys_of(table: ContingencyTable, codes: NDArray[np.int32], cells: Ints) -> Keys:
    """Return the keys of some cells, with these cells and their synthetic records."""
    key = table.key[cells]
    start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else key
    return Keys(codes[key[start]], np.append(start, len(cells)), table.target[cells], table.s[cells])


def _weighted(values: Floats, weight: Ints) -> float:
    used = weight > 0
    return Outcomes(values[used], weight[used]).rate


def maximum_of(table: ContingencyTable, unseen: Unseen) -> float:
    """Return the largest mean CAP that any synthetic table can have: each key has only its commonest target.

    With "skip" that table has only the key whose commonest target has the largest share.
    """
    largest = table.largest(table.o)
    if unseen == "skip":
        used = table.o_key > 0
        return float((largest[used] / table.o_key[used]).max())
    return float(largest.sum() / table.n_o)


def minimum_of(table: ContingencyTable, unseen: Unseen) -> float:
    """Return the smallest mean CAP of any synthetic table with the same keys and targets (theorems 2 and 3).

    With "nearest" nobody can be left out; the minimum is reached where each key has only its rarest target.
    """
    if unseen == "nearest":
        full = table.n_distinct_targets(table.o) == _n_targets(table)
        rarest = np.minimum.reduceat(np.where(table.o > 0, table.o, table.n_o), table.start)
        return float(rarest[full].sum() / table.n_o)
    cell = minimising_cell(table, unseen)
    if unseen == "zero":
        return cell[2] / table.n_o
    return cell[2] / int(table.o_key[cell[0]])


def minimising_cell(table: ContingencyTable, unseen: Literal["skip", "zero"]) -> tuple[int, int, int]:
    """Return key, target and real count of a cell such that a synthetic table in this cell has the smallest mean CAP.

    In ties the commonest real key is taken, so that no number depends on the order of codes, and then the first one.
    """
    # cells are made of keys and targets of the real and synthetic tables, as in the paper, without those of strangers
    targets = np.flatnonzero(table.target_margin(table.o + table.s))
    keys = np.flatnonzero(table.o_key > 0 if unseen == "skip" else table.o_key + table.s_key > 0)
    filled = table.n_distinct_targets(table.o)
    gaps = keys[filled[keys] < len(targets)]
    if len(gaps):
        key = int(gaps[np.argmax(table.o_key[gaps])])
        cells = slice(table.start[key], table.start[key + 1] if key + 1 < table.n_keys else None)
        own = set(table.target[cells][table.o[cells] > 0].tolist())
        return key, next(int(t) for t in targets if t not in own), 0
    occupied = np.flatnonzero(table.o > 0)
    of_key = table.o_key[table.key[occupied]]
    value = table.o[occupied] / (of_key if unseen == "skip" else 1)
    lowest = np.flatnonzero(value == value.min())
    best = occupied[lowest[np.argmax(of_key[lowest])]]
    return int(table.key[best]), int(table.target[best]), int(table.o[best])


def _n_targets(table: ContingencyTable) -> int:
    return int((table.target_margin(table.o + table.s) > 0).sum())


def modal_scores(table: ContingencyTable, unseen: Unseen) -> Floats:
    """Return for each cell the success of guessing the commonest synthetic target of its key."""
    largest = table.largest(table.s)[table.key]
    modal = (table.s == largest) & (largest > 0)
    n_modal = np.bincount(table.key, weights=modal, minlength=table.n_keys)[table.key]
    scores = np.where(modal, 1 / np.maximum(n_modal, 1), 0.0)
    unmatched = table.s_key[table.key] == 0
    if unseen == "skip":
        scores[unmatched] = np.nan
    elif unseen == "nearest":
        votes, cells, key = _nearest(table, modal=True)
        scores[cells] = (votes.of_cell == votes.largest[key]) / votes.n_largest[key]
    return scores
