"""Columns without a partner, and columns of labels that are written otherwise, are never counted as clean."""

import numpy as np
import polars as pl
import pytest
from amount import some

import divulge
from divulge.case.case import build_case
from divulge.case.preconditions import check_all, unlike_values
from divulge.report.prose.bounds import ALONE, NO_VALUE, UNLIKE

N = 400
FIRST = ["Ann", "Bo", "Cy", "Di", "Ed", "Fay", "Gus", "Hal", "Ida", "Jo", "Kim", "Lou", "Max", "Nan", "Ola", "Pia"]


def people(rng, n=N):
    return pl.DataFrame({f"x{j}": rng.normal(size=n) for j in range(3)} | {"c": rng.choice(list("abcd"), n)})


def names(rng, n):
    """Return names that nobody shares."""
    last = rng.permutation(26**4)[:n]
    return [
        f"{rng.choice(FIRST)} {''.join(chr(97 + k // 26**i % 26) for i in range(4)).capitalize()}"
        for k in last.tolist()
    ]


def three(seed=0):
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (people(rng) for _ in range(3))
    all_ = names(rng, 3 * N)
    return (
        real.with_columns(name=pl.Series(all_[:N])),
        synthetic,
        holdout.with_columns(name=pl.Series(all_[N : 2 * N])),
        all_[2 * N :],
    )


def run(real, synthetic, holdout, **settings):
    return divulge.assess(
        real, synthetic, holdout=holdout, models=False, fidelity=False, membership=False, search="off",
        **settings,
    )  # fmt: skip


def of_variant(results, variant):
    return {r.keys: r for r in results if r.variant == variant}


def test_names_that_case_or_punctuation_tell_apart_are_one_column_and_told():
    real = pl.DataFrame({"Last_Name": ["a", "b", "c"], "zip": [1, 2, 3], "Job": [1, 2, 3], "JOB": [1, 2, 3]})
    other = pl.DataFrame({"last name": ["a", "b", "c"], "ZIP": [1, 2, 3], "job": [1, 2, 3]})
    case = build_case(real, other)
    assert case.columns == ("Last_Name", "zip")
    assert any("'last name' is taken for 'Last_Name' of real: case or punctuation alone" in n for n in case.notes)
    assert case.without_members == ("job",)
    (same,) = [c for c in check_all(case) if c.check == "same columns"]
    assert "'job' in synthetic" in same.detail and "differ by case or punctuation alone" in same.detail


@pytest.mark.usefixtures("copies_alone")
def test_a_renamed_column_of_names_is_found():
    real, synthetic, holdout, _ = three()
    leaky = synthetic.with_columns(person=real["name"].str.to_uppercase().shuffle(1))
    found = of_variant(divulge.copies(real, leaky, holdout=holdout), "another column")[("name",)]
    assert (found.real.hits, found.holdout.hits, found.verdict) == (N, 0, "excess found")
    assert run(real, leaky, holdout).verdict == "excess found"


def test_a_name_split_over_two_columns_is_found_and_so_is_one_that_was_joined():
    real, synthetic, holdout, _ = three(1)
    parts = real["name"].str.split(" ")
    split = synthetic.with_columns(first=parts.list.get(0), last=parts.list.get(1))
    found = of_variant(divulge.copies(real, split, holdout=holdout), "another column")
    assert found[("name",)].real.hits == N and found[("name",)].holdout.hits < N / 10
    apart = [
        t.with_columns(first=t["name"].str.split(" ").list.get(0), last=t["name"].str.split(" ").list.get(1)).drop(
            "name"
        )
        for t in (real, holdout)
    ]
    joined = synthetic.with_columns(who=pl.Series([", ".join(reversed(n.split(" "))) for n in real["name"]]))
    found = of_variant(divulge.copies(apart[0], joined, holdout=apart[1]), "another column")
    assert found[("first", "last")].real.hits == N


@pytest.mark.usefixtures("copies_alone")
def test_a_synthetic_column_without_partner_is_named_and_holds_none_found_back():
    real, synthetic, holdout, fresh = three(2)
    real, holdout = real.drop("name"), holdout.drop("name")
    report = run(real, synthetic.with_columns(remark=pl.Series(fresh)), holdout)
    told = report.to_dict()["verdict"]
    assert {"column": "remark", "why": ALONE} in told["not_compared"]
    assert "the real table lacks 'remark', which the synthetic table has" in told["sentence"]
    assert not of_variant(report.results, "another column")
    numbered = run(real, synthetic.with_row_index("row"), holdout).to_dict()["verdict"]
    assert {"column": "row", "why": "row numbers"} in numbered["not_compared"]
    assert "the real table lacks" not in numbered["sentence"]


def test_fresh_values_in_a_column_without_partner_are_no_finding():
    real, synthetic, holdout, fresh = three(3)
    found = of_variant(
        divulge.copies(real, synthetic.with_columns(person=pl.Series(fresh)), holdout=holdout), "another column"
    )
    assert not found  # nobody's value stands there


