"""Attackers who may abstain: precision and recall above a confidence, PRC, and the anonymity loss coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from divulge.core.errors import SettingError
from divulge.stats.intervals import Interval, _mover_ratio, wilson

__all__ = ["Abstaining", "abstaining", "anonymity_loss", "prc"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_R_MIN = 1e-4
_ALPHA = 3
_WIDEST = 0.1
"""A cut-off is eligible if the Wilson interval of its precision is narrower than this."""
_POINTS = 50


def prc(precision: float, recall: float) -> float:
    """Return the precision-recall coefficient of an attack that guesses for a share `recall` of the people.

    PRC = P (1 - (log10 R / log10 1e-4)^3), and R where R is at most 1e-4.

    References
    ----------
    Francis and Wagner 2025, Towards Better Attribute Inference Vulnerability Measures.

    Examples
    --------
    >>> round(prc(0.9, 0.01), 4)
    0.7875
    """
    if recall <= _R_MIN:
        return recall
    return precision * (1 - (log10(recall) / log10(_R_MIN)) ** _ALPHA)


def anonymity_loss(attack: float | None, base: float | None) -> float | None:
    """Return ALC = (PRC of the attack - PRC of the base) / (1 - PRC of the base); None where a part is, or base is 1.

    1 is as bad as publishing the original, 0 no better than against strangers; it may be negative.

    Examples
    --------
    >>> round(anonymity_loss(prc(1.0, 0.01), prc(0.6, 1.0)), 4)
    0.6875
    """
    if attack is None or base is None or base >= 1:
        return None
    return (attack - base) / (1 - base)


@dataclass(frozen=True, slots=True)
class Abstaining:
    """Precision and recall of an attacker who guesses only if he is sure enough."""

    context: Mapping[str, float | None]
    """"PRC", "precision", "recall" of guesses about members, the same with ", strangers" after it, "PRC, reference",
    "ALC", "ALC, low", "ALC, high" and "confidence cut-off"; None where undefined."""
    curves: Mapping[str, list[float]]
    """"recall" and "precision" of all members, the surest first, at most 50 points; ", strangers" likewise."""


def abstaining(
    right: Floats,
    sure: Floats,
    is_member: NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    reference: tuple[Floats, Floats] | None = None,
    count: Ints | None = None,
    level: float | None = None,
) -> Abstaining:
    """Return precision and recall above the cut-off that maximises the PRC, and the anonymity loss coefficient.

    The cut-off is chosen on a random half of all people, members and strangers alike (precision by the middle of a
    Wilson interval narrower than 0.1), and judged on the other half of each. The reference chooses its own cut-off
    on the members of the first half and is judged about the same members as the attack. The base of the ALC is the
    larger of strangers' PRC and the reference's; both count where they are known.

    Parameters
    ----------
    right, sure
        Shape (n,), in [0, 1]: the chance that the answer about a person is right, and the attacker's confidence. A
        confidence of 0 is never guessed on.
    is_member
        Shape (n,): whether the person is in the real table; the others are strangers.
    rng
        Draws the halves. People of equal answers are merged first: their order changes no digit.
    reference
        `right` and `sure` of somebody who does not have the release, shapes (n,); what it says of strangers is not
        looked at.
    count
        Shape (n,): how many people a row stands for; None is 1 each.
    level
        Coverage of the interval of the ALC, people being independent; None leaves it out, as with households.

    Raises
    ------
    SettingError
        Arrays of different lengths.

    Notes
    -----
    Without people, or with too few for any cut-off, everything is None. A fractional `right` counts as that part of
    a hit; the Wilson interval is then too wide rather than too narrow. The interval of the ALC combines Wilson
    intervals of precision and recall (MOVER), the cut-offs as chosen; against the reference, which is asked about
    the same members, it is too wide.

    Examples
    --------
    >>> is_member = np.arange(4000) < 2000
    >>> right = np.where(is_member, 1.0, np.arange(4000) % 2)
    >>> found = abstaining(right, np.full(4000, 0.9), is_member, np.random.default_rng(0))
    >>> found.context["PRC"], round(found.context["PRC, strangers"], 1)
    (1.0, 0.5)
    """
    values = [-sure, right] if reference is None else [-sure, right, -reference[1], reference[0]]
    if len({len(v) for v in (*values, is_member, right if count is None else count)}) > 1:
        raise SettingError("right, sure, is_member, reference, count: must have one entry per person each.")
    if count is not None:
        values, is_member, count = [v[count > 0] for v in values], is_member[count > 0], count[count > 0]
    merged, place = _merged(values)
    members, strangers = (
        np.bincount(place[of], weights=None if count is None else count[of], minlength=merged.shape[1]).astype(np.int64)
        for of in (is_member, ~is_member)
    )
    one_m, one_s = rng.binomial(members, 0.5), rng.binomial(strangers, 0.5)
    attack = _Guesses(-merged[0], merged[1])
    cut = attack.best_cut(one_m + one_s)
    of_members = attack.judged(members - one_m, cut)
    of_strangers = attack.judged(strangers - one_s, cut)
    of_reference = _Judged()
    if reference is not None:
        known = _Guesses(-merged[2], merged[3])
        of_reference = known.judged(members - one_m, known.best_cut(one_m))
    bases = [b for b in (of_strangers, of_reference) if b.prc is not None]
    base = max(bases, key=lambda b: b.prc or 0.0, default=_Judged())
    low, high = _loss_interval(of_members, base, level)
    return Abstaining(
        context={
            "PRC": of_members.prc,
            "PRC, strangers": of_strangers.prc,
            "PRC, reference": of_reference.prc,
            "ALC": anonymity_loss(of_members.prc, base.prc),
            "ALC, low": low,
            "ALC, high": high,
            "precision": of_members.precision,
            "recall": of_members.recall,
            "precision, strangers": of_strangers.precision,
            "recall, strangers": of_strangers.recall,
            "confidence cut-off": cut,
        },
        curves=attack.curve(members, "") | (attack.curve(strangers, ", strangers") if strangers.any() else {}),
    )


def _merged(values: Sequence[Floats]) -> tuple[Floats, Ints]:
    """Return the distinct columns of some arrays in ascending order, shape (n_arrays, n_distinct), and each one's."""
    distinct, key = _coded(values[0])
    merged = [distinct]
    for more in values[1:]:
        levels, own = _coded(more)
        pairs, key = _numbered(key * len(levels) + own)
        first, second = np.divmod(pairs, max(1, len(levels)))
        merged = [*(m[first] for m in merged), levels[second]]
    return np.stack(merged), key


