"""Texts and identifiers of people that stand in the synthetic table in another spelling, form by form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.column_facts import OWN_NUMBERS
from divulge.core.schema import FEW_PEOPLE
from divulge.tables.pooled_columns import PooledColumn
from divulge.tables.spellings import (
    DIGEST_LENGTHS,
    END,
    MOST_DECIMALS,
    bags_but_one,
    bags_of_words,
    character_hashes,
    decimals_in,
    digests,
    digests_in,
    keys_of,
    longest_words,
    numbers_in,
    parts_of,
    without_marks,
)

__all__ = [
    "FORMS",
    "FORM_NOTES",
    "FORM_WORDS",
    "WRITTEN_OTHERWISE",
    "SyntheticSpellings",
    "has_spellings",
    "other_form",
    "people_written_alike",
    "spelled_levels",
    "written_alike",
]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_CHARACTERS = "texts of 4 to 64 characters compared without accents, capitals, punctuation and blanks"
_PARTS = (
    f"texts compared by their {{}} {END} letters and digits, without accents and capitals, "
    "where no other person has them"
)
FORMS = {
    "without marks": "compared without accents, capitals and punctuation (Unicode NFKD)",
    "words in any order": "compared without accents, capitals and punctuation, words in any order",
    "another character": f"{_CHARACTERS}, but for one other character",
    "a character more or less": f"{_CHARACTERS}, but for one character more or less",
    "digest": "a digest of a person's value (MD5 or SHA, no salt), or its first eight signs or more, stands there",
    "first characters": _PARTS.format("first"),
    "last characters": _PARTS.format("last"),
    "within a longer text": f"texts of {END} letters and digits or more of which one is a part of the other, without "
    "accents, capitals and punctuation",
    "characters in any order": f"{_CHARACTERS}, by their characters in any order where no other person has the same",
    "longest word": "texts of several words and up to 64 characters compared by the longest one, of six letters and "
    "digits or more, where no other person has it",
    "numbers in it": "texts compared by the numbers in them, in any order, rounded as in the synthetic text, where no "
    "other person has the same",
    "a word more or less": "texts of several words compared without accents, capitals and punctuation, words in any "
    "order, but for one word more or less",
}
"""Forms of a text in which two spellings are equal, and the note of each."""
FORM_WORDS = {
    "without marks": "without accents, capitals and punctuation",
    "words in any order": "with its words in any order",
    "another character": "but for one other character",
    "a character more or less": "but for one character more or less",
    "digest": "as a digest",
    "first characters": f"by its first {END} letters and digits",
    "last characters": f"by its last {END} letters and digits",
    "within a longer text": "within a longer text, or a part of it",
    "characters in any order": "with its characters in any order",
    "longest word": "by the longest word of it",
    "numbers in it": "by the numbers in it",
    "a word more or less": "but for one word more or less",
}
"""What each form is, in words that precede "the value of"."""
WRITTEN_OTHERWISE = (
    "values of members and of strangers are written otherwise (their lengths, first or last characters, or places in "
    "the order of all values), so that a spelling alone tells them apart: no verdict is given"
)
FORM_NOTES = (*FORMS.values(), WRITTEN_OTHERWISE)
"""Notes for the entry."""

_WHOLE = 0.9  # of the values of a column, from which it counts as whole numbers; not all, as one person may differ
_SCRIPTS = (r"\p{Latin}", r"\p{Cyrillic}", r"\p{Greek}")
_KINDS = (*_SCRIPTS, rf"[\p{{L}}--{'--'.join(_SCRIPTS)}]", r"\p{N}")
_SELDOM = 0.02  # share of people, below which a form is one that values have by chance
_WRITTEN_ALIKE = 0.1  # share of synthetic values in a form of people, below which a column counts as written otherwise
_LONGEST = 64  # characters of a text whose signs follow each other in a form
_FEW_WORDS, _MANY_WORDS = 3, 8  # words of the middle text, from which it counts as a list, and as a text
_KNOWN = 0.8  # of the words of a text, above which they are those of people's texts
_MOST_VALUES = 20_000  # of either side, whose forms are compared
_COMMON = 10  # words that most people's texts have, of which nearly every text has one
_ROOM = 25  # bits of a hash that are looked up first: 32 MB
_BLOCK = 20_000  # texts whose hashes are looked up at once


class _HashSet:
    """Hashes other than 0, in which others are looked up."""

    def __init__(self, hashes: Hashes) -> None:
        self._sorted = np.sort(hashes[hashes > 0])  # distinct or not
        bits = min(_ROOM, 4 + len(self._sorted).bit_length())
        self._mask = np.uint64(2**bits - 1)
        self._room = np.zeros(2**bits, dtype=np.bool_)  # most hashes are in no room, and need no search
        self._room[self._sorted & self._mask] = True

    def has_any(self, hashes: Hashes) -> Bools:
        """Return for each row whether it has one of them."""
        rows, places = np.nonzero(self._room[hashes & self._mask])
        out = np.zeros(len(hashes), dtype=np.bool_)
        if len(self._sorted):
            wanted = hashes[rows, places]
            place = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
            out[rows[self._sorted[place] == wanted]] = True
        return out


def _own_keys(plain: pl.Series) -> dict[str, pl.Series]:
    """Return by what texts are equal in the forms that count only where one person alone has it."""
    names = ("first characters", "last characters", "characters in any order", "longest word")
    return dict(zip(names, (*keys_of(plain), longest_words(plain)), strict=True))


def _hits_alone(key: pl.Series, holder: Ints, released: pl.Series) -> Floats:
    """Return which texts have a key that a synthetic text has too; nan where another person has it, or without one."""
    frame = pl.DataFrame({"key": key, "holder": holder}).with_columns(
        least=pl.col("holder").min().over("key"), most=pl.col("holder").max().over("key")
    )
    own = frame.select(pl.col("key").is_not_null() & (pl.col("least") >= 0) & (pl.col("least") == pl.col("most")))
    hit = frame.select("key").with_row_index("row").join(released.alias("key").to_frame(), on="key", how="semi")
    out = np.where(own.to_series().to_numpy(), 0.0, np.nan)
    out[hit["row"].to_numpy()] += 1.0
    return out


class SyntheticSpellings:
    """Texts of the synthetic table in each form, in which texts of people are looked up."""

    def __init__(self, texts: pl.Series) -> None:
        texts = texts.drop_nulls()
        plain = without_marks(texts)
        self._plain = plain.filter(plain != "").unique()
        self._bags = _HashSet(bags_of_words(self._plain))
        self._but_one = _HashSet(bags_but_one(self._plain).ravel())
        found = character_hashes(self._plain)
        self._whole, self._masked, self._deleted = (_HashSet(hashes) for hashes in found)
        self._own_keys = [key.drop_nulls().unique() for key in _own_keys(self._plain).values()]
        written = decimals_in(texts)
        self._numbers = {
            d: numbers_in(texts.filter(written == d), d).drop_nulls().unique() for d in written.unique().sort()
        }
        self._digests = digests_in(texts)

    def hits(self, texts: pl.Series, holder: Ints) -> dict[str, Floats]:
        """Return for each form which of these texts a synthetic text equals: 1 or 0, nan for texts without the form.

        `holder` is the number of the person who has each text; -1 where several have it.
        """
        plain = without_marks(texts)
        bags = bags_of_words(plain)[:, None]
        found = {
            "without marks": plain.is_in(self._plain.to_list()).to_numpy().astype(np.bool_),
            "words in any order": self._bags.has_any(bags),
            "a word more or less": self._but_one.has_any(bags) | self._bags.has_any(bags_but_one(plain)),
        }
        found |= dict(zip(("another character", "a character more or less"), self._near(plain), strict=True))
        found["digest"] = self._digested(texts)
        out = {form: hit.astype(np.float64) for form, hit in found.items()}
        out["a word more or less"][~plain.str.contains(" ", literal=True).to_numpy()] = np.nan
        out["within a longer text"] = parts_of(plain, self._plain).to_numpy().astype(np.float64)
        for (form, key), released in zip(_own_keys(plain).items(), self._own_keys, strict=True):
            if form == "longest word":  # of one word the forms before tell
                key = key.set(~plain.str.contains(" ", literal=True), None)
            out[form] = _hits_alone(key, holder, released)
        out["numbers in it"] = _hits_alone(numbers_in(texts, MOST_DECIMALS), holder, pl.Series([], dtype=pl.String))
        for decimals, released in self._numbers.items():
            out["numbers in it"][_hits_alone(numbers_in(texts, decimals), holder, released) == 1] = 1.0
        return {form: out[form] for form in FORMS}

    def _near(self, plain: pl.Series) -> tuple[Bools, Bools]:
        other, moved = np.zeros((2, len(plain)), dtype=np.bool_)
        for first in range(0, len(plain), _BLOCK):
            part = slice(first, first + _BLOCK)
            own = character_hashes(plain[part])
            other[part] = self._masked.has_any(own.masked)
            moved[part] = self._whole.has_any(own.deleted) | self._deleted.has_any(own.whole[:, None])
            moved[part] |= self._whole.has_any(own.whole[:, None])
        return other, moved

    def _digested(self, texts: pl.Series) -> Bools:
        if not self._digests:
            return np.zeros(len(texts), dtype=np.bool_)
        released = {(how, token) for (how, _), tokens in self._digests.items() for token in tokens}
        return np.array([not released.isdisjoint(digests(t, self._digests)) for t in texts.to_list()], dtype=bool)


def spelled_levels(case: Case, column: str, equal: Bools, person: Ints) -> dict[str, Floats]:
    """Return for each form which values of people stand in the synthetic table in that form alone.

    A value that is `equal`, or equal in a form before, is left out: so each form finds what no other one does, and no
    form has fewer hits among people who are copied. All forms are told, whoever is hit: otherwise one person could make
    a result appear in an external edition.

    Parameters
    ----------
    equal
        Which codes of the column, 0 (missing) included, are values that stand there as they are.
    person
        Number of the person who has each code; -1 where several have it.

    Returns
    -------
    hits
        Shape (n_levels + 1,) each; 1 or 0, nan for values that have no such form or are left out. No form that less
        than a fifth of the people has.
    """
    pooled = case.pooled(column)
    texts = _level_texts(pooled)
    times = np.sum([pooled.counts[i][1:] for i in case.encoded.people], axis=0)
    place = np.flatnonzero(times > 0)
    spelled = SyntheticSpellings(_synthetic_texts(case, column, texts))
    hits, before = {}, equal.copy()
    for form, hit in spelled.hits(texts.gather(place), person[1 + place]).items():
        if times[place][~np.isnan(hit)].sum() < OWN_NUMBERS * times.sum():
            continue
        hits[form] = np.zeros(len(equal))
        hits[form][1 + place] = np.where(before[1 + place], np.nan, hit)
        before |= hits[form] == 1
    return hits


def written_alike(members: pl.Series, strangers: pl.Series) -> bool:
    """Return whether values of members and of strangers may be written alike, as those of a random split are.

    Identifiers that were numbered anew in each table, such as r1, r2, ... and h1, h2, ..., are near each other or not
    by their tables and lengths alone. Lengths, first and last characters, and the tenths of the order of all values are
    compared by tests of chi squared.

    Examples
    --------
    >>> r, h = (pl.Series([f"{side}{i}" for i in range(100, 200)]) for side in "rh")
    >>> written_alike(r, h), written_alike(r[::3], r[1::3])
    (False, True)
    """
    sides = [side.cast(pl.String).drop_nulls().unique() for side in (members, strangers)]
    features = (
        [side.str.len_chars().cast(pl.String) for side in sides],
        [side.str.slice(0, 1) for side in sides],
        [side.str.slice(-1) for side in sides],
        _tenths(sides),
    )
    return all(_alike(values) >= _OTHERWISE / len(features) for values in features)


def _tenths(sides: list[pl.Series]) -> list[pl.Series]:
    """Return in which tenth of the values of both sides, in order, each value lies: numbered on, they lie apart."""
    place = pl.concat(sides).rank("dense") if sum(map(len, sides)) else pl.Series([], dtype=pl.UInt32)
    tenth = (place * 10 // (place.max() + 1)).cast(pl.String) if len(place) else place.cast(pl.String)
    return [tenth[: len(sides[0])], tenth[len(sides[0]) :]]


_OTHERWISE = 0.001  # p-value below which values are written otherwise


def _alike(sides: list[pl.Series]) -> float:
    """Return the p-value of a test that two sides have each value as often; values of fewer than ten count as one."""
    from scipy.stats import chi2_contingency

    frame = pl.concat([s.to_frame("value").with_columns(side=pl.lit(i)) for i, s in enumerate(sides)])
    counts = frame.pivot("side", index="value", values="side", aggregate_function="len").fill_null(0)
    if counts.width < 3:
        return 1.0
    table = counts.select("0", "1").to_numpy()
    rare = table.sum(axis=1) < FEW_PEOPLE
    table = np.vstack([table[~rare], table[rare].sum(axis=0, keepdims=True)])
    table = table[table.sum(axis=1) > 0]
    return 1.0 if len(table) < 2 else float(chi2_contingency(table, correction=False).pvalue)


def people_written_alike(case: Case, column: str) -> bool:
    """Return whether the values of a column are written alike by members and strangers; True without strangers."""
    if not case.has_holdout:
        return True
    pooled = case.pooled(column)
    texts = _level_texts(pooled)
    real, holdout = (texts.filter(pl.Series(pooled.counts[i][1:] > 0)) for i in (0, 2))
    return written_alike(real, holdout)


def has_spellings(case: Case, column: str) -> bool:
    """Return whether a column is looked for in other spellings: texts, identifiers, the unit, and whole numbers."""
    if case.schema[column].kind in ("text", "identifier") or column == case.unit:
        return True
    numbers = case.numbers(column)[1:]
    return case.schema[column].kind == "numeric" and bool((numbers == np.round(numbers)).mean() >= _WHOLE)


def other_form(case: Case, column: str) -> bool:
    """Return whether hardly any synthetic value of a column of texts or identifiers is written as people's values are.

    A form is, but for marks and blanks, which of letters of some scripts and digits a value has, or how letters and
    digits follow each other; of lists of codes also how long these are; of texts whether a word stands there twice,
    whether one of the ten words is there that most people's texts have, and whether four words in five are such as two
    people's texts have. A person's form counts if ten people and a
    fiftieth of them have it: hexadecimal codes are seldom digits alone. Values of a hexadecimal digest are read.
    """
    if case.schema[column].kind not in ("text", "identifier") or column == case.unit:
        return False
    pooled = case.pooled(column)
    texts = _level_texts(pooled)
    synthetic = _synthetic_texts(case, column, texts).drop_nulls()
    synthetic = synthetic.filter(~_is_digest(synthetic))
    people = np.sum([pooled.counts[i][1:] for i in case.encoded.people], axis=0)
    if not len(synthetic) or people.sum() < FEW_PEOPLE * 2:
        return False
    # every second, third, ... of many values in their order tells as much, and their words fit into memory
    every = 1 + int((people > 0).sum()) // _MOST_VALUES
    theirs, weights = texts.filter(pl.Series(people > 0)).gather_every(every), people[people > 0][::every]
    synthetic = synthetic.sort().gather_every(1 + len(synthetic) // _MOST_VALUES)
    return any(_seldom(own, weights, released) for own, released in _forms(theirs, weights, synthetic))


def _seldom(forms: pl.Series, weights: Ints, synthetic: pl.Series) -> bool:
    """Return whether hardly any synthetic value has a form that people's values have; nulls have none."""
    times = pl.DataFrame({"form": forms, "n": weights}).drop_nulls().group_by("form").agg(pl.col("n").sum())
    known = times.filter(pl.col("n") >= max(FEW_PEOPLE, _SELDOM * weights.sum()))
    if 2 * known["n"].sum() < weights.sum():
        return False  # people write in too many forms to say
    return bool(synthetic.is_in(known["form"].to_list()).fill_null(False).mean() < _WRITTEN_ALIKE)


