"""Copies of one column: values and runs of words, against plain Python; the leaks that nothing else sees."""

import re
import unicodedata

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import divulge
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema
from divulge.tables.texts import folded

VOCABULARY = np.array([f"wort{i}" for i in range(2000)])


def texts(rng, n, words=12):
    return [" ".join(row) for row in VOCABULARY[rng.integers(0, len(VOCABULARY), (n, words))]]


def coarse(rng, n, **columns):
    return pl.DataFrame({"a": rng.integers(0, 4, n).astype(str), "b": rng.integers(0, 3, n).astype(str)} | columns)


def only(results, variant, *keys):
    (found,) = [r for r in results if (r.variant, r.keys) == (variant, keys)]
    return found


def asked(real, synthetic, holdout=None, **options):
    return divulge.copies(real, synthetic, holdout=holdout, variants=["one column"], **options)


# ---------------------------------------------------------------- the leaks


def contacts(rng, n):
    phones = [[f"0{v}" for v in rng.integers(10**8, 10**9, n)] for _ in range(2)]
    amounts = [rng.lognormal(mean, 0.6, n).round(4) for mean in (9, 9.5)]
    return coarse(rng, n, phone=phones[0], mobile=phones[1], bonus=amounts[0], tax=amounts[1])


@pytest.mark.parametrize("pair", [("phone", "mobile"), ("bonus", "tax")])
@pytest.mark.parametrize("both", [True, False])
def test_values_under_the_heading_of_another_column_are_found_there_alone(pair, both):
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (contacts(rng, 200) for _ in range(3))
    one, other = pair
    swapped = real[:40].with_columns(pl.col(one).alias(other), *[pl.col(other).alias(one)] * both)
    new = [pl.concat([swapped[c], synthetic[c][40:]]).shuffle(seed=i) for i, c in enumerate(pair)]
    new = new if both else [synthetic[one], new[1]]
    results = asked(real, synthetic.with_columns(s.alias(c) for s, c in zip(new, pair, strict=True)), holdout)
    hits = {r.keys: (r.real.hits, r.holdout.hits) for r in results if r.variant == "under another heading"}
    assert hits == {(one,): (40, 0)} | ({(other,): (40, 0)} if both else {})
    assert {(r.variant, r.keys) for r in results if r.verdict == "excess found"} == {
        ("under another heading", keys) for keys in hits
    }


@pytest.mark.parametrize("value", ["{phone}", "{spaced}", "{name}", "{lower}"])
def test_values_within_the_texts_of_another_column_are_found_there_alone(value):
    rng = np.random.default_rng(6)
    real, synthetic, holdout = (contacts(rng, 200).with_columns(note=pl.Series(texts(rng, 200))) for _ in range(3))
    names = [
        [f"{a}{b}".title() for a, b in zip(*(texts(rng, 200, 1) for _ in range(2)), strict=True)] for _ in range(3)
    ]
    real, synthetic, holdout = (
        t.with_columns(name=pl.Series([n.translate(str.maketrans("0123456789", "abcdefghij")) for n in own]))
        for t, own in zip((real, synthetic, holdout), names, strict=True)
    )
    mine = [
        value.format(**row, lower=row["name"].lower(), spaced=f"{row['phone'][:5]} {row['phone'][5:]}") + " came late"
        for row in real[:40].iter_rows(named=True)
    ]  # fmt: skip
    note = pl.concat([pl.Series(mine), synthetic["note"][40:]]).shuffle(seed=3)
    results = asked(real, synthetic.with_columns(note=note), holdout)
    key = "phone" if value in ("{phone}", "{spaced}") else "name"
    own = only(results, "under another heading, within a longer text", key)
    assert (own.real.hits, own.holdout.hits) == (40, 0)
    assert {(r.variant, r.keys) for r in results if r.verdict == "excess found"} == {(own.variant, own.keys)}


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "{:.2f} EUR", "{:,.2f}", "no. {}"])
def test_numbers_and_dates_within_the_texts_of_another_column_are_found_there_alone(written):
    rng = np.random.default_rng(16)
    n, (kind, values) = 200, ("born", lambda: np.datetime64("1930-01-01") + rng.integers(0, 26000, 200))
    if "%" not in written:
        kind, values = ("pay", lambda: rng.lognormal(10, 0.6, n).round(2)) if "2f" in written else ("account", lambda: rng.integers(10**6, 10**7, n))  # fmt: skip
    real, synthetic, holdout = (coarse(rng, n, **{kind: pl.Series(values()), "note": texts(rng, n)}) for _ in range(3))
    own = real[kind].head(60)
    told = own.dt.strftime(written) if "%" in written else pl.Series([written.format(v) for v in own])
    note = pl.concat([told + " came late, room 12", synthetic["note"][60:]]).shuffle(seed=3)
    results = asked(real, synthetic.with_columns(note=note), holdout)
    found = {(r.variant, r.keys) for r in results if r.verdict == "excess found"}
    assert found == {("under another heading, within a longer text", (kind,))}
    assert only(results, "under another heading, within a longer text", kind).real.hits >= 57  # not who shares a date


