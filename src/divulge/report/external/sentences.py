"""Sentences of an external edition: they go out without their numbers, except those of settings and of columns."""

from __future__ import annotations

import re

from divulge.report.external.known_sentences import QUOTED, is_public

__all__ = ["NUMBER", "numberless", "read_why"]

NUMBER = "…"
"""Replaces a number."""

_FIXED = (
    "0.5 is chance",
    "[0, 1]",
    "n w (1 - w)^(n - 1)",
    "with 80% power",
)
"""Phrases whose numbers are part of the words."""

_KEPT = "|".join([QUOTED, r"(?<!\w)column \d+(?!\w)", r"(?<!\w)\d{4}-\d\d-\d\d(?!\w)", *map(re.escape, _FIXED)])
_NUMBERS = re.compile(
    rf"(?P<kept>{_KEPT})|(?<![\w.])-?\d+(?:,\d{{3}})*(?:\.\d+)?(?:e[+-]?\d+)?(?:st|nd|rd|th)?(?!\w)", re.DOTALL
)

_WHY = re.compile(
    r"(?:every value is missing|every row has the same value|true and false|dates or times, # distinct"
    r"|numbers with decimals, # distinct|# whole numbers that differ|whole numbers with # distinct values,"
    r"|# texts of # characters on average|# distinct values in # rows: nearly all differ"
    r"|numbers beside other values \(#\),"
    r"|# distinct texts in # rows|text with # distinct values|sdtype \w+ of the SDV metadata"
    r"|primary key of the SDV metadata)"
)
"""How the reasons that divulge gives begin, without their numbers; others come from a schema file."""

_READ_AS = {
    "constant": "hardly a row has another value",
    "boolean": "true and false",
    "datetime": "dates or times",
    "numeric": "numbers with many distinct values",
    "integer-coded": "whole numbers with few distinct values",
    "categorical": "text with few distinct values",
    "identifier": "values that nearly all differ",
    "text": "texts that nearly all differ, or long ones",
}
"""The reason for each kind: the full one tells whether a single person has a value that is missing, or no number."""


def numberless(text: str) -> str:
    """Return a text without its numbers; those of columns, dates, settings and inside quotes stay.

    A sentence of divulge keeps its numbers if all of them are public (`known_sentences.PUBLIC`).

    Examples
    --------
    >>> numberless("3 of 120 real rows repeat another one (2.5%)")
    '… of … real rows repeat another one (…%)'
    >>> numberless("all tables have the same 4 columns"), numberless("'wave 2' and column 3")
    ('all tables have the same 4 columns', "'wave 2' and column 3")
    """
    return text if is_public(text) else _NUMBERS.sub(lambda m: m["kept"] or NUMBER, text)


def read_why(text: str, kind: str) -> str:
    """Return why a column was read as this kind: the same for all such columns; no words of a schema file."""
    plain = re.sub(r"\d[\d,.]*(?<![,.])", "#", text.replace(NUMBER, "#"))
    if _WHY.match(plain) or text in _READ_AS.values():
        return _READ_AS.get(kind, "")
    return "as the schema file says" if text else ""
