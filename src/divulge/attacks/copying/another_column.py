"""Values of people in another synthetic column: one that was renamed, split or joined, or the next one by mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.copying.one_column import OWN, PEOPLE, is_row_number, own_columns, person_of_codes, units_of_people
from divulge.attacks.copying.other_spellings import FORM_WORDS, FORMS, SyntheticSpellings, written_alike
from divulge.case.case import Case
from divulge.core.distinct_values import distinct_values
from divulge.core.result import Result
from divulge.tables.canonical_values import plain
from divulge.tables.column_families import with_plain_digits
from divulge.tables.frames import Table
from divulge.tables.spellings import digits_in, parts_in, without_marks, written_digits
from divulge.tables.texts import folded, words

__all__ = ["ANOTHER_COLUMN_HITS", "ANOTHER_COLUMN_NOTES", "another_column"]

Hashes = NDArray[np.uint64]

ANOTHER_COLUMN = "another column"
OTHER_HEADING = "under another heading"
_WITHIN = "within a longer text"
ANOTHER_COLUMN_HITS = {
    ANOTHER_COLUMN: "in another column, the value of",
    OTHER_HEADING: "under another heading, the value of",
    f"{OTHER_HEADING}, {_WITHIN}": f"under another heading, {FORM_WORDS[_WITHIN]}, the value of",
    **{f"{ANOTHER_COLUMN}, {form}": f"in another column, {how}, the value of" for form, how in FORM_WORDS.items()},
}
"""What stands in the synthetic table, in words that precede "members"."""
_NO_TEXT = pl.Series([], dtype=pl.String)
_MOST = 10  # columns of a table that are looked at, a limit on the time
_CHANCE = 0.02  # share of people whose value others have in another column, above which chance explains too much
_JOINED = 4  # of these, columns of text that are joined by twos, a limit on the time
_VALUES = "a person's value stands in a synthetic column that the real table lacks; texts by their words, in any order"
_NOT_HERE = "values were not looked for in synthetic columns that the real table lacks: they need every row in memory"
_FEWER = f"values were looked for in the first {_MOST} of the synthetic columns that the real table lacks"
_WRITTEN_OTHERWISE = "no other spelling was looked for: values of members and of strangers are written otherwise"
_HEADING = "a person's value stands in another column of the synthetic table and not in its own; texts by their words"
_PARTS = (
    "a text of 8 letters and digits or more, or a number, date or time of 5 digits or more, which one person alone "
    "has, is part of a synthetic text of another column"
)
_FEWER_HEADINGS = f"under another heading: of more columns with values that stand in another one, {_MOST} are shown"
_ELSEWHERE = "values were not looked for under other headings: they need every row in memory"
ANOTHER_COLUMN_NOTES = (_VALUES, _NOT_HERE, _FEWER, _WRITTEN_OTHERWISE, _HEADING, _ELSEWHERE, _PARTS, _FEWER_HEADINGS)
"""Notes for the entry."""


def another_column(case: Case) -> tuple[list[Result], list[str]]:
    """Return how many members and strangers have a value that stands in another synthetic column than its own.

    Every column of real and holdout in which nearly all people have a value of their own is looked for in the synthetic
    columns that the real table lacks, and so are pairs of texts that the synthetic table lacks, joined, as a name is
    split over two columns. Columns that both tables have are looked for in one another. The second value says what
    was not looked for.
    """
    renamed, untested = _in_new_columns(case)
    swapped, unlooked = _under_other_headings(case)
    return [*renamed, *swapped], [untested, unlooked]


def _in_new_columns(case: Case) -> tuple[list[Result], str]:
    """Return who has a value that stands in a synthetic column that the real table lacks, and what was left out."""
    left = case.without_members
    if not left or not case.has_holdout:
        return [], ""
    if any(t.frame is None for t in case.tables):
        return [], _NOT_HERE
    real, synthetic, holdout = case.tables
    there = [value[0] for _, value in _values([synthetic], left[:_MOST])]
    released = pl.concat([_by_words(v) for v in there]).drop_nulls().unique().sort().to_numpy()
    if not len(released):
        return [], ""
    spelled = SyntheticSpellings(pl.concat([t for v in there if (t := _texts(v)) is not None] or [_NO_TEXT]))
    shared = [c for c in real.columns if c in holdout.columns]
    own = [c for c in own_columns(case) if c in shared and not is_row_number(case, c)]
    unpaired = [c for c in shared if c not in synthetic.columns and not _numbers_rows(real.series(c))][:_MOST]
    ours = (*_values([real, holdout], own, join=False), *_values([real, holdout], unpaired))
    found = [r for columns, values in ours for r in _compared(case, columns, values, released, spelled)]
    return found, _FEWER if len(left) > _MOST else ""


def _under_other_headings(case: Case) -> tuple[list[Result], str]:
    """Return who has a value that stands in another column that both tables have, as a telephone number may.

    A value counts that the person has in no other column; one that stands in its own synthetic column is left out, and
    within longer texts one that stands whole in any. Columns
    are left out of whose values people have more than a fiftieth in another column too. Texts that one person alone has
    are looked for within longer ones as well, as names in notes. Of more than ten columns with hits those with most.
    """
    columns = sorted(c for c in own_columns(case) if c != case.unit and not is_row_number(case, c))
    if len(columns) < 2:
        return [], ""
    if not case.in_memory:
        return [], _ELSEWHERE
    people, released = {}, {}
    for c in columns:
        key = np.concatenate([np.zeros(1, np.uint64), _by_words(case.pooled(c).levels).fill_null(0).to_numpy()])
        rows = [key[own] for own in case.codes(c, binned=False)]
        released[c], people[c] = np.unique(rows[1]), np.concatenate([rows[i] for i in case.encoded.people])
    anywhere = np.unique(np.concatenate(list(released.values())))
    values, times = np.unique(np.concatenate([np.unique(own) for own in people.values()]), return_counts=True)
    shared, hits = values[times > 1], []
    for c, own in people.items():
        if (_is_in(own, shared) & (own != 0)).mean() <= _CHANCE:
            hit = (own != 0) & _is_in(own, anywhere) & ~_is_in(own, released[c])
            at = np.flatnonzero(hit)
            hit[at] = np.sum([own[at] == theirs[at] for theirs in people.values()], axis=0) == 1
            hits.append((OTHER_HEADING, c, hit, _HEADING))
    within = _within_other_texts(case, columns)
    hits += [(variant, c, hit & ~_is_in(people[c], anywhere), note) for variant, c, hit, note in within]
    hits = sorted((h for h in hits if h[2].any()), key=lambda h: (-h[2].sum(), h[:2]))
    found, n_real = [], case.n_rows("real")
    for variant, c, hit, note in sorted(hits[:_MOST], key=lambda h: h[:2]):
        known = pl.Series(people[c])
        if _stands_alone(case, known.set(known == 0, None)):
            whole = _is_in(people[c], released[c] if variant == OTHER_HEADING else anywhere)
            scores = np.where((people[c] == 0) | whole, np.nan, hit)
            plain_result = Result(attack="copies", variant=variant, keys=(c,), notes=(note,))
            found.append(by_record(case, plain_result, scores[:n_real], scores[n_real:] if case.has_holdout else None))
    return found, _FEWER_HEADINGS if len(hits) > _MOST else ""


def _within_other_texts(case: Case, columns: Sequence[str]) -> Iterator[tuple[str, str, NDArray[np.bool_], str]]:
    """Yield for each column who has a value of his own that is part of a longer synthetic text of another column.

    Texts by their letters and digits, numbers and moments by their digits as they may be written.
    """
    texts = {c: case.pooled(c).levels for c in columns if case.pooled(c).family == "text"}
    released = {c: pl.Series(case.pooled(c).counts[1][1:] > 0) for c in texts}
    plain_texts = {c: without_marks(own) for c, own in texts.items()}
    longer = {c: own.filter(released[c]) for c, own in plain_texts.items()}
    some = [own.filter(released[c]) for c, own in texts.items()] if len(texts) < len(columns) else []
    digits = digits_in(pl.concat(some or [_NO_TEXT])).to_list()
    for c in columns:
        own = case.pooled(c).levels
        part = np.zeros(1 + len(own), dtype=np.bool_)
        for other in texts if c in texts and len(own) else ():
            if other != c:
                part[1:] |= parts_in(plain_texts[c], longer[other]).to_numpy()
        for written in written_digits(own) if c not in texts and digits else ():
            part[1:] |= written.is_in(digits).fill_null(False).to_numpy()
        part[1:] &= person_of_codes(case, c)[1:] >= 0
        codes = case.codes(c, binned=False)
        yield (
            f"{OTHER_HEADING}, {_WITHIN}",
            c,
            part[np.concatenate([codes[i] for i in case.encoded.people])],
            _PARTS,
        )


def _is_in(values: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Return which values are among known ones, ascending."""
    if not len(known):
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values)


