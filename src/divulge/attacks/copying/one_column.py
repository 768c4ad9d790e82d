"""Copies of one column: values, or runs of words, that hardly anybody shares and that recur in the synthetic table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import compared, hold_back
from divulge.attacks.copying.moved_numbers import MOVED, MOVED_CONTEXT, MOVED_NOTE, move_between
from divulge.attacks.copying.nearly_equal import (
    NEARLY_EQUAL,
    NEARLY_EQUAL_NOTE,
    nearly_equal,
)
from divulge.attacks.copying.other_spellings import (
    FORM_NOTES,
    FORMS,
    WRITTEN_OTHERWISE,
    has_spellings,
    people_written_alike,
    spelled_levels,
)
from divulge.case.case import Case
from divulge.case.column_facts import OWN_NUMBERS, facts_of, share_alone
from divulge.core.result import Individual, Result, is_compared
from divulge.core.schema import infer
from divulge.kernels.neighbours.lattice import digits_of
from divulge.kernels.word_runs import RUN, own_runs
from divulge.stats import Outcomes
from divulge.tables.pooled_columns import PooledColumn, pool
from divulge.tables.texts import folded, words
from divulge.tables.word_forms import UNSPACED, are_unspaced

__all__ = [
    "BY_RUNS_ALONE",
    "MOST_WORDS",
    "ONE_COLUMN",
    "ONE_COLUMN_NOTES",
    "OWN",
    "OWN_WORDS",
    "PEOPLE",
    "ROW_NUMBERS",
    "SHARED_WORDS",
    "WORDS_OF_TEXTS",
    "beside_words",
    "folded_codes",
    "is_row_number",
    "n_people_with",
    "one_column",
    "own_columns",
    "person_of_codes",
    "units_of_people",
    "without_strangers",
]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ONE_COLUMN = "one column"
SHARED_WORDS = "one column, shared words"
OWN_WORDS = "one column, own "
"""What the variants of `copies` begin with that compare words; the form of the words follows."""
WORDS_OF_TEXTS = "named_in_texts"
"""The attack that compares words in a run."""
OWN = 0.9
"""Part of the people who have a value of their own, from which a column is compared by itself: the issue's choice."""
_LONG = 20  # characters on average, above which texts of a script without blanks have runs of eight
_ROW_GAPS = 1.05  # of the distinct numbers, below which the span of row numbers is
PEOPLE = 20  # of fewer people nearly all differ in any number, which says nothing
MOST_WORDS = 60_000_000
"""Words of all distinct texts up to which they are compared: about 4 GB, a minute."""

_VALUES = (
    "a person's value stands in the synthetic table, exactly; texts are compared folded: Unicode NFKC, no capitals, "
    "single blanks"
)
ROW_NUMBERS = "whole numbers with hardly a gap: row numbers recur in every table, so no verdict is given"
_UNITS = "each unit counts once"
BY_RUNS_ALONE = "texts were compared as a whole and by runs of words alone; named_in_texts compares their words"
"""Why nothing is cleared of a text whose words were not compared."""
_RUNS = (
    f"a run of {RUN} words that only one person of real and holdout together has stands in a synthetic text; "
    f"texts of fewer words are left out"
)
_MANY_WORDS = f"shared runs of words were not compared: more than {MOST_WORDS:,} words"


ONE_COLUMN_NOTES = (
    _VALUES,
    ROW_NUMBERS,
    _UNITS,
    _RUNS,
    _MANY_WORDS,
    *FORM_NOTES,
    NEARLY_EQUAL_NOTE,
    MOVED_NOTE,
    "# of # values of this column recur; no strangers to compare with",
    "the holdout lacks columns that were not compared: '…'",
)
"""Notes for the entry; "#" stands for a number and "'…'" for quoted names."""


def own_columns(case: Case) -> tuple[str, ...]:
    """Return the columns that are compared by themselves.

    These are texts, identifiers, the unit, and every column in which at least 90 % of people, real and holdout
    together, have a value that nobody else has. Ignored columns count like others.
    """
    return case.encoded.once(("own columns", case.unit), lambda: tuple(c for c in case.columns if _is_own(case, c)))


def _is_own(case: Case, column: str) -> bool:
    kind = case.schema[column].kind
    if kind == "constant":
        return False
    if kind in ("text", "identifier") or column == case.unit:
        return True
    return _share_alone(case, column) >= OWN


