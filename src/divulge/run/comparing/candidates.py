"""Assess each candidate table, and rank the candidates with simultaneous intervals."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case
from divulge.core.coded_scores import Scores, decoded
from divulge.core.records import INVALIDATING
from divulge.core.result import FOUND, Individual, Result, label
from divulge.measures.result import FidelityResult
from divulge.report.comparison.model import Reached
from divulge.report.comparison.prose import findings, findings_in_words
from divulge.report.comparison.reached import reached
from divulge.report.comparison.rows import PARTS
from divulge.report.order import ORDER
from divulge.report.prose.advice import advice
from divulge.report.prose.reach import clearance
from divulge.report.report import Report
from divulge.run.assess import assess_with
from divulge.run.comparing.compared_people import PeopleSeen, check_same_people, people_seen
from divulge.run.comparing.compared_tables import Candidate
from divulge.run.engines.drawn_rows import DrawnRows, drawn_rows, whole_tables
from divulge.run.engines.engine_plan import uses_engine
from divulge.run.engines.people_sample import Rows
from divulge.run.fidelity_in_run import distances_of_people
from divulge.run.making.progress import Progress
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.run.planning.primaries import is_named
from divulge.stats.rank_intervals import Ranking, rank
from divulge.stats.rank_intervals import Scores as Sides
from divulge.tables.frames import Table

Floats = NDArray[np.float64]


Key = tuple[str, str, tuple[str, ...], str]
"""Attack, variant, keys and target of a comparison."""


def ranks(result: Result, attacker: Attacker) -> bool:
    """Return whether a comparison is among those that rank candidates; they are fixed before any outcome is seen.

    These are the primary comparisons. In place of the mean over targets stand the comparisons of single targets, whose
    mean is taken over the targets that were attacked through every table.
    """
    entry = CATALOGUE[result.attack]
    if entry.primary is None or entry.counts != "people":
        return False
    if entry.primary.by_keys:
        return is_named(result, entry.primary, attacker)
    return (entry.primary.named if entry.summary else entry.primary.always)(result.variant)


@dataclass
class Assessed:
    """The parts of one table's assessment that are kept."""

    label: str
    report: Report
    scores: dict[Key, tuple[Scores, Scores | None]]
    """Scores of members and strangers in each comparison that may be ranked, coded where people are many."""
    found: tuple[Result, ...]
    """The results that stand for what was found."""
    bands: list[dict[str, Any]]
    kept: tuple[FidelityResult, ...]
    """How far the table is from the real one; of linked tables, how far their people are."""
    given: Table | None = None
    """The table itself, rows drawn from it where an engine counts, or the people of linked tables."""

    @property
    def holds(self) -> bool:
        """Whether members and strangers can be compared."""
        return all(c.ok for c in self.report.assessment.preconditions if c.check in INVALIDATING)

    @property
    def behind(self) -> bool:
        """Whether the table stands behind others: something was found, or its people cannot be compared."""
        return self.report.verdict in FOUND or not self.holds


@dataclass
class Assessment:
    """The inputs and settings that all candidate tables share."""

    real: Any
    holdout: Any
    attacker: Attacker
    reading: Reading
    options: RunOptions
    n_tables: int
    failed: list[dict[str, str]] = field(default_factory=list)
    rows: Rows = field(default_factory=Rows)
    """Where the engine of the people's tables writes what does not fit into memory."""
    people: PeopleSeen | None = None
    """The people asked; None until the first candidate is attacked."""
    drawn: DrawnRows | None = None
    """Rows of the first candidate's run that were drawn for fidelity, where an engine counts; of linked tables the rows
    that people have there."""
    before: Callable[[str], None] = lambda told: None
    """Called with what is known of the run of the first table before its attacks begin."""


def assess_candidate(run: Assessment, candidate: Candidate, progress: Progress) -> Assessed:
    """Return the parts of one table's assessment that are kept, after all attacks.

    Raises
    ------
    TableError
        It was asked by other people than the tables before.
    DivulgeError
        It cannot be attacked.
    """
    reading = dataclasses.replace(run.reading, ignore=(*run.reading.ignore, *candidate.ignored))
    table, seen = candidate.table(reading.missing, run.options.engine), list[_Seen]()
    before = run.before if run.people is None else lambda told: None
    report = assess_with(
        run.real, table, run.holdout, run.attacker, reading, run.options, before=before, progress=progress,
        made=lambda case, options: seen.append(_seen(run, case, options)),
    )  # fmt: skip
    people, drawn, kept = seen[0]
    check_same_people(run.people or people, people)
    run.people = run.people or people
    if drawn is not None:
        run.drawn = run.drawn or drawn
    results = report.results
    scores = {
        (r.attack, r.variant, r.keys, r.target or ""): _scores_of(r.attack, individual)
        for r in results
        if ranks(r, run.attacker) and (individual := people.scores(r)) is not None
    }
    bands = _bands(results, run.options.level, run.n_tables)
    # kept without scores: those of hundreds of comparisons would fill the memory
    light = dataclasses.replace(
        report, results=tuple(replace(r, individual=None, comparison=None, table=None) for r in results)
    )
    found = findings(light.results, report.verdict, report.assessment.verdict.most)
    here = None if uses_engine(run.options) else table
    kept = report.assessment.fidelity if kept is None else kept
    return Assessed(candidate.label, light, scores, found, bands, kept, drawn.synthetic if drawn else here)


