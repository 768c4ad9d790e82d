"""Who is named in the texts: words of one person alone against plain Python, and the leaks that nothing else sees."""

import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.entry import on_demand
from divulge.core.errors import ColumnError
from divulge.report.prose.bounds import BY_RUNS
from divulge.run.judging.named_people import named_people
from divulge.tables.word_forms import FORMS, words_with_forms

COMMON = [
    "patient",
    "reports",
    "mild",
    "pain",
    "since",
    "last",
    "week",
    "after",
    "work",
    "sleeps",
    "badly",
    "no",
    "fever",
    "walks",
    "slowly",
    "asked",
    "for",
    "leave",
]
SYLLABLES = [c + v for c in "bdgklmnprstvz" for v in "aeiou"]


def names(rng, n):
    return ["".join(rng.choice(SYLLABLES, 4)).title() for _ in range(n)]


def note(rng, name):
    return " ".join([*rng.choice(COMMON, 9), name, *rng.choice(COMMON, 7)])


def people(rng, who):
    n = len(who)
    coarse = {"age": rng.integers(18, 90, n), "sex": rng.choice(["f", "m"], n), "job": rng.choice(list("abcd"), n)}
    return pl.DataFrame(coarse | {"note": [note(rng, name) for name in who]})


def leaky(rng, n, named, rows=False):
    """Tables of n people: of the synthetic ones so many name a member, in a row of their own values or a fresh one."""
    mine = names(rng, n)
    real, holdout = people(rng, mine), people(rng, names(rng, n))
    synthetic = people(rng, mine[:named] + names(rng, n - named))
    if rows:
        taken = real.head(named).with_columns(note=synthetic["note"][:named])
        synthetic = pl.concat([taken, synthetic[named:]])
    return real, synthetic.sample(fraction=1, shuffle=True, seed=1), holdout


def only(results, variant):
    (found,) = [r for r in results if r.variant == variant]
    return found


# ---------------------------------------------------------------- the leaks


@pytest.mark.slow  # `test_copies_by_itself_compares_the_words_too` finds the same leak
def test_members_who_are_named_are_found_by_nothing_else():
    real, synthetic, holdout = leaky(np.random.default_rng(0), 200, 20)
    report = divulge.assess(real, synthetic, holdout=holdout, jobs=1, models=False, fidelity=False)
    found = {(r.attack, r.variant) for r in report.results if r.verdict == "excess found"}
    assert found == {("named_in_texts", "name")}
    name = only([r for r in report.results if r.attack == "named_in_texts"], "name")
    assert (name.real.hits, name.holdout.hits, name.risk.value) == (20, 0, 0.1)
    flagged = report.records().filter("named_in_texts")
    assert sorted(flagged["row"]) == list(range(20))
    assert all("of 'note' (flagged at FDR 0.1)" in text for text in flagged["reasons"])
    assert any("own name of 'note' (flagged at FDR 0.1)" in text for text in flagged["reasons"])
    assert report.data["records"]["named_in_texts"] == 20
    told = [report.to_html(), report.to_markdown(), str(report), *map(str, report.results), *flagged["reasons"]]
    own = {word for text in real["note"][:20] for word in text.split()} - set(COMMON)
    assert not [word for word in own if any(word in text for text in told)]  # which word recurs is data
    assert not [word for word in own if word in report.external().to_html()]


def test_copies_by_itself_compares_the_words_too():
    real, synthetic, holdout = leaky(np.random.default_rng(1), 200, 20)
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert {r.variant for r in results if r.verdict == "excess found"} == {"one column, own name"}
    assert "own words" not in next(iter(CATALOGUE["copies"].plan.calls(None, "")))["variants"]


def test_a_row_that_tells_the_other_columns_is_told_from_a_phantom():
    for rows, low, high in ((True, 1.0, 1.0), (False, 0.2, 0.5)):
        results = divulge.named_in_texts(*(t := leaky(np.random.default_rng(2), 200, 30, rows))[:2], holdout=t[2])
        told = only(results, "other columns")
        assert (told.real.n, told.holdout.n, told.verdict) == (30, 0, None)
        assert low <= told.real.rate <= high
        assert 0.2 <= told.baseline.rate <= 0.45