def _share_alone(case: Case, column: str) -> float:
    """Return the part of the people who have a value that nobody else has; 0 where there are too few people."""
    tables = case.encoded.people
    if case.unit is None:
        share, n = share_alone(case.pooled(column), tables)
        return share if n >= PEOPLE else 0.0
    codes = np.concatenate([case.codes(column, binned=False)[i] for i in tables]).astype(np.int64)
    unit = units_of_people(case)
    n = int(unit.max()) + 1
    pairs = np.unique(np.stack([codes, unit], axis=1)[codes > 0], axis=0)
    times = np.bincount(pairs[:, 0], minlength=1)
    return len(np.unique(pairs[times[pairs[:, 0]] == 1, 1])) / n if n >= PEOPLE else 0.0


def units_of_people(case: Case) -> Ints:
    """Return a number for the unit of each row of real and holdout; a row without a unit is its own."""
    assert case.unit is not None
    codes = case.codes(case.unit, binned=False)
    unit = np.concatenate([codes[i] for i in case.encoded.people]).astype(np.int64)
    alone = unit == 0
    unit[alone] = -1 - np.arange(int(alone.sum()))
    return np.unique(unit, return_inverse=True)[1].astype(np.int64)


def n_people_with(case: Case, tokens: Ints, n_tokens: int) -> Ints:
    """Return how many people of real and holdout together have each token, 0 to `n_tokens` - 1; a unit counts once.

    `tokens` has one for each row, members first; a negative one is none.
    """
    asked = tokens >= 0
    if case.unit is not None:
        tokens = np.unique(np.stack([tokens, units_of_people(case)], axis=1)[asked], axis=0)[:, 0]
    return np.bincount(tokens[tokens >= 0], minlength=n_tokens)


def folded_codes(case: Case, column: str) -> Ints:
    """Return a number for each code of a column, equal for texts that are equal once folded; 0 is missing.

    Numbers ascend with the folded values.
    """
    return _kept(case, column)


def _kept(case: Case, column: str, texts: pl.Series | None = None) -> Ints:
    """Return the folded codes, which the case caches; `texts` are the folded levels where they are known."""
    pooled = case.pooled(column)
    return case.encoded.once(
        ("folded codes", column), lambda: _numbered(pooled, _folded(pooled) if texts is None else texts)
    )


def _folded(pooled: PooledColumn) -> pl.Series | None:
    return folded(pooled.levels) if pooled.family == "text" and pooled.levels.len() else None


def _numbered(pooled: PooledColumn, texts: pl.Series | None) -> Ints:
    if texts is None:
        return np.arange(pooled.levels.len() + 1)
    return np.concatenate([[0], texts.rank("dense").cast(int).to_numpy()]).astype(np.int64)


def _recurs(codes: Ints, released: Ints) -> Floats:
    """Return for each code of a column 1 if its folded value is in the synthetic table, else 0; nan for missing."""
    there = np.zeros(int(codes.max(initial=0)) + 1)
    there[codes[released > 0]] = 1.0
    out = there[codes]
    out[0] = np.nan
    return out


def one_column(case: Case) -> list[Result]:
    """Return how many members and strangers have a value, or a run of words, that the synthetic table has.

    Texts, identifiers and whole numbers are also looked for in other spellings, a result for each form; numbers and
    moments that a fifth of the people have to themselves also nearly equal, and shifted or scaled.
    """
    out = []
    for column in sorted(own_columns(case)):
        pooled, kind = case.pooled(column), case.schema[column].kind
        texts = _folded(pooled)
        codes = _kept(case, column, texts)
        scores = _recurs(codes, pooled.counts[1])
        notes = [_VALUES, *([_UNITS] if column == case.unit else [])]
        judged = not is_row_number(case, column)
        notes += [] if judged else [ROW_NUMBERS]
        many = texts is not None and (kind == "text" or (kind == "identifier" and _are_long_and_unspaced(texts)))
        runs = _runs_of(case, column, texts) if many and texts is not None else None
        notes += [_MANY_WORDS] if many and runs is None else []
        out.append(_result(case, ONE_COLUMN, column, scores, notes, judged))
        spelt = {}
        if judged and has_spellings(case, column):
            spelt = spelled_levels(case, column, scores == 1, person_of_codes(case, column))
        alike = not spelt or people_written_alike(case, column)
        for form, hit in spelt.items():
            spelled = np.where(np.isnan(scores), np.nan, hit)
            told = [FORMS[form], *([_UNITS] if column == case.unit else []), *([] if alike else [WRITTEN_OTHERWISE])]
            out.append(_result(case, f"{ONE_COLUMN}, {form}", column, spelled, told, alike))
        if runs is not None:
            out.append(_result(case, SHARED_WORDS, column, runs, [_RUNS], judged=True))
    measured = [c for c in sorted(case.columns) if _has_neighbours(case, c)]
    out += [_nearly_equal(case, c) for c in measured]
    return out + [r for c in measured if (r := _moved(case, c, len(measured))) is not None]


