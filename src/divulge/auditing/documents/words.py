"""What the documents of an audit say in words and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord, Epsilon
from divulge.core.result import percent
from divulge.report.formatting import capitalized, several
from divulge.run.cost.expected_time import duration

__all__ = [
    "KNOWS",
    "epsilon_in_words",
    "found_in_words",
    "label",
    "notes_of",
    "reasons",
    "time_in_words",
    "trainings_in_words",
]

KNOWS = {
    "swapped_secrets": "Pairs of people who are alike exchanged their secret, or not, as a fair coin fell. The "
    "attacker knows everybody's record but for the coins, sees the synthetic table, and says which of the two has "
    "which secret.",
    "random_halves": "Each training had a random half of the people. The attacker knows a person's record, sees the "
    "synthetic table, and says whether this person was trained on.",
    "canaries": "Each canary, a record that stands out, was trained on or not, as a fair coin fell. The attacker knows "
    "the canaries, sees the synthetic table, and says which were trained on.",
    "target": "One record was trained on or not, training by training. The attacker knows this record, sees the "
    "synthetic table, and says whether it was trained on.",
    "domain": "What only a few people have (the smallest and largest number, a rare category) was taken out of the "
    "training table, and looked for in the synthetic one.",
}  # fmt: skip
"""What each test does."""
_NUMBER = re.compile(r"\d[\d,.]*")


def label(result: AuditRecord) -> str:
    """Return the test and its variant.

    Examples
    --------
    >>> label(AuditRecord(test="swapped_secrets", variant="surest tenth", n=50))
    'swapped secrets (surest tenth)'
    """
    return result.test.replace("_", " ") + (f" ({result.variant})" if result.variant else "")


def found_in_words(result: AuditRecord) -> str:
    """Return what the test could have found; "" where that is not known."""
    f = result.findable
    if f is None:
        return ""
    parts = []
    if f.rate is not None:
        parts.append(f"a rate of {percent(f.rate)} would be found with probability {f.power:g}")
    found = result.p_value is not None and result.p_value <= 0.05
    if f.needed is not None and result.verdict != "excess found" and not found:
        parts.append(f"«none found» needs about {f.needed:,} {result.counts}{_in_trainings(result, f.needed)}")
    return "; ".join(parts)


def _in_trainings(result: AuditRecord, needed: int) -> str:
    """Return how many trainings give so many; "" where that is not known."""
    made = len(result.trainings)
    if not made or not result.n or result.counts not in ("pairs", "canaries"):
        return ""
    return f", which {ceil(needed * made / result.n):,} trainings like these give"


def epsilon_in_words(result: AuditRecord) -> str:
    """Return the bound of epsilon; "" where there is none."""
    e = result.epsilon
    if e is None:
        return ""
    if e.low is None or e.ceiling is None:
        told = "the bound of epsilon is withheld"
    else:
        told = _bound_in_words(e, e.low, e.ceiling)
    if e.claim is None:
        return told
    against = "contradicted" if e.rejected else "not contradicted"
    power = "" if e.power is None else f" (with a probability of {e.power:.2f} to contradict it if all were disclosed)"
    return f"{told}; the claimed epsilon of {e.claim:g} is {against}{power}"


def _bound_in_words(e: Epsilon, low: float, ceiling: float) -> str:
    return (
        f"no epsilon above 0 is shown ({100 * e.level:g}% confidence, delta {e.delta:g}); this audit could not have "
        f"shown more than {ceiling:.2f}"
        if low <= 0
        else f"epsilon is at least {low:.2f} ({100 * e.level:g}% confidence, delta {e.delta:g}, neighbours: "
        f"{e.neighbour}; {e.method}); this audit could not have shown more than {ceiling:.2f}"
    )


def trainings_in_words(audit: Audit) -> str:
    """Return how many trainings there were, and how long one took."""
    t = audit.trainings
    made = t.done + t.failed
    told = f"{t.done} of {several(t.planned, 'training')} gave a table"
    if t.failed:
        told += f", {t.failed} failed"
    if t.left_out:
        told += f", {t.left_out} were left out"
    return told + (f"; one took {time_in_words(t.seconds / made)}" if made and t.seconds else "")


def sentence_of(audit: Audit, result: AuditRecord) -> str:
    """Return what a test found, with its variant where the audit has several results of the test."""
    several_of_it = sum(r.test == result.test and r.target == result.target for r in audit.results) > 1
    before = f"{result.variant}: " if several_of_it and result.variant else ""
    return said(before + (result.sentence or f"{label(result)}: {result.verdict or 'no verdict'}"))


def said(text: str) -> str:
    """Return a text as a sentence.

    Examples
    --------
    >>> said("of 10 pairs, 5 are right"), said("")
    ('Of 10 pairs, 5 are right.', '')
    """
    return f"{capitalized(text).rstrip('.')}." if text else ""


def time_in_words(seconds: float) -> str:
    """Return a number of seconds in words.

    Examples
    --------
    >>> time_in_words(2.345), time_in_words(700)
    ('2.3 s', 'about 12 minutes')
    """
    return f"{seconds:.1f} s" if seconds < 60 else f"about {duration(seconds)}"


def reasons(audit: Audit) -> list[tuple[str, int]]:
    """Return why trainings gave no table, and what is odd about tables, with the number of trainings, commonest first.

    Of texts that differ in numbers alone the first stands for all.
    """
    told: dict[str, tuple[str, int]] = {}
    for run in audit.runs:
        for text in (*((f"{run.status}: {run.reason}",) if run.reason else ()), *run.notes):
            first, n = told.get(kind := _NUMBER.sub("#", text), (text, 0))
            told[kind] = first, n + 1
    return sorted(told.values(), key=lambda item: (-item[1], item[0]))


def notes_of(results: Sequence[AuditRecord]) -> list[str]:
    """Return the notes of all results, each once."""
    return list(dict.fromkeys(n for r in results for n in r.notes))