def test_the_other_columns_of_strangers_stand_beside():
    """Both sides are named, and the rows agree with the members alone."""
    rng = np.random.default_rng(3)
    mine, others = names(rng, 100), names(rng, 100)
    real, holdout = people(rng, mine), people(rng, others)
    fresh = people(rng, others[:30] + names(rng, 40))
    synthetic = pl.concat([real.head(30).with_columns(note=pl.Series([note(rng, m) for m in mine[:30]])), fresh])
    told = only(divulge.named_in_texts(real, synthetic, holdout=holdout), "other columns")
    assert (told.real.rate, told.real.n, told.holdout.n, told.verdict) == (1.0, 30, 30, "excess found")


def test_a_text_in_another_order_is_found_by_all_its_words():
    rng = np.random.default_rng(4)
    vocabulary = np.array([f"word{i}" for i in range(300)])  # codes: digits make no name
    tables = [
        pl.DataFrame({"a": rng.choice(list("xyz"), 120), "note": [" ".join(rng.choice(vocabulary, 12)) for _ in range(120)]})
        for _ in range(3)
    ]  # fmt: skip
    turned = pl.Series([" ".join(reversed(text.split())) for text in tables[0]["note"][:12]])
    synthetic = tables[1].with_columns(note=pl.concat([turned, tables[1]["note"][12:]]))
    results = divulge.copies(tables[0], synthetic, holdout=tables[2], variants=["one column", "own words"])
    assert not any("shared words" in r.variant for r in results if r.verdict == "excess found")
    assert only(results, "one column, own all words").verdict == "excess found"
    assert only(results, "one column, own all words").real.hits == 12


@pytest.mark.parametrize(("n", "hit"), [(7, None), (8, 1)])
def test_a_text_of_fewer_than_eight_words_is_not_compared_as_a_whole(n, hit):
    texts = [[" ".join(f"{c}{i}" for i in range(n))] for c in "rh"]
    real, holdout = (pl.DataFrame({"note": text, "x": [1]}) for text in texts)
    synthetic = pl.DataFrame({"note": [" ".join(reversed(texts[0][0].split()))], "x": [2]})
    results = divulge.named_in_texts(real, synthetic, holdout=holdout, columns=["note"])
    whole = [r.real.hits for r in results if r.variant == "all words"]
    assert whole == ([] if hit is None else [hit])


def test_people_who_are_hit_as_often_as_strangers_are_not_flagged():
    rng = np.random.default_rng(10)
    mine, others = names(rng, 100), names(rng, 100)
    synthetic = people(rng, [*mine[:20], *others[:18]])
    results = divulge.named_in_texts(people(rng, mine), synthetic, holdout=people(rng, others))
    assert not named_people(results).flagged.any()
    leaky_ones = divulge.named_in_texts(people(rng, mine), people(rng, mine[:20]), holdout=people(rng, others))
    assert np.flatnonzero(named_people(leaky_ones).flagged).tolist() == list(range(20))
    assert named_people(divulge.named_in_texts(people(rng, mine), synthetic)) is None


def test_a_surname_that_two_people_share_is_nobodys_own():
    rng = np.random.default_rng(5)
    real, holdout = (people(rng, ["Smith", "Jones", "Miller", "Brown"] * 20) for _ in range(2))
    results = divulge.named_in_texts(real, real, holdout=holdout)
    assert only(results, "name").real.hits == 0


def test_words_in_several_texts_of_one_person_are_own():
    rng = np.random.default_rng(6)
    who = [name for name in names(rng, 80) for _ in range(2)]
    real, holdout = (people(rng, side).with_columns(home=pl.Series(side)) for side in (who[:80], who[80:]))
    synthetic = people(rng, who[:40]).with_columns(home=pl.Series(names(rng, 40)))
    by_home = only(divulge.named_in_texts(real, synthetic, holdout=holdout, unit="home"), "name")
    assert (by_home.real.hits, by_home.real.units, by_home.verdict) == (40, 40, "excess found")
    by_row = only(divulge.named_in_texts(real, synthetic, holdout=holdout, columns=["note"]), "name")
    assert by_row.real.hits == 0


# ---------------------------------------------------------------- nothing is cleared by runs alone


