"""Tests of the literature that compare nearest neighbours: each stated with the number that leak-free data would give.

Most were published as one number with a threshold. Several are far from 0 without any leak, so each stands beside the
same number of strangers, and, where people can be compared one by one, beside a risk with an interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import SHOWN, Floats, finite, judge, rate_of
from divulge.attacks.distance.dcr import attracted, laid, middle, round_sum, shown_of_a_copy
from divulge.attacks.registry import MIXED, Words, attack
from divulge.case.case import Case
from divulge.case.distances import Distances, distance_columns, distances_of
from divulge.case.invariant_order import Canonical
from divulge.core.errors import SettingError
from divulge.core.result import Individual, Result, Value
from divulge.kernels.counts.contingency import combine
from divulge.kernels.neighbours.gower import Field, Rows, fit_ruler
from divulge.kernels.neighbours.index import Index
from divulge.stats import Outcomes, compare

__all__ = ["authenticity", "dcr_baseline", "epsilon_identifiability", "hitting_rate", "nnaa"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_PAIRS = 2_000_000  # pairs compared at once


def by_record(case: Case, plain: Result, members: Bools, strangers: Bools | None) -> Result:
    """Return the result with 0/1 outcomes of people, members judged against strangers."""
    scores = members.astype(float)
    real = Outcomes(scores, cluster=case.units("real"))
    if strangers is None:
        return replace(plain, real=rate_of(real), individual=Individual(real=scores), verdict="no holdout")
    others = strangers.astype(float)
    holdout = Outcomes(others, cluster=case.units("holdout"))
    plain = replace(
        plain, real=rate_of(real), holdout=rate_of(holdout), individual=Individual(real=scores, holdout=others)
    )
    rng = case.rng(f"{plain.attack} {plain.variant}")
    comparison = compare(real, holdout, level=case.level, rng=rng, draws=case.draws)
    return judge(plain, comparison, case.level)


# ---------------------------------------------------------------- hitting rate


_HITTING_RATE_WORDS = Words(
    says="I find a synthetic row that has a person's every category, and nearly each of the person's numbers.",
    knows="The record of one person, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout says how many hits chance gives. "
        "Constants, identifiers, free text, the unit and ignored columns are left out unless named."
    ),
    formula=(
        "hit = some synthetic row has equal categories, and |a - b| <= within * range in every number\n"
        "p_T, p_C = share of members, of strangers who are hit\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "range: of the column in real and holdout together; within = 1/30; missing agrees with missing."
    ),
    reading=(
        "A rate of 0 means that nobody is hit, 1 that everybody is, as on coarse data. Leak-free data hit strangers "
        "as often: risk 0. Risk 1 means that every member is hit, a negative risk that strangers are hit more "
        "often. Strangers are the only baseline."
    ),
    silent=(
        "A jitter beyond the width, or one changed category, hides a copy.",
        "The rate alone says nothing: it depends on how many columns there are and how coarse they are.",
        "The width of 1/30 of the range is a convention.",
    ),
)


@attack(
    family="distance",
    question="Is there a synthetic row that agrees with this person in every category and nearly in every number?",
    needs="numbers or categories; a holdout says how many hits chance gives",
    reference="Lautrup et al. 2024, SynthEval (hitting rate).",
    words=_HITTING_RATE_WORDS,
)
def hitting_rate(case: Case, *, columns: Sequence[str] | None = None, within: float = 1 / 30) -> Result:
    """Return the share of people hit by a synthetic row: all categories equal, every number within range/30.

    Ranges are of real and holdout together; missing agrees with missing alone. Leak-free data hit strangers as
    often as members, and that may be often: on coarse data everybody is hit. It sees copies and close copies; a jitter
    beyond the width, or a change of one category, hides them.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.
    within
        Part of a column's range by which a number may be off, at least 0.

    Raises
    ------
    SettingError
        `within` is negative or no number.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.5, 10.0, 30.0], "c": ["a", "a", "b"]})
    >>> hitting_rate(real, pl.DataFrame({"x": [1.0, 12.0, 30.0], "c": ["a", "a", "a"]})).real.hits
    1.0
    """
    if not (math.isfinite(within) and within >= 0):
        raise SettingError("within: must be a number of at least 0. hint: 1/30 of the range is the published width.")
    d, notes, settings = laid(case, columns)
    plain = Result(
        attack="hitting_rate",
        settings=settings | {"within": within},
        context={"leak-free excess over strangers": 0.0} if case.has_holdout else {},
        notes=tuple(notes),
    )
    # a difference of just the width counts, whatever the last bit says
    width = d.ruler.span * (within * (1 + 1e-12))
    hit = _hit(d.rows("people"), d.rows("synthetic"), width)
    n = d.n_rows("real")
    return by_record(case, plain, hit[:n], hit[n:] if case.has_holdout else None)


def _hit(people: Rows, synthetic: Rows, width: Floats) -> Bools:
    """Return who has a synthetic row with equal codes and every number within its width.

    Rows are grouped by codes and by cells of one number, one width wide, and sorted by another inside: of the rows in
    the three cells around a person only those in the window of the second number are compared.
    """
    n = len(people)
    rows = Rows.stack([people, synthetic])
    numbers = np.where(np.isnan(rows.numbers), 0.0, rows.numbers)  # the codes beside tell missing from a number
    group = _groups(rows)
    order = np.argsort([-len(np.unique(x)) for x in numbers.T], kind="stable")
    steps: tuple[int, ...] = (0,)
    if len(order) > 1:
        cell, n_cells = _cells(numbers[:, order[1]], float(width[order[1]]))
        group = group * (n_cells + 2) + cell + 1
        steps = (-1, 0, 1) if n_cells > 1 else (0,)
    hit = np.zeros(n, dtype=bool)
    rank, low, high, n_ranks = _windows(numbers, order, width, n)
    key = group[n:] * n_ranks + rank[n:]
    place = np.argsort(key, kind="stable")
    key, candidates = key[place], numbers[n:][place]
    for step in steps:
        base = (group[:n] + step) * n_ranks
        first, last = np.searchsorted(key, base + low, side="left"), np.searchsorted(key, base + high, side="left")
        # the middle of the window first: most who are hit at all are hit there
        middle_ = first + (last - first) // 2
        for begin, end in ((np.maximum(first, middle_ - 4), np.minimum(last, middle_ + 4)), (first, last)):
            for person, row in _pairs(begin, np.where(hit, begin, end)):
                with np.errstate(invalid="ignore"):  # infinity less infinity: equal
                    near = np.ones(len(person), dtype=bool)
                    for j in order:
                        near &= ~(np.abs(numbers[person, j] - candidates[row, j]) > width[j])
                hit[person[near]] = True
    return hit


def _groups(rows: Rows) -> Ints:
    """Return one number for each distinct row of codes, from 0 without gaps."""
    if not rows.codes.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    columns = [np.ascontiguousarray(c) for c in rows.codes.T]
    ids, _ = combine(columns, [int(c.max(initial=0)) + 1 for c in columns])
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _cells(values: Floats, width: float) -> tuple[Ints, int]:
    """Return the cell of each number, one width wide, at most a million of them: wider cells lose nothing."""
    finite_ = values[np.isfinite(values)]
    if not len(finite_) or not width > 0:
        return np.zeros(len(values), dtype=np.int64), 1
    low = finite_.min()
    wide = max(width, (finite_.max() / 1e6 - low / 1e6)) * (1 + 1e-9)
    n_cells = int((finite_.max() - low) // wide) + 1
    clipped = np.clip(values, low, finite_.max())
    return ((clipped - low) // wide).astype(np.int64), n_cells


def _windows(numbers: Floats, order: Ints, width: Floats, n: int) -> tuple[Ints, Ints, Ints, int]:
    """Return the rank of each row by its most distinct number, and the ranks between which each person looks."""
    if not len(order):
        zero = np.zeros(len(numbers), dtype=np.int64)
        return zero, zero[:n], zero[:n] + 1, 1
    x = numbers[:, order[0]]
    distinct, rank = np.unique(x, return_inverse=True)
    w = width[order[0]] * (1 + 1e-9)  # a little wide: the comparison itself decides
    low = np.searchsorted(distinct, x[:n] - w, side="left")
    high = np.searchsorted(distinct, x[:n] + w, side="right")
    return rank.astype(np.int64), low.astype(np.int64), high.astype(np.int64), len(distinct) + 1


def _pairs(first: Ints, last: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Return blocks of pairs (i, r) with first[i] <= r < last[i], a bounded number at once."""
    counts = np.maximum(last - first, 0)
    ends = np.cumsum(counts)
    done = 0
    for upto in range(_PAIRS, int(ends[-1]) + _PAIRS if len(ends) else 0, _PAIRS):
        stop = min(upto, int(ends[-1]))
        numbers = np.arange(done, stop)
        person = np.searchsorted(ends, numbers, side="right")
        yield person, first[person] + numbers - (ends[person] - counts[person])
        done = stop