@pytest.mark.parametrize("spelled", ["A{:06d}", "user{}@example.com", "2024-{:05d}"])
def test_rows_that_are_numbered_by_a_text_recur_in_every_table(spelled):
    rng = np.random.default_rng(17)
    real, synthetic, holdout = (
        coarse(rng, 200, who=[spelled.format(k) for k in range(first, first + 200)]) for first in (1, 1, 201)
    )
    results = asked(real, synthetic, holdout)
    assert not [r for r in results if r.verdict == "excess found"]
    assert only(results, "one column", "who").verdict is None
    gaps = [coarse(rng, 200, who=[spelled.format(k) for k in rng.permutation(9000)[:200]]) for _ in range(3)]
    assert only(asked(gaps[0], gaps[0], gaps[2]), "one column", "who").verdict == "excess found"


def test_a_part_of_a_text_without_blanks_is_found_by_runs_of_characters():
    signs = list("患者男女岁因咳嗽发热天入院查体血压心率肺部啰音腹软无痛诊断为急性支气管炎给予抗生素治疗后好转出随访复")
    rng = np.random.default_rng(18)
    note = lambda k: "".join(rng.choice(signs, k))  # noqa: E731
    real, synthetic, holdout = (coarse(rng, 200, note=[note(60) for _ in range(200)]) for _ in range(3))
    kept = [note(15) + t[15:45] + note(15) for t in real["note"][:60]] + synthetic["note"][60:].to_list()
    results = asked(real, synthetic.with_columns(note=pl.Series(kept)), holdout)
    assert {(r.variant, r.keys) for r in results if r.verdict == "excess found"} == {
        ("one column, shared words", ("note",))
    }
    assert only(results, "one column, shared words", "note").real.hits == 60


@pytest.mark.parametrize("share", [0.4, 0.06])
def test_a_phrase_of_many_people_is_nobodys_value_under_another_heading(share):
    """Two in five comments, or a few, are one phrase that three in five notes hold: chance, and no copies."""
    rng = np.random.default_rng(7)

    def table():
        own = texts(rng, 300, 6)
        comment = [
            t if some else "nothing to report"
            for t, some in zip(texts(rng, 300, 6), rng.random(300) >= share, strict=True)
        ]
        note = [f"{t} nothing to report" if some else t for t, some in zip(own, rng.random(300) < 0.6, strict=True)]
        return coarse(rng, 300, comment=comment, note=note)

    real, synthetic, holdout = (table() for _ in range(3))
    synthetic = synthetic.with_columns(comment=pl.Series(texts(rng, 300, 6)))  # the phrase is in notes alone
    kinds = Schema(tuple(Column(c, "text" if len(c) > 1 else "categorical") for c in real.columns))
    assert not [r for r in asked(real, synthetic, holdout, schema=kinds) if r.variant.startswith("under another")]


def test_columns_whose_values_people_have_in_others_too_are_not_looked_for_there():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (
        pl.DataFrame({f"x{j:02}": np.datetime64("2000-01-01") + rng.permutation(900)[:80] for j in range(30)})
        for _ in range(3)
    )
    assert not [r for r in asked(real, synthetic, holdout) if r.variant.startswith("under another")]


