"""Laws: what must not change a digit of any attack in the catalogue, and what must change a sign.

An attack that enters the catalogue is under these laws without another line here: its settings are read off its
signature. Tables come from hypothesis, down to a single row; an error counts as an answer that must not change either.
"""

import functools
import gc
import inspect
import itertools
import json
import os
import subprocess
import sys
import weakref
from typing import Literal, get_args, get_origin, get_type_hints
from unittest.mock import patch

import amount
import msgspec
import numpy as np
import polars as pl
import pytest
from amount import models, tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.copying.copies import _VARIANTS
from divulge.attacks.copying.equal_tails import LAST_DIGITS, TAILS, TIME_OF_DAY, TWO_TAILS
from divulge.attacks.copying.other_spellings import FORMS
from divulge.attacks.membership import classifier_score
from divulge.attacks.membership.scores import TESTED
from divulge.case.case import build_case
from divulge.core.errors import DivulgeError
from divulge.core.records import ResultRecord
from divulge.core.schema import Column, Schema

KEYS, TARGET, ORDERED_TARGET = ("income", "job", "rooms"), "illness", "income"
JOBS, TOWNS, ILLS = ["cook", "judge", "nurse", "pilot"], ["Ayr", "Bath", "Deal"], ["asthma", "flu", "gout", "none"]

# no shrinking: the tables come from a seed, and a smaller seed is no simpler table
few = settings(
    max_examples=tries(8, 2),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)


# ---------------------------------------------------------------- attacks with their settings


def settings_of(name):
    """Settings of an attack, one for each choice its signature offers."""
    function = inspect.unwrap(CATALOGUE[name].run)
    hints, parameters = get_type_hints(function), inspect.signature(function).parameters
    base = {"keys": list(KEYS)} if "keys" in parameters else {}
    if "target" in parameters:
        base["target"] = TARGET
    choices = {p: get_args(hints[p]) for p in parameters if get_origin(hints[p]) is Literal}
    if "tau" in parameters:
        choices["tau"] = (0.5, parameters["tau"].default)
    for chosen in itertools.product(*choices.values()):
        one = base | dict(zip(choices, chosen, strict=True))
        if one.get("kind") == "ordered":
            one |= {"target": ORDERED_TARGET, "keys": [k for k in KEYS if k != ORDERED_TARGET]}
        yield one


ENTRIES = [(name, one) for name in sorted(CATALOGUE) for one in settings_of(name)]


def learns(name, one, result):
    """Whether a fitted model is behind a result."""
    return "boosting" in one.values() or (name, result.variant) in (("baseline_cap", "model"), ("inference", "model"))


def counted(name, one, result):
    return not learns(name, one, result)


def unordered(name, one, result):
    """Counting that no order of values enters."""
    return counted(name, one, result) and one.get("kind") != "ordered"


def measures(name):
    """Whether distances enter, in float64: numbers that are no binary fractions round in another unit."""
    return CATALOGUE[name].family in ("distance", "exposure", "copying", "linkability", "membership")


def by_row(name):
    """Whether all rows must be in memory, so that what is left out of them is told."""
    return measures(name) or CATALOGUE[name].plan.in_memory


def placeless(results):
    """Results without what `copies` says about the order of rows itself, which the order of rows may change."""
    return {
        k: r if isinstance(r, str) else replace(r, notes=tuple(n for n in r.notes if not n.startswith("row order:")))
        for k, r in results.items()
        if isinstance(r, str) or (r.attack, r.variant) != ("copies", "row order")
    }


def compares_codes(name, one, result):
    return not measures(name)


NOT_BY_LETTERS = {
    "membership": {"scores": [name for name in TESTED if name != "edit distance"]},
    "copies": {"variants": [name for name in _VARIANTS if name != LAST_DIGITS]},
}
"""Settings that leave out what compares values letter by letter, or digit by digit."""