def _forms(people: pl.Series, weights: Ints, synthetic: pl.Series) -> Iterator[tuple[pl.Series, pl.Series]]:
    """Yield the forms of the values of people and of the synthetic table, in each way to tell them apart."""
    plain = [without_marks(texts) for texts in (people, synthetic)]  # values with other marks are read
    yield _signs_of(plain[0]), _signs_of(plain[1])
    yield _shape(plain[0]), _shape(plain[1])
    words = [texts.str.split(" ") for texts in plain]
    n_words = np.repeat(words[0].list.len().to_numpy(), weights)
    if np.median(n_words) < _FEW_WORDS:
        return
    yield _shapes(plain[0]), _shapes(plain[1])
    yield words[0].list.n_unique() == words[0].list.len(), words[1].list.n_unique() == words[1].list.len()
    if np.median(n_words) >= _MANY_WORDS:
        each = pl.DataFrame({"word": words[0].list.unique(), "n": weights}).explode("word").drop_nulls()
        counts = each.group_by("word").agg(pl.col("n").sum()).sort(["n", "word"], descending=[True, False])
        most, known = counts["word"].head(_COMMON), counts.filter(pl.col("n") > 1)["word"]
        yield _has(words[0], most, 0), _has(words[1], most, 0)
        yield _has(words[0], known, _KNOWN), _has(words[1], known, _KNOWN)


