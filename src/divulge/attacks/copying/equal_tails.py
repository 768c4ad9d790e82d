"""Last digits of numbers, or times of day, that one person alone has, and that another synthetic value has too.

Language models keep the last digits of a number where they change the first ones, and whoever moves dates by days, or
draws them anew, keeps the time of day. Which tails are looked at, and who is
hit, depends on no label, so that Fisher's test of members against strangers is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.copying.one_column import PEOPLE, is_row_number, person_of_codes, units_of_people
from divulge.attacks.copying.other_spellings import WRITTEN_OTHERWISE, people_written_alike
from divulge.case.case import Case
from divulge.core.hashing import value_hashes
from divulge.core.result import Result
from divulge.tables.pooled_columns import PooledColumn

__all__ = ["LAST_DIGITS", "TAILS", "TAILS_NOTES", "TIME_OF_DAY", "TWO_TAILS", "equal_tails"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LAST_DIGITS = "last digits"
_LENGTHS = (3, 4, 5, 6)
_OF_TWO, _OF_CODE = 3, 6  # digits of each of two columns, and of a code such as a telephone number
TAILS = {k: f"last {k} digits" for k in _LENGTHS}
"""Variants of a column of numbers, by the number of digits."""
TIME_OF_DAY = "time of day"
"""Variant of a column of times."""
TWO_TAILS = f"last {_OF_TWO} digits of two columns"
_TELLING = 0.2
"""Part of the people who have a tail of their own, below which it hardly tells anybody. Of 8,000 people 45% have four
digits of their own if all are as likely, and nobody three."""
_MOST = 10  # columns that are compared, as each one takes from the power of the others
_DECIMALS = 9  # more are hardly digits of a measure; numbers beside others that have them are rounded
_USUAL = 0.99  # part of the people's values that have no more decimals than are looked at
_EXACT = 2**53  # whole numbers below it are exact
_DAY = 86_400_000_000  # microseconds
_OF_NUMBERS = {variant: 10**k for k, variant in TAILS.items()}
_OF_CODES = {TAILS[_OF_CODE]: 10**_OF_CODE}
_OF_TIMES = {TIME_OF_DAY: _DAY}
"""By what the values of a column are divided, by the variant in which the remainders are compared."""

_NOTE = (
    "a value counts whose last digits one person of real and holdout together has, without the point, and that another "
    "number of the synthetic table has too; people with a number of no more digits, or whose value stands there whole, "
    "are left out"
)
_NOTE_TIME = (
    "a value counts whose time of day, but midnight, one person of real and holdout together has, and that another "
    "time of the synthetic table has too; people whose value stands there whole are left out"
)
_LEFT = "last digits: {:,} of {:,} columns in which a fifth of the people has a tail were compared"
_ELSEWHERE = "last digits were not compared: they need every row in memory"
TAILS_NOTES = (_NOTE, _NOTE_TIME, _LEFT.replace("{:,}", "#"), _ELSEWHERE)
"""Notes for the entry; "#" stands for a number."""


def equal_tails(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have last digits, or a time of day, of their own that the table has too.

    Each column of numbers is compared by its last 3, 4, 5 and 6 digits where a fifth of the people have such a tail of
    their own, and pairs of columns by the last three of both: of up to six columns all pairs, of more each column
    with the next one. Codes of digits and other signs, as telephone numbers, are compared by the last 6 digits, times
    by the time of day.

    Returns
    -------
    results, note
        One result for each column and number of digits, or for each pair; the note says which columns were left, or why
        none was compared.
    """
    if not case.in_memory:
        return [], _ELSEWHERE
    n = sum(case.tables[i].n_rows for i in case.encoded.people)
    if n < PEOPLE:
        return [], ""
    known = [written for column in sorted(case.columns) if (written := _written(case, column)) is not None]
    shares = [{v: share for v in one.variants if (share := one.share_alone(v)) >= _TELLING} for one in known]
    telling = [(one, own) for one, own in zip(known, shares, strict=True) if own]
    some = sorted(sorted(telling, key=lambda t: -max(t[1].values()))[:_MOST], key=lambda t: t[0].name)
    found = [_of_column(case, one, variant) for one, own in some for variant in own]
    found += _of_pairs(case, [one for one, _ in some if one.variants is _OF_NUMBERS])
    return found, _LEFT.format(_MOST, len(telling)) if len(telling) > _MOST else ""


