"""The CAP paper on small crosstabs, in plain numpy.

All functions take tables of counts: rows are targets ``i``, columns are keys ``j``. ``o`` is the
original and ``s`` the synthetic table; both have the same targets and keys in the same order.
``s_.j`` is the total of column ``j``, and ``n`` the number of original records.

The letters and the numbered results are those of M. Baillargeon and A.-S. Charest, "A Closer Look at
the CAP Risk Measure for Synthetic Datasets". A mean CAP measures how much ``s`` says about targets given
keys; it does not say whether that came from the people in ``o``.
"""

from numbers import Real
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from divulge.core.errors import SettingError, TableError

__all__ = [
    "Unseen",
    "baseline",
    "cap_maximum",
    "cap_minimum_value",
    "cap_of_original",
    "count_above",
    "individual_cap",
    "is_minimal",
    "mean_cap",
    "minimising_table",
    "modal_hits",
    "share_below_original",
    "uniform_tables",
]

Unseen: TypeAlias = Literal["skip", "zero"]
"""What to do with original records whose key no synthetic record has."""

Counts: TypeAlias = NDArray[np.int64]

# Means that differ by less than this are equal. Equal means are common (with even cells all are equal), and
# rounding may put one above the other; over some thousand cells rounding stays far below this.
_EQUAL = 1e-12


def individual_cap(o: ArrayLike, s: ArrayLike) -> NDArray[np.float64]:
    """Return the individual CAP of each cell, ``s_ij / s_.j``.

    This is the share with target ``i`` among the synthetic records with key ``j``: the probability that an
    attacker who picks one of these at random gets the target of an original record of cell ``(i, j)``. Each
    column adds up to 1 (theorem 1), so a lower value in one cell means a higher one in another with the same key.

    Parameters
    ----------
    o, s
        Original and synthetic counts, shape (n_targets, n_keys). Only the shape of `o` is used.

    Returns
    -------
    numpy.ndarray
        Shape of `o`, in [0, 1], higher is worse; nan in the columns whose key is empty in `s`. The paper
        scores those 0 (definition 1); see `mean_cap` for both ways to average over them.

    Raises
    ------
    TableError
        When a table is not 2-D, holds a negative or broken count, has another shape, or `o` is empty.

    References
    ----------
    Baillargeon and Charest, definition 1 and theorem 1.

    Examples
    --------
    >>> individual_cap([[20, 5], [30, 45]], [[8, 7], [25, 60]]).round(4)
    array([[0.2424, 0.1045],
           [0.7576, 0.8955]])
    """
    _, synthetic = _pair(o, s)
    return _shares(synthetic)


def mean_cap(o: ArrayLike, s: ArrayLike, *, unseen: Unseen = "skip") -> float:
    """Return the mean individual CAP over the original records.

    ``sum_ij o_ij s_ij / s_.j``, divided by the number of records whose key occurs in `s` ("skip", the
    paper's version 2) or by ``n`` ("zero", version 1). An attacker who names the target of a random synthetic
    record with the same key is right this often. It is not a leak: a table that describes the population well
    has a high mean CAP too.

    Parameters
    ----------
    o, s
        Original and synthetic counts, shape (n_targets, n_keys).
    unseen
        Records whose key no synthetic record has: "skip" leaves them out, "zero" scores them 0.

    Returns
    -------
    float
        In [0, 1], higher is worse; nan when every record was skipped.

    Raises
    ------
    TableError
        As in `individual_cap`.
    SettingError
        When `unseen` is another word.

    References
    ----------
    Baillargeon and Charest, definitions 2 and 3.

    Examples
    --------
    >>> o3 = [[0, 176, 204], [0, 78, 93], [127, 163, 59]]
    >>> s_b = [[24, 36, 15], [226, 113, 213], [216, 54, 3]]
    >>> round(mean_cap(o3, s_b), 6)
    0.307359
    >>> o, s = [[6, 2], [2, 0]], [[1, 0], [1, 0]]  # nobody in s has the second key
    >>> mean_cap(o, s), mean_cap(o, s, unseen="zero")
    (0.5, 0.4)
    """
    original, synthetic = _pair(o, s)
    return float(_mean_caps(original, synthetic[None], _word(unseen))[0])


