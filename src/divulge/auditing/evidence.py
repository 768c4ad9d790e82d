"""What a synthetic table says about two worlds: did these people have their own secrets, or each other's?

Two tables of the same people are put beside the synthetic one: in the first everybody has the own secret, in the second
that of the partner. Every attack scores each record in both, and a pair's evidence is the difference, summed over its
records; positive speaks for "not exchanged". No coin enters, so that guesses are right with probability 1/2 where the
synthetic table does not depend on the coins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.drawn_sets import drawn_sets
from divulge.attacks.reconstruction.counts_of_people import Known, equations
from divulge.auditing.predicted import log_odds
from divulge.case.case import Case
from divulge.case.distances import distance_columns, distances_of
from divulge.case.features import features_of
from divulge.kernels.counts.margins import margin_sums
from divulge.stats.box_least_squares import box_least_squares

__all__ = ["KINDS", "centred", "guessing", "row_evidence"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = {"nearest": 1.0, "copies": 2.0, "forest": 1.0, "margins": 0.5, "linear": 0.5}
"""The attacks and their weights, fixed beforehand: the nearest record, exact copies, a model trained on the synthetic
table, counts of combinations, and the counts of all pairs solved together. Weights are from the lab: counts alone see
less, and with equal weight they dilute the others."""
_TRIMMED = 0.1
_DIGITS = 12
_SETS = 150
"""Sets of columns of each size at most; a limit on the time."""
_ORDERS = (2, 3, 4)
_SOLVED_ORDERS, _SOLVED_SETS = (1, 2, 3), 100
_PENALTY = 0.5
_VALUES = 4
"""Commonest values of a secret whose people are solved for; a limit on the time, as is the next."""
_TOGETHER = 10_000  # people solved together at most


def row_evidence(case: Case, secret: Sequence[str], kinds: Sequence[str] = tuple(KINDS)) -> dict[str, Floats]:
    """Return for each attack and row how much better the own secret fits the synthetic table than the partner's.

    Parameters
    ----------
    case
        The own world as the real table, the other world as the holdout, row by row the same people.
    secret
        Columns that differ between the worlds; the first is the one that the forest predicts.
    kinds
        Some of `KINDS`.
    """
    columns = tuple(c for c in distance_columns(case)[0])
    columns = tuple(sorted({*columns, *(c for c in secret if c in case.columns)}))
    ways = {"nearest": _nearest, "copies": _copies, "forest": _forest, "margins": _margins, "linear": _linear}
    return {kind: ways[kind](case, columns, tuple(secret)) for kind in kinds}


def _nearest(case: Case, columns: tuple[str, ...], secret: tuple[str, ...]) -> Floats:
    """Log of the distance to the nearest synthetic record, other world less own world.

    A distance of 0 counts as half the smallest positive one.
    """
    own, other = _distances(case, columns)
    positive = np.concatenate([own, other])
    floor = float(positive[positive > 0].min(initial=1.0)) / 2
    return np.asarray(np.log(np.maximum(other, floor)) - np.log(np.maximum(own, floor)))


def _copies(case: Case, columns: tuple[str, ...], secret: tuple[str, ...]) -> Floats:
    """Whether the record with the own secret is in the synthetic table, less whether that of the other world is."""
    own, other = _distances(case, columns)
    return np.asarray((own == 0).astype(np.float64) - (other == 0))


def _distances(case: Case, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the distances of both worlds' records to the nearest synthetic record; the case searches once."""
    distances = distances_of(case, columns)
    own, other = (distances.nearest(role, "synthetic").distances[:, 0].round(_DIGITS) for role in ("real", "holdout"))
    return own, other


def _forest(case: Case, columns: tuple[str, ...], secret: tuple[str, ...]) -> Floats:
    """Log odds of the own secret over the partner's under a forest trained on the synthetic table."""
    features = features_of(case, columns)
    names = sorted(columns)
    j = names.index(secret[0])
    keys = [i for i, name in enumerate(names) if name not in secret]
    n = case.n_rows("real")
    if not keys:
        return np.zeros(n)
    order = features.order("synthetic")
    known, people = features.synthetic[order], features.people
    seed = int(case.rng("evidence forest").integers(2**31))
    odds = log_odds(known[:, keys], known[:, j], people[:n][:, keys], features.numeric[j], seed)
    return np.asarray(odds.of(people[:n, j]) - odds.of(people[n:, j]))


def _margins(case: Case, columns: tuple[str, ...], secret: tuple[str, ...]) -> Floats:
    """How often combinations of 2, 3 and 4 columns with the secret occur, own world less other world, in logarithms.

    Numbers are in bins. Counts are those of the synthetic table over those of both worlds, sets are drawn at random.
    """
    names = sorted(columns)
    own = [names.index(c) for c in secret]
    codes = [case.codes(name) for name in names]
    people = [np.concatenate([c[0], c[2]]) for c in codes]
    n = case.n_rows("real")
    score = np.zeros(2 * n)
    for order in _ORDERS:
        if order > len(names):
            continue
        sets = _sets(len(names), own, order, case.rng(f"evidence {order}-way margins"))
        sums = margin_sums(people, [c[1] for c in codes], [case.n_codes(name) for name in names], sets)
        score += sums.total / len(sets)
    return np.asarray((score[:n] - score[n:]).round(_DIGITS))