def _numbers_rows(values: pl.Series) -> bool:
    """Return whether a column has whole numbers with hardly a gap, which recur in every table."""
    if not values.dtype.is_integer() or values.null_count() == len(values):
        return False
    low, high = values.min(), values.max()
    assert isinstance(low, int) and isinstance(high, int)
    return bool(high - low < 1.05 * values.n_unique())


def _values(
    tables: Sequence[Table], columns: Sequence[str], *, join: bool = True
) -> Iterator[tuple[tuple[str, ...], list[pl.Series]]]:
    """Yield the values of each column, and of pairs of columns of text joined, in the tables."""
    for column in columns:
        yield (column,), [with_plain_digits(plain(t.series(column).alias(""))) for t in tables]
    texts = [c for c in columns if all(t.series(c).dtype in (pl.String, pl.Categorical, pl.Enum) for t in tables)]
    for pair in combinations(texts[:_JOINED] if join else (), 2):
        parts = ([t.series(c).cast(pl.String) for c in pair] for t in tables)
        joined = [(one.fill_null("") + " " + other.fill_null("")).alias("") for one, other in parts]
        yield pair, [with_plain_digits(plain(s)) for s in joined]


def _whole_numbers(values: pl.Series) -> pl.Series:
    """Return numbers as texts, whole ones as whole numbers, which another table has as integers."""
    whole = values.is_finite() & (values == values.round(0)) & (values.abs() < 2**53)
    texts = pl.select(pl.when(whole).then(values).cast(pl.Int64, strict=False)).to_series().cast(pl.String)
    return texts.zip_with(whole.fill_null(False), values.cast(pl.String))


