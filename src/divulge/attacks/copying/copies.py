"""Copies: the share of members and of strangers whose record, or part of it, is in the synthetic table.

"exact" is equality in every column. "near" is a synthetic row within a radius. "near on N columns" is a synthetic row
within a radius on some of the columns: a distance over all columns does not see such a copy. All but exact copies are
in files of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from divulge.attacks.checks import SHOWN, one_of, record_result
from divulge.attacks.copying.all_but_one import ALL_BUT_ONE, ALL_BUT_ONE_NOTES, SMALLEST, all_but_one
from divulge.attacks.copying.another_column import ANOTHER_COLUMN_HITS, ANOTHER_COLUMN_NOTES, another_column
from divulge.attacks.copying.column_subsets import candidate_subsets
from divulge.attacks.copying.equal_tails import LAST_DIGITS, TAILS, TAILS_NOTES, TIME_OF_DAY, TWO_TAILS, equal_tails
from divulge.attacks.copying.histories import HISTORIES, HISTORIES_NOTES, HISTORY_HITS, WHOLE_HISTORY, histories
from divulge.attacks.copying.linked import LINKED, LINKED_NOTES, ROW_ORDER, linked, row_order
from divulge.attacks.copying.moved_numbers import MOVED, MOVED_CONTEXT
from divulge.attacks.copying.moved_rows import MOVED_ROW_HITS, MOVED_ROWS, MOVED_ROWS_NOTES, moved_rows
from divulge.attacks.copying.near_copies import near_copies, near_result, on_subsets
from divulge.attacks.copying.nearly_equal import NEARLY_EQUAL
from divulge.attacks.copying.one_column import (
    ONE_COLUMN,
    ONE_COLUMN_NOTES,
    OWN_WORDS,
    SHARED_WORDS,
    beside_words,
    one_column,
    without_strangers,
)
from divulge.attacks.copying.other_spellings import FORM_WORDS
from divulge.attacks.copying.own_words import BAG, OTHER_COLUMNS, OWN_FORMS, RECURRING, own_words
from divulge.attacks.copying.own_words import NOTES as WORDS_NOTES
from divulge.attacks.copying.rare_pairs import RARE_PAIR, RARE_PAIRS, RARE_PAIRS_NOTES, rare_pairs
from divulge.attacks.copying.row_intervals import ROW_INTERVALS, ROW_INTERVALS_NOTES, row_intervals
from divulge.attacks.copying.text_columns import text_columns
from divulge.attacks.entry import Cost, Primary, Record, Withheld, Words, per_table
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.case.distances import distance_columns
from divulge.case.matched_rows import matched_rows
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.core.schema import check_columns, column_names

__all__ = ["copies"]

_WORDS = "own words"
_OTHERS = {LAST_DIGITS: equal_tails, RARE_PAIRS: rare_pairs, ROW_INTERVALS: row_intervals, MOVED_ROWS: moved_rows}
_OTHERS |= {HISTORIES: histories}
_IN_A_RUN = ("exact", "near", "subsets", ALL_BUT_ONE, ONE_COLUMN, *_OTHERS, LINKED, ROW_ORDER)
"""Variants of a run, in which words of texts have an attack of their own."""
_VARIANTS = (*_IN_A_RUN, _WORDS)

_OTHER_NOTES = WORDS_NOTES + ALL_BUT_ONE_NOTES + ONE_COLUMN_NOTES + TAILS_NOTES + RARE_PAIRS_NOTES + ROW_INTERVALS_NOTES
_OTHER_NOTES += ANOTHER_COLUMN_NOTES + MOVED_ROWS_NOTES + HISTORIES_NOTES + LINKED_NOTES


_COPIES_WORDS = Words(
    says="I find a person's record, or a telling part of it, in the synthetic table.",
    knows="The person's record, or some columns of it, well enough to recognise it.",
    data=(
        "Columns of any kind; a holdout says how many matches chance gives. Exact copies compare values as they are "
        "and leave out identifiers, the unit and ignored columns. Texts, identifiers, the unit and every column in "
        "which 90 % of people have a value of their own are compared one by one, ignored or not; texts without regard "
        "to capitals and blanks, and texts and identifiers in other spellings too; numbers and dates that a fifth of "
        "the people have to themselves also nearly equal, shifted or scaled, and by their last digits; pairs of "
        "categories, and intervals between dates, that hardly anybody has; three or more numbers of a row that are all "
        "times one factor, or plus one number, of its own. Near copies leave out constants and free "
        "text as well, and need every row in memory, as do all others but exact ones and those of one column."
    ),
    formula=(
        "exact: p = share of people whose record equals a synthetic row\n"
        "all but one: the same in all columns or all but one; a match counts .1 / max(c, .1), c its chance\n"
        "one column: p = share of people whose value is in the synthetic table; of units, each once\n"
        "one column, shared words: p = share whose text has 8 words in a row that nobody else has, and that\n"
        "stand in a synthetic text\n"
        "one column, FORM: the same in another spelling alone: without marks (accents, capitals,\n"
        "punctuation); words in any order; another character; a character more or less; digest; first or\n"
        "last characters (8, nobody else's); within a longer text; characters in any order\n"
        "one column, nearly equal: the mean of min(1, o / 200 d), d the distance to the nearest\n"
        "synthetic value and o that to the nearest other person's\n"
        "one column, shifted or scaled: the same of a x + b, x a synthetic value\n"
        "last K digits: p = share whose last K digits nobody else has, and another synthetic number has\n"
        "rare pair: p = share whose pair of values at most two people have, and stands in a synthetic row\n"
        "intervals: the same of the intervals between the dates of a row\n"
        "row, scaled or shifted: the mean of max(0, 1 - 4 s / o), s the distance of a row, less its middle\n"
        "number (of logarithms, where scaled), to the nearest synthetic one and o that to another person's\n"
        "whole history: p = share of people, of two rows or more, all of whose rows one synthetic unit has\n"
        "history, nearly: the mean of max(0, 1 - s / o), s the share of rows that differ from the nearest\n"
        "synthetic unit's and o from the nearest other person's\n"
        "own row: the share of rows, nobody else's, that stand there; run: p = share with a run there\n"
        "(run of intervals: of the intervals between rows, which stay where all times are moved)\n"
        "one column, own ...: as in named_in_texts\n"
        "another column: p = share whose value stands in a synthetic column that the real table lacks\n"
        "(another column, FORM: in another spelling); under another heading: in one that both tables have\n"
        "near: p = share of people who have a synthetic row within the radius\n"
        "near on N columns: the same on one set of columns, for each set that a search found\n"
        "linked, row order: p = agreement of rows with one number or in one place, b = of rows near by\n"
        "(the mean over all columns, or one column where that tells more)\n"
        "risk = (p_T - p_C) / (1 - p_C); of linked rows and row order (p - b) / (1 - b)\n"
        "distance = mean over columns of |a - b| / range for numbers (at most 1), 0 or 1 for the rest\n"
        "radius = 1% quantile of the distances of holdout rows to their nearest real row (or, without one,\n"
        "of real rows to their nearest other one), unless given. p_T: members, p_C: strangers."
    ),
    reading=(
        "A rate of 0 means that nobody is matched, 1 that everybody is. Risk 0 means that strangers are matched as "
        "often, which in coarse tables is often; 1 that every member is; a negative risk that strangers are matched "
        "more often. The baseline are strangers; of linked rows and row order, which strangers do not have, it "
        "is the agreement of rows near by. Limits and verdicts of the results with strangers hold together (max-T), "
        "and those of the others (Bonferroni). A column that looks like a row number has no verdict of its own."
    ),
    silent=(
        "Copies with more noise than the radius do not show.",
        "Sets of columns that the search passed over are not tested.",
        "It does not say whether a match tells anything new about the person.",
        "Without a holdout a copy cannot be told from a coincidence.",
        "Meaning is not compared: a synonym, a translation or a nickname is another value.",
        "A spelling that many people share by chance, as a surname or a short number is, hides a few copies.",
        "Linked rows and row order leave out columns that follow the same order in both tables. Two series of the "
        "same days agree on each day for that reason alone.",
    ),
)


@attack(
    family="copying",
    question="Somebody's whole record, or part of it, stands in the synthetic table.",
    needs="nothing; a holdout says how many matches chance gives",
    reference="Donner and Zou 2012 (MOVER) for the interval of the residual; Westfall and Young 1993 (max-T).",
    words=_COPIES_WORDS,
    plan=per_table({"variants": _IN_A_RUN}, columns=0, in_memory=False, counted={"variants": ("exact",)}),
    cost=Cost(seconds=lambda work, settings: 5e-8 * work.cells, copied=True),  # by their hash, and compared
    weight=8,
    held=beside_words,
    primary=Primary("copies", lambda variant: variant in ("exact", "near", WHOLE_HISTORY), clears=True),
    record=Record("copied", "any", lambda variant: variant == "exact"),
    claimed=lambda variant: "membership advantage" if variant == "exact" else None,  # the radius hangs on the split
    hit={
        "": "a copy of",
        "near": "a near copy of",
        ALL_BUT_ONE: "a copy with at most one column changed (weighted) of",
        ONE_COLUMN: "the value of",
        NEARLY_EQUAL: "the value, or nearly, of",
        MOVED: "the value, shifted or scaled, of",
        **{tail: f"the {tail} of a number of" for tail in TAILS.values()},
        TWO_TAILS: "the last digits of two numbers of",
        TIME_OF_DAY: "the time of day of",
        RARE_PAIR: "a rare pair of values of",
        ROW_INTERVALS: "rare intervals between the dates of",
        **MOVED_ROW_HITS,
        **HISTORY_HITS,
        SHARED_WORDS: "eight words in a row of",
        **{f"{OWN_WORDS}{form}": f"a {form} of the text of" for form in OWN_FORMS},
        f"{OWN_WORDS}{BAG}": "all words, in any order, of the text of",
        **ANOTHER_COLUMN_HITS,
        **{f"{ONE_COLUMN}, {form}": f"{how}, the value of" for form, how in FORM_WORDS.items()},
        LINKED: "the other values of",
        ROW_ORDER: "by its place, the values of",
    },
    context={
        "radius": Withheld(),
        "different real values": Withheld(),
        "of these in the synthetic table": Withheld(),
        SHOWN: Withheld(),
        SMALLEST: Withheld(),
        **dict.fromkeys(MOVED_CONTEXT, Withheld()),
        RECURRING: Withheld(),
        "share of real rows that equal another real row": Withheld(),
        "share of synthetic rows that equal a real row": Withheld(),
    },
    notes=(
        "copies of part of a row: sets of # or more columns were searched for those in which synthetic rows "
        "agree with a person clearly more often than people agree with each other; # do, the best # were "
        "tested. A set that few rows copy can be missed",
        "copies of part of a row: sets of # or more columns were searched for those in which synthetic rows "
        "agree with a person clearly more often than people agree with each other; none does. A set that few "
        "rows copy can be missed",
        "# of these sets match more than #% of all people and were left out",
        "copies of part of a row: near copies were tested on all # sets of # to # columns",
        "copies of part of a row: sets of # or more columns were searched for those in which synthetic rows agree"
        " with a person clearly more often than people agree with each other; # do and were tested. A set that "
        "few rows copy can be missed",
        "identifiers were left out of the comparison: '…'",
        "near: a synthetic row at a small distance, taken from how near people lie to each other",
        "the synthetic table is the real table, row for row",
        "near copies were not searched: they need every row in memory. hint: collect the tables",
        "near copies were not searched: no column enters a distance",
        *(re.sub(r"\d[\d,]*", "#", n) for n in _OTHER_NOTES),
    ),
)
def copies(
    case: Case,
    *,
    columns: Sequence[str] | None = None,
    variants: Sequence[str] = _VARIANTS,
    radius: float | None = None,
) -> tuple[Result, ...]:
    """Return the share of records that a synthetic row equals or is near to, for members and for strangers.

    "exact": a synthetic row equals the record in every column. Values are compared as they are, not binned; missing
    equals missing. Identifiers, the unit and ignored columns are left out.

    "near": a synthetic row lies within a radius of the record, under the mixed distance; free text and constant
    columns are left out. "near on N columns", one result for each set of columns (in `keys`): the same on part of the
    columns. The sets are searched with members and strangers in one pot; in small tables of up to 7 columns all sets
    of 3 or more are tested.

    "all but one": a synthetic row equals the record in every column or in all but one. A match counts the more the
    less the other people would give one by chance.

    "one column": the person's value in one column (in `keys`) is in the synthetic table. Texts, identifiers, the
    unit (each counts once) and every column in which at least 90 % of people have a value of their own are
    compared, ignored or not; texts after Unicode NFKC, without regard to capitals and blanks. "one column, without
    marks" and six more: texts and identifiers in other spellings (without accents, capitals and punctuation; with
    words in any order; but for one other character; but for one character more or less; as a hexadecimal digest; by
    the first or last eight letters and digits, where nobody else has them), each without the hits of the forms
    before it. "one column, nearly equal": numbers and moments, also those that a fifth of the people have to
    themselves; the nearer a synthetic value is, measured by the nearest other person's, the more it counts. "one
    column, shifted or scaled": the same with one number added to all synthetic values, or all times one number, where
    one stands out. Row numbers get no verdict. Columns that the holdout lacks have a rate only. "one column, shared
    words": the person's text shares eight words in a row, which nobody else has, with a synthetic text. "one column,
    own ...": `named_in_texts`, form by form; a run makes that attack in its place. "another column": the value stands
    in a synthetic column that the real table lacks, as where a name was renamed or split over two columns; with the
    same forms. "under another heading": it stands in another column that both tables have, and not in its own, or
    ("..., within a longer text") in a text there.

    "last digits": another synthetic number has the last 3 to 6 digits of a number, which one person alone has; for
    each column, at most ten, and number of digits that a fifth of the people have to themselves, and for the last
    three digits of two columns together; and another time the time of day. Variants of its results are "last 4 digits"
    and the like, and "time of day". "rare pairs": a
    pair of categories that at most two people have stands in a synthetic row; for each pair of columns (in `keys`)
    in which a quarter of the people has one, at most ten. The variant of its results is "rare pair". "intervals": the
    same of the intervals between the dates of a row, of all and of each two. "moved rows": the numbers of a row, three
    or more, all times one factor of its own ("row, scaled") or plus one number ("row, shifted"). "histories": where
    the schema has a unit, all rows of a person with two or more stand under one synthetic unit ("whole history"), or
    nearly all ("history, nearly", by the nearest other person's rows), or the days of them or one column alone, or a
    run of them; each person counts once.

    "linked": rows with the same value in such a column agree in the other columns more than rows a few places apart.
    "row order": the same for rows in the same place; where the tables differ in length, for their first rows, and
    for the order of rows that stand once in each. A note says where these were not tested.

    Bounds, p-values and verdicts of the results with strangers hold together (max-T), and so do those of "linked" and
    "row order" (Bonferroni and Holm), which have no strangers.

    Parameters
    ----------
    columns
        Compare only these columns, for exact and near copies and no others; None takes all that are left.
    variants
        Which of "exact", "near", "subsets", "all but one", "one column", "last digits", "rare pairs", "intervals",
        "moved rows", "histories", "linked", "row order" and "own words" to run. All but "exact" and "one column" need
        every row in memory.
    radius
        Greatest distance, a mean over columns in [0, 1], at which a synthetic row is near. None takes, for each set of
        columns, the 1% quantile of the distances from holdout records to their nearest real record; without a holdout,
        of the distances from real records to their nearest other real record.

    Raises
    ------
    SettingError
        There is no column to compare, a variant is unknown, or the radius is outside [0, 1].

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"age": [20.5, 23.5, 40.5], "sex": ["f", "m", "f"]})
    >>> synthetic = pl.DataFrame({"age": [21.0, 23.0], "sex": ["f", "f"]})
    >>> exact, near = copies(real, synthetic, radius=0.05, variants=["exact", "near"])
    >>> exact.real.hits, near.real.hits
    (0.0, 1.0)
    """
    if isinstance(variants, str):
        raise SettingError(f"variants: got the text {variants!r}. hint: pass a list, variants=[{variants!r}].")
    if not variants:
        raise SettingError(f"variants: none given. hint: any of {', '.join(_VARIANTS)}.")
    for variant in variants:
        one_of("variants", variant, _VARIANTS)
    if radius is not None and not 0 <= radius <= 1:
        raise SettingError(f"radius: {radius} is outside [0, 1]. hint: it is a mean over columns.")
    columns = None if columns is None else column_names("columns", columns)
    compared, identifiers = _compared(case, columns)
    found = []
    if "exact" in variants and compared:
        note = f"identifiers were left out of the comparison: {', '.join(map(repr, identifiers))}"
        found.append(_exact(case, compared, "exact" if columns is None else "columns", [note] if identifiers else []))
    if set(variants) & {"near", "subsets"}:
        found = _with_near(case, columns, variants, radius, found)
    found = _with_others(case, compared, variants, found) if columns is None else found
    if not found:
        raise SettingError("copies: no column to compare: all are identifiers, units or ignored. hint: name columns.")
    return tuple(found)


def _with_others(case: Case, columns: Sequence[str], variants: Sequence[str], found: list[Result]) -> list[Result]:
    """Return the results and those of the other variants; the first one says what was not tested."""
    released = any(_RELEASED in r.notes for r in found)
    others: list[Result | None] = []
    untested: list[str] = []
    if ALL_BUT_ONE in variants:
        changed, why = all_but_one(case, columns)
        others, untested = [changed], [why]
    if ONE_COLUMN in variants:
        alone, left = without_strangers(case)
        elsewhere, unlooked = another_column(case)
        others, untested = [*others, *one_column(case), *alone, *elsewhere], [*untested, *left, *unlooked]
    for variant, compared in _OTHERS.items():
        if variant in variants:
            some, why = compared(case)
            others, untested = [*others, *some], [*untested, why]
    if _WORDS in variants and case.in_memory:
        forms = (r for r in own_words(case, text_columns(case)) if r.variant != OTHER_COLUMNS)
        others += [replace(r, attack="copies", variant=OWN_WORDS + r.variant) for r in forms]
    if LINKED in variants:
        rows, left = linked(case)
        others, untested = [*others, *rows], [*untested, *left]
    if ROW_ORDER in variants:
        placed, why = row_order(case)
        others, untested = [*others, placed], [*untested, why]
    more = [replace(r, notes=(*r.notes, *[_RELEASED] * released)) for r in others if r is not None]
    out = [*found, *more]
    for note in untested if out else ():
        out = _noted(out, note) if note else out
    return out


def _compared(case: Case, columns: Sequence[str] | None) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns of an exact comparison, and the identifiers, which are left out of it."""
    if columns is not None:
        check_columns("columns", columns, case.columns, case.levels)
        return list(columns), ()
    identifiers = case.schema.names("identifier")
    return list(case.whole_record), identifiers


