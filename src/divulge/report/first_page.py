"""What the first page says, as data: its questions, what to do, which columns, how many people, ten numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl

from divulge.attacks.checks import SHOWN
from divulge.core.records import CRITICAL
from divulge.core.result import identity, is_compared
from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import advice as advised
from divulge.report.prose import use
from divulge.report.prose.actors import by_actor
from divulge.report.prose.column_map import column_map
from divulge.report.prose.compared import is_mean, more_people
from divulge.report.prose.tiles import asked, tiles
from divulge.report.summary_model import Summary

__all__ = ["actors", "advice", "columns", "metrics", "people", "questions", "score", "score_of", "summary"]


def summary(data: Assessment) -> Summary:
    """Return what the first page says, all but how many people each test hits, as a part of the assessment."""
    return msgspec.convert(
        {
            "questions": questions(data),
            "advice": advice(data),
            "actors": actors(data),
            "columns": columns(data).to_dicts(),
            "metrics": metrics(data),
        },
        Summary,
    )


def questions(data: Assessment) -> list[dict[str, Any]]:
    """Return each question of the first page with its state, the shares of members and strangers, and its sentence."""
    return [
        {
            "question": tile.id,
            "asks": tile.question,
            "state": tile.state,
            "attack": tile.r and tile.r.attack,
            "members": tile.r and formatting.rate_of(tile.r.real),
            "strangers": tile.r and formatting.rate_of(tile.r.holdout),
            "sentence": tile.sentence,
        }
        for tile in tiles(data)
    ]


def advice(data: Assessment) -> list[dict[str, str]]:
    """Return what to do now, most urgent first, what each step changes, and where it may do harm."""
    return [
        {"do": a.do, "changes": a.changes, "warning": a.warning, "command": a.command} for a in advised.advice(data)
    ]


def actors(data: Assessment) -> list[dict[str, Any]]:
    """Return what was found for each actor of the schema file; [] where there is one attacker."""
    return [
        {
            "actor": a.actor and a.name,
            "verdict": a.state,
            "tests": a.n,
            "sentence": a.sentence,
            "real_table": a.real_table,
        }
        for a in by_actor(data)
    ]


def columns(data: Assessment) -> pl.DataFrame:
    """Return what was found about single columns, one row a column and a way in which it was tried; worst first.

    A column that no comparison is about alone has one row without `way`; `compared` says whether any looks at it.
    """
    found = column_map(data)
    kinds, silent = {c.name: c.kind for c in data.schema}, {c.column for c in data.verdict.not_compared}
    rows: list[dict[str, Any]] = [
        {"column": name, "way": head, "verdict": cell.verdict, "risk": cell.risk}
        for name, cells in found.rows
        for head, cell in zip(found.heads, cells, strict=True)
        if cell is not None
    ]
    tried = {row["column"] for row in rows}
    rows += [{"column": c, "way": None, "verdict": None, "risk": None} for c in kinds if c not in tried]
    types = {
        "column": pl.String,
        "kind": pl.String,
        "compared": pl.Boolean,
        "way": pl.String,
        "verdict": pl.String,
        "risk": pl.Float64,
    }
    told = [row | {"kind": kinds.get(row["column"]), "compared": row["column"] not in silent} for row in rows]
    return pl.DataFrame([{name: row[name] for name in types} for row in told], schema=types)


def people(data: Assessment) -> pl.DataFrame:
    """Return one row for each test that counts people: how many members and strangers it hits, and how many more.

    `more` is how many more members are hit than strangers would be in as many people; `at_least` and `at_most` are its
    limits, which hold for all tests of an attack together. A count that an edition withholds is null. `counts` says
    whether these numbers are of people, or of rows of people, of whom some have several.
    """
    asks = {attack: q.id for q in asked() for attack in q.attacks(data)}
    types: dict[str, Any] = {
        "question": pl.String,
        "attack": pl.String,
        "test": pl.String,
        "verdict": pl.String,
        "primary": pl.Boolean,
        "counts": pl.String,
        "members": pl.Float64,
        "of_members": pl.Int64,
        "strangers": pl.Float64,
        "of_strangers": pl.Int64,
        "more": pl.Float64,
        "at_least": pl.Float64,
        "at_most": pl.Float64,
    }
    primary = {identity(b) for b in data.verdict.bounds if b.primary}
    counted = [r for r in data.results if is_compared(r) and formatting.of_people(r) and not is_mean(r)]
    rows = [
        {
            "question": asks.get(r.attack),
            "attack": r.attack,
            "test": formatting.label(r, "->"),
            "verdict": r.verdict,
            "primary": identity(r) in primary,
            "counts": "rows of people" if formatting.of_rows(r.real) else "people",
            "members": r.real and r.real.hits,
            "of_members": r.real and r.real.n,
            "strangers": r.holdout and r.holdout.hits,
            "of_strangers": r.holdout and r.holdout.n,
            "more": more_people(r),
            "at_least": more_people(r, "low_simultaneous"),
            "at_most": more_people(r, "high_simultaneous"),
        }
        for r in order.worst_first(counted)
    ]
    return pl.DataFrame(rows, schema=types)


def metrics(data: Assessment) -> dict[str, float]:
    """Return ten numbers for a trend; one that this run or this edition does not have is left out."""
    compared = [r for r in data.results if is_compared(r)]
    counted = people(data)
    risks = [[formatting.risk_value(r, which) for r in compared] for which in ("low_simultaneous", "high_simultaneous")]
    known = [[v for v in values if v is not None] for values in risks]
    exact = next((r for r in compared if (r.attack, r.variant) == ("copies", "exact")), None)
    kept = use.of_pairs(data)
    found = counted.filter(pl.col("verdict") == "excess found")
    of_people = found.filter(pl.col("counts") == "people")["at_least"]  # rows of people are no people
    told: dict[str, float | None] = {
        "score": None if math.isnan(reached := score(data)) else reached,
        "tests": len(compared),
        "excess_found": sum(r.verdict == "excess found" for r in compared),
        "deficit_found": sum(r.verdict == "deficit found" for r in compared),
        "people_at_risk_at_least": _largest(of_people.drop_nulls().to_list(), 0.0 if not len(found) else None),
        "risk_at_least": _largest(known[0]),
        "risk_at_most": _largest(known[1]),
        "members_copied": None if exact is None else formatting.rate_of(exact.real),
        "strangers_copied": None if exact is None else formatting.rate_of(exact.holdout),
        "distance_of_pairs": None if kept is None else kept.ruler,
    }
    return {name: float(value) for name, value in told.items() if value is not None}


def score(data: Assessment) -> float:
    """Return the score of all comparisons; nan without any, and where a critical precondition fails."""
    failed = any(c.check in CRITICAL and not c.ok for c in data.preconditions)
    return math.nan if failed else score_of(data.results)


def score_of(results: Sequence[ResultRecord]) -> float:
    """Return a score from 0 to 1, 1 is least risk: 1 less the largest limit, in parts of what a copy would show."""
    known = [
        r.risk.high_simultaneous / shown
        for r in results
        if r.verdict is not None
        and r.risk
        and r.risk.high_simultaneous is not None
        and (shown := min(1.0, 1.0 if (of_copy := r.context.get(SHOWN)) is None else of_copy)) > 0
    ]
    return 1 - min(1.0, max(0.0, *known, 0.0)) if known else math.nan


def _largest(values: list[float], otherwise: float | None = None) -> float | None:
    return max(0.0, *values) if values else otherwise