class _Written:
    """A column of numbers as whole numbers, the decimal point left out, or of times as microseconds."""

    def __init__(self, case: Case, column: str, variants: Mapping[str, int], whole: Ints, known: Bools) -> None:
        pooled = case.pooled(column)
        self.name, self.variants = column, variants
        self.whole, self.known = whole, known
        self.person = person_of_codes(case, column)[1:]
        self.released = pooled.counts[1][1:] > 0
        self._people = np.sum([pooled.counts[i][1:] for i in case.encoded.people], axis=0)

    def tails(self, variant: str) -> tuple[Ints, Bools]:
        """Return the last digits, or time of day, of each level, and which levels have more than these."""
        size = self.variants[variant]
        return self.whole % size, self.known & (self.whole >= size)

    def alone(self, variant: str) -> Bools:
        """Return which levels have last digits, or a time of day, that one person alone has."""
        tails, long = self.tails(variant)
        return _alone(tails, long, self.person)

    def share_alone(self, variant: str) -> float:
        """Return the part of the people who have last digits, or a time of day, of their own."""
        return float(self._people[self.alone(variant)].sum() / max(1, self._people.sum()))


def _written(case: Case, column: str) -> _Written | None:
    """Return a column of numbers in digits, or of times; None for others, row numbers and numbers of many decimals."""
    pooled = case.pooled(column)
    if column == case.unit or not pooled.levels.len() or is_row_number(case, column):
        return None
    if pooled.family == "text" and case.schema[column].kind not in ("numeric", "identifier", "text"):
        return None
    if case.schema[column].kind == "constant":
        return None
    if pooled.family == "datetime":
        since = pooled.levels.cast(pl.Int64).to_numpy()
        since = since - since.min(initial=0) // _DAY * _DAY + _DAY
        return _Written(case, column, _OF_TIMES, since, since % _DAY > 0)
    people = np.sum([pooled.counts[i][1:] for i in case.encoded.people], axis=0)
    if (found := _in_digits(pooled, people)) is not None:
        return _Written(case, column, _OF_NUMBERS, *found)
    if pooled.family == "text" and (codes := _of_texts(pooled.levels)) is not None:
        return _Written(case, column, _OF_CODES, *codes)
    return None


def _in_digits(pooled: PooledColumn, people: Ints) -> tuple[Ints, Bools] | None:
    """Return the levels as whole numbers without a sign, and which are finite and exact; None for many decimals.

    Texts among numbers are none: that one person has one changes nothing for the others.
    """
    numbers = pooled.levels.to_numpy() if pooled.family == "number" else pooled.numbers()
    if numbers.dtype.kind == "i":
        known = numbers > np.iinfo(np.int64).min
        return np.abs(np.where(known, numbers, 0)), known
    finite = np.isfinite(numbers) & (np.abs(numbers) < _EXACT)
    if not finite.any():
        return None
    numbers = np.abs(np.where(finite, numbers, 0.0))
    decimals = np.full(len(numbers), _DECIMALS + 1)
    for d in range(_DECIMALS, -1, -1):
        decimals[np.round(numbers, d) == numbers] = d
    order = np.argsort(decimals, kind="stable")
    reached = np.searchsorted(np.cumsum(people[order]), _USUAL * people.sum())
    usual = int(decimals[order[min(int(reached), len(order) - 1)]])
    if usual > _DECIMALS:
        return None
    moved = np.rint(numbers * 10.0**usual)
    known = finite & (moved < _EXACT)
    return np.where(known, moved, 0.0).astype(np.int64), known


