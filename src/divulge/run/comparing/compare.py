"""Several candidate tables for one release: the same attacks on each, and a ranking with simultaneous limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from divulge.attacks.checks import ACCEPTABLE, finite
from divulge.attacks.entry import CATALOGUE
from divulge.case.code_files import check_parent
from divulge.core import __version__
from divulge.core.errors import DivulgeError, SizeError
from divulge.core.memory import read_as_told
from divulge.core.records import CRITICAL
from divulge.core.relations import RelationalSchema
from divulge.core.result import number
from divulge.core.schema import Schema
from divulge.report.comparison.model import CandidateFidelity, FidelityPair
from divulge.report.comparison.prose import STANDING, Placed, apart_in_words, order_in_words, some
from divulge.report.comparison.report import ComparisonReport
from divulge.report.environment import fixed_moment, stated_moment, stated_seconds
from divulge.report.report import Report
from divulge.run.comparing.candidates import (
    Assessed,
    Assessment,
    Ranked,
    assess_candidate,
    clearance_of,
    next_step,
    rank_candidates,
    rates_alone,
    reached_of,
    worst_of,
)
from divulge.run.comparing.compared_people import check_ranking, people_of_comparison
from divulge.run.comparing.compared_tables import Candidate, linked_candidates, listed_candidates, same_columns
from divulge.run.comparing.pareto import Standing, candidate_fidelity, front_of, measure_of_use
from divulge.run.comparing.two_by_two import paired_distances, two_by_two
from divulge.run.engines.drawn_rows import drawn_in_words
from divulge.run.engines.engine_plan import COUNTED, EXACT_ALONE, uses_engine
from divulge.run.engines.people_sample import Rows
from divulge.run.forecasting.memory_check import check_comparison, memory_told
from divulge.run.making.progress import Progress, shown
from divulge.run.planning.options import Attacker, Reading, RunOptions, attacker_of, n_jobs, stated
from divulge.stats.rank_intervals import Ranking
from divulge.tables.counting import Engine
from divulge.tables.kinds import kind_of
from divulge.tables.opening import load, opened

__all__ = ["compare"]

_OF_PEOPLE = (
    "distances are those of people: of their own columns, and of those that describe their rows in other tables"
)


@read_as_told
@memory_told()
def compare(
    real: Any,
    candidates: Mapping[str, Any],
    *,
    holdout: Any = None,
    keys: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    schema: Schema | RelationalSchema | str | Path | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    acceptable: float = ACCEPTABLE,
    fidelity: bool = True,
    membership: bool = True,
    seed: int = 0,
    level: float = 0.95,
    jobs: int | None = None,
    people: int | str | None = None,
    beyond_memory: bool = False,
    engine: Engine = "auto",
    spill: str | Path | None = None,
    progress: Progress | bool | None = None,
    before: Callable[[str], None] = lambda told: None,
) -> ComparisonReport:
    """Return a comparison of candidate tables by risk and by use.

    Each table is attacked as in `divulge.assess`, without trained models. Only primary comparisons rank; they are fixed
    before any outcome is seen. The score of a person under an attack is the mean over the same comparisons for every
    table, the risk of the attack the residual over strangers of these scores. Candidates are compared person by person;
    risks, differences and ranks hold simultaneously at `level`. A candidate with a finding, or whose members and
    strangers cannot be compared, stands behind those without, and among these cleared ones ("none found") come first;
    in each group those that reach fewest members, unless the worst attack on one is worse beyond chance. Members
    reached are those of the report on the table: at least so many where something was found, else at most.

    Parameters
    ----------
    real
        The table that every synthesizer was trained on; linked tables are a dictionary, as in `divulge.assess`.
    candidates
        Label -> synthetic table, or label -> list of tables that one generator made; the statement is then about
        their mean. With one table it is about this table. In place of a table stands a dictionary of linked ones.
    holdout
        People of the same population that no synthesizer saw. Without it nothing is ranked.
    keys, targets, schema, unit, ignore, missing, acceptable, seed, level, jobs
        As in `divulge.assess`, the same for every table. A column that one table lacks is left out for all.
    fidelity
        Whether to measure how far columns and pairs of columns are from the real ones, beside a fresh sample. Use is
        the distance of pairs of columns (of columns where there is one), and the comparison names the front of risk and
        use. `divulge.utility` has models of a single table.
    membership
        Whether it is tested, and ranked, who is taken for a member.
    people
        Members, and as many strangers, whom the attacks ask that rank (units where there are any): the same random
        sample for every table, drawn by seed, of which exact copies rank too. At least 100; "all" asks everybody. None
        asks everybody in memory; where "duckdb" or "polars" count it asks a million, or fewer if memory does not
        suffice.
    beyond_memory
        Whether to begin although the comparison is not expected to fit into the memory that this process may use.
    engine
        "duckdb" or "polars" leave the rows of Parquet files where they are, as in `divulge.assess`, one candidate after
        the other: memory and disk are those of one assessment. Distances of candidates are those of rows drawn from
        each table. "auto" and "memory" read all tables.
    spill
        A folder for what does not fit into memory, as in `divulge.assess`; what is there goes after each table.
    progress
        As in `divulge.assess`.
    before
        Called before the attacks on the first table begin with how many tests they are, about how long they take, and
        what a run of this size can find, in words.

    Returns
    -------
    ComparisonReport
        The comparison; `reports` holds the full report of each table, `failed` the tables that cannot be attacked.

    Raises
    ------
    DivulgeError
        There are fewer than two tables, a label is no text, nobody would be asked, or no table can be attacked.
    SizeError
        The comparison would not fit into memory or on the disk (told before any attack), or it did not.

    Examples
    --------
    >>> from divulge.demo import tables
    >>> real, synthetic, holdout = (table.head(150).select("age", "educ", "vote") for table in tables())
    >>> found = compare(
    ...     real, {"trees": synthetic, "copy": real}, holdout=holdout, keys=["age", "educ"], targets=["vote"],
    ...     fidelity=False,
    ... )
    >>> found.order
    ['trees', 'copy']
    """
    began, started = time.perf_counter(), datetime.now(UTC)
    fixed_moment()  # a mistake there is told before the run
    given = listed_candidates(candidates)
    reading, attacker = Reading.of(schema, unit, ignore, missing), attacker_of(keys, targets)
    options = RunOptions(
        models=False, membership=membership, fidelity=fidelity, acceptable=acceptable, seed=seed, level=level,
        jobs=n_jobs(jobs), people=people, beyond_memory=beyond_memory, engine=engine, spill=spill,
    )  # fmt: skip
    check_ranking(options)
    run, tables, notes = _prepared(real, given, holdout, attacker, reading, options)
    run.before = lambda told: before(f"for each of {len(tables)} tables: {told}")
    with shown(progress) as tell:
        assessed = _each_assessed(run, tables, tell)
        tell("ranking", len(tables), len(tables))
    labels = sorted({a.label for a in assessed})
    ranked = rank_candidates(run, assessed, labels) if holdout is not None else None
    distances = paired_distances(run, assessed, labels) if fidelity else ()
    notes += drawn_in_words(run.drawn, [a.given for a in assessed]) if distances else []
    data = {
        "format": "divulge-comparison/1",
        "divulge": __version__,
        "command": "",
        "settings": _settings(run, unit),
        "started": stated_moment(started),
        "seconds": stated_seconds(time.perf_counter() - began),
        **_compared(run, assessed, labels, ranked, notes, distances),
    }
    kind = kind_of(real)
    reports = {n: tuple(replace(a.report, kind=kind) for a in assessed if a.label == n) for n in labels}
    return ComparisonReport.build(data, reports)


def _prepared(
    real: Any, given: Sequence[tuple[str, Any]], holdout: Any, attacker: Attacker, reading: Reading,
    options: RunOptions,
) -> tuple[Assessment, Sequence[Candidate], list[str]]:  # fmt: skip
    """Return what all tables share, the tables that can be read, and notes on what is left out."""
    elsewhere, missing, engine = uses_engine(options), reading.missing, options.engine
    check_parent(options.spill)
    both = {"real": real} | ({} if holdout is None else {"holdout": holdout})
    if any(isinstance(table, Mapping) for table in (*both.values(), *(table for _, table in given))):
        here, linked = linked_candidates(both, given, missing)
        options = replace(options, people="all" if options.people is None else options.people)
        sides = here["real"], here.get("holdout")
        run = Assessment(*sides, attacker, reading, options, len(linked.tables), linked.failed)
        return run, linked.tables, [_OF_PEOPLE]
    if not elsewhere:
        real, holdout = load(real, "real"), load(holdout, "holdout")
        if not options.beyond_memory:
            check_comparison(real, [table for _, table in given], holdout, attacker, reading, options)
    rows, given_people = Rows(), [(t, role) for t, role in ((real, "real"), (holdout, "holdout")) if t is not None]
    with rows.spilling_engines(options):
        people = [opened(t, role, missing, engine) for t, role in given_people]
    sampled = elsewhere or options.sample is not None
    found = same_columns(
        people, given, missing, reading.ignore, engine=engine, asked_again=elsewhere, sampled=sampled
    )  # fmt: skip
    options, notes = people_of_comparison(options, people, len(people[0].columns), attacker, len(found.tables))
    if not elsewhere:
        # asked above, for all tables together
        real, holdout, options = people[0], people[1] if len(people) > 1 else None, replace(options, beyond_memory=True)
    if sampled:
        reading = replace(reading, ignore=tuple(c for c in reading.ignore if c not in found.away))
    run = Assessment(
        real, holdout, attacker, reading, options, len(found.tables), found.failed, rows
    )  # fmt: skip
    counted = [COUNTED, EXACT_ALONE] if elsewhere else []
    return run, found.tables, [*found.notes, *notes, *counted]


def _each_assessed(run: Assessment, tables: Sequence[Candidate], progress: Progress) -> list[Assessed]:
    """Return what is kept of each table. A table that cannot be attacked goes to `failed`; if none can, raise."""
    assessed: list[Assessed] = []
    errors: list[DivulgeError] = []
    for done, one in enumerate(tables):
        name, heard = f"{one.label}: table {done + 1} of {len(tables)}", partial(_heard, progress, done, len(tables))
        progress(name, done, len(tables))
        try:
            assessed.append(assess_candidate(run, one, partial(heard, one.label)))
        except DivulgeError as error:
            if isinstance(error, SizeError) and not uses_engine(run.options):
                raise  # the memory is that of all tables
            run.failed.append({"label": one.label, "why": str(error)})
            errors.append(error)
    if not assessed:
        raise errors[0]  # an error in real, holdout or the settings is the same for every candidate
    return assessed


def _heard(progress: Progress, table: int, n_tables: int, label: str, what: str, done: int, total: int) -> None:
    """Tell a step of one table's attacks."""
    progress(f"{label}: {what}", table, n_tables)