def test_a_text_that_was_compared_by_runs_alone_is_not_cleared():
    real, synthetic, holdout = leaky(np.random.default_rng(7), 300, 0)
    runs = divulge.copies(real, synthetic, holdout=holdout, variants=["one column"])
    assert {r.verdict for r in runs} == {"cannot tell"}
    assert all(any("compared as a whole and by runs of words alone" in n for n in r.notes) for r in runs)
    words = divulge.copies(real, synthetic, holdout=holdout, variants=["one column", "own words"])
    assert {r.verdict for r in words if r.variant in ("one column", "one column, shared words")} == {"none found"}


def test_a_run_that_compares_no_word_holds_none_found_back(monkeypatch):
    real, synthetic, holdout = leaky(np.random.default_rng(8), 300, 0)
    options = {"jobs": 1, "models": False, "fidelity": False, "search": "off", "membership": False}
    whole = divulge.assess(real, synthetic, holdout=holdout, **options)
    assert whole.data["verdict"]["not_compared"] == []
    entry = CATALOGUE["named_in_texts"]  # stays in its place among the attacks
    monkeypatch.setitem(CATALOGUE, entry.name, replace(entry, plan=on_demand("left out by this test")))
    report = divulge.assess(real, synthetic, holdout=holdout, **options)
    assert report.data["verdict"]["not_compared"] == [{"column": "note", "why": BY_RUNS}]
    assert "nothing is said of who is named there" in report.data["verdict"]["sentence"]


# ---------------------------------------------------------------- plain python

