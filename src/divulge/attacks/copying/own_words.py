"""Words that one person alone has, and that recur in synthetic texts, form by form.

Any word of one's own recurs by chance for many people of natural texts, a pair of names hardly for anybody. Therefore
each form of words is a test of its own, and no test counts a hit in any form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import by_record, rate_of
from divulge.attacks.copying.one_column import MOST_WORDS, person_of_codes
from divulge.case.case import Case
from divulge.core.result import Baseline, Individual, Result
from divulge.kernels.word_runs import RUN, among, own_recurring, pairs
from divulge.stats import Outcomes
from divulge.tables.word_forms import FORMS, WordForms, words_with_forms

__all__ = ["BAG", "NOTES", "OTHER_COLUMNS", "OWN_FORMS", "RECURRING", "own_words"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

PAIR, NAMES, BAG, OTHER_COLUMNS = "pair of words", "pair of names", "all words", "other columns"
RARE, RARE_NAMES = "rare pair of words", "rare pair of names"
OWN_FORMS = (*FORMS, PAIR, NAMES, RARE, RARE_NAMES)
UNEXPECTED = 0.01
"""Synthetic texts in which a rare pair is expected at most, by how many texts of people have each of its words."""
RECURRING = "different words that recur"
_NAME = FORMS.index("name")
_TELLING = 0.5
"""Share of all people hit above which a form of words points at nobody, so that no row is looked up by it: of natural
texts three in five people have a word of their own that recurs, and a leak of all members hits half of all people."""
_ROWS = 100  # synthetic rows with a word above which it points at no row; start value

_MEANING = "texts are compared by their words; meaning is not compared, so that a paraphrase without them does not show"
_OWN = "a word counts that one person of real and holdout together has and that a synthetic text has too"
_TOO_MANY = f"words were not compared: the texts have more than {MOST_WORDS:,}"
_NO_WORDS = "no text has a word"
_ROW = (
    "the share of the other columns in which synthetic rows with a person's own word agree with the person: words of "
    f"the rarest form that hits the person, of forms that hit at most {_TELLING:.0%} of people, in at most {_ROWS} rows"
)
_NOBODY = "no such row belongs to a stranger, so that nothing is compared"
NOTES = (
    _MEANING,
    _OWN,
    _TOO_MANY.replace(f"{MOST_WORDS:,}", "#"),
    _NO_WORDS,
    _ROW.replace("50%", "#%").replace("100", "#"),
    _NOBODY,
)
"""Notes for the entry."""


def own_words(case: Case, columns: Sequence[str]) -> list[Result]:
    """Return the results of each form of words in each column; the first one says what is not compared.

    Results are of the attack `named_in_texts`. One that reaches nobody says why a column was not compared.
    """
    out: list[Result] = []
    for column in columns:
        words = words_with_forms(case.pooled(column).levels, MOST_WORDS)
        if words is not None and len(words.hashes):
            out += _of_column(case, column, words)
            continue
        none = np.full(case.pooled(column).levels.len(), np.nan)
        result = _result(case, FORMS[-1], column, none, 0)
        out.append(replace(result, notes=(*result.notes, _TOO_MANY if words is None else _NO_WORDS)))
    return [replace(r, notes=(_MEANING, *r.notes)) if r is out[0] else r for r in out]


def _of_column(case: Case, column: str, words: WordForms) -> Iterator[Result]:
    """Yield the result of each form that a text has, and that of the other columns."""
    person, released = person_of_codes(case, column)[1:], case.pooled(column).counts[1][1:] > 0
    pointing = []
    for form, there, taken, own in _forms(words, person, released):
        if not (person[taken.text[there]] > -2).any():
            continue  # nobody's text has this form, or no rare pair recurs
        mine = own[there[own]]
        hit = np.zeros(len(person))
        hit[taken.text[mine]] = 1.0
        result = _result(case, form, column, hit, len(np.unique(taken.hashes[mine])))
        yield result
        if 0 < _share_hit(result) <= _TELLING:
            pointing.append((_share_hit(result), taken, mine))
    bags, long = _bags(words, len(person))
    if (person[long] > -2).any():
        hit = np.zeros(len(person))
        mine = own_recurring(bags, long, person, released)
        hit[long[mine]] = 1.0
        yield _result(case, BAG, column, hit, len(mine))
    yield from _other_columns(case, column, [(taken, mine) for _, taken, mine in sorted(pointing, key=itemgetter(0))])


def _forms(words: WordForms, person: Ints, released: Bools) -> Iterator[tuple[str, Bools, WordForms, Places]]:
    """Yield each form, which of some words or pairs have it, these, and the places of people's own ones that recur."""
    own = own_recurring(words.hashes, words.text, person, released)
    for i, form in enumerate(FORMS):
        yield form, words.form == i, words, own
    both, first = pairs(words.hashes, words.text)
    named = words.form[first] == _NAME
    named[named] = words.form[first[named] + 1] == _NAME
    of_pairs = WordForms(both, words.text[first], named.view(np.uint8))
    own = own_recurring(both, of_pairs.text, person, released)
    yield PAIR, np.ones(len(both), dtype=np.bool_), of_pairs, own
    yield NAMES, named, of_pairs, own
    rare = np.zeros(len(both), dtype=np.bool_)
    rare[own] = _expected(words, first[own], person, released) <= UNEXPECTED
    yield RARE, rare, of_pairs, own
    yield RARE_NAMES, rare & named, of_pairs, own