def _settings(run: Assessment, unit: str | None) -> dict[str, Any]:
    """Return the settings that the report states."""
    asked = msgspec.structs.asdict(stated(run.attacker, run.reading, run.options, unit))
    names = ("seed", "level", "jobs", "acceptable", "people", "engine", "keys", "targets", "unit", "ignore",
             "missing")  # fmt: skip
    return {name: asked[name] for name in names}


def _compared(
    run: Assessment, assessed: Sequence[Assessed], labels: Sequence[str], ranked: Ranked | None, left_out: list[str],
    distances: Sequence[FidelityPair],
) -> dict[str, Any]:  # fmt: skip
    """Return the parts of the comparison's report."""
    first = assessed[0].report
    sampling = first.assessment.sampling
    kept = _fidelity(assessed, labels, run.options.level)
    order = _order(labels, ranked, _shares(labels, assessed))
    candidates = [_candidate(assessed, labels, i, ranked) | {"fidelity": msgspec.to_builtins(kept[name])}
                  for i, name in enumerate(labels)]  # fmt: skip
    return {
        "tables": {
            "real": _given(first, "real"),
            "holdout": None if run.holdout is None else _given(first, "holdout"),
        },
        "sampling": None if sampling is None else msgspec.to_builtins(sampling),
        "warnings": _warnings(assessed),
        "candidates": candidates,
        "attacks": _attacks(labels, ranked, assessed),
        "pairs": _pairs(labels, ranked),
        "front": _front(kept, labels, ranked, order, run.options.level, distances),
        "distances": msgspec.to_builtins(distances),
        "two_by_two": msgspec.to_builtins(two_by_two(labels, ranked, distances)),
        "not_compared": _not_compared(assessed, ranked),
        "failed": run.failed,
        "versions": first.data["versions"],
        "machine": first.data["machine"],
        "notes": left_out + _notes(assessed, labels),
        "verdict": {
            "order": order,
            "sentence": _sentence(assessed, labels, ranked, run.options.level),
        },
    }


