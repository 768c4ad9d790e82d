"""Linkability: are two lists about a person, which share no column, linked by one synthetic row?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import SHOWN, Floats, judge, rate_of, shown_by
from divulge.attacks.entry import (
    Cost,
    EngineWork,
    Primary,
    Record,
    SearchBytes,
    Settings,
    Withheld,
    Words,
    indexed,
    per_table,
)
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances, check_count, distance_columns
from divulge.core.errors import SettingError
from divulge.core.hashing import once as kept_once
from divulge.core.hashing import value_hashes
from divulge.core.result import Baseline, Individual, Result
from divulge.kernels.linkage.record_linkage import ColumnHalf, chances, of_a_copy, once
from divulge.stats import Outcomes, compare

__all__ = ["linkability"]

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Pair = tuple[tuple[str, ...], tuple[str, ...]]
KS = tuple(range(1, 11))
_TRIED = np.uint64(64)  # the share of whole rows by which it is looked first whether all are repeated
_NUMBERS = ("numeric", "datetime")
_WHOLE = (
    "links were searched on whole halves: copies of one half alone do not show, and copies of a few columns of each "
    "half need not"
)
_TIES = "rows that tie for the last of the k places are drawn at random: a score is the chance that the two draws meet"


_LINKABILITY_WORDS = Words(
    says=(
        "I hold two lists about the same people with no common key, and the synthetic table tells me which lines "
        "belong together."
    ),
    knows=(
        "Half of the columns of each person on one list, the other half on another list, and the whole synthetic table."
    ),
    data=(
        "Two columns or more, of numbers, dates or categories, every row in memory; a holdout says how many meet by "
        "chance. " + MIXED
    ),
    formula=(
        "A, B = the k synthetic rows nearest to the person on the one half of the columns, and on the other\n"
        "score = chance that A and B share a row, rows that tie for the last places being drawn at random\n"
        "p_T, p_C = mean score of members, of strangers\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline = 1 - C(m - k, k) / C(m, k), C(a, b) being the number of ways to choose b of a\n"
        "m: synthetic rows; a table written out several times counts once."
    ),
    reading=(
        "The rate is the share of people whose two halves meet: 1 is everybody, 0 nobody. The baseline is what two "
        "random sets of k rows give. Risk 0 means that the halves of strangers meet as often, 1 that those of every "
        "member do, and a negative risk that strangers are linked more often. Limits and verdicts over k and pairs "
        "of halves hold together (max-T)."
    ),
    silent=(
        "Copies of one half alone do not show.",
        "A leak in a few columns of each half may drown among the others.",
        "Other ways to split the columns may link more.",
    ),
)


def _seconds(work: EngineWork, settings: Settings) -> float:
    """Return the seconds of two trees of halves, in which the more rows tie the more there are."""
    return 4.9e-7 * work.synthetic * work.columns + 1.7e-6 * work.searches * math.sqrt(math.sqrt(work.synthetic))


def _disk(columns: int, in_blocks: bool) -> int:
    return indexed(columns) + indexed(0) + 80  # two halves, and their cells


@attack(
    family="linkability",
    question="Do two lists about the same person, with no common key, meet in one synthetic row?",
    needs="two columns that are numbers or categories; a holdout says how many meet by chance",
    reference=(
        "Article 29 Working Party 2014, Opinion 05/2014 (WP216); Giomi, Boenisch, Wehmeyer and Tasnadi 2023, A unified "
        "framework for quantifying privacy risk in synthetic data."
    ),
    words=_LINKABILITY_WORDS,
    sampled=True,
    plan=per_table(columns=2),
    cost=Cost(seconds=_seconds, memory=SearchBytes(6, 400, 1_000), disk=_disk),
    weight=5,
    primary=Primary("linkability", lambda variant: variant == "balanced halves, k = 1"),
    record=Record("linked", "highest", lambda variant: variant.endswith(", k = 1")),
    hit={"": "linked:"},
    context={
        SHOWN: Withheld(),
        "share of people whose link is drawn from ties": Withheld(),
    },
    notes=(
        "k above # was left out: there are no more synthetic rows",
        "left out of both lists: '…'",
        "links were searched on whole halves: copies of one half alone do not show, and copies of a few columns "
        "of each half need not",
        "rows that tie for the last of the k places are drawn at random: a score is the chance that the two draws meet",
    ),
)
def linkability(
    case: Case,
    *,
    columns: tuple[Sequence[str], Sequence[str]] | None = None,
    k: int | Sequence[int] | None = None,
) -> tuple[Result, ...]:
    """Return the share of people for whom one synthetic row links two lists, each with half of the columns.

    For each person the attack takes the k synthetic rows nearest on one half of the columns and the k rows nearest on
    the other half; the person is linked if a row is in both sets. Rows that tie for the last places are drawn at
    random, and the score is the exact probability that the two sets share a row. If every synthetic row is repeated
    equally often, the table counts once. The baseline is the probability for two random sets of k rows. There is one
    result for each pair of halves and each k; bounds, p-values and verdicts of all results hold simultaneously (max-T).

    The attack finds rows that were copied whole or closely. It does not find copies of one half alone, and it may miss
    a leak in a few columns of each half: tables without an excess may leak.

    Parameters
    ----------
    columns
        Two lists of columns without a common column, one for each list about people. None tries "balanced halves"
        (columns are dealt out by their entropy in the synthetic table), "numbers and categories", "people and
        their rows" (of linked tables), "keys and the rest" (where the schema gives the role "key"), and "random
        halves", drawn by the seed.
    k
        A whole number or a list of whole numbers, each at most the number of synthetic rows; None takes 1 to 10.

    Raises
    ------
    SettingError
        `columns` is not two lists, a list is empty, a column is named twice, or there are fewer than two columns to
        deal out; a k is no whole number from 1 on, or exceeds the number of synthetic rows.
    ColumnError
        The tables do not have one of the columns.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"age": [20.5, 30.5, 50.5, 60.5], "town": ["Ayr", "Deal", "Ayr", "Deal"]})
    >>> synthetic = pl.DataFrame({"age": [21.5, 31.5, 50.5, 61.5], "town": ["Ayr", "Ayr", "Ayr", "Deal"]})
    >>> (found,) = linkability(real, synthetic, columns=(["age"], ["town"]), k=1)
    >>> found.individual.real.round(3).tolist(), round(found.baseline.rate, 3)
    ([0.333, 0.0, 0.333, 1.0], 0.25)
    """
    splits, notes = _splits(case) if columns is None else _given(case, columns)
    ks = _checked(k)
    found: list[Result] = []
    for split, pair in splits.items():
        found += _linked(case, split, pair, ks, k is not None, notes, draws=case.draws if len(splits) == 1 else 0)
    return tuple(found)


def _linked(
    case: Case, split: str, pair: Pair, ks: Sequence[int], given: bool, notes: Sequence[str], draws: int
) -> list[Result]:
    """Return a result for each k; halves are sorted by name, so that their order does not change the result."""
    distances = [Distances(case, half) for half in sorted(map(sorted, pair))]
    kept = _kept(distances)
    m = distances[0].n_rows("synthetic") if kept is None else len(kept)
    if given and ks[-1] > m:
        raise SettingError(f"k: {ks[-1]} is more than the {m} synthetic rows. hint: at most {m}.")
    if ks[-1] > m:
        notes = [*notes, f"k above {m} was left out: there are no more synthetic rows"]
    ks = [k for k in ks if k <= m]
    near = [d.searched("synthetic") if kept is None else d.searched_rows("synthetic", kept) for d in distances]
    halves = [ColumnHalf(d.ruler, None, d.distinct("people"), n) for d, n in zip(distances, near, strict=True)]
    scores = chances(halves, ks, progress=case.progress)
    draws = draws if len(ks) == 1 else 0
    n = case.n_rows("real")
    copy = of_a_copy(halves, n, ks) if case.has_holdout and n else None
    shown = [None if copy is None else shown_by(copy[:n, j], copy[n:, j]) for j in range(len(ks))]
    return [
        _result(case, split, pair, k, scores[:, j], m, shown[j], [_TIES, _WHOLE, *notes] if j == 0 else [], draws)
        for j, k in enumerate(ks)
    ]


def _kept(halves: Sequence[Distances]) -> Ints | None:
    """Return the synthetic rows that count, None for all; a table in which every row is repeated counts once."""
    kept = _once_by_hash(halves) if halves[0].by_parts else once([d.distinct("synthetic") for d in halves])
    return None if kept is None or len(kept) == halves[0].n_rows("synthetic") else kept


def _once_by_hash(halves: Sequence[Distances]) -> Ints | None:
    """Return the rows to keep of a table in files; None for all, without the hashes of all where a few tell it."""

    def hashed() -> Iterator[Hashes]:
        parts = zip(*(d.hashed_parts("synthetic") for d in halves), strict=True)
        return (value_hashes(one, 0) + value_hashes(other, 1) for one, other in parts)

    # in nearly all tables some rows tell that not all are repeated: then the hashes of no others are held
    some = np.concatenate([part[part % _TRIED == 0] for part in hashed()])
    if len(some) and np.gcd.reduce(np.unique(some, return_counts=True)[1]) == 1:
        return None
    return kept_once(np.concatenate(list(hashed())))


def _result(
    case: Case,
    split: str,
    pair: Pair,
    k: int,
    scores: Floats,
    m: int,
    shown: float | None,
    notes: Sequence[str],
    draws: int,
) -> Result:
    n = case.n_rows("real")
    members = Outcomes(scores[:n], cluster=case.units("real"))
    plain = Result(
        attack="linkability",
        variant=f"{split}, k = {k}",
        settings={"first": list(pair[0]), "second": list(pair[1]), "k": k, "split": split},
        real=rate_of(members),
        baseline=Baseline(rate=random_meeting(m, k), what=f"two random sets of {k} synthetic row{'s' * (k > 1)}"),
        context={"share of people whose link is drawn from ties": float(((scores > 0) & (scores < 1)).mean())},
        notes=tuple(notes),
        individual=Individual(real=scores[:n], holdout=scores[n:] if case.has_holdout else None).coded(),
        verdict="no holdout",
    )
    if not case.has_holdout:
        return plain
    strangers = Outcomes(scores[n:], cluster=case.units("holdout"))
    rng = case.rng(f"linkability {' | '.join('+'.join(half) for half in sorted(map(sorted, pair)))} {k}")
    comparison = compare(members, strangers, level=case.level, rng=rng, draws=draws)
    plain = replace(plain, holdout=rate_of(strangers), context=plain.context | {SHOWN: shown})
    return judge(plain, comparison, case.level)


def random_meeting(m: int, k: int) -> float:
    """Return the probability that two random sets of k of m rows share a row: 1 - C(m - k, k) / C(m, k).

    Examples
    --------
    >>> random_meeting(4, 1), random_meeting(4, 3)
    (0.25, 1.0)
    """
    every = math.comb(m, k)
    return (every - math.comb(m - k, k)) / every  # difference of whole numbers: exact, and no overflow


# ---------------------------------------------------------------- which halves, which k


def _given(case: Case, columns: object) -> tuple[dict[str, Pair], list[str]]:
    """Return the halves that the caller named."""
    hint = 'hint: pass two lists, columns=(["age", "sex"], ["job", "town"]).'
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise SettingError(f"columns: a {type(columns).__name__} is no pair of lists. {hint}")
    if len(columns) != 2:
        raise SettingError(f"columns: {len(columns)} given where two lists are meant. {hint}")
    halves = []
    for which, half in zip(("first", "second"), columns, strict=True):
        if isinstance(half, str) or not isinstance(half, Sequence):
            raise SettingError(f"columns: the {which} is no list of columns. {hint}")
        if not half:
            raise SettingError(f"columns: the {which} list is empty. {hint}")
        halves.append(distance_columns(case, half)[0])
    both = [c for c in halves[0] if c in halves[1]]
    if both:
        raise SettingError(
            f"columns: {', '.join(map(repr, both))} in both lists. hint: a common column is a common key, by which "
            "anybody joins them; name it in one list or in none."
        )
    left = [c for c in case.schema.usable() if c not in halves[0] + halves[1]]
    notes = [f"left out of both lists: {', '.join(map(repr, left))}"] if left else []
    return {"given columns": (halves[0], halves[1])}, notes


def _splits(case: Case) -> tuple[dict[str, Pair], list[str]]:
    """Return plausible halves of all columns that can be compared, each pair of halves once."""
    used, notes = distance_columns(case)
    if len(used) < 2:
        raise SettingError(
            "linkability: one column to compare, and two are needed, one for each list. "
            "hint: `divulge schema` shows why others are left out."
        )
    names = sorted(used)
    telling = sorted(names, key=lambda c: (-_entropy(case.pooled(c).counts[1]), c))
    drawn = case.rng("linkability halves").permutation(len(names))[: len(names) // 2]
    first = {
        "balanced halves": [c for i, c in enumerate(telling) if i % 4 in (0, 3)],
        "numbers and categories": [c for c in names if case.schema[c].kind in _NUMBERS],
        "people and their rows": [c for c in names if case.persons is not None and c in case.persons.own],
        "keys and the rest": [c for c in names if "key" in case.schema[c].roles],
        "random halves": [names[i] for i in drawn],
    }
    splits: dict[str, Pair] = {}
    for split, some in first.items():
        pair = tuple(sorted(some)), tuple(c for c in names if c not in some)
        if all(pair) and pair not in splits.values() and pair[::-1] not in splits.values():
            splits[split] = pair
    return splits, notes


def _entropy(counts: Ints) -> float:
    """Return the entropy of a column in nats, given how many rows have each value; the names of these do not enter."""
    counts = np.sort(counts)
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


def _checked(k: object) -> list[int]:
    """Return the numbers of neighbours, ascending."""
    if k is None:
        return list(KS)
    several: list[Any] = list(k) if isinstance(k, Sequence | np.ndarray) and not isinstance(k, str) else [k]
    if not several:
        raise SettingError("k: none given. hint: leave it out to try 1 to 10.")
    for one in several:
        check_count("k", one)
    return sorted({int(one) for one in several})