def results_of(tables, only=lambda *_: True, settings=None, **options):
    """Every result of every attack, by attack, settings and variant; with further settings of some attacks."""
    try:
        case = build_case(*tables, **options)
    except DivulgeError as error:
        return {"lay": str(error)}
    found = {}
    for name, one in ENTRIES:
        label = f"{name} {one}"
        if "boosting" in one.values() and only in (counted, unordered):
            continue
        try:
            with patch.object(classifier_score, "TREES", tries(48, 3)):
                results = CATALOGUE[name].run(case, **one, **(settings or {}).get(name, {}))
        except DivulgeError as error:
            found[label] = str(error)
            continue
        for r in results if isinstance(results, tuple) else (results,):
            if only(name, one, r):
                found[f"{label} {r.variant}"] = r
    return found


def told(results):
    """What the results say in assessment.json, without the time they took."""
    return {k: r if isinstance(r, str) else {**r.to_dict(), "seconds": 0} for k, r in results.items()}


def differing(one, other):
    """Where two answers differ, for a failure that can be read."""
    a, b = told(one), told(other)
    if a.keys() != b.keys():
        return sorted(a.keys() ^ b.keys())
    return [
        (k, f, a[k][f], b[k][f]) if isinstance(a[k], dict) and isinstance(b[k], dict) else (k, a[k], b[k])
        for k in a
        if a[k] != b[k]
        for f in (a[k] if isinstance(a[k], dict) and isinstance(b[k], dict) else [""])
        if not f or a[k][f] != b[k][f]
    ]


# ---------------------------------------------------------------- tables