# ---------------------------------------------------------------- against noise


_DCR_BASELINE_WORDS = Words(
    says="I ask whether the synthetic rows lie nearer to people than rows of pure noise do.",
    knows="The records of the real table, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout shows what a table of perfect "
        "quality would give. " + MIXED
    ),
    formula=(
        "value = median distance of synthetic rows to their nearest real row\n"
        "        / the same median of as many random rows\n"
        "uniform: numbers uniform over the range of real, categories uniform over its levels\n"
        "permuted columns: each column of real by itself, in random order\n"
        "The value of holdout is the same ratio for holdout rows."
    ),
    reading=(
        "0 means that at least half of the synthetic rows equal a record, 1 that they are as far from people as "
        "noise is, above 1 that they are farther; it is never negative, and undefined where the noise lies at "
        "distance 0. Its baseline is the ratio of the holdout, which is what leak-free data of perfect quality "
        "would give. There is no risk and no verdict."
    ),
    silent=(
        "A small ratio is no leak: a good synthesizer is nearer to people than noise by design.",
        "The median hides any leak of less than half of the rows.",
        "It depends on how unlike people the noise is, which is a matter of the columns.",
    ),
)


@attack(
    family="distance",
    question="Are synthetic rows nearer to people than noise is?",
    needs="numbers or categories",
    reference="SDMetrics 0.32, DCRBaselineProtection.",
    words=_DCR_BASELINE_WORDS,
)
def dcr_baseline(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the median distance to the closest real record over that of a random table with as many rows.

    "uniform": numbers uniform over the range of real, categories uniform over its levels, missing as often as there.
    "permuted columns": each column of real by itself, in random order. The value of holdout is the same ratio for the
    holdout rows: what leak-free data of perfect quality would give. No verdict: a good synthesizer is nearer to people
    than noise by design, so that a small ratio is no leak, and the median hides any leak of less than half the rows.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.5, 1.0, 2.0, 50.0, 100.0]})
    >>> [r.value.synthetic for r in dcr_baseline(real, real)]
    [0.0, None]
    """
    d, notes, settings = laid(case, columns)
    canonical = Canonical(case, distance_columns(case, columns)[0])
    to_real = {
        role: middle(d.nearest(role, "real").distances[:, 0])
        for role in ("synthetic", "holdout")[: 1 + case.has_holdout]
    }
    out = []
    for variant in ("uniform", "permuted columns"):
        rng = case.rng(f"dcr_baseline {variant}")
        noise = [_noise(canonical, j, variant, d.n_rows("synthetic"), rng) for j in range(len(canonical.fields))]
        random = middle(_noise_distances(canonical, noise, case))
        ratio = {r: m / random if m is not None and random else None for r, m in to_real.items()}
        context: dict[str, float | None] = {"median of the random table": random}
        context |= {f"median of {role}": m for role, m in to_real.items()}
        if case.has_holdout:
            context["leak-free ratio (that of the holdout)"] = ratio["holdout"]
        why = [] if random else ["the random table is at distance 0 by the median: the ratio is undefined"]
        out.append(
            Result(
                attack="dcr_baseline",
                variant=variant,
                settings=settings,
                value=Value(**ratio),
                context=context,
                notes=(*notes, *why, "a good synthesizer is nearer to people than noise by design: no verdict"),
            )
        )
    return tuple(out)


def _noise(
    canonical: Canonical, j: int, variant: str, m: int, rng: np.random.Generator
) -> tuple[Floats | None, NDArray[np.int32]]:
    """Return m random values of a column: numbers (None for a category) and codes."""
    f = canonical.fields[j]
    codes = canonical.sorted_codes(j, f.codes[0])
    if variant == "permuted columns":
        if f.numbers is None:
            return None, codes[_positions(len(codes), m, rng)]
        # numbers ascending, then marks in their order
        known = np.sort(f.numbers[0][~np.isnan(f.numbers[0])])
        marks = codes[codes > 0]
        pick = _positions(len(codes), m, rng)
        numbers = np.concatenate([known, np.full(len(marks), np.nan)])
        return numbers[pick], np.concatenate([np.zeros(len(known), dtype=np.int32), marks])[pick]
    # a number has code 0, a category 0 when missing: what is drawn as it occurs are marks, or missing
    as_it_is = codes[codes > 0] if f.numbers is not None else codes[codes == 0]
    n_other = len(codes) - len(as_it_is)
    pick = rng.integers(0, len(codes), m)
    spot = rng.random(m)
    out = np.zeros(m, dtype=np.int32)
    taken = pick >= n_other
    out[taken] = as_it_is[pick[taken] - n_other]
    if f.numbers is None:
        levels = codes[codes > 0]
        levels = levels[np.r_[True, levels[1:] != levels[:-1]]] if len(levels) else levels
        out[~taken] = levels[(spot[~taken] * len(levels)).astype(np.int64)]
        return None, out
    known = np.sort(f.numbers[0][~np.isnan(f.numbers[0])])
    finite_ = known[np.isfinite(known)]
    numbers = np.full(m, np.nan)
    if len(finite_):
        low, high = finite_[0], finite_[-1]
        numbers[~taken] = low * (1 - spot[~taken]) + high * spot[~taken]
    elif len(known):
        numbers[~taken] = known[(spot[~taken] * len(known)).astype(np.int64)]
    return numbers, out


def _positions(n: int, m: int, rng: np.random.Generator) -> Ints:
    """Return m of n positions in random order, each as often as any other, or once more."""
    return rng.permutation(np.concatenate([np.tile(np.arange(n), m // n), rng.permutation(n)[: m % n]]))


def _noise_distances(
    canonical: Canonical, noise: Sequence[tuple[Floats | None, NDArray[np.int32]]], case: Case
) -> Floats:
    """Return the distance of each random row to its nearest real row, on the ruler of the case."""
    fields = [
        Field(f.name, None if f.numbers is None or x is None else (*f.numbers, x), (*f.codes, c))
        for f, (x, c) in zip(canonical.fields, noise, strict=True)
    ]
    ruler, rows = fit_ruler(fields, ranges_of=[i for i in range(len(case.tables)) if i != 1])
    return Index(ruler, rows[0]).nearest(rows[-1]).distances[:, 0]


# ---------------------------------------------------------------- adversarial accuracy


_NNAA_WORDS = Words(
    says=(
        "I tell synthetic rows from people by their nearest neighbours, and strangers give them away more than "
        "members do."
    ),
    knows="The records of members and of strangers, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout for the privacy loss. Tables of "
        "unequal size are cut to the smallest. " + MIXED
    ),
    formula=(
        "AA(R) = 1/2 * (share of rows r of R with d(r, S) > d(r, R without r)\n"
        "             + share of rows s of S with d(s, R) > d(s, S without s)), ties count one half\n"
        "privacy loss = AA(holdout) - AA(real)\n"
        "d: distance to the nearest row; S: the synthetic table."
    ),
    reading=(
        "An accuracy of 0.5 means that synthetic rows and people cannot be told apart, 0 that the table was copied "
        "row for row, 1 that the two lie far apart. A privacy loss of 0 is the baseline, which leak-free data give; "
        "above 0 the table is nearer to members, below 0 nearer to strangers. There is no interval, no risk and no "
        "verdict."
    ),
    silent=(
        "A few copies do not show in a mean over all rows.",
        "Each row counts in several neighbourhoods, so that no interval is given.",
        "An accuracy near 0.5 is a matter of quality and no proof that nothing was copied.",
    ),
)


@attack(
    family="distance",
    question="Can a nearest neighbour tell synthetic rows from people, and better from strangers than from members?",
    needs="numbers or categories; a holdout for the privacy loss",
    reference="Yale, Dash, Dutta, Guyon, Pavao and Bennett 2020 (nearest neighbour adversarial accuracy).",
    words=_NNAA_WORDS,
)
def nnaa(case: Case, *, columns: Sequence[str] | None = None, subsamples: int = 5) -> Result:
    """Return the nearest neighbour adversarial accuracy of real and of holdout, and the privacy loss between them.

    AA is the mean of two shares: people farther from their nearest synthetic row than from their nearest fellow, and
    synthetic rows farther from their nearest person than from their nearest fellow; ties count half. 0.5 cannot be told
    apart, 0 is a table copied row for row, 1 is far off. The privacy loss, AA of the holdout less AA of real, is 0
    without a leak. No interval and no verdict: each row counts in several neighbourhoods. A few copies do not
    show.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.
    subsamples
        Tables of unequal size are cut to the smallest so many times, and the mean is given.

    Raises
    ------
    SettingError
        `subsamples` is below 1.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.0, 1.0, 2.5, 9.0]})
    >>> nnaa(real, real).value.real
    0.0
    """
    if subsamples < 1:
        raise SettingError(f"subsamples: {subsamples} is below 1.")
    d, notes, settings = laid(case, columns)
    roles = ("real", "synthetic", "holdout")[: len(case.tables)]
    sizes = [d.n_rows(r) for r in roles]
    size = min(sizes)
    plain = Result(
        attack="nnaa",
        settings=settings | {"rows": size, "subsamples": subsamples if max(sizes) > size else 0},
        context={"leak-free privacy loss": 0.0, "accuracy of data that cannot be told apart": 0.5},
        notes=tuple(notes),
    )
    if size < 2:
        return replace(plain, value=Value(), notes=(*notes, "a table of one row has no nearest fellow: undefined"))
    found = np.array([_accuracies(d, roles, rows) for rows in _cuts(case, d, columns, sizes, size, subsamples)])
    value = found.mean(axis=0)
    context = plain.context
    if case.has_holdout:
        context = {"privacy loss": float(value[1] - value[0]), **context}
    return replace(
        plain, value=Value(**dict(zip(("real", "holdout"), map(float, value), strict=False))), context=context
    )


def _cuts(
    case: Case, d: Distances, columns: Sequence[str] | None, sizes: Sequence[int], size: int, subsamples: int
) -> Iterator[list[Ints | None]]:
    """Return the rows of each table to compare: None takes all, in tables of one size."""
    if max(sizes) == size:
        yield [None for _ in sizes]
        return
    canonical = Canonical(case, distance_columns(case, columns)[0])
    orders = [canonical.order(i) for i in range(len(sizes))]
    rng = case.rng("nnaa")
    for _ in range(subsamples):
        yield [None if n == size else np.sort(o[rng.permutation(n)[:size]]) for o, n in zip(orders, sizes, strict=True)]


def _accuracies(d: Distances, roles: Sequence[str], rows: Sequence[Ints | None]) -> list[float]:
    """Return AA of real and of holdout for some rows of each table."""
    part = {role: d.rows(role) if r is None else d.rows(role).take(r) for role, r in zip(roles, rows, strict=True)}
    whole = {role: r is None for role, r in zip(roles, rows, strict=True)}
    index = {role: d.index(role) if whole[role] else Index(d.ruler, part[role]) for role in roles}

    def distance(queries: str, reference: str) -> Floats:
        if whole[queries] and whole[reference]:
            return d.nearest(queries, reference).distances[:, 0]
        own = np.arange(len(part[queries])) if queries == reference else None
        return index[reference].nearest(part[queries], own=own).distances[:, 0]

    among = distance("synthetic", "synthetic")
    out = []
    for role in roles:
        if role != "synthetic":
            n = len(part[role])
            credit = _farther(distance(role, "synthetic"), distance(role, role))
            credit += _farther(distance("synthetic", role), among)
            out.append(credit / (4 * n))
    return out


def _farther(one: Floats, other: Floats) -> int:
    """Return twice the number of rows farther in `one`, ties half."""
    return 2 * int((one > other).sum()) + int((one == other).sum())


# ---------------------------------------------------------------- epsilon-identifiability


_EPSILON_IDENTIFIABILITY_WORDS = Words(
    says="I find a synthetic row that lies nearer to a person than any other person does.",
    knows="The records of the people, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. Each column "
        "is weighted by 1 / entropy of its bins. " + MIXED
    ),
    formula=(
        "hit = d(person, nearest synthetic row) < d(person, nearest other person)\n"
        "published: share of real hit among real, of holdout among holdout; leak-free = m / (m + n - 1)\n"
        "pooled: other people are members and strangers alike; leak-free = m / (m + n_T + n_C - 1)\n"
        "risk of pooled = (p_T - p_C) / (1 - p_C), p_T, p_C being the share of members, of strangers hit\n"
        "n: people of that table; n_T, n_C, m: real, holdout and synthetic rows."
    ),
    reading=(
        "1 means that everybody has a synthetic row nearer than any person, 0 that nobody has. About one half is "
        "what leak-free data of equal sizes give, so the published number alone says nothing; the leak-free share "
        "in the context is the baseline. Risk 0 means that strangers are hit as often, 1 that every member is hit, "
        "and a negative risk that strangers are hit more often. Only pooled has a verdict."
    ),
    silent=(
        "The high share that chance gives drowns a few copies.",
        "People with a double are never hit, copied or not.",
        "The epsilon of the name is a share of people; it has nothing to do with differential privacy.",
    ),
)


@attack(
    family="distance",
    question="Does a synthetic row lie nearer to this person than any other person does?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Yoon, Drumright and van der Schaar 2020, ADS-GAN.",
    words=_EPSILON_IDENTIFIABILITY_WORDS,
)
def epsilon_identifiability(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the share of people to whom a synthetic row is nearer than any other person.

    Columns are weighted by 1/entropy of their bins, real and holdout pooled. "published": real among real, and holdout
    among holdout, without a verdict. About one half is what leak-free data give, so the number alone says nothing.
    "pooled": nearer than any other member or stranger, which does not depend on who is a member; leak-free data hit
    m/(m + N - 1) of both. It sees copies on average; the high floor drowns a few of them.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [0.5, 10.0, 20.0]}), pl.DataFrame({"x": [4.0, 14.0, 26.0]})
    >>> published, pooled = epsilon_identifiability(real, pl.DataFrame({"x": [1.0, 11.0]}), holdout=strangers)
    >>> published.value.real, pooled.real.hits, pooled.holdout.hits
    (1.0, 2.0, 2.0)
    """
    _, notes, settings = laid(case, columns)
    used = distance_columns(case, columns)[0]
    d = distances_of(case, columns, _weights(case, used))
    m = d.n_rows("synthetic")
    floors = {role: m / (m + d.n_rows(role) - 1) for role in ("real", "holdout")[: 1 + case.has_holdout]}
    plain = Result(attack="epsilon_identifiability", settings=settings, notes=tuple(notes))
    nearer = {
        role: d.nearest(role, "synthetic").distances[:, 0] < d.nearest(role, role).distances[:, 0] for role in floors
    }
    published = replace(
        plain,
        variant="published",
        value=Value(**{role: float(x.mean()) if len(x) > 1 else None for role, x in nearer.items()}),
        context={f"leak-free share of {role}, without ties": floors[role] for role in floors},
        individual=Individual(real=nearer["real"].astype(float)),
    )
    if not case.has_holdout:
        return published, replace(by_record(case, replace(plain, variant="pooled"), nearer["real"], None), real=None)
    to_others = d.nearest("people", "people").distances[:, 0]
    hit = d.nearest("people", "synthetic").distances[:, 0] < to_others
    n, n_people = d.n_rows("real"), d.n_rows("people")
    context: dict[str, float | None] = {
        "leak-free share, without ties": m / (m + n_people - 1),
        SHOWN: finite(shown_of_a_copy(d, alone=True)),
    }
    return published, by_record(case, replace(plain, variant="pooled", context=context), hit[:n], hit[n:])