def test_a_column_whose_values_are_those_of_another_is_named():
    real, synthetic, holdout, _ = three(4)
    case = build_case(real, synthetic.rename({"c": "class"}), holdout)
    (same,) = [c for c in check_all(case) if c.check == "same columns"]
    assert "'class' in synthetic has values of 'c' in real: rename it" in same.detail


@pytest.fixture(scope="module")
def relabelled():
    rng = np.random.default_rng(5)
    real, holdout = (
        pl.DataFrame({f"k{j}": rng.choice(list("abcdef"), N) for j in range(6)} | {"u": rng.choice(list("xy"), N)})
        for _ in range(2)
    )
    return real, real.with_columns(pl.col("^k.*$") + "!").sample(N, shuffle=True, seed=5), holdout


def test_labels_that_no_real_record_has_bound_nothing(relabelled):
    report = run(*relabelled, keys=["k0", "k1"], targets=["u", "k2"])
    told = report.to_dict()["verdict"]
    assert told["verdict"] == "cannot tell"
    assert [n["column"] for n in told["not_compared"] if n["why"] == NO_VALUE] == [f"k{j}" for j in range(6)]
    assert "no value of 'k0', 'k1', 'k2', 'k3', 'k4' and 1 more stands in both" in told["sentence"]
    bounds = [b for b in told["bounds"] if b["attack"] == "copies" or {*b["keys"], b["target"]} & {"k0", "k2"}]
    assert bounds and not any(b["bounded"] for b in bounds)


@pytest.mark.parametrize("attack", ["copies", "dcr", "cap"])
def test_a_single_call_says_that_labels_have_no_value_in_common(relabelled, attack):
    real, synthetic, holdout = relabelled
    named = {"keys": ["k0"], "target": "u"} if attack == "cap" else {}
    found = getattr(divulge, attack)(real, synthetic, holdout=holdout, **named)
    every = (found,) if isinstance(found, divulge.Result) else found
    assert any(n.startswith("precondition not met: same values: 'k0'") for n in every[0].notes)
    assert all(r.verdict not in ("none found", "excess found") and r.score is None for r in every)


@pytest.mark.slow  # three runs
def test_new_labels_of_a_tenth_of_the_people_hold_none_found_back_or_where_the_column_is_named():
    rng = np.random.default_rng(6)
    real, holdout = (people(rng) for _ in range(2))
    new = pl.Series(np.where(np.arange(N) < 0.6 * N, "z", rng.choice(list("abcd"), N)))
    synthetic = people(rng).with_columns(c=new)
    case = build_case(real, synthetic, holdout)
    assert unlike_values(case) == {"c": 0.0}
    whys = {n["why"] for n in run(real, synthetic, holdout).to_dict()["verdict"]["not_compared"]}
    assert UNLIKE not in whys
    whys = {n["why"] for n in run(real, synthetic, holdout, targets=["c"]).to_dict()["verdict"]["not_compared"]}
    assert UNLIKE in whys
    fewer = synthetic.with_columns(c=new.replace({"d": "z"}))
    assert UNLIKE in {n["why"] for n in run(real, fewer, holdout).to_dict()["verdict"]["not_compared"]}


@pytest.mark.parametrize("change", some([pl.col("x0") * 1000 + 10_000, pl.lit(None, dtype=pl.Float64)], 1))
@pytest.mark.usefixtures("copies_alone")
def test_numbers_in_another_unit_of_measure_or_left_empty_have_nothing_in_common(change):
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (people(rng) for _ in range(3))
    told = run(real, synthetic.with_columns(x0=change), holdout).to_dict()["verdict"]
    assert {"column": "x0", "why": NO_VALUE} in told["not_compared"] and told["verdict"] == "cannot tell"
    wider = synthetic.with_columns(x0=pl.col("x0") * 1.5)
    assert unlike_values(build_case(real, wider, holdout)) == {}
    mixed = [
        t.with_columns(x0=pl.when(pl.col("x0") > 2).then(pl.lit("N")).otherwise(pl.col("x0").round(2).cast(str)))
        for t in (real, synthetic, holdout)
    ]
    assert unlike_values(build_case(*mixed)) == {}


PREPARED = {
    "thousands": lambda x: x / 1000,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rank": lambda x: np.argsort(np.argsort(x)) / len(x),
}


@pytest.mark.parametrize("prepared", PREPARED.values(), ids=list(PREPARED))
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_numbers_that_were_prepared_otherwise_are_not_compared_within_the_range_of_people(prepared, zeros):
    def amounts(rng):
        return np.where(rng.random(N) < zeros, 0, rng.lognormal(7, 1.2, N).round(2))

    rng = np.random.default_rng(12)
    real, synthetic, holdout = (people(rng).with_columns(x0=amounts(rng)) for _ in range(3))
    assert unlike_values(build_case(real, synthetic, holdout)) == {}
    released = synthetic.with_columns(x0=prepared(synthetic["x0"].to_numpy()))
    assert unlike_values(build_case(real, released, holdout))["x0"] > 0.9