def _has(words: pl.Series, some: pl.Series, share: float) -> pl.Series:
    """Return which texts have more than a share of their words among some words."""
    each = pl.DataFrame({"word": words}).with_row_index().explode("word")
    shares = each.group_by("index").agg(pl.col("word").is_in(some.to_list()).mean()).sort("index")["word"]
    return shares > share


def _shape(plain: pl.Series) -> pl.Series:
    """Return how letters and digits follow each other in short texts; null for long ones."""
    short = plain.set(plain.str.len_chars() > _LONGEST, None).str.replace_all(" ", "", literal=True)
    return short.str.replace_all(r"[\p{L}\p{M}]+", "a").str.replace_all(r"\p{N}+", "9")


def _shapes(plain: pl.Series) -> pl.Series:
    """Return of which letters and digits the words of lists of codes are; null for texts without digits."""
    digits = plain.set(~plain.str.contains("[0-9]"), None)
    alike = digits.str.replace_all(r"\p{L}", "a").str.replace_all("[0-9]", "9")
    return alike.str.split(" ").list.unique().list.sort().list.join(" ")


def _signs_of(texts: pl.Series) -> pl.Series:
    """Return for each text a number that says which kinds of signs it has."""
    out = np.zeros(len(texts), dtype=np.int64)
    for i, kind in enumerate(_KINDS):
        out += texts.str.contains(kind).to_numpy().astype(np.int64) << i
    return pl.Series(out)