def _linear(case: Case, columns: tuple[str, ...], secret: tuple[str, ...]) -> Floats:
    """Return the shares of a value that the counts of the synthetic table give each person, own value less the other's.

    The share of synthetic rows with a value, among those that agree in one to three known columns, is an equation about
    all people who do. They are solved together, for each of the commonest values of the secret; of a number for whether
    it is above the median.

    References
    ----------
    Annamalai, Gadotti and Rocher (2024), A linear reconstruction approach for attribute inference attacks against
    synthetic data; here least squares take the place of a linear program.
    """
    names = [c for c in sorted(columns) if c not in secret]
    n = case.n_rows("real")
    if not names:
        return np.zeros(n)
    rng = case.rng("evidence linear")
    sets = [
        s for o in _SOLVED_ORDERS if o <= len(names) for s in drawn_sets(len(names), o, _SOLVED_SETS, rng)
    ]  # fmt: skip
    codes = [case.codes(c) for c in names]
    people, synthetic, sizes = [c[0] for c in codes], [c[1] for c in codes], [case.n_codes(c) for c in names]
    parts = -(-n // _TOGETHER)
    out = np.zeros(n)
    for own, there, other in _values(case, secret[0]):
        known = Known(people, synthetic, sizes, there)
        mean = float(np.concatenate([own, other]).mean())
        solved = np.full(n, mean)
        groups = [np.arange(n)[part::parts] for part in range(parts)]
        for group, (a, b) in zip(groups, equations(known, groups, sets), strict=True):
            solved[group] = box_least_squares(a, b, mean, _PENALTY)
        out += solved * (own.astype(np.float64) - other)
    return np.asarray(out.round(_DIGITS // 2))


def _values(case: Case, secret: str) -> list[tuple[Bools, Bools, Bools]]:
    """Return who has a value in the own world, which synthetic rows have it, and who has it in the other world."""
    codes = [c.astype(np.int64) for c in case.codes(secret, binned=False)]
    if case.encoded.is_number(secret):
        numbers = [case.numbers(secret)[c] for c in codes]
        known = np.concatenate([numbers[0], numbers[2]])
        known = known[np.isfinite(known)]
        middle = float(np.quantile(known, 0.5, method="inverted_cdf")) if len(known) else 0.0
        with np.errstate(invalid="ignore"):
            return [(numbers[0] > middle, numbers[1] > middle, numbers[2] > middle)]
    common = np.argsort(-np.bincount(np.concatenate([codes[0], codes[2]])), kind="stable")[:_VALUES]
    return [(codes[0] == v, codes[1] == v, codes[2] == v) for v in common.tolist()]


def _sets(n_columns: int, own: Sequence[int], order: int, rng: np.random.Generator) -> Ints:
    """Return sets of so many columns with at least one of the secret's: all, or 150 of them drawn at random."""
    if comb(n_columns, order) <= 4 * _SETS:
        every = [s for s in combinations(range(n_columns), order) if set(s) & set(own)]
        picked = every if len(every) <= _SETS else [every[i] for i in rng.permutation(len(every))[:_SETS]]
        return np.array(picked, dtype=np.int64)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < _SETS:
        one = int(rng.choice(own))
        rest = rng.choice([c for c in range(n_columns) if c != one], order - 1, replace=False).tolist()
        drawn[tuple(sorted([one, *rest]))] = None
    return np.array(list(drawn), dtype=np.int64)


# ---------------------------------------------------------------- from rows to guesses


def guessing(evidence: Mapping[str, Floats], natural: Floats) -> Floats:
    """Return the evidence on which pairs are guessed about, shape (n_pairs,): positive for "not exchanged".

    Each kind is centred and divided by its standard deviation, but for copies, which count as they are. Of the sum with
    the weights of `KINDS` the middle is taken away.
    """
    total = np.zeros(len(natural))
    for kind, weight in KINDS.items():
        if kind in evidence:
            own = evidence[kind] if kind == "copies" else centred(evidence[kind], natural)
            spread = 1.0 if kind == "copies" else float(own.std())
            total += weight * own / spread if spread > 0 else 0.0
    return np.asarray((total - _middle(total)).round(9))


def centred(evidence: Floats, natural: Floats) -> Floats:
    """Return evidence beyond what is natural: the residual on the natural log odds of the pair, around its middle.

    The coins are fair, so that about half of the pairs were exchanged. Who compares a pair with pairs as natural uses
    that; without it, a generator that smooths unnatural records away looks as if nobody was exchanged. The middle is
    the mean without the tenth at either end. A median would call exactly half of the pairs exchanged: of tables that
    copy everybody it misses as many pairs as the coins are out of balance.

    Examples
    --------
    >>> centred(np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0, 4.0])).round(2).tolist()
    [0.2, -0.1, -0.4, 0.3]
    """
    n = len(evidence)
    if n < 3:
        return evidence
    x = np.column_stack([np.ones(n), natural])
    rest = evidence - x @ np.linalg.lstsq(x, evidence, rcond=None)[0]
    return np.asarray((rest - _middle(rest)).round(9))


def _middle(values: Floats) -> float:
    """Return the mean without the tenth at either end; 0 without values."""
    cut = int(_TRIMMED * len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean()) if len(values) else 0.0
