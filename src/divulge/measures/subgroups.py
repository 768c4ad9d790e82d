"""Columns and pairs of columns within subgroups of people, against what a fresh sample would show there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.kernels.counts.histograms import pair_histograms
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Coded, Dealt, coded, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, Statistic, tv_distance
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["subgroups", "usual_groups"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]

_FEWEST = 100  # rows of each table in a group; start value
_GROUPS = 12  # values of a group column that are looked at
_SMALL = 6  # most values of a column that is a group column by default
_USUAL = 3
_CELLS = 1_000  # that are relabelled together
_TOLD = 50
_KEPT = 4  # categories of a column that stay apart, and bins of numbers

_WORDS = MeasureWords(
    what="Within each subgroup, the shares of the values of each column and of each pair of columns are compared.",
    formula="d = 1/2 sum over cells of |r - s|, r and s the shares among the rows of the subgroup\n"
    "numbers are in four bins; of categories the four commonest stay apart; missing is a value",
    reading="0 is the same shares. The ruler divides by what a fresh sample shows in so large a group: 1 is a fresh "
    "sample. p-values are corrected over all groups, columns and pairs (max-T).",
    silent=(
        "Groups with fewer than 100 rows in a table.",
        "Whether a group is as large as it should be: that is the column itself.",
    ),
)


@measure(
    family="pairs",
    question="Is each subgroup of people as in the real table?",
    needs="Columns that make groups, with 100 rows of each table in a group.",
    reference="Westfall and Young (1993), Resampling-based multiple testing (max-T); NIST SDNist, for subgroups.",
    better="lower",
    null="the rows of both tables are dealt into blocks and the blocks relabelled 999 times",
    words=_WORDS,
)
def subgroups(
    case: Case, *, groups: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> tuple[FidelityResult, ...]:
    """Return how far columns and pairs of columns are from the real ones within subgroups.

    Parameters
    ----------
    groups
        Columns whose values make groups, each for itself. None takes up to three columns of 2 to 6 categories.
    tolerance
        The largest difference that does not matter.

    Returns
    -------
    tuple of FidelityResult
        The mean over all, which differs where any of them does, then at most 50 columns and pairs of a group that
        differ, or are closer than a fresh sample. Groups are numbered by size, because their values are data; an
        assessment that is asked to reveal values adds them.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 2000)
    >>> a = rng.choice(["x", "y"], 2000)
    >>> real = pl.DataFrame({"sex": sex, "a": a, "b": a})
    >>> other = pl.DataFrame({"sex": sex, "a": a, "b": np.where(sex == "f", rng.permutation(a), a)})
    >>> found = subgroups(real, other, groups=["sex"])
    >>> sorted((f.group, f.columns) for f in found[1:] if f.verdict == "differs")
    [("'sex' group 2", ('a', 'b'))]
    """
    names = compared_columns(case)
    wanted = tuple(sorted(set(groups))) if groups else usual_groups(case, names)
    found = counted_results(
        case, "subgroups", tolerance, lambda c, rows: _found(c, rows, wanted, names),
        f"no group has {_FEWEST} rows in each table, or there is no column that makes groups",
    )  # fmt: skip
    told = [f for f in found[1:] if f.verdict in ("differs", "closer than a fresh sample")]
    told = sorted(told, key=lambda f: (f.p_adjusted or 0.0, -(f.ruler or 0.0), f.variant, f.columns))
    context = found[0].context if len(told) <= _TOLD else {**found[0].context, "unlisted": len(told) - _TOLD}
    head = replace(found[0], context=context)
    return tuple(replace(f, group=f.variant, variant="") for f in (head, *told[:_TOLD]))


def usual_groups(case: Case, names: Sequence[str]) -> tuple[str, ...]:
    """Return up to three columns of 2 to 6 categories, those with the most even shares in the real table."""
    evenness: dict[str, float] = {}
    for name in sorted(names):
        counts = case.pooled(name).counts[0][1:]
        n_values = int((counts > 0).sum())
        if case.encoded.is_number(name) or not 2 <= n_values <= _SMALL:
            continue
        share = counts[counts > 0] / counts.sum()
        evenness[name] = round(float(-(share * np.log(share)).sum() / np.log(n_values)), 9)
    return tuple(sorted(sorted(evenness, key=lambda n: (-evenness[n], n))[:_USUAL]))


def _found(case: Case, rows: Dealt, wanted: Sequence[str], names: Sequence[str]) -> Found | None:
    parts: list[Unit] = []
    family = Family(rows.labels, case.level)
    coarse = {name: _coarse(case, rows, name) for name in names}
    waiting: list[Ints] = []
    for group in wanted:
        others = [n for n in names if n != group]
        number, kept, names_of = _groups_of(case, rows, group)
        for columns in [(n,) for n in others] + list(combinations(others, 2)):
            counts = _counts(rows, number, len(kept), [coarse[c] for c in columns])
            for g in np.flatnonzero(kept).tolist():
                waiting.append(counts[:, g][:, counts[:, g].any(axis=0)])
                parts.append(Unit(columns, names_of[g]))
            if sum(w.shape[1] for w in waiting) > _CELLS:
                _add(family, rows, waiting)
                waiting = []
    if waiting:
        _add(family, rows, waiting)
    return Found(parts, family.floors()) if parts else None


def _groups_of(case: Case, rows: Dealt, group: str) -> tuple[Codes, NDArray[np.bool_], dict[int, str]]:
    """Return the group of each row, the largest first, which groups have enough rows in both tables, their names."""
    level = coded(case, group, _SMALL)
    # the order of the groups is that of all people and synthetic rows together, the same for each comparison
    every = np.bincount(np.concatenate(level.codes), minlength=level.n_codes)
    place = np.empty(level.n_codes, dtype=np.int64)
    place[np.argsort(-every, kind="stable")] = np.arange(level.n_codes)
    enough = np.min([np.bincount(place[c], minlength=level.n_codes) for c in level.codes[:2]], axis=0) >= _FEWEST
    enough[_GROUPS:] = False
    kept = enough[: _GROUPS + 1]
    named = np.flatnonzero(kept).tolist()
    names = {g: f"{group!r} group {g + 1}{_values(case, group, level, place, g)}" for g in named}
    return np.minimum(place[rows.both(level.codes)], _GROUPS), kept, names


def _values(case: Case, group: str, level: Coded, place: Codes, number: int) -> str:
    """Return the text after the number of a group in its name: nothing, or its value or range of values."""
    if not case.reveal_values:
        return ""
    own = [c[place[of] == number] for c, of in zip(case.codes(group, binned=False), level.codes, strict=True)]
    codes = np.unique(np.concatenate(own))
    if case.encoded.is_number(group):
        codes = codes[np.argsort(case.numbers(group)[codes], kind="stable")]
    return f": {case.values_in_words(group, codes)}"


def _coarse(case: Case, rows: Dealt, name: str) -> tuple[Codes, int]:
    """Return few codes of a column: bins of a number, the commonest categories and the others, missing."""
    level = coded(case, name, _KEPT)
    every = np.bincount(np.concatenate(level.codes), minlength=level.n_codes)
    place = np.full(level.n_codes, _KEPT + 1, dtype=np.int64)
    place[np.argsort(-every[1:], kind="stable")[:_KEPT] + 1] = np.arange(_KEPT)[: level.n_codes - 1] + 1
    place[0] = 0
    return place[rows.both(level.codes)], _KEPT + 2


def _counts(rows: Dealt, number: Codes, n_groups: int, columns: Sequence[tuple[Codes, int]]) -> Ints:
    """Return the rows of each block, group and cell, shape (n_blocks, n_groups, n_cells)."""
    cell, n_cells = number, n_groups
    for code, size in columns[:-1]:
        cell, n_cells = cell * size + code, n_cells * size
    n_blocks = len(rows.labels.sizes)
    last, size = columns[-1]
    found = pair_histograms(
        [cell.astype(np.int32), last.astype(np.int32)], [n_cells, size], [(0, 1)], blocks=rows.block, n_blocks=n_blocks
    )
    return np.asarray(found.counts, dtype=np.int64).reshape(n_blocks, n_groups, -1)


def _add(family: Family, rows: Dealt, units: Sequence[Ints]) -> None:
    """Add the cells of some groups to the family, shapes (n_blocks, n_cells)."""
    n_first, sizes = rows.labels.n_first, rows.labels.sizes
    weights, shares = [], []
    for counts in units:
        in_group = counts.sum(axis=1)
        one, other = in_group[:n_first].sum() / sizes[:n_first].sum(), in_group[n_first:].sum() / sizes[n_first:].sum()
        weights.append(in_group.sum() / sizes.sum() / (one * other))
        shares.append(counts.sum(axis=0) / counts.sum())
    start = np.cumsum([0, *(counts.shape[1] for counts in units)])
    family.add(np.hstack(units), start, _within(np.concatenate(shares)), np.array(weights, dtype=np.float64))


def _within(share: Floats) -> Statistic:
    """Return the distance of the shares within a group, from differences of shares of all rows.

    With a and b the shares of a cell within the group, A and B those of the group, q the pooled share within the group
    and p of it: (aA - bB) - q (A - B) = (a - b) AB / p, so that the distance within the group is linear in them. The
    weights are p / AB.
    """

    def statistic(differences: Floats, start: Ints) -> Floats:
        lengths = np.diff(np.append(start, differences.shape[1]))
        differences -= np.repeat(np.add.reduceat(differences, start, axis=1), lengths, axis=1) * share
        return tv_distance(differences, start)

    return statistic
