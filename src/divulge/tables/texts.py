"""Texts folded for comparison, their digits, and their words."""

from __future__ import annotations

import functools
import unicodedata

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["folded", "with_plain_digits", "words"]

_LAST = 0x20000  # characters from here on are no digits


def with_plain_digits(texts: pl.Series) -> pl.Series:
    r"""Return texts whose digits are 0 to 9, in whatever script they are written.

    Examples
    --------
    >>> with_plain_digits(pl.Series(["\u0661\u0662.\u0665", "\uff11\u096d", "12.5", None])).to_list()
    ['12.5', '17', '12.5', None]
    """
    if (texts.str.len_bytes() == texts.str.len_chars()).all():
        return texts
    return texts.str.replace_many(_other_digits())


@functools.cache
def _other_digits() -> dict[str, str]:
    """Return the decimal digits of other scripts, and what each is."""
    digits = {chr(code): str(unicodedata.decimal(chr(code), "")) for code in range(128, _LAST)}
    return {other: digit for other, digit in digits.items() if digit}


def folded(texts: pl.Series) -> pl.Series:
    r"""Return texts after Unicode NFKC normalisation and case folding, runs of blanks as one, none at the ends.

    Examples
    --------
    >>> folded(pl.Series(["  Ann\tLEE ", "\uff21nn lee", "Stra\u00dfe"])).to_list()
    ['ann lee', 'ann lee', 'strasse']
    """
    plain = texts.str.len_bytes() == texts.str.len_chars()
    out = texts.str.to_lowercase()
    if not plain.all():  # of plain ASCII, lower case is the folded form: far faster than text by text
        place = (~plain).arg_true()
        other = [_fold(t) for t in texts.gather(place).to_list()]
        out = out.scatter(place, pl.Series(other, dtype=pl.String))
    return out.str.replace_all(r"\s+", " ").str.strip_chars()


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words(texts: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return a hash of each word of folded texts, text after text, and the place where each text begins.

    A word is a run of letters, digits, marks and underscores.

    Returns
    -------
    hashes, start
        Shapes (n_words,) and (n_texts + 1,): the words of text i are hashes[start[i] : start[i + 1]].

    Examples
    --------
    >>> hashes, start = words(pl.Series(["to be, or not", "", "to do"]))
    >>> start.tolist(), bool(hashes[0] == hashes[4]), bool(hashes[1] == hashes[5])
    ([0, 4, 4, 6], True, False)
    """
    lists = texts.str.extract_all(r"\w+")
    lengths = lists.list.len().to_numpy().astype(np.int64)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    each = lists.filter(pl.Series(lengths > 0)).explode()
    return np.asarray(each.hash(seed=0).to_numpy(), dtype=np.uint64), start