def _synthetic_texts(case: Case, column: str, texts: pl.Series) -> pl.Series:
    """Return the values of the synthetic table; of texts among numbers the digests, or all where most are none."""
    pooled, table = case.pooled(column), case.tables[1]
    released = texts.filter(pl.Series(pooled.counts[1][1:] > 0))
    if pooled.family != "number" or table.frame is None:
        return released
    given = table.series(column)
    if given.dtype != pl.String:
        return released
    unread = given.drop_nulls().unique()
    return pl.concat([released, unread if len(unread) > len(released) else unread.filter(_is_digest(unread))])


def _is_digest(texts: pl.Series) -> pl.Series:
    """Return which texts may be hexadecimal digests."""
    plain = texts.str.strip_chars().str.to_lowercase()
    return plain.str.contains("^[0-9a-f]+$") & plain.str.len_chars().is_in(list(DIGEST_LENGTHS))


def _level_texts(pooled: PooledColumn) -> pl.Series:
    """Return the values of a column as texts, whole numbers without a point."""
    if pooled.family == "number":  # a decimal of one person must not give all others a point
        whole = pooled.levels.cast(pl.Int64, strict=False)
        same = (whole == pooled.levels).fill_null(False)
        return whole.cast(pl.String).zip_with(same, pooled.levels.cast(pl.String))
    return pooled.levels.cast(pl.String)