# ---------------------------------------------------------------- the data


def _apart(labels: Sequence[str], ranking: Ranking, groups: Sequence[int], i: int) -> str:
    """Return from which others a candidate is told apart, in words."""
    place: dict[str, list[str]] = {"behind": [], "before": [], "level": []}
    for j in np.argsort(ranking.worst, kind="stable"):
        after, ahead = (
            groups[a] > groups[b] if groups[a] != groups[b] else bool(ranking.riskier[a, b])
            for a, b in ((i, j), (j, i))
        )
        if j != i:
            place["behind" if after else "before" if ahead else "level"].append(labels[j])
    return apart_in_words(place["behind"], place["before"], place["level"])


def _candidate(assessed: Sequence[Assessed], labels: Sequence[str], i: int, ranked: Ranked | None) -> dict[str, Any]:
    name = labels[i]
    own = [a for a in assessed if a.label == name]
    ranking = ranked.ranking if ranked else None
    worst = None
    if ranked and ranking:
        a = int(np.argmax(ranking.risk[:, i]))
        worst = {
            "attack": ranked.attacks[a][0], "value": finite(ranking.worst[i]), "low": finite(ranking.worst_low[i]),
            "high": finite(ranking.worst_high[i]), "first": int(ranking.worst_first[i]),
            "last": int(ranking.worst_last[i]),
        }  # fmt: skip
    verdict, why = worst_of(own)
    return {
        "label": name,
        "verdict": verdict,
        "why": why,
        "clearance": clearance_of(own),
        "reached": msgspec.to_builtins(reached_of(own)),
        "next_step": next_step(own),
        "apart": "" if ranked is None or ranking is None else _apart(labels, ranking, ranked.groups, i),
        "about": "this table" if len(own) == 1 else "the mean of fresh tables of this generator",
        "worst": worst,
        "tables": [
            {
                **_given(a.report, "synthetic"),
                "folder": "",
                "verdict": a.report.verdict,
                "sentence": a.report.data["verdict"]["sentence"],
                "failed": len(a.report.failed),
                "bands": a.bands,
            }
            for a in own
        ],
    }