def _of_texts(texts: pl.Series) -> tuple[Ints, Bools] | None:
    """Return texts of digits and other signs, as telephone numbers, as whole numbers, and which are; None without."""
    digits = texts.str.replace_all(r"[^0-9]+", "")
    known = ~texts.str.contains(r"\p{L}") & digits.str.len_chars().is_between(_OF_CODE + 1, len(str(_EXACT)) - 1)
    if not known.any():
        return None
    whole = ("1" + digits).set(~known, "0").cast(pl.Int64)  # a leading zero is a digit too
    return whole.to_numpy(), known.to_numpy()


def _alone(values: NDArray[np.int64 | np.uint64], known: Bools, person: Ints) -> Bools:
    """Return which values, of those that are known, one person alone has; -1 are several people, -2 is nobody."""
    out = np.zeros(len(values), dtype=np.bool_)
    theirs = np.flatnonzero(known & (person > -2))
    if not len(theirs):
        return out
    theirs = theirs[np.argsort(values[theirs], kind="stable")]
    ordered, who = values[theirs], person[theirs]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    least, most = np.minimum.reduceat(who, first), np.maximum.reduceat(who, first)
    out[theirs] = np.repeat((least == most) & (least >= 0), np.diff(np.r_[first, len(ordered)]))
    return out


def _of_column(case: Case, written: _Written, variant: str) -> Result:
    tails, long = written.tails(variant)
    theirs = np.unique(tails[long & written.released])
    hit = written.alone(variant) & np.isin(tails, theirs)
    scores = np.concatenate([[np.nan], np.where(long & ~written.released, hit, np.nan)])
    codes = case.codes(written.name, binned=False)
    return _result(case, variant, (written.name,), scores[codes[0]], scores[codes[2]] if case.has_holdout else None)


def _of_pairs(case: Case, columns: list[_Written]) -> Iterator[Result]:
    """Yield the results of two columns together."""
    n = len(columns)
    pairs = list(combinations(range(n), 2)) if n <= 6 else [(i, i + 1) for i in range(n - 1)]
    if not pairs:
        return
    rows = case.n_rows("real")
    n_people = rows + (case.n_rows("holdout") if case.has_holdout else 0)
    person = np.arange(n_people) if case.unit is None else units_of_people(case)
    person = np.concatenate([person, np.full(case.n_rows("synthetic"), -2)])
    released = person == -2
    hashes, longs, whole = [], [], []
    for place, written in enumerate(columns):
        tails, long = written.tails(TAILS[_OF_TWO])
        own = case.codes(written.name, binned=False)
        codes = np.concatenate([*(own[i] for i in case.encoded.people), own[1]])
        hashes.append(value_hashes(np.r_[0, tails].astype(np.uint64), place)[codes])
        longs.append(np.r_[False, long][codes])
        whole.append(np.r_[False, written.released][codes])
    for a, b in pairs:
        both, long = hashes[a] + hashes[b], longs[a] & longs[b]
        theirs = np.unique(both[long & released])
        hit = _alone(both, long, person) & np.isin(both, theirs)
        scores = np.where(long & ~(whole[a] & whole[b]), hit, np.nan)[:n_people]
        keys = columns[a].name, columns[b].name
        yield _result(case, TWO_TAILS, keys, scores[:rows], scores[rows:] if case.has_holdout else None)


def _result(case: Case, variant: str, keys: tuple[str, ...], members: Floats, strangers: Floats | None) -> Result:
    """Return a result; without a verdict where members' and strangers' numbers are written otherwise."""
    note = _NOTE_TIME if variant == TIME_OF_DAY else _NOTE
    plain = Result(attack="copies", variant=variant, keys=keys, notes=(note,))
    found = by_record(case, plain, members, strangers)
    if all(people_written_alike(case, column) for column in keys):
        return found
    return replace(
        plain,
        real=found.real,
        holdout=found.holdout,
        individual=found.individual,
        notes=(note, WRITTEN_OTHERWISE),
    )