def _has_neighbours(case: Case, column: str) -> bool:
    """Return whether values of a column are also looked for nearly equal; row numbers are not.

    Of an ignored column nine people of ten must have a value of their own.
    """
    if column == case.unit or case.schema[column].kind not in ("numeric", "datetime"):
        return False
    least = OWN if "ignore" in case.schema[column].roles else OWN_NUMBERS
    return _share_alone(case, column) >= least and not is_row_number(case, column)


def _nearly_equal(case: Case, column: str) -> Result:
    people, released = person_of_codes(case, column), case.pooled(column).counts[1] > 0
    scores = nearly_equal(case.numbers(column), people, released)
    return _result(case, NEARLY_EQUAL, column, scores, [NEARLY_EQUAL_NOTE], judged=True)


def _moved(case: Case, column: str, n_columns: int) -> Result | None:
    """Return how nearly the synthetic table has values of people, shifted or scaled; None where no move stands out."""
    values, people = case.numbers(column), person_of_codes(case, column)
    finite = np.isfinite(values)
    released = np.sort(values[finite & (case.pooled(column).counts[1] > 0)])
    move = move_between(np.sort(values[finite & (people >= 0)]), released, n_columns)
    if move is None:
        return None
    moved, digits = move.factor * released + move.added, digits_of(values[finite & (people >= 0)])
    scores = nearly_equal(
        np.concatenate([values, moved if digits is None else moved.round(digits)]),
        np.concatenate([people, np.full(len(released), -2)]),
        np.arange(len(values) + len(released)) >= len(values),
    )[: len(values)]
    result = _result(case, MOVED, column, scores, [MOVED_NOTE], judged=True)
    added = move.added / 1e6 if case.schema[column].kind == "datetime" else move.added
    return replace(result, context={**result.context, **dict(zip(MOVED_CONTEXT, (added, move.factor), strict=True))})


def _are_long_and_unspaced(texts: pl.Series) -> bool:
    """Return whether texts are long ones of a script without blanks, which is no identifier."""
    return are_unspaced(texts) and bool(texts.head(1000).str.len_chars().mean() > _LONG)


def _runs_of(case: Case, column: str, texts: pl.Series) -> Floats | None:
    """Return for each code whether a run of words of its own is in a synthetic text; None where they are too many.

    Of a script without blanks each character is a word.
    """
    hashes, start = words(texts.str.replace_all(f"({UNSPACED})", " ${1} "))
    if len(hashes) > MOST_WORDS:
        return None
    found = own_runs(hashes, start, person_of_codes(case, column)[1:], case.pooled(column).counts[1][1:] > 0)
    return np.concatenate([[np.nan], found])


def person_of_codes(case: Case, column: str) -> Ints:
    """Return the number of the person who has each code; -1 where several have it, -2 where nobody has."""
    counts = np.sum([case.pooled(column).counts[i] for i in case.encoded.people], axis=0)
    if case.unit is None:
        return np.where(counts == 1, np.arange(len(counts)), np.where(counts > 1, -1, -2))
    codes = np.concatenate([case.codes(column, binned=False)[i] for i in case.encoded.people])
    unit = units_of_people(case)
    least, most = np.full(len(counts), len(unit)), np.full(len(counts), -1)
    np.minimum.at(least, codes, unit)
    np.maximum.at(most, codes, unit)
    return np.where(counts == 0, -2, np.where(least == most, most, -1))


def _outcomes(case: Case, column: str, scores: Floats, role: str) -> Outcomes:
    which = {"real": 0, "holdout": 2}[role]
    counts = case.pooled(column).counts[which]
    if column == case.unit:  # each unit once, however many rows it has
        return Outcomes(scores[counts > 0])
    units = case.units(role)
    if units is None:
        return Outcomes(scores[counts > 0], counts[counts > 0])
    return Outcomes(scores[case.codes(column, binned=False)[which]], cluster=units)


