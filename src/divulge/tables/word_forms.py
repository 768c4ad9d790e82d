"""Words of texts with their form: whether each is written as a name, a number, a date, a code, or otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.tables.texts import folded

__all__ = ["FORMS", "UNSPACED", "WordForms", "are_unspaced", "words_with_forms"]

FORMS = ("mail address", "date", "number", "code", "name", "word")
"""What a word is by the way it is written; `WordForms.form` has places in this list."""
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""A letter of a script that puts no blanks between words: each is a word by itself, so that pairs tell words."""

_LETTERS = r"\p{L}\p{M}\p{N}_@"
_WORD = rf"{UNSPACED}\p{{M}}*|\p{{So}}|[{_LETTERS}--{UNSPACED}][{_LETTERS}.\-/'’--{UNSPACED}]*"
_ENDS = ".-/'’"
_GENITIVE = r"['’]s$"
_WRITTEN = (
    r".@.",
    r"^(\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2}))$",
    r"^[\d.,/\-]+$",
    r"\d",
    r"^\p{Lu}",
)
"""Patterns of the forms but the last, in the order in which they are tried."""
_MARKS = r"[\u0300-\u036f\u064b-\u065f]"  # accents, and vowel signs of Arabic; others tell words of Indic scripts apart
_CHARACTERS = 8_000_000  # of texts that are taken apart at a time, a limit on the memory


def are_unspaced(texts: pl.Series) -> bool:
    """Return whether most of the first thousand texts have a script without blanks.

    Examples
    --------
    >>> are_unspaced(pl.Series(["患者 37", "发热"])), are_unspaced(pl.Series(["ill", "发热"]))
    (True, False)
    """
    some = texts.head(1000)
    return bool(some.len()) and bool(some.str.contains(UNSPACED).mean() > 0.5)


class WordForms(NamedTuple):
    """The words of some texts, text after text."""

    hashes: NDArray[np.uint64]
    """Of the folded words: Unicode NFKC, without capitals and accents."""
    text: NDArray[np.int32]
    """The place of the text that has the word."""
    form: NDArray[np.uint8]
    """The place in `FORMS`."""


def words_with_forms(texts: pl.Series, most: int) -> WordForms | None:
    """Return the words of texts, or None where these are more than `most`.

    A word is a run of letters, digits, marks, underscores and what addresses, dates and numbers are written with, or a
    single letter of a script that is written without blanks, or a sign such as an emoji; the English genitive is cut
    off. A name is a word with a capital at its beginning, a code one with letters and digits.

    Examples
    --------
    >>> found = words_with_forms(pl.Series(["Ann's note of 3.5.2021: call Ann.", None, "ANN@x.de B12 12"]), 20)
    >>> [FORMS[f] for f in found.form]
    ['name', 'word', 'word', 'date', 'word', 'name', 'mail address', 'code', 'number']
    >>> found.text.tolist(), bool(found.hashes[0] == found.hashes[5])
    ([0, 0, 0, 0, 0, 0, 2, 2, 2], True)
    """
    parts: list[WordForms] = []
    n = 0
    for first, block in _blocks(texts):
        part = _taken_apart(block)
        n += len(part.hashes)
        if n > most:
            return None
        parts.append(part._replace(text=part.text + np.int32(first)))
    empty = WordForms(np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.uint8))
    return WordForms(*map(np.concatenate, zip(*(parts or [empty]), strict=True)))


def _blocks(texts: pl.Series) -> Iterator[tuple[int, pl.Series]]:
    """Yield the texts in blocks of so many characters, and the place of the first text of each."""
    ends = np.cumsum(texts.str.len_bytes().fill_null(0).to_numpy(), dtype=np.int64)
    first = 0
    while first < len(texts):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _CHARACTERS, side="right")))
        yield first, texts.slice(first, last - first)
        first = last


def _taken_apart(texts: pl.Series) -> WordForms:
    lists = texts.fill_null("").str.extract_all(_WORD)
    lengths = lists.list.len().to_numpy().astype(np.int64)
    each = lists.filter(pl.Series(lengths > 0)).explode().str.strip_chars_end(_ENDS).str.replace(_GENITIVE, "")
    text = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    # what is known of a word is found once for all its occurrences
    known = each.unique()
    form = pl.lit(len(_WRITTEN), pl.UInt8)
    for place in reversed(range(len(_WRITTEN))):
        form = pl.when(known.str.contains(_WRITTEN[place])).then(pl.lit(place, pl.UInt8)).otherwise(form)
    plain = folded(known.str.replace_all("’", "'", literal=True))
    hashed = plain.str.normalize("NFKD").str.replace_all(_MARKS, "").hash(seed=0)
    table = pl.DataFrame({"word": known, "hash": hashed}).with_columns(form=form)
    found = pl.DataFrame({"word": each}).join(table, on="word", how="left", maintain_order="left")
    return WordForms(found["hash"].to_numpy(), text, found["form"].to_numpy())
