"""Selection and order of results, and the number of results with each verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from divulge.core.records import BY_LENGTH, CRITICAL
from divulge.core.result import FOUND
from divulge.report.formatting import enumerated, rate_of, risk_value
from divulge.report.model import Assessment, Group, ResultRecord
from divulge.report.verdicts import RISK

__all__ = [
    "ORDER",
    "QUESTIONS",
    "by_attack",
    "by_length",
    "failures",
    "few_parts",
    "has_holdout",
    "in_doubt",
    "in_question",
    "is_blind",
    "judged",
    "on_files",
    "on_part",
    "question_of",
    "shared_keys",
    "verdict_counts",
    "worst_first",
]

ORDER = {verdict: word.rank for verdict, word in sorted(RISK.items(), key=lambda item: item[1].rank)}
"""The verdicts, worst first."""


def on_files(data: Assessment) -> list[str]:
    """Return the notes on the tables: how their files were read, and what is left out of them."""
    return [note for note in data.notes if note.partition(": ")[0] in ("real", "synthetic", "holdout")]


def has_holdout(data: Assessment) -> bool:
    """Return whether there were strangers to compare with."""
    return data.tables.holdout is not None


def by_length(data: Assessment) -> list[tuple[ResultRecord, Group]]:
    """Return whole histories by the number of rows of a person, each result with its groups."""
    return [(r, g) for r in data.results for g in r.groups if g.of == BY_LENGTH]


def in_doubt(data: Assessment) -> list[str]:
    """Return the failing preconditions without which members and strangers cannot be compared."""
    return [c.check for c in data.preconditions if c.check in CRITICAL and not c.ok]


def failures(data: Assessment) -> list[tuple[str, str]]:
    """Return each reason why attacks failed once, behind their names: a full disk fails many."""
    whys = dict.fromkeys(f.why for f in data.failed)
    named = {why: dict.fromkeys(f.attack.replace("_", " ") for f in data.failed if f.why == why) for why in whys}
    return [(enumerated(list(attacks)), why) for why, attacks in named.items()]


def judged(results: Iterable[ResultRecord]) -> list[ResultRecord]:
    """Return the results with a verdict, worst first; without a holdout, those with a rate."""
    return worst_first(r for r in results if _compared(r))


def _compared(result: ResultRecord) -> bool:
    return result.verdict is not None and (result.verdict != "no holdout" or bool(result.real))


def is_blind(result: ResultRecord) -> bool:
    """Return whether members are hit no more often than by guessing without the synthetic table, and nothing is found.

    A result without such a guess is not.
    """
    rate, blind = rate_of(result.real), rate_of(result.baseline)
    return result.verdict not in FOUND and rate is not None and blind is not None and rate <= blind


def on_part(result: ResultRecord) -> bool:
    """Return whether a result is about near copies on part of the columns; there can be hundreds of these."""
    return result.attack == "copies" and result.variant.startswith("near on ")


QUESTIONS = ("singling_out", "linkability", "inference")
"""The attacks that answer the three questions; their results, often dozens, have a section of their own."""


def in_question(result: ResultRecord) -> bool:
    """Return whether a result answers one of the three questions."""
    return result.attack in QUESTIONS


def few_parts(results: Iterable[ResultRecord], most: int) -> list[ResultRecord]:
    """Return the results with only the first `most` of those about near copies on part of the columns."""
    out, seen = [], 0
    for r in results:
        seen += on_part(r)
        if not on_part(r) or seen <= most:
            out.append(r)
    return out


def shared_keys(results: Iterable[ResultRecord]) -> list[str]:
    """Return the key set that all results with keys share, [] when they differ; columns of copies are not keys."""
    sets = {tuple(r.keys) for r in results if r.keys and r.attack != "copies"}
    return list(sets.pop()) if len(sets) == 1 else []


def worst_first(results: Iterable[ResultRecord]) -> list[ResultRecord]:
    """Return results sorted by verdict, then by the limit that decided it, then by the rate of members."""
    return sorted(results, key=_badness)


def _badness(result: ResultRecord) -> tuple[int, float, float]:
    bound = risk_value(result, "low_simultaneous" if result.verdict in FOUND else "high_simultaneous")
    if result.verdict == "deficit found" and bound is not None:
        bound = -bound
    rate = rate_of(result.real)
    return (
        ORDER.get(result.verdict or "", 5),
        float("inf") if bound is None else -bound,
        float("inf") if rate is None else -float(rate),
    )


def verdict_counts(results: Iterable[ResultRecord]) -> list[tuple[str, int]]:
    """Return how many results have each verdict, worst verdict first."""
    counts = Counter[str](r.verdict for r in results if r.verdict is not None)
    return [(v, counts[v]) for v in ORDER if counts[v]]


def by_attack(data: Assessment) -> list[dict[str, Any]]:
    """Return one row for each attack with compared results: question, verdict counts and largest limits."""
    rows = []
    compared = [r for r in data.results if _compared(r)]
    for attack in dict.fromkeys(r.attack for r in compared):
        own = [r for r in compared if r.attack == attack]
        rows.append(
            {
                "attack": attack,
                "question": question_of(data, attack),
                "n": len(own),
                "counts": dict(verdict_counts(own)),
                "low": _largest(own, "low_simultaneous"),
                "high": _largest(own, "high_simultaneous"),
            }
        )
    return rows


def question_of(data: Assessment, attack: str) -> str:
    """Return the question of an attack, "" for one that the assessment does not describe."""
    return data.attacks[attack].question if attack in data.attacks else ""


def _largest(results: Sequence[ResultRecord], which: str) -> float | None:
    return max((v for r in results if (v := risk_value(r, which)) is not None), default=None)