def test_a_value_that_stands_in_its_own_column_too_or_in_two_of_the_person_is_under_no_other_heading():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (contacts(rng, 200).with_columns(mobile=pl.col("phone")) for _ in range(3))
    copied = pl.concat([real[:40], synthetic[40:]])
    assert not [r for r in asked(real, copied, holdout) if r.variant == "under another heading"]
    apart = [contacts(rng, 200) for _ in range(3)]
    twice = pl.concat([apart[0][:40].with_columns(mobile=pl.col("phone")), apart[1][40:]])
    assert not [r for r in asked(apart[0], twice, apart[2]) if r.variant == "under another heading"]


def test_texts_alone_are_found():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (coarse(rng, 120, note=texts(rng, 120)) for _ in range(3))
    synthetic = synthetic.with_columns(note=pl.concat([real["note"][:60], synthetic["note"][60:]]).shuffle(seed=1))
    results = divulge.copies(real, synthetic, holdout=holdout)
    found = {(r.variant, r.keys) for r in results if r.verdict == "excess found"}
    own_words = ("own pair of words", "own rare pair of words", "own all words")
    shared = ["one column", *(f"one column, {form}" for form in ("shared words", *own_words))]
    assert found == {(variant, ("note",)) for variant in shared}
    own = only(results, "one column", "note")
    assert (own.real.hits, own.holdout.hits, own.risk.value) == (60, 0, 0.5)
    assert own.context == {"different real values": 120, "of these in the synthetic table": 60}


def test_a_part_of_a_text_is_found_by_its_words():
    rng = np.random.default_rng(1)
    real, synthetic, holdout = (coarse(rng, 100, note=texts(rng, 100)) for _ in range(3))
    parts = [f"anders {' '.join(r.split()[2:10])}" if i < 15 else s
             for i, (r, s) in enumerate(zip(real["note"], synthetic["note"], strict=True))]  # fmt: skip
    results = asked(real, synthetic.with_columns(note=pl.Series(parts)), holdout)
    assert only(results, "one column", "note").real.hits == 0
    words = only(results, "one column, shared words", "note")
    assert (words.real.hits, words.holdout.hits, words.verdict) == (15, 0, "excess found")
    assert words.individual.real.tolist() == [1.0] * 15 + [0.0] * 85


def test_addresses_in_capitals_are_found():
    rng = np.random.default_rng(2)
    real, synthetic, holdout = (
        coarse(rng, 80, mail=[f"straße{v}@web.de" for v in rng.integers(0, 2**40, 80)]) for _ in range(3)
    )
    loud = pl.concat([real["mail"].str.to_uppercase()[:20], synthetic["mail"][20:]])
    own = only(asked(real, synthetic.with_columns(mail=loud), holdout), "one column", "mail")
    assert (own.real.hits, own.holdout.hits, own.verdict) == (20, 0, "excess found")
    assert any("compared folded" in n for n in own.notes)


@pytest.mark.parametrize("role", ["unit", "ignore"])
def test_an_identifier_that_is_the_unit_or_ignored_is_compared(role):
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (coarse(rng, 90, who=rng.integers(0, 2**40, 90).astype(str)) for _ in range(3))
    synthetic = synthetic.with_columns(who=real["who"].shuffle(seed=1))
    if role == "unit":
        results = divulge.copies(real, synthetic, holdout=holdout, unit="who")
    else:
        results = divulge.copies.run(build_case(real, synthetic, holdout, ignore=["who"]))
    own = only(results, "one column", "who")
    assert (own.real.hits, own.holdout.hits, own.verdict) == (90, 0, "excess found")
    found = {r.variant for r in results if r.verdict == "excess found"}
    assert found == {"one column", *(["one column, nearly equal"] if role == "ignore" else [])}


def test_a_unit_counts_once():
    """Homes r0 to r9 of 1 to 10 rows; the synthetic table has r0 and r9, so 2 of 10, not 11 of 55 rows."""
    sizes = np.arange(1, 11)
    real = pl.DataFrame({"home": np.repeat([f"r{i}" for i in range(10)], sizes), "x": ["u", "v", "w", "u", "v"] * 11})
    holdout = real.with_columns(home=pl.col("home").str.replace("r", "h"))
    synthetic = pl.DataFrame({"home": ["r0", "r9", "s1"], "x": ["u", "v", "w"]})
    own = only(asked(real, synthetic, holdout, unit="home"), "one column", "home")
    assert (own.real.hits, own.real.n, own.holdout.hits, own.holdout.n) == (2, 10, 0, 10)
    assert own.individual.real.tolist() == [1.0] + [0.0] * 44 + [1.0] * 10
    assert own.individual.once  # no p-value counts its rows
    assert "each unit counts once" in own.notes