@pytest.mark.usefixtures("copies_alone")
def test_numbers_around_zero_in_a_smaller_unit_are_not_compared():
    rng = np.random.default_rng(13)
    real, synthetic, holdout = (people(rng).with_columns(x0=rng.normal(0, 50, N).round()) for _ in range(3))
    told = run(real, synthetic.with_columns(pl.col("x0") * 100), holdout).to_dict()["verdict"]
    assert {"column": "x0", "why": UNLIKE} in told["not_compared"] and told["verdict"] == "cannot tell"


@pytest.mark.parametrize(
    "generator",
    [
        lambda x, rng: x.mean() + 0.3 * (x - x.mean()),
        lambda x, rng: np.full(N, np.median(x)),
        lambda x, rng: rng.normal(x.mean(), x.std(), N),
        lambda x, rng: x[rng.integers(0, 5, N)],
    ],
)
def test_a_poor_generator_is_compared(generator):
    rng = np.random.default_rng(14)
    real, holdout = (people(rng).with_columns(x0=rng.lognormal(7, 1.2, N).round(2)) for _ in range(2))
    poor = people(rng).with_columns(x0=generator(real["x0"].to_numpy(), rng))
    assert unlike_values(build_case(real, poor, holdout)) == {}


def test_new_numbers_of_units_are_as_they_should_be():
    rng = np.random.default_rng(7)
    tables = [
        people(rng, 200).with_columns(home=pl.Series([f"h{k}{i // 2 % 90}" for i in range(200)])) for k in range(3)
    ]
    checks = {c.check for c in check_all(build_case(*tables, unit="home"))}
    assert "same values" not in checks


def test_a_constant_that_is_written_otherwise_shows_no_copy():
    rng = np.random.default_rng(9)
    real, holdout = (people(rng).with_columns(land=pl.lit("DE")) for _ in range(2))
    copied = real.with_columns(land=pl.lit("Germany")).sample(N, shuffle=True, seed=1)
    found = divulge.copies(real, copied, holdout=holdout, variants=["exact"])[0]
    assert found.verdict == "cannot tell" and found.score is None
    assert unlike_values(build_case(real, copied, holdout)) == {"land": 1.0}


@pytest.mark.parametrize("filler", ["", " ", "?"])
def test_missing_and_empty_texts_are_no_value_that_recurs(filler):
    rng = np.random.default_rng(10)
    real, synthetic, holdout, fresh = three(10)
    texts = [t["name"].str.split(" ") for t in (real, holdout)]
    apart = [
        t.drop("name").with_columns(
            first=pl.when(pl.Series(rng.random(N) < share)).then(pl.lit(filler or None)).otherwise(w.list.get(0)),
            last=pl.when(pl.Series(rng.random(N) < share)).then(pl.lit(filler or None)).otherwise(w.list.get(1)),
        )
        for t, w, share in zip((real, holdout), texts, (0.2, 0.01), strict=True)
    ]
    who = pl.Series([filler if i % 20 == 0 else n for i, n in enumerate(fresh)])
    leaky = synthetic.with_columns(who=who)
    found = of_variant(divulge.copies(apart[0], leaky, holdout=apart[1]), "another column")
    assert all(r.verdict != "excess found" for r in found.values())


@pytest.mark.usefixtures("copies_alone")
def test_an_index_of_several_synthetic_tables_counts_the_rows_of_each():
    real, synthetic, holdout, _ = three(11)
    numbered = [t.with_row_index("row").with_columns(pl.col("row").cast(pl.Float64)) for t in (synthetic, real[:50])]
    report = divulge.assess(
        real.drop("name"), [numbered[0], numbered[1].drop("name")], holdout=holdout.drop("name"), models=False,
        fidelity=False, membership=False, search="off",
    )  # fmt: skip
    assert {"column": "row", "why": "row numbers"} in report.to_dict()["verdict"]["not_compared"]


def test_columns_of_two_values_are_not_taken_for_each_other():
    rng = np.random.default_rng(12)
    real = people(rng).with_columns(pl.Series(f"a{j}", rng.integers(0, 2, N)) for j in range(5))
    other = people(rng).with_columns(pl.Series(f"b{j}", rng.integers(0, 2, N)) for j in range(5))
    (same,) = [c for c in check_all(build_case(real, other)) if c.check == "same columns"]
    assert "rename it" not in same.detail


def test_signs_tell_names_apart():
    real, other = pl.DataFrame({"bmi<25": [1, 0], "x": [1, 2]}), pl.DataFrame({"bmi>25": [1, 0], "x": [1, 2]})
    assert build_case(real, other).columns == ("x",)
