"""Assess each candidate table, and rank the candidates with simultaneous intervals."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks import CATALOGUE
from divulge.attacks.entry import Headline
from divulge.case.case import build_case
from divulge.core.result import Result, label
from divulge.measures.single_table import utility as utility_of
from divulge.report.model import Utility
from divulge.report.report import Report
from divulge.run.assess import assess_with
from divulge.run.options import Attacker, Reading, RunOptions
from divulge.stats.intervals import Interval
from divulge.stats.rank_intervals import Ranking, Scores, level_apart, rank

Floats = NDArray[np.float64]


def _ranked_by(how: str) -> list[tuple[str, Headline]]:
    """Return the attacks that rank candidates, with the results that count; both are fixed before any outcome is seen.

    `how` is "scores" (candidates are compared person by person) or "intervals" (two candidates differ where their
    intervals do not overlap).
    """
    return [(name, a.headline) for name, a in CATALOGUE.items() if a.headline is not None and a.headline.ranks == how]


def _speaks(result: Result, how: str) -> bool:
    """Return whether a result is used to rank candidates in this way."""
    headline = CATALOGUE[result.attack].headline
    return headline is not None and headline.ranks == how and headline.speaks(result.variant)


@dataclass
class Assessed:
    """The parts of one table's assessment that are kept."""

    label: str
    report: Report
    scores: dict[tuple[str, str], tuple[Floats, Floats | None]]
    """Scores of members and strangers in each comparison that may be ranked, by attack and name."""
    apart: dict[str, Any]
    """The comparison of each attack that is ranked by intervals."""
    bands: list[dict[str, Any]]
    utility: list[dict[str, Any]]


@dataclass
class Assessment:
    """The inputs and settings that all candidate tables share."""

    real: Any
    holdout: Any
    attacker: Attacker
    reading: Reading
    options: RunOptions
    utility: bool
    n_tables: int
    failed: list[dict[str, str]] = field(default_factory=list)
    units: tuple[Any, Any] | None = None
    """Person or household of each row of real and of holdout; None until the case of the first candidate is built."""


def assess_candidate(run: Assessment, name: str, table: Any, ignore: Sequence[str]) -> Assessed:
    """Return the parts of one table's assessment that are kept, after all attacks."""
    reading = dataclasses.replace(run.reading, ignore=tuple(ignore))
    report = assess_with(run.real, table, run.holdout, run.attacker, reading, run.options)
    kept = list(report.data["utility"]) if run.utility else []
    if run.units is None or (run.utility and not kept):
        case = build_case(
            run.real, table, run.holdout, schema=reading.schema, unit=reading.unit, ignore=reading.ignore,
            missing=reading.missing, seed=run.options.seed, level=run.options.level,
        ).collected("utility is of single rows")  # fmt: skip
        run.units = case.units("real"), case.units("holdout")
        if run.utility and not kept:
            kept = [u.to_dict() for u in utility_of(case, targets=run.attacker.targets)]
    report = report.replaced(utility=msgspec.convert(kept, tuple[Utility, ...]))
    results = report.results
    scores = {
        (r.attack, label(r)): (r.individual.real, r.individual.holdout)
        for r in results
        if r.individual is not None and _speaks(r, "scores")
    }
    apart = {r.attack: r.comparison for r in reversed(results) if _speaks(r, "intervals")}
    bands = _bands(results, run.options.level, run.n_tables)
    # kept without scores: those of hundreds of comparisons would fill the memory
    light = dataclasses.replace(
        report, results=tuple(replace(r, individual=None, comparison=None, table=None) for r in results)
    )
    return Assessed(name, light, scores, apart, bands, kept)


def _bands(results: Sequence[Result], level: float, n_tables: int) -> list[dict[str, Any]]:
    """Return for each attack the largest lower and the largest upper limit of a single comparison.

    The limits of all comparisons of all tables hold simultaneously (Bonferroni).
    """
    judged = [r for r in results if r.comparison is not None and r.risk is not None and r.risk.value is not None]
    out: dict[str, dict[str, Any]] = {}
    for r in judged:
        _, risk = r.comparison.at(1 - (1 - level) / (n_tables * len(judged)))
        if not isfinite(risk.low) or not isfinite(risk.high):
            continue
        entry = out.setdefault(r.attack, {"attack": r.attack, "n": 0, "low": -np.inf, "high": -np.inf, "where": ""})
        entry["n"] += 1
        entry["high"] = max(entry["high"], risk.high)
        if risk.low > entry["low"]:
            entry |= {"low": risk.low, "where": label(r)}
    return list(out.values())


