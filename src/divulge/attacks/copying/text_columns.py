"""Columns of texts: those whose words are compared."""

from __future__ import annotations

from divulge.case.case import Case
from divulge.tables.word_forms import are_unspaced

__all__ = ["text_columns"]

_CHARACTERS = 20
"""Mean length above which identifiers with blanks are texts of several words; start value."""


def text_columns(case: Case) -> tuple[str, ...]:
    """Return the columns whose words are compared, by name: texts, and identifiers of several words.

    Identifiers are most short texts, as nearly all of these differ. They count if they are longer than 20 characters
    on average and have blanks, or are written in a script without blanks.
    """
    return case.encoded.once(("text columns",), lambda: tuple(c for c in sorted(case.columns) if _is_text(case, c)))


def _is_text(case: Case, column: str) -> bool:
    kind, facts = case.schema[column].kind, case.facts(column)
    if kind not in ("text", "identifier") or facts.family != "text":
        return False
    if kind == "text" or (facts.has_spaces and facts.mean_length > _CHARACTERS):
        return True
    return facts.mean_length > _CHARACTERS / 4 and case.in_memory and are_unspaced(case.pooled(column).levels)