def people(rng, n, homes=None):
    """Columns of every kind that counts, some values missing, the illness partly told by the job."""
    home = rng.integers(0, max(1, n // 3), n) if homes else np.zeros(n, dtype=int)
    job = rng.integers(0, 4, n)
    ill = np.where(rng.random(n) < 0.6, job, rng.integers(0, 4, n))
    table = {
        "home": [f"{homes or ''}{h:03d}" for h in home],
        "job": [JOBS[j] for j in job],
        "town": [None if rng.random() < 0.15 else TOWNS[t] for t in rng.integers(0, 3, n)],
        "member": (rng.random(n) < 0.7).tolist(),
        "rooms": rng.integers(1, 5, n).tolist(),
        "income": (np.round(rng.gamma(2, 9, n)) + 0.3).tolist(),
        "illness": [ILLS[i] for i in ill],
        "note": notes(rng.spawn(1)[0], n),  # a generator of its own: the other columns stay as they were
    }
    frame = pl.DataFrame(table, schema_overrides={"town": pl.String})
    return frame if homes else frame.drop("home")


def notes(rng, n):
    """Texts with a name, a date and a number, which nobody else may have."""
    saw, weeks, day = rng.integers(0, 4000, n), rng.integers(1, 9, n), rng.integers(1, 29, n)
    return [
        f"Dr {TOWNS[s % 3]} Mac{s} saw the {JOBS[s % 4]}, who sleeps badly since {w} weeks, on {d}.3.2021, file {s % 977}"
        for s, w, d in zip(saw.tolist(), weeks.tolist(), day.tolist(), strict=True)
    ]


def draw(seed, sizes, copied, with_units=False, with_holdout=True):
    rng = np.random.default_rng(seed)
    n, m, h = sizes
    real = people(rng, n, "r" if with_units else None)
    taken = real[rng.integers(0, n, round(copied * m))]
    synthetic = pl.concat([taken, people(rng, m - len(taken), "s" if with_units else None)])
    holdout = people(rng, h, "h" if with_units else None) if with_holdout else None
    return (real, synthetic, holdout), {"unit": "home"} if with_units else {}


size = st.one_of(st.integers(1, 4), st.integers(5, 90))
drawn = st.builds(
    draw,
    seed=st.integers(0, 2**20),
    sizes=st.tuples(size, size, size),
    copied=st.sampled_from([0.0, 0.3, 1.0]),
    with_units=st.booleans(),
    with_holdout=st.sampled_from([True, True, True, False]),
)
with_holdout = st.builds(draw, st.integers(0, 2**20), st.tuples(size, size, size), st.sampled_from([0.0, 0.3, 1.0]))


def each(change, tables):
    return tuple(t if t is None else change(t) for t in tables)


# ---------------------------------------------------------------- nothing changes


@few
@given(drawn, st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(given_tables, seed):
    tables, options = given_tables
    rng = np.random.default_rng(seed)
    orders = [None if t is None else rng.permutation(len(t)) for t in tables]
    moved = tuple(t if t is None else t[o] for t, o in zip(tables, orders, strict=True))
    before, after = placeless(results_of(tables, **options)), placeless(results_of(moved, **options))
    assert differing(before, after) == []
    for label, result in before.items():
        if isinstance(result, str) or result.individual is None:
            continue
        for role, order in (("real", orders[0]), ("holdout", orders[2])):
            one, other = getattr(result.individual, role), getattr(after[label].individual, role)
            if one is None:
                assert other is None
            else:
                np.testing.assert_array_equal(one[order], other, err_msg=f"{label} {role}")


@few
@given(drawn)
def test_the_order_of_columns_changes_nothing(given_tables):
    (real, synthetic, holdout), options = given_tables
    turned = (
        real.select(reversed(real.columns)),
        synthetic.select(sorted(synthetic.columns)),
        holdout if holdout is None else holdout.select(sorted(holdout.columns, key=len)),
    )
    assert differing(results_of((real, synthetic, holdout), **options), results_of(turned, **options)) == []


RENAMED = {
    "job": dict(zip(JOBS, ["y", "k", "zz", "b"], strict=True)),
    "town": dict(zip(TOWNS, ["Wick", "Rye", "Ely"], strict=True)),
    "illness": dict(zip(ILLS, ["q", "w", "a", "d"], strict=True)),
}


@few
@given(drawn)
def test_the_names_of_categories_change_nothing(given_tables):
    tables, options = given_tables

    def rename(table):
        table = table.with_columns(pl.col(c).replace(m) for c, m in RENAMED.items())
        if "home" in table.columns:  # reversed order, and other texts
            return table.with_columns(home=pl.lit("p") + (pl.col("home").str.slice(1).cast(int) * -1 + 998).cast(str)
                                      + pl.col("home").str.slice(0, 1))  # fmt: skip
        return table

    options["settings"] = NOT_BY_LETTERS
    before = results_of(tables, unordered, **options)
    assert differing(before, results_of(each(rename, tables), unordered, **options)) == []


@pytest.mark.slow
@few
@given(drawn)
def test_the_unit_of_a_number_changes_nothing(given_tables):
    tables, options = given_tables
    options["settings"] = NOT_BY_LETTERS
    other = each(lambda t: t.with_columns(income=pl.col("income") * 3 + 7), tables)
    before = results_of(tables, compares_codes, **options)
    assert differing(before, results_of(other, compares_codes, **options)) == []
    # distances are taken from the values as they are: a unit that changes no bit of them changes no digit
    other = each(lambda t: t.with_columns(income=pl.col("income") * 4), tables)
    assert differing(results_of(tables, **options), results_of(other, **options)) == []


@few
@given(drawn)
def test_constant_columns_change_nothing(given_tables):
    tables, options = given_tables
    other = each(lambda t: t.with_columns(one=pl.lit("x"), again=pl.lit("x")), tables)
    before, after = results_of(tables, **options), results_of(other, **options)
    # what compares whole rows says how many columns it compared, and which it left out
    changed = [d for d in differing(before, after) if not (by_row(d[0].split()[0]) and d[1] in ("settings", "notes"))]
    assert changed == []


@few
@given(drawn)
def test_the_kind_of_frame_changes_nothing(given_tables):
    tables, options = given_tables
    expected = results_of(tables, counted, **options)
    for other in (lambda t: t.to_pandas(), lambda t: t.to_arrow()):
        assert differing(expected, results_of(each(other, tables), counted, **options)) == []
    if not options:  # rows that stay where they are have no units, and no distances

        def counts(name, one, result):
            return counted(name, one, result) and not by_row(name)

        known = {k: r for k, r in expected.items() if not by_row(k.split()[0])}
        found = results_of(each(lambda t: t.lazy(), tables), counts)
        assert differing(known, {k: r for k, r in found.items() if not by_row(k.split()[0])}) == []


@few
@given(drawn)
def test_the_same_seed_gives_the_same_digits(given_tables):
    tables, options = given_tables
    assert differing(results_of(tables, seed=5, **options), results_of(tables, seed=5, **options)) == []


@few
@given(drawn)
def test_what_a_run_writes_is_read_as_the_same(given_tables):
    tables, options = given_tables
    for label, r in results_of(tables, **options).items():
        if not isinstance(r, str):
            written = r.record()
            read = msgspec.convert(msgspec.to_builtins(written), ResultRecord)
            assert msgspec.json.encode(read) == msgspec.json.encode(written), label


@pytest.mark.slow
def test_the_tables_are_given_back_with_the_answer():
    """Tables that refer to themselves stay in memory until the garbage is collected, several calls later."""
    tables, _ = draw(0, (60, 60, 60), 0.2)
    left = []
    gc.collect()
    gc.disable()
    try:
        for name in sorted(CATALOGUE):
            case = build_case(*tables)
            encoded = weakref.ref(case.encoded)
            with patch.object(classifier_score, "TREES", 3):
                CATALOGUE[name].run(case, **next(settings_of(name)))
            del case
            left += [name] if encoded() is not None else []
    finally:
        gc.enable()
    assert left == []


SPELLINGS = tuple(f"one column, {form}" for form in FORMS)
ELSEWHERE = (*SPELLINGS, *TAILS.values(), TIME_OF_DAY, TWO_TAILS)
"""Comparisons of values that do not stand there as they are."""

DOUBLING_COUNTS = ("k_anonymity", "replicated_uniques", "lone_match", "nnaa", "dcr_baseline", "membership")
"""`membership` asks for the 20 nearest rows and draws samples of them. The others ask how many synthetic rows stand alone, or how near they are to one another, which a table written twice
changes; `dcr_baseline` draws as many random rows as there are synthetic ones."""


@pytest.mark.slow
@few
@given(drawn)
def test_a_synthetic_table_written_twice_says_no_more(given_tables):
    (real, synthetic, holdout), options = given_tables

    def asked(name, one, result):
        return name not in DOUBLING_COUNTS and counted(name, one, result)

    before = results_of((real, synthetic, holdout), asked, **options)
    after = results_of((real, pl.concat([synthetic, synthetic]), holdout), asked, **options)
    changed = [
        (label, field, was, now)
        for label, field, was, now in differing(placeless(before), placeless(after))
        # these count synthetic rows, of which there are twice as many: the rate is the same
        if not (field in ("real", "holdout") and was["rate"] == now["rate"] and was["n"] * 2 == now["n"])
        # its alignment asks which quarter a number lies in, and which code is the commoner one: ties fall otherwise
        and label != "dcr {} aligned"
        # the share that leak-free data would give grows with the rows, and each person attracts twice as many
        and not (field == "context" and measures(label.split()[0]))
        and "the synthetic table is the real table, row for row" not in was
    ]
    assert changed == []


def test_no_unique_is_replicated_by_a_table_written_twice():
    real = pl.DataFrame({"k": [1, 2, 3, 3]})
    (once, *_), (twice, *_) = (divulge.replicated_uniques(real, s, keys=["k"]) for s in (real, pl.concat([real, real])))
    assert (once.real.rate, twice.real.rate) == (0.5, 0.0)


# ---------------------------------------------------------------- signs


ASKS_BOTH_ALIKE = {
    ("cap", "skip"), ("cap", "zero"), ("cap", "nearest"),
    ("modal_guess", "skip"), ("modal_guess", "zero"), ("modal_guess", "nearest"),
    ("tcap", "a"), ("tcap", "b"), ("tcap", "d"), ("disco", "DiSCO"), ("copies", "exact"), ("copies", "all but one"),
    ("rapid", "cap"), ("replicated_uniques", "repU pooled"), ("dcr", "attraction"), ("nndr", "pointed"),
    ("identical_match_share", ""), ("authenticity", ""), ("hitting_rate", ""), ("epsilon_identifiability", "pooled"),
    ("linkability", "balanced halves, k = 1"), ("linkability", "numbers and categories, k = 1"),
}  # fmt: skip
"""Scores that look at the synthetic table, and at members and strangers together but never at the members alone."""
SCHEMA = Schema(
    tuple(
        Column(c, k)
        for c, k in {
            "job": "categorical",
            "town": "categorical",
            "member": "boolean",
            "rooms": "integer-coded",
            "income": "numeric",
            "illness": "categorical",
        }.items()
    )
)


@pytest.mark.slow
@few
@given(with_holdout)
def test_swapping_members_and_strangers_turns_the_sign(given_tables):
    (real, synthetic, holdout), _ = given_tables
    here = results_of((real, synthetic, holdout), counted, schema=SCHEMA)
    there = results_of((holdout, synthetic, real), counted, schema=SCHEMA)
    seen = set()
    for label, result in here.items():
        if isinstance(result, str) or (result.attack, result.variant) not in ASKS_BOTH_ALIKE:
            continue
        seen.add((result.attack, result.variant))
        one, other = result.difference.value, there[label].difference.value
        assert (one is None) == (other is None), label
        if one is not None:
            assert one == -other, label
    assert seen == ASKS_BOTH_ALIKE


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_releasing_the_real_table_is_the_whole_risk(seed):
    (real, _, holdout), _ = draw(seed, (150, 1, 150), 0)
    for label, r in results_of((real, real, holdout), counted).items():
        if r.risk is None:
            continue
        if r.variant in ELSEWHERE:
            assert r.real.hits == 0  # values that stand there as they are, are in no other spelling
            continue
        if r.variant.startswith("one column, own "):  # not everybody has a word of each form alone
            assert r.difference.value >= 0
            continue
        if r.attack == "copies":
            # a match that chance gives the person anyway counts less than 1, in a full copy too
            full = r.context["part of a full copy of the real table that would show here"] if "but" in r.variant else 1
            assert r.risk.value == pytest.approx(full, abs=1e-15)
            assert r.verdict == "excess found"
            assert "the synthetic table is the real table, row for row" in r.notes
        assert r.difference.value >= 0, label


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(3))
def test_releasing_the_strangers_gives_a_negative_risk_or_none(seed):
    (real, _, holdout), _ = draw(seed, (150, 1, 150), 0)
    for label, r in results_of((real, holdout, holdout), counted).items():
        if r.risk is None or r.difference.value is None or r.variant == "k-vote":  # nine others outvote one's own row
            continue
        if r.holdout is None:  # rows in their places: strangers have none
            continue
        words = r.attack == "named_in_texts" or r.variant.startswith("one column, own ")
        if words and r.real.hits == r.holdout.hits == 0:  # nobody's own
            continue
        if r.variant in ELSEWHERE:  # no stranger, whose value stands there as it is, and a member by chance
            assert r.holdout.hits == 0 and r.verdict != "excess found"
            continue
        assert r.difference.value < 0, label
        assert r.risk.value is None or r.risk.value < 0, label
        assert r.verdict != "excess found", label


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("unseen", ["skip", "zero"])
@pytest.mark.parametrize("seed", range(3))
def test_the_table_of_least_cap_is_called_what_it_is(seed, unseen):
    (real, _, holdout), _ = draw(seed, (150, 150, 150), 0)
    columns = ["job", "rooms", "illness"]
    real, holdout = real[columns], holdout[columns]
    pair = {"keys": ["job", "rooms"], "target": "illness", "unseen": unseen}
    least = divulge.cap_minimum(real, real, **pair)
    found = divulge.cap(real, least.table[columns], holdout=holdout, **pair)
    assert len(least.table) == 150
    assert found.real.rate == least.real.rate == found.context["minimum attainable"]
    assert found.real.rate < 0.06
    assert "the synthetic table has a single cell of keys and target: its mean CAP says nothing about people" in (
        found.notes
    )
    report = divulge.assess(real, least.table[columns], holdout=holdout)
    single = [r for r in report.results if r.attack == "cap" and any("single cell" in n for n in r.notes)]
    assert len(single) == sum(r.attack == "cap" for r in report.results) > 0


def test_a_single_cell_that_some_people_have_is_called_so_too():
    real = pl.DataFrame({"k": ["a"] * 5 + ["b"] * 5, "t": (["x"] * 4 + ["y"]) * 2})
    notes = divulge.cap(real, real[4:5], keys=["k"], target="t", unseen="skip").notes
    assert any("single cell" in n for n in notes)
    assert any("certain and right" in n for n in notes)


# ---------------------------------------------------------------- the whole assessment


def facts(report, *, settings_too=True):
    """The assessment without its times."""
    data = json.loads(report.to_json())
    del data["started"], data["seconds"]
    for part in ("results", "fidelity"):
        data[part] = [{**r, "seconds": 0} for r in data[part]]
    if not settings_too:
        del data["settings"]
    return data


def rows_aside(results):
    """The results of an assessment but for those about the order of rows itself."""
    return [r for r in results if (r["attack"], r["variant"]) != ("copies", "row order")]


@functools.cache
def base(units):
    tables, options = draw(11, (90, 100, 80), 0.3, with_units=units)
    options |= {"models": models()}
    return tables, options, facts(divulge.assess(*tables[:2], holdout=tables[2], **options))


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("units", [False, True])
def test_an_assessment_repeats_itself(units):
    (real, synthetic, holdout), options, expected = base(units)
    assert facts(divulge.assess(real, synthetic, holdout=holdout, **options)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("units", [False, True])
def test_an_assessment_forgets_the_order_of_rows(units):
    tables, options, expected = base(units)
    for seed in range(tries(3, 1)):
        rng = np.random.default_rng(seed)
        real, synthetic, holdout = (t[rng.permutation(len(t))] for t in tables)
        found = facts(divulge.assess(real, synthetic, holdout=holdout, **options))
        # the fingerprint tells which file it was, rows in their order
        one, other = ({**f, "tables": 0, "results": rows_aside(f["results"])} for f in (found, expected))
        assert one == other


@pytest.mark.slow
def test_an_assessment_forgets_the_number_of_jobs():
    (real, synthetic, holdout), options, _ = base(False)
    one, two = (
        facts(divulge.assess(real, synthetic, holdout=holdout, jobs=j, search="full", **options), settings_too=False)
        for j in (1, 2)
    )
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("units", [False, True])
def test_an_assessment_forgets_the_order_of_columns(units):
    (real, synthetic, holdout), options, expected = base(units)
    turned = real.select(reversed(real.columns)), synthetic.select(sorted(synthetic.columns))
    found = facts(divulge.assess(*turned, holdout=holdout, **options))
    for scope in (found["fidelity_scope"], expected["fidelity_scope"]):  # it follows the columns of the real table
        scope["not_compared"].sort(key=str)
    for name in ("verdict", "preconditions", "failed", "notes", "records", "fidelity", "fidelity_scope"):
        assert found[name] == expected[name], name
    for name in ("results", "key_sets", "schema"):  # they follow the columns of the real table
        assert sorted(found[name], key=str) == sorted(expected[name], key=str), name


@pytest.mark.slow
def test_an_assessment_forgets_the_kind_of_frame():
    (real, synthetic, holdout), options, expected = base(False)
    found = facts(divulge.assess(real.to_pandas(), synthetic.to_arrow(), holdout=holdout, **options))
    assert found == expected
    lazy = facts(divulge.assess(real, synthetic.lazy(), holdout=holdout, **options))
    told = lazy.pop("notes")
    assert told[0] == "the tables were read into memory: joint tests need the scores of each person together"
    assert told[1:] == expected["notes"]
    assert lazy == {k: v for k, v in expected.items() if k != "notes"}


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("units", [False, True])
def test_a_column_of_row_numbers_is_no_key(units):
    tables, options, expected = base(units)
    numbered = []
    for i, t in enumerate(tables):
        # dtype as a table of people has it, shuffled, shared by no two tables
        rng = np.random.default_rng(i)
        numbered.append(t.with_columns(person_id=rng.permutation(10_000)[: len(t)] + 10_000 * i))
    real, synthetic, holdout = numbered
    found = facts(divulge.assess(real, synthetic, holdout=holdout, **options))
    assert [c["kind"] for c in found["schema"] if c["name"] == "person_id"] == ["identifier"]
    assert found["key_sets"] == expected["key_sets"]
    own = [r for r in found["results"] if "person_id" in r["keys"]]
    assert {r["attack"] for r in own} == {"copies"}
    # of fewer than eight digits there are no first and last eight, and no several words
    spelled = {"one column", *SPELLINGS} - {f"one column, {end} characters" for end in ("first", "last")}
    spelled -= {"one column, longest word", "one column, a word more or less"}
    assert {r["variant"] for r in own} - {*TAILS.values(), TWO_TAILS} == spelled
    assert [r["real"]["hits"] for r in own if r["variant"] == "one column"] == [0]  # some are near by chance
    rest = [r for r in found["results"] if r not in own]
    for one, other in zip(rest, expected["results"], strict=True):
        if by_row(one["attack"]):  # what compares whole rows says that the column was left out
            said = one.pop("notes")
            assert one["variant"] not in ("exact", "attraction") or any("person_id" in n for n in said)
            other = {k: v for k, v in other.items() if k != "notes"}
        assert one == other


@pytest.mark.slow
def test_a_real_identifier_that_is_released_is_a_finding_of_its_own():
    tables, _, _ = base(False)
    real, synthetic, holdout = (
        t.with_columns(person_id=np.random.default_rng(i).permutation(10_000)[: len(t)] + 10_000 * i)
        for i, t in enumerate(tables)
    )
    leaked = synthetic.with_columns(person_id=pl.concat([real["person_id"], real["person_id"]])[: len(synthetic)])
    report = divulge.assess(real, leaked, holdout=holdout, models=models())
    (own,) = [r for r in report.results if (r.variant, r.keys) == ("one column", ("person_id",))]
    assert (own.real.rate, own.risk.value, own.verdict) == (1, 1, "excess found")
    assert report.verdict == "excess found"


IN_A_PROCESS = """
import sys, json
sys.path.insert(0, {here!r})
import amount
amount.everything = {everything}
import test_laws, divulge
(real, synthetic, holdout), options = test_laws.draw(11, (90, 100, 80), 0.3, with_units=True)
print(json.dumps(test_laws.facts(divulge.assess(real, synthetic, holdout=holdout, models=amount.models(), **options)), sort_keys=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_assessment_forgets_the_number_of_threads(threads):
    names = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    ran = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS.format(here=os.path.dirname(__file__), everything=amount.everything)],
        env=os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": threads},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(ran.stdout) == base(True)[2]


# ---------------------------------------------------------------- a value and its limits


def outside(part):
    """Values of a structure, and numbers beside them, that lie outside their own limits."""
    between = [(part.value, part.low, part.high)]
    between += [(part.value, part.low_simultaneous, part.high_simultaneous)]
    return [x for x in between if None not in x and not x[1] - 1e-12 <= x[0] <= x[2] + 1e-12]


def outside_of(result):
    """Where a value of a result lies outside its own limits."""
    parts = [result.difference, result.risk, *(group.risk for group in result.groups)]
    found = [x for part in parts if part is not None for x in outside(part)]
    for name in (n for n in result.context if f"{n}, lower limit" in result.context):
        value, low, high = (result.context[name + limit] for limit in ("", ", lower limit", ", upper limit"))
        if None not in (value, low, high) and not low - 1e-12 <= value <= high + 1e-12:
            found.append((name, value, low, high))
    return found


@pytest.mark.first(2)
@pytest.mark.parametrize("released", ["real", "holdout"])
@pytest.mark.parametrize("strangers", [25, 3, 95, 295, 299])
def test_a_value_lies_within_its_limits_also_for_full_copies(strangers, released):
    (real, _, holdout), _ = draw(1, (150, 1, strangers), 0)
    found = results_of((real, real if released == "real" else holdout, holdout), counted)
    assert {label: wrong for label, r in found.items() if not isinstance(r, str) and (wrong := outside_of(r))} == {}
