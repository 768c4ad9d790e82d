"""Who is named in the texts: the attack that compares words of texts, form by form."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.copying.own_words import BAG, NOTES, OTHER_COLUMNS, OWN_FORMS, RECURRING, UNEXPECTED, own_words
from divulge.attacks.copying.text_columns import text_columns
from divulge.attacks.entry import Record, Withheld, Words, per_table
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.core.errors import ColumnError
from divulge.core.result import Result
from divulge.core.schema import check_columns, column_names
from divulge.kernels.word_runs import RUN

__all__ = ["named_in_texts"]

_NO_TEXT = "no column has texts"


def _without_texts(case: Case, targets: Sequence[str]) -> bool:
    return not text_columns(case)


@attack(
    family="copying",
    question="Is somebody named in the synthetic texts, or told by a number, date, code or word that is theirs alone?",
    needs="a column of texts; a holdout says how many words recur by chance",
    reference="Fisher's exact test; Westfall and Young 1993 (max-T). Carlini et al. (2021), Extracting training data "
    "from large language models, for the threat.",
    words=Words(
        says="I know a word that only this person's text has, and read it in a synthetic text.",
        knows="A name, a number, a date, a code or another word of the person's text that nobody else has.",
        data=(
            "Columns of texts, and identifiers of several words, ignored or not, in every row in memory; a holdout for "
            "risk and verdict. Words are compared by Unicode NFKC without capitals and accents. A word with a capital "
            "at its beginning is a name: texts without capitals have none. Letters of scripts without blanks (Chinese, "
            "Japanese, Thai) are words by themselves, so that their pairs tell words."
        ),
        formula=(
            "own = a word, or two in a row, that one person of real and holdout has alone\n"
            "hit = an own word of a form stands in a synthetic text\n"
            "forms: mail address, date, number, code (letters and digits), name (capital),\n"
            "    word, pair of words, pair of names, rare pair of words, rare pair of names (a pair\n"
            f"    that {UNEXPECTED} synthetic texts or fewer would have if words were independent),\n"
            f"    all words (a text of {RUN} words or more that has those of a synthetic text)\n"
            "p_T, p_C = share of members, of strangers, who are hit\n"
            "risk = (p_T - p_C) / (1 - p_C), form by form\n"
            "other columns: mean share of the other columns (numbers in tenths) in which\n"
            "    synthetic rows with an own word agree with the person\n"
            "baseline: the same share for synthetic rows drawn at random."
        ),
        reading=(
            "Risk 0 means that strangers are hit as often, 1 that every member is; a negative risk that strangers are "
            "hit more often. Own words of natural texts recur for most strangers too, and tell nothing; pairs of names "
            "recur for hardly a stranger. The forms are never taken together. Other columns near the baseline are "
            "phantoms: the name stands there, and the rest of the row is nobody's or somebody else's."
        ),
        silent=(
            "Meaning is not compared: a paraphrase without the person's own words does not show.",
            "A word that two people share, as a popular surname, identifies nobody and is not tested.",
            "Names are told by capitals: in text without, or with them for all nouns, by rare pairs of words alone.",
            "Which word recurs is a value of the data, and is not shown.",
        ),
    ),
    plan=per_table(columns=0, reasons={_NO_TEXT: _without_texts}),
    weight=7,
    record=Record("own_words", "count", lambda variant: variant != OTHER_COLUMNS),
    hit={
        **{form: f"a {form} of the text of" for form in OWN_FORMS},
        BAG: "all words, in any order, of the text of",
        OTHER_COLUMNS: "beside an own word, the other columns of",
    },
    context={RECURRING: Withheld()},
    notes=NOTES,
)
def named_in_texts(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return how many members and strangers have a word of their own in a synthetic text, form by form.

    A word is a person's own if nobody else of real and holdout together has it. Forms are mail addresses, dates,
    numbers, codes, names (a capital at the beginning), other words, pairs of words, pairs of names, those of these
    pairs that chance would hardly make, and all words of a text in any order. Forms that no text has are left out.
    "other columns": whether the synthetic rows with an own word agree with the person in the other columns too.

    Limits, p-values and verdicts of all forms and columns hold together (max-T).

    Parameters
    ----------
    columns
        Columns of texts to look at; None takes every column of texts.

    Raises
    ------
    ColumnError
        No column has texts, or one that is named is unknown or has other values than texts.

    Examples
    --------
    >>> import polars as pl
    >>> names = [f"{a}{b}ov" for a in "BDFGKLMNPRSTVZ" for b in "aeiou"]
    >>> notes = [f"the nurse saw patient {name} who sleeps badly since last week" for name in names]
    >>> real, holdout = pl.DataFrame({"note": notes[:35]}), pl.DataFrame({"note": notes[35:]})
    >>> synthetic = pl.DataFrame({"note": [f"the doctor saw {name} at home" for name in names[:20]]})
    >>> found = named_in_texts(real, synthetic, holdout=holdout, columns=["note"])
    >>> [(r.variant, r.real.hits, r.holdout.hits, r.verdict) for r in found if r.real.hits]
    [('name', 20.0, 0.0, 'excess found')]
    """
    return tuple(own_words(case, _columns(case, columns)))


def _columns(case: Case, columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        if found := text_columns(case):
            return found
        raise ColumnError(f"{_NO_TEXT}. hint: name the columns, or set their kind to text in the schema.")
    names = column_names("columns", columns)
    check_columns("columns", names, case.columns, case.levels)
    other = [c for c in names if case.pooled(c).family != "text"]
    if other or not names:
        raise ColumnError(f"columns: {', '.join(map(repr, other)) or 'none'} given. hint: name columns of texts.")
    return names