def test_dates_to_the_second_and_long_decimals_are_compared():
    rng = np.random.default_rng(4)
    stamp = pl.Series(rng.integers(0, 10**9, 120) * 10**6).cast(pl.Datetime("us"))
    table = pl.DataFrame({"a": rng.integers(0, 3, 120).astype(str), "at": stamp, "x": rng.random(120), "age": rng.integers(18, 90, 120)})  # fmt: skip
    real, holdout = table[:60], table[60:]
    synthetic = real.with_columns(at=real["at"].shuffle(seed=1), x=pl.col("x") + 1e-9)
    results = asked(real, synthetic, holdout)
    equal = {(r.keys, r.verdict) for r in results if r.variant == "one column"}
    assert equal == {(("at",), "excess found"), (("x",), "cannot tell")}


def test_nine_of_ten_must_have_a_value_of_their_own():
    def table(n_alone):
        return pl.DataFrame({"x": [i + 0.5 for i in range(n_alone)] + [999.5] * (40 - n_alone), "c": ["u", "v"] * 20})

    for n_alone, there in ((36, True), (35, False)):
        whole = table(n_alone)
        case = build_case(whole[::2], whole[::2], whole[1::2])
        results = divulge.copies.run(case, variants=["one column"])
        assert [r.keys for r in results if r.variant == "one column"] == [("x",)] * there


# ---------------------------------------------------------------- plain python

WORDS = st.sampled_from(["ab", "Ab", "ÀB", "a\u0300b", "ß", "SS", "ﬁ", "fi", "\uff21B"])
TEXT = st.one_of(st.none(), st.lists(WORDS, max_size=3).map(" ".join), st.lists(WORDS, max_size=3).map("  \t".join))


def fold(text):
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(r"\s+", " ", once).strip()


def missing(text):
    return text is None or not text.strip()