def _weights(case: Case, columns: Sequence[str]) -> dict[str, float]:
    """Return 1/entropy of each column among people, bins as in the schema; all alike where no column has any."""
    out = {}
    for c in columns:
        codes = case.codes(c)
        people = np.concatenate([codes[0], *codes[2:]])
        share = np.unique(people, return_counts=True)[1] / len(people)
        entropy = -math.fsum((share * np.log(share)).tolist())  # exact in any order: names change no digit
        out[c] = 1 / entropy if entropy > 1e-12 else 0.0
    return out if any(out.values()) else dict.fromkeys(columns, 1.0)


# ---------------------------------------------------------------- authenticity


_AUTHENTICITY_WORDS = Words(
    says="I find a synthetic row that lies so close to a person that it must have been remembered.",
    knows="The records of members and of strangers, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. " + MIXED,
    formula=(
        "authentic row = strictly farther from its nearest person than that person is from the next one\n"
        "value = share of authentic synthetic rows, with real and with holdout as the people\n"
        "c = credits of a person: rows nearest to him and nearer than his nearest fellow, ties shared\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "Fellows of the credits are members and strangers together; n_T, m: real and synthetic rows."
    ),
    reading=(
        "A value of 1 means that no row is that close, 0 that every row is; leak-free data do not give 1, but the "
        "same value for real and holdout of equal sizes. Risk estimates the fraction of synthetic rows that are "
        "copied so closely: 0 is none, 1 all, and negative where strangers attract more of them. The rate is the "
        "rows credited to members; its baseline is the leak-free share in the context."
    ),
    silent=(
        "In dense regions, where fellows are near, a copy hides.",
        "People with a double attract nothing, copied or not.",
        "Tables that pass may leak.",
    ),
)