# ---------------------------------------------------------------- exact


def _exact(case: Case, columns: Sequence[str], variant: str, notes: Sequence[str]) -> Result:
    found = matched_rows(case, columns)
    table = found.table
    scores = (table.s_key > 0)[table.key].astype(float)
    return record_result(
        case,
        table,
        scores,
        attack="copies",
        variant=variant,
        keys=tuple(columns) if variant == "columns" else (),
        target=None,
        settings={"columns": len(columns)},
        context={
            "share of synthetic rows that equal a real row": found.n_copied / max(table.n_s, 1),
            "share of real rows that equal another real row": found.n_repeated / table.n_o,
        },
        notes=[*notes, *([_RELEASED] if found.is_released else [])],
    )


_RELEASED = "the synthetic table is the real table, row for row"


# ---------------------------------------------------------------- near


def _with_near(
    case: Case, columns: Sequence[str] | None, variants: Sequence[str], radius: float | None, found: list[Result]
) -> list[Result]:
    """Return the results and those of near copies on all columns and on subsets; if there are none, a note says why."""
    if not case.in_memory:
        return _noted(found, "near copies were not searched: they need every row in memory. hint: collect the tables")
    usable = case.schema.usable()
    if columns is None and not usable:
        return _noted(found, "near copies were not searched: no column enters a distance")
    used = tuple(columns) if columns is not None else distance_columns(case)[0]
    used = distance_columns(case, used)[0]
    texts = sorted(c for c in _compared(case, columns)[0] if c not in used and case.schema[c].kind != "constant")
    notes = [f"left out of the distance: {', '.join(map(repr, texts))}"] if texts else []
    notes += [_RELEASED] if any(_RELEASED in r.notes for r in found) else []
    searched: list[str] = []
    parts: list[Result] = []
    if "subsets" in variants and columns is None:
        subsets, sentence = candidate_subsets(case, used)
        parts, few = on_subsets(case, subsets, radius, notes[-1:] if _RELEASED in notes else [])
        searched = [sentence, *few]
    if "near" in variants or not found:
        whole = near_copies(case, used, radius, keep=columns is None)
        variant = "near" if columns is None else f"near on {len(used)} column{'s' * (len(used) > 1)}"
        keys = () if columns is None else used
        found = [*found, near_result(case, whole, variant, keys, [*notes, *searched], case.draws)]
    elif searched:
        found = _noted(found, searched[0])
    return [*found, *parts]


def _noted(results: list[Result], note: str) -> list[Result]:
    """Return the results, with a note added to the first one."""
    return [replace(r, notes=(*r.notes, note)) if i == 0 else r for i, r in enumerate(results)]
