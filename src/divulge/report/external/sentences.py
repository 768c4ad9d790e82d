"""Sentences of an external edition, written again from the numbers that it shows."""

from __future__ import annotations

import re

from divulge.report.external.rounding import digits, few_hidden

__all__ = ["read_why"]

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