@dataclass(frozen=True)
class Ranked:
    """The ranking of the candidates, and the attacks it is based on."""

    ranking: Ranking | None
    attacks: list[tuple[str, str, int]]
    """For each attack its name, the results of it that were chosen, and the number of comparisons."""
    rates: list[list[tuple[float, float]]]
    """For each attack with person scores and each candidate the mean score of members and of strangers."""
    left_out: list[tuple[str, str]]


def rank_candidates(run: Assessment, assessed: Sequence[Assessed], labels: Sequence[str]) -> Ranked:
    """Return the ranks, based on the comparisons that exist for every table."""
    level, seed = run.options.level, run.options.seed
    tables = [[i for i, a in enumerate(assessed) if a.label == name] for name in labels]
    shared = set.intersection(*(set(a.scores) for a in assessed))
    scores: list[Scores] = []
    attacks, rates, left_out = [], [], []
    for attack, headline in _ranked_by("scores"):
        made = sorted(name for of, name in shared if of == attack)
        if headline.needs_keys and not run.attacker.keys:
            left_out.append((attack, "no keys were given, and the key sets that are searched differ between tables"))
            continue
        if not made:
            left_out.append((attack, "no comparison of it was made for every table"))
            continue
        found = Scores(*(mean_scores(assessed, attack, made, side) for side in (0, 1)))
        means = [[mean_of(s[own].mean(axis=0)) for s in (found.members, found.strangers)] for own in tables]
        if max(q for _, q in means) >= 1 - 1e-12:
            left_out.append((attack, "strangers are always hit, so that the risk of a table is undefined"))
            continue
        scores.append(found)
        attacks.append((attack, headline.words, len(made)))
        rates.append([(p, q) for p, q in means])
    apart = []
    for attack, headline in _ranked_by("intervals"):
        found_apart = told_apart(attack, assessed, level, len(scores))
        if found_apart:
            apart.append(found_apart)
            attacks.append(
                (attack, f"{headline.words}; compared by interval, as each table makes guesses of its own", 1)
            )
        else:
            left_out.append((attack, "too few guesses could be made from one of the tables"))
    if not attacks:
        return Ranked(None, [], [], left_out)
    members, strangers = run.units or (None, None)
    ranking = rank(
        scores, tables=tables, apart=apart, cluster_members=members,
        cluster_strangers=strangers, level=level,
        rng=np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(zlib.crc32(b"ranking"),))),
    )  # fmt: skip
    return Ranked(ranking, attacks, rates, left_out)


def mean_scores(assessed: Sequence[Assessed], attack: str, made: Sequence[str], side: int) -> Floats:
    """Return each person's mean score over the comparisons, shape (n_tables, n_people)."""
    rows = []
    for table in assessed:
        each = [table.scores[attack, name][side] for name in made]
        rows.append(np.mean([e for e in each if e is not None], axis=0))
    return np.stack(rows)


def mean_of(scores: Floats) -> float:
    """Return the mean; it does not depend on the order of the values, to the last digit."""
    return fsum(scores.tolist()) / len(scores)


def told_apart(attack: str, assessed: Sequence[Assessed], level: float, n_person: int) -> list[Interval]:
    """Return the interval of an attack on each table; none if a table lacks it."""
    if any(a.apart.get(attack) is None for a in assessed):
        return []
    each = level_apart(level, n_person, len(_ranked_by("intervals")), len(assessed))
    found = [a.apart[attack].at(each)[1] for a in assessed]
    return found if all(isfinite(x) for i in found for x in (i.value, i.low, i.high)) else []


def rates_alone(labels: Sequence[str], assessed: Sequence[Assessed]) -> list[dict[str, Any]]:
    """Return the rates of each attack on each table, for a comparison without strangers."""
    out = []
    shared = set.intersection(*(set(a.scores) for a in assessed))
    for attack, headline in _ranked_by("scores"):
        made = sorted(name for of, name in shared if of == attack)
        if not made or (headline.needs_keys and any(a.report.assessment.key_sets for a in assessed)):
            continue
        rates = [mean_of(row) for row in mean_scores(assessed, attack, made, 0)]
        cells = [
            {
                "label": name,
                "members": float(np.mean([p for p, a in zip(rates, assessed, strict=True) if a.label == name])),
                "strangers": None, "risk": None, "low": None, "high": None, "first": None, "last": None,
            }
            for name in labels
        ]  # fmt: skip
        question = CATALOGUE[attack].question
        out.append(
            {
                "attack": attack,
                "question": question,
                "chosen": headline.words,
                "comparisons": len(made),
                "candidates": cells,
            }
        )
    return out
