"""Texts folded for comparison, and their words."""

from __future__ import annotations

import unicodedata

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["folded", "words"]


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