@attack(
    family="distance",
    question="Is a synthetic row nearer to a person than the person's nearest fellow: a memorised record?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Alaa, van Breugel, Saveliev and van der Schaar 2022, How faithful is your synthetic data?",
    words=_AUTHENTICITY_WORDS,
)
def authenticity(case: Case, *, columns: Sequence[str] | None = None) -> Result:
    """Return the share of synthetic rows farther from their nearest person than that person is from the next.

    The value is the published authenticity (strictly farther), with real and with holdout as the people; leak-free data
    give equal ones for tables of equal size, not 1. Judged are rows nearer to their nearest person than that person's
    nearest fellow, members and strangers pooled, ties shared: leak-free data give members n_T/N of them. It sees close
    copies of isolated people; in dense regions a leak hides, and tables that pass may leak.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, synthetic = pl.DataFrame({"x": [0.0, 4.0, 10.0]}), pl.DataFrame({"x": [1.0, 16.0]})
    >>> authenticity(real, synthetic).value.real
    0.0
    """
    d, notes, settings = laid(case, columns)
    shares = {
        role: _authentic(d, role) if d.n_rows(role) > 1 else None
        for role in ("real", "holdout")[: 1 + case.has_holdout]
    }
    plain = Result(attack="authenticity", settings=settings, value=Value(**shares), notes=tuple(notes))
    fellow = d.nearest("people", "people").distances[:, 0]
    return attracted(case, plain, d, d.attraction(closer_than=fellow), alone=True)


def _authentic(d: Distances, role: str) -> float:
    """Return the mean over synthetic rows of being strictly farther, shared among nearest records that tie."""
    fellow = np.nextafter(d.nearest(role, role).distances[:, 0], np.inf)  # at most as far
    within = round_sum(d.index(role).attraction(d.rows("synthetic"), closer_than=fellow))
    return 1 - within / d.n_rows("synthetic")