def _fidelity(
    assessed: Sequence[Assessed], labels: Sequence[str], level: float
) -> dict[str, CandidateFidelity | None]:  # fmt: skip
    """Return the distance of each candidate by the measure of use."""
    measure = measure_of_use(r for a in assessed for r in a.kept)
    own = {name: [a.kept for a in assessed if a.label == name] for name in labels}
    return {name: candidate_fidelity(tables, measure, level, len(labels)) for name, tables in own.items()}


def _front(
    kept: Mapping[str, CandidateFidelity | None], labels: Sequence[str], ranked: Ranked | None, order: Sequence[str],
    level: float, distances: Sequence[FidelityPair],
) -> dict[str, Any] | None:  # fmt: skip
    """Return the front of risk and use; None without fidelity of each candidate, or where nothing is ranked."""
    known = [f for f in kept.values() if f is not None]
    if ranked is None or ranked.ranking is None or len(known) < len(kept):
        return None
    r, behind = ranked.ranking, ranked.behind
    standings = []
    for i, label in enumerate(labels):
        safer = [labels[j] for j in range(len(labels)) if j != i and
                 (behind[i] and not behind[j] if behind[i] != behind[j] else bool(r.riskier[i, j]))]  # fmt: skip
        standings.append(Standing(label, order.index(label), frozenset(safer), known[i]))
    paired = [d for d in distances if d.measure == known[0].measure]
    return msgspec.to_builtins(front_of(standings, level, paired))  # type: ignore[no-any-return] # a struct becomes a dict


def _given(report: Report, role: str) -> dict[str, Any]:
    return {k: report.data["tables"][role][k] for k in ("rows", "columns", "sha256", "hashed", "linked")}


def _attacks(labels: Sequence[str], ranked: Ranked | None, assessed: Sequence[Assessed]) -> list[dict[str, Any]]:
    """Return for each ranked attack its risk for each candidate; without a holdout only the rates."""
    if ranked is None:
        return rates_alone(labels, assessed)
    ranking = ranked.ranking
    if ranking is None:
        return []
    out = []
    for a, (attack, what, n) in enumerate(ranked.attacks):
        cells = []
        for i, name in enumerate(labels):
            p, q = ranked.rates[a][i] if a < len(ranked.rates) else (None, None)
            cells.append(
                {
                    "label": name, "members": p, "strangers": q, "risk": finite(ranking.risk[a, i]),
                    "low": finite(ranking.low[a, i]), "high": finite(ranking.high[a, i]),
                    "first": int(ranking.first[a, i]), "last": int(ranking.last[a, i]),
                }
            )  # fmt: skip
        question = CATALOGUE[attack].question
        out.append({"attack": attack, "question": question, "chosen": what, "comparisons": n, "candidates": cells})
    return out