def cap_of_original(o: ArrayLike) -> float:
    """Return the mean CAP of the original published as it is, ``sum_ij o_ij^2 / o_.j / n``.

    No key is unseen, so both versions agree. This is not the largest value a synthetic table can reach:
    see `cap_maximum`.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).

    Returns
    -------
    float
        In (0, 1]; 1 when every key determines its target.

    Raises
    ------
    TableError
        When `o` is not 2-D, holds a negative or broken count, or is empty.

    References
    ----------
    Baillargeon and Charest, section 4; the same quantity as in Goodman and Kruskal's tau.

    Examples
    --------
    >>> round(cap_of_original([[0, 0, 62], [197, 136, 134], [74, 99, 198]]), 6)
    0.487398
    """
    return mean_cap(o, o)


def cap_maximum(o: ArrayLike) -> float:
    """Return the largest mean CAP any synthetic table can reach, ``sum_j max_i o_ij / n``.

    Reached by the table that puts each key on its most frequent original target, and so the hit rate of
    an attacker who knows those targets. It is the maximum of version 1; version 2 can go above it by
    leaving out keys.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).

    Returns
    -------
    float
        In (0, 1]; at least `cap_of_original`, equal when no key has two unequal non-zero cells.

    Raises
    ------
    TableError
        As in `cap_of_original`.

    References
    ----------
    Not in the paper; lemma 1 turned round. The quantity behind Goodman and Kruskal's lambda.

    Examples
    --------
    >>> cap_maximum([[0, 0, 62], [197, 136, 134], [74, 99, 198]])
    0.59
    """
    original = _original(o)
    return float(original.max(axis=0).sum() / original.sum())


def baseline(o: ArrayLike) -> float:
    """Return the hit rate of a guess that ignores the key, ``sum_i p_i^2`` with ``p_i = o_i. / n``.

    The attacker draws a target from the original's own target column. "Baseline CAP" has several meanings
    in the literature; this is the one that uses the univariate distribution of the original.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).

    Returns
    -------
    float
        In (0, 1]; at least one over the number of targets.

    Raises
    ------
    TableError
        As in `cap_of_original`.

    References
    ----------
    Named in section 5 of Baillargeon and Charest, after Taub, Elliot, Pampaka and Smith (2018).

    Examples
    --------
    >>> round(baseline([[0, 0, 62], [197, 136, 134], [74, 99, 198]]), 6)
    0.443919
    """
    original = _original(o)
    shares = original.sum(axis=1) / original.sum()
    return float((shares**2).sum())


def modal_hits(o: ArrayLike, s: ArrayLike) -> float:
    """Return how many original records a guess of the most common target of the key in `s` gets right.

    Per key ``j`` the mean of ``o_ij`` over the targets ``i`` where ``s_ij`` is largest: targets that tie
    are named equally often, so the number is an expectation and need not be whole. A key that is empty in
    `s` brings no guess and no hit. Divide by ``n`` for a rate.

    Parameters
    ----------
    o, s
        Original and synthetic counts, shape (n_targets, n_keys).

    Returns
    -------
    float
        Number of records, from 0 to ``n * cap_maximum(o)``; 0 when `s` is empty.

    Raises
    ------
    TableError
        As in `individual_cap`.

    References
    ----------
    Baillargeon and Charest, section 4 ("predictive success").

    Examples
    --------
    >>> o4 = [[0, 0, 62], [197, 136, 134], [74, 99, 198]]
    >>> modal_hits(o4, [[67, 97, 153], [37, 114, 101], [169, 14, 148]])
    272.0
    >>> modal_hits([[3], [2]], [[1], [1]])
    2.5
    """
    original, synthetic = _pair(o, s)
    largest = synthetic.max(axis=0)
    named = (synthetic == largest) & (largest > 0)
    # An empty key names nothing: 0 / 1.
    return float(((original * named).sum(axis=0) / np.maximum(named.sum(axis=0), 1)).sum())