def _result(case: Case, variant: str, column: str, scores: Floats, notes: Sequence[str], judged: bool) -> Result:
    members = _outcomes(case, column, scores, "real")
    individual = None
    if case.in_memory:
        codes = case.codes(column, binned=False)
        holdout = scores[codes[2]] if case.has_holdout else None
        individual = Individual(real=scores[codes[0]], holdout=holdout, once=column == case.unit)
    plain = Result(
        attack="copies",
        variant=variant,
        keys=(column,),
        context=_counted(case.pooled(column), folded_codes(case, column)) if variant == ONE_COLUMN else {},
        notes=tuple(notes),
        individual=individual,
    )
    strangers = _outcomes(case, column, scores, "holdout") if case.has_holdout else None
    return compared(case, plain, members, strangers, f"copies {variant} {column}", judged=judged)


def _counted(pooled: PooledColumn, codes: Ints) -> dict[str, float | None]:
    """Return how many different values the real table has, and how many of them the synthetic table has."""
    theirs, released = np.zeros((2, int(codes.max(initial=0)) + 1), dtype=bool)
    theirs[codes[1:][pooled.counts[0][1:] > 0]] = True
    released[codes[1:][pooled.counts[1][1:] > 0]] = True
    return {
        "different real values": float(theirs.sum()),
        "of these in the synthetic table": float((theirs & released).sum()),
    }


def beside_words(results: Sequence[Result]) -> list[Result]:
    """Return the results; nothing is cleared of texts whose words were compared by no result, only whole or by runs."""
    texts = {r.keys for r in results if r.variant == SHARED_WORDS or _MANY_WORDS in r.notes}
    words = [r for r in results if r.attack == WORDS_OF_TEXTS or r.variant.startswith(OWN_WORDS)]
    alone = texts.difference(r.keys for r in words if is_compared(r))
    held = [r.variant.startswith(ONE_COLUMN) and r.keys in alone and r.verdict == "none found" for r in results]
    return [hold_back(r, BY_RUNS_ALONE) if back else r for r, back in zip(results, held, strict=True)]


# ---------------------------------------------------------------- columns that the holdout lacks


def is_row_number(case: Case, column: str) -> bool:
    """Return whether a column has whole numbers with hardly a gap, which recur in every table.

    So are those of texts that are else the same, as in "P00017" and "user17@example.com".
    """
    facts, pooled = case.facts(column), case.pooled(column)
    if facts.integer or pooled.family != "text":
        return facts.integer and facts.span < _ROW_GAPS * facts.n_distinct
    real = pooled.levels.filter(pl.Series(pooled.counts[0][1:] > 0))
    parts = real.str.extract_groups(r"^(.*?)([0-9]{1,18})([^0-9]*)$").struct.unnest()
    number = parts[:, 1].cast(pl.Int64).drop_nulls()
    if not len(number) or len(number) < len(real) or parts[:, 0].n_unique() > 1 or parts[:, 2].n_unique() > 1:
        return False
    numbers = number.to_numpy()
    return bool(numbers.max() - numbers.min() < _ROW_GAPS * number.n_unique())


def without_strangers(case: Case) -> tuple[list[Result], list[str]]:
    """Return the rates of columns that the holdout lacks, and a note on those that are not compared.

    A column of few values recurs in any synthetic table, so only texts, identifiers and columns in which nearly all
    real people have a value of their own are told.
    """
    found, left = [], []
    for column in sorted(case.without_strangers):
        pooled = pool(case.tables[:2], column, case.missing)
        facts = facts_of(pooled, 0)
        kind = infer(facts).kind
        alone, n = int((pooled.counts[0][1:] == 1).sum()), facts.n_rows
        if kind == "constant" or not (kind in ("text", "identifier") or (n >= PEOPLE and alone >= OWN * n)):
            left.append(column)
            continue
        codes = _numbered(pooled, _folded(pooled))
        context = _counted(pooled, codes)
        told = [f"{context['of these in the synthetic table']:,.0f} of {context['different real values']:,.0f} values "
                "of this column recur; no strangers to compare with"]  # fmt: skip
        told.append(_VALUES)
        scores, counts = _recurs(codes, pooled.counts[1]), pooled.counts[0]
        members, own = Outcomes(scores[counts > 0], counts[counts > 0]), pooled.codes[0]
        individual = None if own is None else Individual(real=scores[own])
        plain = Result(
            attack="copies", variant=ONE_COLUMN, keys=(column,), context=context, notes=tuple(told),
            individual=individual,
        )  # fmt: skip
        found.append(compared(case, plain, members, None, ""))
    return found, [f"the holdout lacks columns that were not compared: {', '.join(map(repr, left))}"] if left else []