def _pairs(labels: Sequence[str], ranked: Ranked | None) -> list[dict[str, Any]]:
    """Return the difference of each pair of candidates under each attack, with its simultaneous limits."""
    if ranked is None or ranked.ranking is None:
        return []
    r = ranked.ranking
    return [
        {
            "attack": attack, "first": labels[i], "second": labels[j], "difference": finite(r.difference[a, i, j]),
            "low": finite(r.difference_low[a, i, j]), "high": finite(r.difference_high[a, i, j]),
            "riskier": _riskier(labels[i], labels[j], r.difference_low[a, i, j], r.difference_high[a, i, j]),
        }
        for a, (attack, _, _) in enumerate(ranked.attacks)
        for i in range(len(labels))
        for j in range(i + 1, len(labels))
    ]  # fmt: skip


def _riskier(first: str, second: str, low: float, high: float) -> str | None:
    return first if low > 0 else second if high < 0 else None


def _shares(labels: Sequence[str], assessed: Sequence[Assessed]) -> list[float]:
    """Return the share of members that each candidate reaches; 1 where that is not bounded, or not known."""
    told = [reached_of([a for a in assessed if a.label == name]) for name in labels]
    return [1.0 if r is None or r.share is None else r.share for r in told]


def _order(labels: Sequence[str], ranked: Ranked | None, shares: Sequence[float]) -> list[str]:
    """Return the labels: cleared ones, others without a finding, others; none if nothing is ranked.

    In each group those that reach fewest members come first, but nobody before another with less risk beyond chance.
    """
    if ranked is None or ranked.ranking is None:
        return []
    worst, riskier, groups = ranked.ranking.worst, ranked.ranking.riskier, ranked.groups
    left, order = list(range(len(labels))), list[str]()
    while left:
        free = [i for i in left if not any(groups[i] == groups[j] and riskier[i, j] for j in left)]
        first = min(free, key=lambda i: (groups[i], shares[i], worst[i], labels[i]))
        left.remove(first)
        order.append(labels[first])
    return order


def _sentence(assessed: Sequence[Assessed], labels: Sequence[str], ranked: Ranked | None, level: float) -> str:
    if ranked is None:
        return (
            "No holdout was given: inference and disclosure are not separated, so nothing is ranked by risk. Give "
            "people whom no synthesizer saw with --holdout."
        )
    r = ranked.ranking
    if r is None:
        return "Nothing is ranked: no attack could be compared for every table."
    place = {name: i for i, name in enumerate(labels)}
    placed = [
        Placed(name, *worst_of([a for a in assessed if a.label == name]), int(r.worst_first[i]), int(r.worst_last[i]))
        for name in _order(labels, ranked, _shares(labels, assessed))
        for i in (place[name],)
    ]
    if len(placed) == 1:
        limits = f"{number(r.worst_low[0])} to {number(r.worst_high[0])}"
        return f"One candidate: {placed[0]}, risk {number(r.worst[0])} ({limits})."
    return order_in_words(placed, level, int(np.triu(r.riskier | r.riskier.T, 1).sum()))


def _warnings(assessed: Sequence[Assessed]) -> list[dict[str, str]]:
    """Return the preconditions that fail; with labels where they fail only for some of the tables."""
    told: dict[tuple[str, str], list[str]] = {}
    for a in assessed:
        for c in a.report.data["preconditions"]:
            if not c["ok"] and c["check"] in (*CRITICAL, "sizes", "holdout"):
                told.setdefault((c["check"], c["detail"]), []).append(f"“{a.label}”")
    return [
        {"check": check, "detail": detail if len(of) == len(assessed) else f"{some(sorted(set(of)))}: {detail}"}
        for (check, detail), of in told.items()
    ]


def _not_compared(assessed: Sequence[Assessed], ranked: Ranked | None) -> list[dict[str, str]]:
    """Return the attacks that were made but are not ranked, and why."""
    out = [{"what": a, "why": why} for a, why in (ranked.left_out if ranked else [])]
    done = {a for a, _, _ in ranked.attacks} if ranked else set()
    others = {b["attack"] for a in assessed for b in a.bands} - done - {o["what"] for o in out}
    why = "only primary comparisons rank; this one is screened, and its limits for each table stand beside the ranks"
    return out + [{"what": name, "why": why} for name in sorted(others)]


def _notes(assessed: Sequence[Assessed], labels: Sequence[str]) -> list[str]:
    sizes = [sum(a.label == name for a in assessed) for name in labels]
    there = (True, any(n == 1 for n in sizes), *[any(n > 1 for n in sizes)] * 2, any(1 < n < 5 for n in sizes))
    return [note for note, told in zip(STANDING, there, strict=True) if told]