@settings(
    max_examples=tries(200, 20), deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
@given(*[st.lists(TEXT, min_size=1, max_size=10)] * 3)
def test_values_are_compared_as_plain_python_does(real, synthetic, holdout):
    tables = [pl.DataFrame({"t": t}, schema={"t": pl.String}) for t in (real, synthetic, holdout)]
    schema = Schema((Column("t", "identifier"),))
    found = only(asked(*tables, schema=schema), "one column", "t")
    there = {fold(t) for t in synthetic if not missing(t)}
    for people, seen, rate in (
        (real, found.individual.real, found.real),
        (holdout, found.individual.holdout, found.holdout),
    ):
        expected = [float("nan") if missing(t) else float(fold(t) in there) for t in people]
        np.testing.assert_array_equal(seen, expected)
        assert (rate.hits, rate.n) == (np.nansum(expected), np.sum(~np.isnan(expected)))


def test_folding_is_that_of_unicode():
    odd = ["  Ann\tLEE ", "ANN LEE", "Straße", "STRASSE", "ﬁn", "\uff21", "İ", "ΣΑΣ", "", " ", "a\u00a0b", "e\u0301É"]
    assert folded(pl.Series(odd)).to_list() == [fold(t) for t in odd]


def run_of_words(people, synthetic, person, n=8):
    def runs(text):
        words = re.findall(r"\w+", fold(text))
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    released = set().union(*(runs(t) for t in synthetic))
    holders = {}
    for text, who in zip(people, person, strict=True):
        for run in runs(text):
            holders.setdefault(run, set()).add(who)
    return [
        float("nan") if len(re.findall(r"\w+", fold(t))) < n
        else float(any(r in released and len(holders[r]) == 1 for r in runs(t)))
        for t in people
    ]  # fmt: skip


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_runs_of_words_are_counted_as_plain_python_does(seed, units):
    rng = np.random.default_rng([seed, 5])
    # six sentences of six words: runs of eight are shared by some texts, and by some people of one home
    parts = [" ".join(row) + "." for row in VOCABULARY[rng.integers(0, 50, (6, 6))]]
    tables = [[" ".join(parts[k] for k in rng.integers(0, 6, rng.integers(1, 4))) for _ in range(25)] for _ in range(3)]
    homes = [[f"{role}{h}" for h in rng.integers(0, 12, 25)] for role in "rsh"]
    frames = [
        pl.DataFrame({"t": t, "home": h, "x": ["u", "v", "w", "u", "u"] * 5})
        for t, h in zip(tables, homes, strict=True)
    ]
    schema = Schema((Column("t", "text"), Column("home", "categorical")))
    results = asked(*frames, schema=schema, unit="home" if units else None)
    own = only(results, "one column, shared words", "t")
    people = tables[0] + tables[2]
    who = homes[0] + homes[2] if units else range(50)
    expected = run_of_words(people, tables[1], who)
    np.testing.assert_array_equal(np.concatenate([own.individual.real, own.individual.holdout]), expected)
    assert 0 < np.nansum(expected) < len(people)


# ---------------------------------------------------------------- laws and messy input


def test_order_of_rows_and_columns_changes_nothing():
    rng = np.random.default_rng(6)
    tables = [
        coarse(rng, 60, note=texts(rng, 60), x=rng.random(60), mail=rng.integers(0, 200, 60).astype(str))
        for _ in range(3)
    ]
    tables[1] = pl.concat([tables[0][:20], tables[1][:30]])
    orders = [rng.permutation(len(t)) for t in tables]
    before = asked(*tables)
    moved = [t[o].select(reversed(t.columns)) for t, o in zip(tables, orders, strict=True)]
    after = asked(*moved)
    assert len(before) == 13
    for one, other in zip(before, after, strict=True):
        assert {**one.to_dict(), "seconds": 0} == {**other.to_dict(), "seconds": 0}
        np.testing.assert_array_equal(one.individual.real[orders[0]], other.individual.real)
        np.testing.assert_array_equal(one.individual.holdout[orders[2]], other.individual.holdout)


@pytest.mark.parametrize("values", [[None] * 30, ["a b"] + [None] * 29, [1, "1", 2.5, None, True, "x"] * 5])
def test_messy_columns_have_an_answer(values):
    import pandas as pd

    frame = pd.DataFrame({"t": pd.Series(values, dtype=object), "c": ["u", "v", "w"] * 10})
    schema = Schema((Column("t", "text"),))
    for tables in ((frame, frame, frame), (frame[:1], frame[:1], frame[:1]), (frame, frame, None)):
        results = divulge.copies(*tables[:2], holdout=tables[2], schema=schema)
        for r in results:
            if r.keys == ("t",) and r.variant == "one column":
                assert r.real.hits == r.real.n  # every value that is there recurs in the same table
                assert np.isnan(r.individual.real).sum() == len(tables[0]) - r.real.n


def test_tables_elsewhere_give_the_same_rates():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(7)
    real, synthetic, holdout = (coarse(rng, 60, note=texts(rng, 60)) for _ in range(3))
    synthetic = pl.concat([real[:30], synthetic[:30]])
    here = asked(real, synthetic, holdout)
    there = asked(*(duckdb.from_arrow(t.to_arrow()) for t in (real, synthetic, holdout)))
    assert [(r.variant, r.real, r.holdout, r.p_value) for r in here] != []
    for one, other in zip(here, there, strict=True):
        assert (one.variant, one.real, one.holdout, one.difference.value) == (
            other.variant, other.real, other.holdout, other.difference.value
        )  # fmt: skip
        assert other.individual is None


# ---------------------------------------------------------------- columns that the holdout lacks


def test_columns_that_the_holdout_lacks_are_told():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (coarse(rng, 60, name=texts(rng, 60, 3)) for _ in range(3))
    synthetic = synthetic.with_columns(name=pl.concat([real["name"][:45], synthetic["name"][:15]]))
    case = build_case(real, synthetic, holdout.drop("name", "b"))
    assert case.without_strangers == ("b", "name")
    results = divulge.copies.run(case)
    own = only(results, "one column", "name")
    assert (own.real.hits, own.real.n, own.holdout, own.risk, own.verdict) == (45, 60, None, None, "no holdout")
    assert own.notes[0] == "45 of 60 values of this column recur; no strangers to compare with"
    assert "the holdout lacks columns that were not compared: 'b'" in results[0].notes
    assert build_case(real, synthetic.drop("b"), holdout.drop("name", "b")).without_strangers == ("name",)
    assert build_case(real, synthetic, holdout).without_strangers == ()
    assert build_case(real, synthetic).without_strangers == ()