def _expected(words: WordForms, first: Places, person: Ints, released: Bools) -> Floats:
    """Return in how many synthetic texts pairs of words, at these places, are expected if words were independent."""
    known = np.sort(words.hashes[person[words.text] > -2])
    one, other = (
        np.searchsorted(known, words.hashes[place], side="right") - np.searchsorted(known, words.hashes[place])
        for place in (first, first + 1)
    )
    return one * other * (np.count_nonzero(released) / np.count_nonzero(person > -2) ** 2)


def _bags(words: WordForms, n: int) -> tuple[Hashes, Ints]:
    """Return a hash of the words, in any order, of each text that has words enough for a run, and these texts."""
    start = np.searchsorted(words.text, np.arange(n + 1))
    long = np.flatnonzero(np.diff(start) >= RUN)
    ends = np.stack([start[long], start[long + 1]], axis=1).ravel()
    return np.add.reduceat(words.hashes, ends[ends < len(words.hashes)])[::2] if len(long) else words.hashes[:0], long


def _result(case: Case, variant: str, column: str, hit: Floats, n: int) -> Result:
    """Return a result from the hit of each text; n is how many different words recur."""
    scores = np.concatenate([[np.nan], hit])
    codes = case.codes(column, binned=False)
    plain = Result(
        attack="named_in_texts",
        variant=variant,
        keys=(column,),
        context={RECURRING: float(n)},
        notes=(_OWN,),
    )
    return by_record(case, plain, scores[codes[0]], scores[codes[2]] if case.has_holdout else None)


def _share_hit(result: Result) -> float:
    counted = [side.counted for side in (result.real, result.holdout) if side is not None]
    return sum(hits for hits, _ in counted) / max(1, sum(n for _, n in counted))


# ---------------------------------------------------------------- other columns


def _other_columns(case: Case, column: str, pointing: Sequence[tuple[WordForms, Places]]) -> Iterator[Result]:
    """Yield whether the synthetic rows with a person's own word agree with the person in the other columns.

    `pointing` has the words or pairs and the places of own ones, form by form, the rarest form first.
    """
    others = sorted(c for c in case.schema.usable() if c != column)
    found: list[pl.DataFrame] = []
    for taken, mine in pointing:
        linked = _linked_texts(taken, mine, case.pooled(column).counts[1][1:])
        found.append(linked.join(pl.concat(found), on="text", how="anti") if found else linked)
    if not others or not found:
        return
    texts = case.codes(column, binned=False)
    people = np.concatenate([texts[i] for i in case.encoded.people])
    rows = (
        pl.concat(found).unique()
        .join(pl.DataFrame({"text": people.astype(np.int64) - 1, "row": np.arange(len(people))}), on="text")
        .join(pl.DataFrame({"other": texts[1].astype(np.int64) - 1, "there": np.arange(len(texts[1]))}), on="other")
        .select("row", "there").unique()
    )  # fmt: skip
    row, there = rows["row"].to_numpy(), rows["there"].to_numpy()
    equal, by_chance = np.zeros(len(people)), 0
    hit = np.bincount(row, minlength=len(people))
    for name in others:
        codes = case.codes(name)
        of_people = np.concatenate([codes[i] for i in case.encoded.people])
        equal += np.bincount(row, weights=of_people[row] == codes[1][there], minlength=len(people))
        counts = np.bincount(codes[1], minlength=int(of_people.max(initial=0)) + 1)
        by_chance += int(counts[of_people[hit > 0]].sum())
    scores = np.where(hit > 0, equal / np.maximum(1, hit * len(others)), np.nan)
    chance = by_chance / max(1, int((hit > 0).sum()) * len(others) * len(texts[1]))
    yield _agreement(case, column, scores, Baseline(rate=chance, what="a synthetic row drawn at random"))


def _linked_texts(taken: WordForms, mine: Places, times: Ints) -> pl.DataFrame:
    """Return the texts of people and the synthetic texts that share an own word, in columns `text` and `other`.

    `times` says in how many synthetic rows each text is.
    """
    ours = pl.DataFrame({"hash": taken.hashes[mine], "text": taken.text[mine].astype(np.int64)}).unique()
    there = np.flatnonzero(times[taken.text])
    there = there[among(taken.hashes[there], ours["hash"].to_numpy())]
    theirs = pl.DataFrame({"hash": taken.hashes[there], "other": taken.text[there].astype(np.int64)}).unique()
    rows = theirs.with_columns(rows=times[theirs["other"].to_numpy()]).group_by("hash").agg(pl.sum("rows"))
    few = rows.filter(pl.col("rows") <= _ROWS).select("hash")
    return ours.join(theirs.join(few, on="hash"), on="hash").select("text", "other")


def _agreement(case: Case, column: str, scores: Floats, baseline: Baseline) -> Result:
    """Return the result of other columns; it has no verdict where no stranger has such a row."""
    n = case.n_rows("real")
    plain = Result(attack="named_in_texts", variant=OTHER_COLUMNS, keys=(column,), baseline=baseline, notes=(_ROW,))
    strangers = scores[n:] if case.has_holdout else None
    if strangers is None or not np.isnan(strangers).all():
        return by_record(case, plain, scores[:n], strangers)
    real, holdout = (Outcomes(s, cluster=case.units(r)) for s, r in ((scores[:n], "real"), (strangers, "holdout")))
    return replace(
        plain,
        real=rate_of(real),
        holdout=rate_of(holdout),
        notes=(_ROW, _NOBODY),
        individual=Individual(real=scores[:n], holdout=strangers),
    )