def cap_minimum_value(o: ArrayLike, *, unseen: Unseen = "skip") -> float:
    """Return the smallest mean CAP any non-empty synthetic table can reach.

    "zero": ``min_ij o_ij / n`` (theorem 2). "skip": the smallest ``o_ij / o_.j`` over the keys that occur
    in `o` (theorem 3). Neither depends on the number of synthetic records.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).
    unseen
        As in `mean_cap`.

    Returns
    -------
    float
        In [0, 1], and 0 as soon as a cell of a key in use is empty.

    Raises
    ------
    TableError
        As in `cap_of_original`.
    SettingError
        When `unseen` is another word.

    References
    ----------
    Baillargeon and Charest, theorems 2 and 3.

    Examples
    --------
    >>> o = [[1, 3], [9, 2]]
    >>> cap_minimum_value(o), round(cap_minimum_value(o, unseen="zero"), 6)
    (0.1, 0.066667)
    """
    original = _original(o)
    cell = _minimising_cell(original, _word(unseen))
    n = original.sum() if unseen == "zero" else original[:, cell[1]].sum()
    return float(original[cell] / n)


def minimising_table(o: ArrayLike, m: int, *, unseen: Unseen = "skip") -> Counts:
    """Return a synthetic table of `m` records with the smallest mean CAP: one full cell, the rest empty.

    A warning in the shape of a table. It is as useless as a release can be, and it takes the original's
    smallest cell to build it, yet no table has a better mean. Other tables may do as well.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).
    m
        Number of synthetic records, at least 1.
    unseen
        As in `mean_cap`. With "zero" the cell may belong to a key that nobody in `o` has.

    Returns
    -------
    numpy.ndarray
        int64, shape of `o`; among cells that tie, the first row and then the first column.

    Raises
    ------
    TableError
        As in `cap_of_original`.
    SettingError
        When `m` is not a whole number of at least 1, or `unseen` is another word.

    References
    ----------
    Baillargeon and Charest, theorems 2 and 3.

    Examples
    --------
    >>> minimising_table([[1, 3], [9, 2]], 15)
    array([[15,  0],
           [ 0,  0]])
    """
    original = _original(o)
    table = np.zeros_like(original)
    table[_minimising_cell(original, _word(unseen))] = _whole(m, "m", least=1)
    return table


def is_minimal(o: ArrayLike, s: ArrayLike) -> bool:
    """Return whether no table with the key totals of `s` has a smaller mean CAP.

    True when every synthetic record sits on a cell with ``o_ij = min_i o_ij``, the smallest of its key.
    The criterion is the same for both versions of the mean.

    Parameters
    ----------
    o, s
        Original and synthetic counts, shape (n_targets, n_keys).

    Returns
    -------
    bool
        Minimal among the tables with these key totals, which is less than minimal among all tables.

    Raises
    ------
    TableError
        As in `individual_cap`, and when `s` is empty.

    References
    ----------
    Baillargeon and Charest, lemma 1.

    Examples
    --------
    >>> o = [[1, 3], [9, 2]]
    >>> is_minimal(o, [[4, 0], [0, 6]]), is_minimal(o, [[4, 1], [0, 5]])
    (True, False)
    """
    original, synthetic = _pair(o, s)
    if not synthetic.any():
        raise TableError("s: the table has no records; lemma 1 is about non-empty tables.")
    return bool(np.all((synthetic == 0) | (original == original.min(axis=0))))