def _numbered(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values of whole numbers from 0 on in ascending order, and the place of each among them."""
    limit = int(values.max(initial=-1)) + 1
    if limit > 4 * len(values):
        return _coded(values)
    occurs = np.zeros(limit, dtype=np.bool_)  # a table of all that there may be takes a third of the time of sorting
    occurs[values] = True
    place, seen = np.empty(limit, dtype=np.int64), np.flatnonzero(occurs)
    place[seen] = np.arange(len(seen))
    return seen, np.asarray(place[values])


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct values in ascending order, and the place of each value among them."""
    order = np.argsort(values)  # not stable: by vector instructions, and equal values are one
    ranked = values.take(order)
    is_new = np.ones(len(order), dtype=np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=is_new[1:])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(is_new) - 1
    return ranked[is_new], place


@dataclass(frozen=True, slots=True)
class _Judged:
    """Guesses above a cut-off about so many people; no people means that there was no cut-off or nobody to ask."""

    people: int = 0
    guesses: int = 0
    hits: float = 0.0

    @property
    def precision(self) -> float | None:
        if not self.people:
            return None
        return self.hits / self.guesses if self.guesses else 0.0

    @property
    def recall(self) -> float | None:
        return self.guesses / self.people if self.people else None

    @property
    def prc(self) -> float | None:
        if self.precision is None or self.recall is None:
            return None
        return prc(self.precision, self.recall) if self.guesses else 0.0

    def interval(self, level: float) -> Interval:
        """Return the PRC with limits: precision and recall are uncorrelated, and the PRC grows with both."""
        precision, recall = wilson(self.hits, self.guesses, level), wilson(self.guesses, self.people, level)
        p, r, value = self.precision or 0.0, self.recall or 0.0, self.prc or 0.0
        low = ((value - prc(precision.low, r)) ** 2 + (value - prc(p, recall.low)) ** 2) ** 0.5
        high = ((prc(precision.high, r) - value) ** 2 + (prc(p, recall.high) - value) ** 2) ** 0.5
        return Interval(value, max(0.0, value - low), min(1.0, value + high))


def _loss_interval(attack: _Judged, base: _Judged, level: float | None) -> tuple[float | None, float | None]:
    """Return limits of the ALC, one minus a ratio of shares that the attack and the base leave."""
    if level is None or anonymity_loss(attack.prc, base.prc) is None:
        return None, None
    a, b = attack.interval(level), base.interval(level)
    left_a, left_b = Interval(1 - a.value, 1 - a.high, 1 - a.low), Interval(1 - b.value, 1 - b.high, 1 - b.low)
    loss = _mover_ratio(left_a, left_b, 1 - left_a.value / left_b.value)
    return (loss.low if np.isfinite(loss.low) else None), loss.high


def _wilson_limits(hits: Floats, n: Ints) -> tuple[Floats, Floats]:
    """Return the 95% limits that `wilson` gives, for many shares at once."""
    z = -float(ndtri(0.025))
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (hits + z * z / 2) / (n + z * z)
        half = z / (n + z * z) * np.sqrt(hits * (n - hits) / n + z * z / 4)
    return np.where(hits == 0, 0.0, centre - half), np.where(hits == n, 1.0, centre + half)


class _Guesses:
    """Guesses; people with the same answer share a row."""

    def __init__(self, sure: Floats, right: Floats) -> None:
        self.sure, self.right = sure, right
        less, equal = sure[1:] < sure[:-1], sure[1:] == sure[:-1]
        is_ranked = bool((less | (equal & (right[1:] >= right[:-1]))).all())  # as merged rows are; sorting takes longer
        self.order: slice | Ints = slice(None) if is_ranked else np.lexsort((right, -sure))
        ranked = sure[self.order]
        # the last row of each level of confidence above 0: guessing down to there is a cut-off
        last = np.append(ranked[1:] != ranked[:-1], True) if len(ranked) else np.zeros(0, dtype=bool)
        self.ends = np.flatnonzero(last & (ranked > 0))

    def _down_to(self, people: Ints) -> tuple[Ints, Floats]:
        """Return guesses made and right for each cut-off, shape (n_cuts,)."""
        n, hits = people[self.order], (people * self.right)[self.order]
        return np.cumsum(n)[self.ends], np.cumsum(hits)[self.ends]

    def best_cut(self, people: Ints) -> float | None:
        """Return the confidence threshold with the largest PRC; None if no precision is known well enough."""
        n, hits = self._down_to(people)
        low, high = _wilson_limits(hits, n)
        known = (n > 0) & (high - low < _WIDEST)
        if not known.any():
            return None
        recall, middle = n[known] / int(people.sum()), (low + high)[known] / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = np.log10(recall) / log10(_R_MIN)
            rough = np.where(recall <= _R_MIN, recall, middle * (1 - bent * bent * bent))
            near = np.flatnonzero(rough >= rough.max() - 1e-12)  # a power takes 0.1 us, and differs in the last bit
            value = middle[near] * (1 - bent[near] ** _ALPHA)
        value = np.where(recall[near] <= _R_MIN, recall[near], value)
        return float(self.sure[self.order][self.ends[known][near[np.argmax(value)]]])

    def judged(self, people: Ints, cut: float | None) -> _Judged:
        """Return the guesses about other people at or above a confidence threshold."""
        if cut is None or not people.sum():
            return _Judged()
        chosen = self.sure >= cut
        return _Judged(int(people.sum()), int(people[chosen].sum()), float((people * self.right)[chosen].sum()))

    def curve(self, people: Ints, suffix: str) -> dict[str, list[float]]:
        """Return precision at each recall, at most 50 points."""
        n, hits = self._down_to(people)
        shown = np.unique(np.linspace(0, len(n) - 1, _POINTS).astype(int)) if len(n) else np.zeros(0, dtype=int)
        shown = shown[n[shown] > 0]
        total = max(int(people.sum()), 1)
        return {
            f"recall{suffix}": (n[shown] / total).tolist(),
            f"precision{suffix}": (hits[shown] / np.maximum(n[shown], 1)).tolist(),
        }