WORDS = ["Ann", "ann's", "ÀNN", "a\u0300nn", "Lee", "lee", "Smith", "x1", "X1", "12", "3.5.2021", "ann@x.de", "note", "Note", "王", "明", "🙂"]  # fmt: skip
TEXT = st.one_of(st.none(), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
FORM = {"12": "number", "3.5.2021": "date", "ann@x.de": "mail address", "x1": "code", "X1": "code"}


def form_of(word):
    return FORM.get(word, "name" if word[0].isupper() else "word")


def plain(word):
    folded = unicodedata.normalize("NFKD", word.removesuffix("'s").casefold())
    return "".join(c for c in folded if not "\u0300" <= c <= "\u036f")


def items(text):
    """The words of a text, and its pairs, each with the forms that it is in."""
    split = (text or "").split()
    singles = [(plain(w), [form_of(w)]) for w in split]
    both = [((plain(a), plain(b)), ["pair of words", *["pair of names"] * (form_of(a) == form_of(b) == "name")]) for a, b in pairwise(split)]  # fmt: skip
    bag = [(("all", *sorted(map(plain, split))), ["all words"])] if len(split) >= 8 else []
    return [*singles, *both, *bag]


def hit_forms(real, synthetic, holdout):
    """The number of members and of strangers who are hit, by form; forms that nobody has are left out."""
    owners = {}
    for i, text in enumerate([*real, *holdout]):
        for item, _ in items(text):
            owners.setdefault(item, set()).add(i)
    released = {item for text in synthetic for item, _ in items(text)}
    theirs = {text for text in [*real, *holdout] if text is not None}
    times = Counter(word for text in theirs for word, forms in items(text) if isinstance(word, str))
    factor = len({text for text in synthetic if text is not None}) / max(1, len(theirs)) ** 2
    out = {}
    for side, texts in enumerate((real, holdout)):
        for text in texts:
            mine = {f: False for _, forms in items(text) for f in forms}
            for item, forms in items(text):
                own = len(owners[item]) == 1 and item in released
                for form in forms:
                    mine[form] |= own
                    if form.startswith("pair") and own and times[item[0]] * times[item[1]] * factor <= 0.01:
                        mine[f"rare {form}"] = True
            for form, hit in mine.items():
                out.setdefault(form, [0, 0])[side] += hit
    return out


@settings(max_examples=tries(300, 6), deadline=None, derandomize=True, database=None, phases=[Phase.generate])
@given(st.lists(TEXT, min_size=3, max_size=12), st.lists(TEXT, min_size=1, max_size=3), st.lists(TEXT, min_size=3, max_size=12))  # fmt: skip
def test_every_form_counts_as_plain_python_does(real, synthetic, holdout):
    tables = [pl.DataFrame({"note": pl.Series(t, dtype=pl.String), "x": range(len(t))}) for t in (real, synthetic, holdout)]  # fmt: skip
    try:
        results = divulge.named_in_texts(*tables[:2], holdout=tables[2], columns=["note"])
    except ColumnError:  # texts that are all numbers or dates are numbers
        return
    found = {r.variant: [r.real.hits, r.holdout.hits] for r in results if r.variant != "other columns"}
    expected = hit_forms(real, synthetic, holdout)
    if not any(text for text in [*real, *synthetic, *holdout]):
        assert found == {"word": [0, 0]}
    else:
        assert found == expected


def test_texts_are_taken_apart_in_blocks_as_they_are_whole(monkeypatch):
    texts = pl.Series([None, "Ann Lee", "", "x1 12", "王明 🙂", "a b c"] * 5)
    whole = words_with_forms(texts, 1000)
    monkeypatch.setattr("divulge.tables.word_forms._CHARACTERS", 7)
    parts = words_with_forms(texts, 1000)
    assert all((a == b).all() for a, b in zip(whole, parts, strict=True))
    assert words_with_forms(texts, len(whole.hashes) - 1) is None


# ---------------------------------------------------------------- unusual texts

STRANGE = {
    "arabic": lambda rng: " ".join("".join(rng.choice(list("ابتثجحخدذرزسش"), 5)) for _ in range(12)),
    "chinese": lambda rng: "".join(rng.choice(list("王小明患者北京上海天地人大中国电脑手机"), 14)) + "。",
    "emoji": lambda rng: " ".join(rng.choice(list("😀😃😄😁😆😅🤣😂🙂🙃"), 30)),
    "numbers": lambda rng: " ".join(map(str, rng.integers(0, 10**6, 10))),
    "json": lambda rng: f'{{"name": "{names(rng, 1)[0]}", "n": {rng.integers(10**6)}, "list": [1, 2, 3], "k": "v w"}}',
    "html": lambda rng: f'<p class="x">{note(rng, "<b>Ann</b>")} &amp; <a href="http://x.y/{rng.integers(99)}">z</a></p>',
    "some missing": lambda rng: None if rng.random() < 0.5 else note(rng, names(rng, 1)[0]),
    "signs alone": lambda rng: ". " * 30 + "! " * rng.integers(1, 60),
    "control": lambda rng: f"\x00\u202e{note(rng, names(rng, 1)[0])}",
}  # fmt: skip


@pytest.mark.parametrize("n", [60, 10])
@pytest.mark.parametrize("what", STRANGE)
def test_unusual_texts_have_an_answer(what, n):
    rng = np.random.default_rng(9)
    tables = [
        pl.DataFrame({"a": rng.choice(list("xyz"), n), "note": pl.Series([STRANGE[what](rng) for _ in range(n)], dtype=pl.String)})
        for _ in range(3)
    ]  # fmt: skip
    results = divulge.named_in_texts(*tables[:2], holdout=tables[2], columns=["note"])
    assert all(r.verdict != "excess found" for r in results)
    assert any("meaning is not compared" in note for note in results[0].notes)


@pytest.mark.parametrize("values", [[None] * 30, ["one text of all the people, which is long enough for a text"] * 30])
def test_a_table_without_texts_says_so(values):
    table = pl.DataFrame({"a": list("xyz") * 10, "b": list("uv") * 15, "note": pl.Series(values, dtype=pl.String)})
    with pytest.raises(ColumnError, match="no column has texts"):
        divulge.named_in_texts(table, table, holdout=table)
    report = divulge.assess(table, table, holdout=table, jobs=1, models=False, fidelity=False, search="off")
    assert {"attack": "named_in_texts", "why": "no column has texts"} in report.data["not_run"]


def test_columns_that_are_no_texts_are_refused():
    table = pl.DataFrame({"age": range(30), "note": ["a b c"] * 30})
    for columns in (["age"], ["other"], []):
        with pytest.raises(ColumnError):
            divulge.named_in_texts(table, table, holdout=table, columns=columns)


def test_every_form_has_words_of_its_own():
    assert set(FORMS) <= CATALOGUE["named_in_texts"].hit.keys()
