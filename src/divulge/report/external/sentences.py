"""Sentences of an external edition, written again from the numbers that it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from divulge.core.result import counts_rows, number, percent
from divulge.report import formatting, words
from divulge.report.external.rounding import digits, few_hidden
from divulge.report.model import Assessment, ResultRecord

__all__ = ["read_why", "verdict_sentence"]

_WHY = re.compile(
    r"(?:every value is missing|every row has the same value|true and false|dates or times, # distinct"
    r"|numbers with decimals, # distinct|# whole numbers that all differ.*|whole numbers with # distinct values, .*"
    r"|# texts of # characters on average.*|# distinct values in # rows: nearly all differ"
    r"|text that reads as numbers throughout, # distinct|numbers beside # other value\(s\), .*"
    r"|# distinct texts in # rows|text with # distinct values|sdtype \w+ of the SDV metadata"
    r"|primary key of the SDV metadata)(?:, though not in every table)?(?:; # of # values missing)?"
)
"""Reasons that divulge gives, without their numbers; others come from a schema file."""


def read_why(text: str) -> str:
    """Return why a column was read as it was; what a schema file says is not repeated."""
    plain = re.sub(r"\d[\d,.]*(?<![,.])", "#", text)
    if not _WHY.fullmatch(plain):
        return "as the schema file says" if text else ""
    return few_hidden(re.sub(r"(?<!of )(?<!in )\b\d{3,}\b(?! of)", lambda m: str(digits(int(m[0]), 2)), text))


# ---------------------------------------------------------------- the verdict in words


def verdict_sentence(data: Assessment, results: Sequence[ResultRecord], said: Callable[[str], str]) -> str:
    """Return the overall verdict in words, from the results of this edition."""
    verdict = data.verdict.verdict
    pairs = [(r, e) for r, e in zip(data.results, results, strict=True) if _judged(r)]
    if verdict == "no holdout" or not pairs:
        return said(data.verdict.sentence)
    failing = formatting.meaning(data) if verdict == "cannot tell" else ""
    if verdict == "excess found":
        return _excess(pairs)
    if verdict == "none found":
        return _none(pairs)
    if failing.startswith(words.UNFAIR) or all(r.verdict == "none found" for r, _ in pairs):
        return said(data.verdict.sentence)
    return _cannot_tell(pairs)


Pair = tuple[ResultRecord, ResultRecord]


def _excess(pairs: Sequence[Pair]) -> str:
    found = [p for p in pairs if p[0].verdict == "excess found"] or pairs
    r, e = max(found, key=lambda p: _bound(p[0], "low_simultaneous"))
    same = sum(p[0].attack == r.attack for p in pairs)
    level = e.risk.level if e.risk else 0.0
    how = f"{100 * level:.0f}% simultaneous over the {same} comparison(s) of this attack"
    people = "" if counts_rows(e) else _beside(e)
    low, risk = formatting.risk_value(e, "low_simultaneous"), formatting.risk_value(e)
    value = "" if risk is None else f"{number(risk)}, "
    least = f"at least {number(low)}" if low is not None and low > 0 else "above 0"
    return f"Excess found: {formatting.label(e, '->')}{people}; risk {value}{least} ({how})."


def _none(pairs: Sequence[Pair]) -> str:
    _, e = max(pairs, key=lambda p: _bound(p[0], "high_simultaneous"))
    keys = "" if any(r.keys for r, _ in pairs) else " No key set was tested."
    return (
        f"None of {len(pairs)} comparisons shows an excess over strangers; the largest simultaneous upper limit of "
        f"risk is {number(formatting.risk_value(e, 'high_simultaneous'))} ({formatting.label(e, '->')}).{keys}"
    )


def _cannot_tell(pairs: Sequence[Pair]) -> str:
    still = [p for p in pairs if p[0].verdict != "none found"]
    r, e = max(still, key=lambda p: _bound(p[0], "high_simultaneous"))
    high = formatting.risk_value(e, "high_simultaneous")
    up_to = "" if high is None else f", risk up to {number(high)}"
    if formatting.risk_value(r, "high_simultaneous") is None:
        up_to = ", whose risk is undefined: strangers are always hit"
    return (
        f"No excess over strangers was found, but {len(still)} of {len(pairs)} comparisons are too uncertain to "
        f"exclude one; the widest is {formatting.label(e, '->')}{up_to}."
    )


def _judged(r: ResultRecord) -> bool:
    reached = all(side and side.n != 0 for side in (r.real, r.holdout))
    return r.risk is not None and r.verdict is not None and reached


def _beside(e: ResultRecord) -> str:
    members, strangers = formatting.rate_of(e.real), formatting.rate_of(e.holdout)
    if members is None or strangers is None:
        return ""
    return f", {percent(members)} among members and {percent(strangers)} among strangers"


def _bound(r: ResultRecord, which: str) -> float:
    bound = formatting.risk_value(r, which)
    return float("-inf") if bound is None else bound