_Seen = tuple[PeopleSeen, DrawnRows | None, tuple[FidelityResult, ...] | None]


def _seen(run: Assessment, case: Case, options: RunOptions) -> _Seen:
    """Return what is kept of a run as long as its rows are there."""
    drawn = kept = None
    if case.persons is not None:
        drawn, kept = whole_tables(case), distances_of_people(case, PARTS, options) if options.fidelity else ()
    elif run.options.fidelity and uses_engine(options):
        drawn = drawn_rows(case, options, run.n_tables, run.drawn)
    return people_seen(case, options), drawn, kept


def _scores_of(attack: str, individual: Individual) -> tuple[Scores, Scores | None]:
    """Return the scores of members and strangers, in [0, 1]; of an attack whose scores are no rates, their places."""
    members, strangers = individual.real, individual.holdout
    if strangers is None or not CATALOGUE[attack].placed:
        return individual.coded().kept
    ordered = np.sort(strangers)
    both = [np.searchsorted(ordered, s) + np.searchsorted(ordered, s, side="right") for s in (members, strangers)]
    of_members, of_strangers = (places / (2 * len(ordered)) for places in both)
    return of_members, of_strangers


def worst_of(own: Sequence[Assessed]) -> tuple[str, str]:
    """Return the worst verdict of a candidate's tables, and in words what was found in the worst of these."""
    worst = min((a.report.verdict for a in own), key=ORDER.__getitem__)
    unfair = "" if all(a.holds for a in own if a.report.verdict == worst) else "the comparison does not hold"
    found = [a.found for a in own if a.report.verdict == worst and a.found]
    if not found:
        return worst, unfair
    most = max(found, key=lambda f: (abs(f[0].risk.value or 0.0) if f[0].risk else 0.0, findings_in_words(f)))
    where = f"in {len(found)} of {len(own)} tables, the worst by " if len(own) > 1 else ""
    return worst, (f"{unfair}; " if unfair else "") + where + findings_in_words(most)


def clearance_of(own: Sequence[Assessed]) -> str:
    """Return why a candidate is cleared, or is not, by the first of its tables with the worst verdict."""
    worst = min(own, key=lambda a: ORDER[a.report.verdict])
    told = clearance(worst.report.assessment)
    return f"{told} (one of {len(own)} tables)" if told and len(own) > 1 else told


def reached_of(own: Sequence[Assessed]) -> Reached | None:
    """Return how many members a candidate reaches, by the worst of its tables with the worst verdict."""
    worst = min((a.report.verdict for a in own), key=ORDER.__getitem__)
    told = [r for a in own if a.report.verdict == worst and (r := reached(a.report.assessment, a.found)) is not None]
    most = 1.0 if worst not in FOUND else 0.0  # of what is not known
    return max(told, key=lambda r: most if r.share is None else r.share, default=None)


def next_step(own: Sequence[Assessed]) -> str:
    """Return what to do first about a candidate, by the first of its tables with the worst verdict."""
    worst = min(own, key=lambda a: ORDER[a.report.verdict])
    return advice(worst.report.assessment)[0].do


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
    behind: list[bool]
    """For each candidate whether it stands behind the others, whatever its risk."""
    attacks: list[tuple[str, str, int]]
    """For each attack its name, the comparisons of it that were chosen, and their number."""
    rates: list[list[tuple[float, float]]]
    """For each attack and each candidate the mean score of members and of strangers."""
    left_out: list[tuple[str, str]]
    cleared: Sequence[bool] = ()
    """For each candidate whether each of its tables is cleared, which puts it before others without a finding."""

    @property
    def groups(self) -> list[int]:
        """For each candidate 0 where it is cleared, 1 without a finding, 2 for others; one group behind the other."""
        return groups_of(self.behind, self.cleared)


def groups_of(behind: Sequence[bool], cleared: Sequence[bool]) -> list[int]:
    """Return for each candidate 0 where it is cleared, 1 for another without a finding, 2 for others."""
    return [2 if b else 0 if c else 1 for b, c in zip(behind, cleared, strict=True)]


_NO_PEOPLE = {
    "rows": "it counts synthetic rows, not people, and candidates are compared person by person",
    "guesses": "it counts guesses, not people; each table has its own, and candidates are compared person by person",
}