def _texts(values: pl.Series) -> pl.Series | None:
    """Return texts, or numbers as texts, for other spellings; None for values of other types."""
    if values.dtype.is_float():
        return _whole_numbers(values)
    return values.cast(pl.String) if values.dtype == pl.String or values.dtype.is_integer() else None


def _by_words(values: pl.Series) -> pl.Series:
    """Return a hash of each value: of a text the sum over its words, without regard to capitals; null is missing."""
    texts = _whole_numbers(values) if values.dtype.is_float() else values.cast(pl.String)
    keys = texts.hash(seed=0)
    if values.dtype == pl.String:
        known = folded(texts.fill_null(""))
        hashes, start = words(known)
        totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashes, dtype=np.uint64)])
        summed = totals[start[1:]] - totals[start[:-1]]
        keys = pl.Series(np.where(np.diff(start) > 0, summed, known.hash(seed=0).to_numpy()))
        return keys.set(known == "", None)
    return keys.set(values.is_null(), None)


def _compared(
    case: Case, columns: tuple[str, ...], values: Sequence[pl.Series], released: Hashes, spelled: SyntheticSpellings
) -> Iterator[Result]:
    """Yield the rates of people whose value stands there, as it is and by form, where it does for anybody.

    There are none where people share their values.
    """
    keys = pl.concat([_by_words(v) for v in values])
    n_real = len(values[0])
    if not _stands_alone(case, keys):
        return
    own = keys.fill_null(0).to_numpy()
    hit = _is_in(own, released)
    hits = {ANOTHER_COLUMN: hit.astype(np.float64)} if hit.any() else {}
    texts = [_texts(v) for v in values]
    known = [t for t in texts if t is not None]
    alike = len(known) == len(texts) and written_alike(known[0], known[1])
    if alike:
        there = pl.concat(known).fill_null("")
        before = hit
        holder = np.arange(len(there)) if case.unit is None else units_of_people(case)
        for form, other in spelled.hits(there, holder).items():
            if ((other == 1) & ~before).any():
                hits[f"{ANOTHER_COLUMN}, {form}"] = np.where(before, np.nan, other)
            before = before | (other == 1)
    missing = keys.is_null().to_numpy()
    for variant, found in hits.items():
        scores = np.where(missing, np.nan, found)
        notes = [_VALUES if variant == ANOTHER_COLUMN else FORMS[variant.removeprefix(f"{ANOTHER_COLUMN}, ")]]
        notes += [] if alike or len(known) < len(texts) else [_WRITTEN_OTHERWISE]
        plain_result = Result(attack="copies", variant=variant, keys=columns, notes=tuple(notes))
        step = f"copies {variant} {'+'.join(columns)}"
        yield by_record(case, plain_result, scores[:n_real], scores[n_real:], step=step, curves=True)


def _stands_alone(case: Case, together: pl.Series) -> bool:
    """Return whether nearly all people have a value that nobody else has, by a hash of each."""
    known = together.is_not_null().to_numpy()
    codes = together.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    person = np.arange(len(codes)) if case.unit is None else units_of_people(case)
    n = int(person.max(initial=-1)) + 1
    pairs = distinct_values(codes[known] * (n + 1) + person[known])
    holders = np.bincount(pairs // (n + 1))
    alone = len(distinct_values((pairs % (n + 1))[holders[pairs // (n + 1)] == 1]))
    return n >= PEOPLE and alone >= OWN * n