def uniform_tables(total: int, shape: tuple[int, int], size: int, rng: np.random.Generator | int | None) -> Counts:
    """Return tables drawn uniformly from all tables of one shape with one total.

    Stars and bars: a table with ``c`` cells and `total` records is a choice of ``c - 1`` distinct bar
    positions among ``total + c - 1`` slots, and its cells are the gaps between the bars. There are
    ``comb(total + c - 1, c - 1)`` of them, all equally likely here. Multinomial draws are another thing:
    their cells vary far less.

    Parameters
    ----------
    total
        Number of records in each table.
    shape
        (n_targets, n_keys).
    size
        Number of tables.
    rng
        A numpy generator or a seed for one. The same seed gives the same tables.

    Returns
    -------
    numpy.ndarray
        int64, shape (size, n_targets, n_keys).

    Raises
    ------
    SettingError
        When a size is negative or not whole, a side of `shape` is below 1, or `rng` is no generator.

    References
    ----------
    Baillargeon and Charest, section 4, "randomly select among all the possible 3x3 datasets".

    Examples
    --------
    >>> tables = uniform_tables(900, (3, 3), 5, rng=0)
    >>> tables.shape, tables.sum(axis=(1, 2))
    ((5, 3, 3), array([900, 900, 900, 900, 900]))
    """
    n_targets, n_keys = _sides(shape)
    total, size = _whole(total, "total", least=0), _whole(size, "size", least=0)
    n_bars = n_targets * n_keys - 1
    n_slots = total + n_bars
    if n_slots >= 2**63:
        raise SettingError("total: too many records for 64-bit counts.")
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise SettingError("rng: pass a numpy random Generator or a seed of at least 0.") from error

    # Floyd's subset draw, all tables at once: bar b comes from the first n_slots - n_bars + b + 1 slots,
    # and a repeat takes the newest slot instead. Exact, and it always ends; throwing away draws with
    # repeats would hardly ever accept one when there are more cells than records.
    edges = np.empty((size, n_bars + 2), dtype=np.int64)
    edges[:, 0], edges[:, -1] = -1, n_slots
    bars = edges[:, 1:-1]
    for b in range(n_bars):
        newest = n_slots - n_bars + b
        slot = generator.integers(0, newest, size=size, endpoint=True)
        repeated = (bars[:, :b] == slot[:, None]).any(axis=1)
        bars[:, b] = np.where(repeated, newest, slot)
    bars.sort(axis=1)
    return (np.diff(edges, axis=1) - 1).reshape(size, n_targets, n_keys)


def share_below_original(o: ArrayLike, tables: ArrayLike, *, unseen: Unseen = "skip") -> float:
    """Return the share of tables whose mean CAP is at most that of the original.

    Means within 1e-12 of each other count as equal. With tables of noise this comes out near 1, and with
    tables drawn from the original's own distribution near one half: a low share is no sign of a leak, and
    a high share no sign of its absence.

    Parameters
    ----------
    o
        Original counts, shape (n_targets, n_keys).
    tables
        Synthetic counts, shape (size, n_targets, n_keys).
    unseen
        As in `mean_cap`. Tables where every record is skipped have no mean and are left out.

    Returns
    -------
    float
        In [0, 1]; nan when no table has a mean.

    Raises
    ------
    TableError
        When `o` is not 2-D or `tables` not 3-D, when their shapes differ, for a negative or broken count,
        or when `o` is empty.
    SettingError
        When `unseen` is another word.

    References
    ----------
    Baillargeon and Charest, section 4, figure 2.

    Examples
    --------
    >>> o = [[8, 2], [2, 8]]
    >>> share_below_original(o, [o, [[9, 1], [1, 9]], [[5, 5], [5, 5]], [[0, 9], [9, 0]]])
    0.75
    """
    original, synthetic = _original(o), _counts(tables, "tables", 3)
    _same_shape(original, synthetic, "tables")
    means = _mean_caps(original, synthetic, _word(unseen))
    means = means[~np.isnan(means)]
    return float(np.mean(means <= cap_of_original(original) + _EQUAL)) if means.size else float("nan")


def count_above(o: ArrayLike, s: ArrayLike, threshold: float) -> int:
    """Return how many original records have an individual CAP above `threshold`.

    ``sum of o_ij over the cells with s_ij / s_.j > threshold``. The mean hides these records; count them
    before trusting it.

    Parameters
    ----------
    o, s
        Original and synthetic counts, shape (n_targets, n_keys).
    threshold
        From 0 to 1. A record at the threshold is not above it.

    Returns
    -------
    int
        From 0 to ``n``. Records whose key is empty in `s` score 0 and never count.

    Raises
    ------
    TableError
        As in `individual_cap`.
    SettingError
        When `threshold` is not a number from 0 to 1.

    References
    ----------
    Baillargeon and Charest, section 4, the reading of figure 1.

    Examples
    --------
    >>> o3 = [[0, 176, 204], [0, 78, 93], [127, 163, 59]]
    >>> count_above(o3, [[24, 36, 15], [226, 113, 213], [216, 54, 3]], 0.5)
    171
    """
    original, synthetic = _pair(o, s)
    if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise SettingError("threshold: pass a number from 0 to 1.")
    # nan > level is False: a record whose key is unseen is not above anything.
    return int(original[_shares(synthetic) > float(threshold)].sum())