def rank_candidates(run: Assessment, assessed: Sequence[Assessed], labels: Sequence[str]) -> Ranked:
    """Return the ranks, based on the primary comparisons that exist for every table."""
    tables = [[i for i, a in enumerate(assessed) if a.label == name] for name in labels]
    behind = [any(assessed[i].behind for i in own) for own in tables]
    made = _made(assessed)
    scores: list[Sides] = []
    attacks, rates, left_out = [], [], []
    for attack, entry in CATALOGUE.items():
        if entry.primary is None:
            continue
        if entry.counts != "people":
            left_out.append((attack, _NO_PEOPLE[entry.counts]))
            continue
        if attack not in made:
            lacking = entry.primary.by_keys and not (run.attacker.keys and run.attacker.targets)
            named = "only keys and targets that the user names rank candidates, and not both were named"
            left_out.append((attack, named if lacking else "no comparison of it was made for every table"))
            continue
        found = Sides(*(scores_of_people(assessed, made[attack], side) for side in (0, 1)))
        means = [[mean_of(s[own].mean(axis=0)) for s in (found.members, found.strangers)] for own in tables]
        if max(q for _, q in means) >= 1 - 1e-12:
            left_out.append((attack, "strangers are always hit, so that the risk of a table is undefined"))
            continue
        scores.append(found)
        attacks.append((attack, _in_words(made[attack]), len(made[attack])))
        rates.append([(p, q) for p, q in means])
    cleared = [all(assessed[i].report.verdict == "none found" for i in own) for own in tables]
    if not attacks:
        return Ranked(None, behind, [], [], left_out, cleared)
    members, strangers = (None, None) if run.people is None else run.people.units
    ranking = rank(
        scores, tables=tables, behind=groups_of(behind, cleared), cluster_members=members,
        cluster_strangers=strangers, level=run.options.level,
        rng=np.random.default_rng(np.random.SeedSequence(run.options.seed, spawn_key=(zlib.crc32(b"ranking"),))),
    )  # fmt: skip
    return Ranked(ranking, behind, attacks, rates, left_out, cleared)


def _made(assessed: Sequence[Assessed]) -> dict[str, list[Key]]:
    """Return for each attack the comparisons that exist for every table."""
    made: dict[str, list[Key]] = {}
    for key in sorted(set.intersection(*(set(a.scores) for a in assessed))):
        made.setdefault(key[0], []).append(key)
    return {attack: made[attack] for attack in CATALOGUE if attack in made}


def _in_words(made: Sequence[Key]) -> str:
    """Return which comparisons of an attack were chosen."""
    variants = ", ".join(dict.fromkeys(variant for _, variant, _, _ in made))
    n = len({target for *_, target in made if target})
    if any(CATALOGUE[attack].placed for attack, *_ in made):
        return (
            f"{variants}, as the share of strangers who score lower; the risk is then 2 AUC - 1, and not the one at a "
            "false positive rate of 10% that the report on a candidate has"
        )
    either = " (a person counts once)" if len({variant for _, variant, _, _ in made}) > 1 else ""
    return variants + either + (f", mean over {n} targets" if n > 1 else "")


def scores_of_people(assessed: Sequence[Assessed], made: Sequence[Key], side: int) -> Floats:
    """Return each person's highest score about a target, and its mean over the targets: shape (n_tables, n_people).

    Who was not asked through every table, as people of one row are not for a whole history, has 0 there.
    """
    by_target: dict[str, list[Floats]] = {}
    for key in made:
        each = [table.scores[key][side] for table in assessed]
        one = np.stack([decoded(e) for e in each if e is not None])
        by_target.setdefault(key[3], []).append(np.where(np.isnan(one).any(axis=0), 0.0, one))
    return np.asarray(np.mean([np.max(about, axis=0) for about in by_target.values()], axis=0))


def mean_of(scores: Floats) -> float:
    """Return the mean; it does not depend on the order of the values, to the last digit."""
    return fsum(scores.tolist()) / len(scores)


def rates_alone(labels: Sequence[str], assessed: Sequence[Assessed]) -> list[dict[str, Any]]:
    """Return the rates of each attack on each table, for a comparison without strangers."""
    out = []
    for attack, made in _made(assessed).items():
        rates = [mean_of(row) for row in scores_of_people(assessed, made, 0)]
        cells = [
            {
                "label": name,
                "members": float(np.mean([p for p, a in zip(rates, assessed, strict=True) if a.label == name])),
                "strangers": None, "risk": None, "low": None, "high": None, "first": None, "last": None,
            }
            for name in labels
        ]  # fmt: skip
        question = CATALOGUE[attack].question
        chosen = _in_words(made)
        out.append(
            {"attack": attack, "question": question, "chosen": chosen, "comparisons": len(made), "candidates": cells}
        )
    return out