def _shares(s: Counts) -> NDArray[np.float64]:
    """Return each cell's share of its key, nan where the key is empty."""
    shares = np.full(s.shape, np.nan)
    n_key = s.sum(axis=0)
    np.divide(s, n_key, out=shares, where=n_key > 0)
    return shares


def _mean_caps(o: Counts, tables: Counts, unseen: Unseen) -> NDArray[np.float64]:
    """Return the mean CAP of `o` with each of `tables`, shape (size,)."""
    n_key = tables.sum(axis=1)
    seen = n_key > 0
    # float64: the product of two counts may pass 2**63.
    hits = np.einsum("ij,kij->kj", o.astype(np.float64), tables.astype(np.float64))
    np.divide(hits, n_key, out=hits, where=seen)  # no hits where the key is empty
    n_scored = (np.ones_like(seen) if unseen == "zero" else seen) @ o.sum(axis=0)
    means = np.full(len(tables), np.nan)
    np.divide(hits.sum(axis=1), n_scored, out=means, where=n_scored > 0)
    return means


def _minimising_cell(o: Counts, unseen: Unseen) -> tuple[int, int]:
    """Return the first cell, row by row, that a minimal table may fill."""
    # Division rounds equal fractions alike, so ties stay ties. A key that nobody in o has is nan: it has
    # no version 2 mean.
    first = np.argmin(o) if unseen == "zero" else np.nanargmin(_shares(o))
    i, j = np.unravel_index(first, o.shape)
    return int(i), int(j)


def _pair(o: ArrayLike, s: ArrayLike) -> tuple[Counts, Counts]:
    original, synthetic = _original(o), _counts(s, "s", 2)
    _same_shape(original, synthetic, "s")
    return original, synthetic


def _original(o: ArrayLike) -> Counts:
    original = _counts(o, "o", 2)
    if not original.any():
        raise TableError("o: the original table has no records; pass at least one.")
    return original


def _same_shape(o: Counts, s: Counts, name: str) -> None:
    if s.shape[-2:] != o.shape:
        raise TableError(
            f"{name}: tables of shape {s.shape[-2:]}, but o has {o.shape}. hint: list the same targets and "
            "keys, in the same order, for both; in pandas, reindex both crosstabs with fill_value=0."
        )


def _counts(table: ArrayLike, name: str, n_dim: int) -> Counts:
    """Return `table` as int64 counts, or say what is wrong with it."""
    if np.ma.is_masked(table):
        raise TableError(f"{name}: the table has masked cells; fill them with counts.")
    try:
        found = np.asarray(table)
    except (TypeError, ValueError) as error:
        raise TableError(f"{name}: not a table of counts; its rows may differ in length.") from error
    if found.ndim != n_dim:
        raise TableError(f"{name}: expected {n_dim} dimensions, found {found.ndim}.")
    if found.dtype.kind not in "iufO":
        raise TableError(f"{name}: expected whole numbers, found {found.dtype}. hint: pass counts, not rows.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise TableError(f"{name}: the table has missing or infinite cells; fill them with counts.")
    if found.dtype.kind in "uf" and (found >= 2**63).any():
        raise TableError(f"{name}: a count does not fit 64 bits.")
    try:
        counts = found.astype(np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TableError(f"{name}: expected whole numbers, found other objects.") from error
    if (counts != found).any():
        raise TableError(f"{name}: the counts are not whole numbers; pass frequencies, not shares.")
    if (counts < 0).any():
        raise TableError(f"{name}: the table has a negative count.")
    if counts.size and counts.sum(axis=(-2, -1), dtype=np.float64).max() >= 2**63:
        raise TableError(f"{name}: the total does not fit 64 bits.")
    return counts


def _word(unseen: Unseen) -> Unseen:
    if unseen not in ("skip", "zero"):
        raise SettingError('unseen: pass "skip" or "zero".')
    return unseen


def _sides(shape: tuple[int, int]) -> tuple[int, int]:
    try:
        n_targets, n_keys = shape
    except (TypeError, ValueError) as error:
        raise SettingError("shape: pass two whole numbers, (n_targets, n_keys).") from error
    return _whole(n_targets, "shape", least=1), _whole(n_keys, "shape", least=1)


def _whole(number: int, name: str, *, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
        raise SettingError(f"{name}: pass a whole number of at least {least}.")
    return int(number)
