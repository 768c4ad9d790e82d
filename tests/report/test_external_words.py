"""What the words of an external edition give back: kinds, reasons, checks and notes that a single person would change."""

import json
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
from amount import some

import divulge
from divulge.case.case import build_case
from divulge.case.preconditions import unlike_values
from divulge.report.external.rounding import FEW
from divulge.report.external.sentences import read_why

N = 60


def read(real, synthetic):
    """The kind and the reason that an edition tells of the only column."""
    made = build_case(pl.DataFrame({"x": real}), pl.DataFrame({"x": synthetic}))
    column = made.schema["x"]
    return column.kind, read_why(column.why, column.kind)


def behind(columns, synthetic):
    """The numbers of people by what the edition tells of each."""
    out = defaultdict(list)
    for k, real in columns.items():
        out[read(real, synthetic)].append(k)
    return dict(out)


SYNTHETIC = {
    "one value": ["no"] * N, "another value": ["yes"] * N, "two values": ["no"] * 50 + ["yes"] * 10,
    "empty": pl.Series([None] * N, dtype=pl.String), "many": [f"v{i}" for i in range(N)],
}  # fmt: skip


@pytest.mark.parametrize("synthetic", SYNTHETIC.values(), ids=SYNTHETIC)
@pytest.mark.parametrize("other", ["yes", None], ids=["another value", "missing"])
def test_a_kind_has_ten_numbers_of_people_with_another_value_behind_it(synthetic, other):
    columns = {k: pl.Series([other] * k + ["no"] * (N - k), dtype=pl.String) for k in range(N + 1)}
    assert min(map(len, behind(columns, synthetic).values())) >= FEW


@pytest.mark.parametrize("synthetic", [[3] * N, [0, 1] * 30, list(range(N))], ids=["one", "codes", "many"])
def test_a_kind_has_ten_numbers_of_distinct_values_behind_it(synthetic):
    columns = {d: [min(i, d - 1) * 3 for i in range(N)] for d in range(1, N + 1)}
    found = behind(columns, synthetic)
    assert {kind for kind, _ in found} >= {"integer-coded", "numeric"}
    assert min(map(len, found.values())) >= FEW


NUMBERS = list(range(N))
FEW_ODD = {
    "a decimal": ([0, 1, 2] * 20, 1.5, [0, 1, 2] * 20), "a decimal as a text": (["0", "1", "2"] * 20, "1.5", ["0", "1"] * 30),
    "a text among codes": (["0", "1", "2"] * 20, "odd", ["0", "1", "2"] * 20),
    "a text that the synthetic column has": (["0", "1", "2"] * 20, "odd", ["0", "odd", "2"] * 20),
    "a text among decimals": (["0.5", "1.5", "2.5"] * 20, "odd", ["0.5", "1.5"] * 30),
    "texts among many numbers": ([str(n) for n in NUMBERS], "odd", [str(n) for n in NUMBERS]),
}  # fmt: skip


@pytest.mark.parametrize(("plain", "odd", "synthetic"), some(FEW_ODD.values(), 2, FEW_ODD))
def test_a_kind_has_ten_numbers_of_people_with_an_odd_value_behind_it(plain, odd, synthetic):
    columns = {k: pl.Series([odd] * k + plain[k:], strict=False) for k in range(N + 1)}
    assert min(map(len, behind(columns, synthetic).values())) >= FEW


def test_a_number_of_rows_has_ten_numbers_of_repeats_behind_it():
    numbers = [*range(1000, 1200)]
    columns = {k: numbers[k:] + [numbers[-1]] * k for k in range(100)}
    found = behind(columns, numbers)
    assert {kind for kind, _ in found} == {"identifier", "numeric"}
    assert min(map(len, found.values())) >= FEW


UNLIKE = {
    "labels": ("b", ["a"] * 200, ["b"] * 150 + ["c"] * 50), "numbers": (900.5, [i / 2 for i in range(200)], [900.5] * 200),
}  # fmt: skip


@pytest.mark.parametrize(("shared", "real", "synthetic"), UNLIKE.values(), ids=UNLIKE)
def test_mostly_new_values_have_ten_numbers_of_people_who_share_one_behind_them(shared, real, synthetic):
    found = defaultdict(list)
    for k in range(40):
        case = build_case(pl.DataFrame({"x": [shared] * k + real[k:]}), pl.DataFrame({"x": synthetic}))
        found[str(unlike_values(case))[:9]].append(k)
    assert len(found) == 2
    assert min(map(len, found.values())) >= FEW


KINDS = {
    "number": (lambda g: g.normal(size=N).round(2), None), "code": (lambda g: g.integers(0, 5, N), None),
    "label": (lambda g: g.choice(list("abc"), N), None), "mark": (lambda g: g.integers(100, 900, N).astype(str), "?"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_reason_does_not_tell_whether_a_value_is_missing(kind):
    make, gap = KINDS[kind]
    g = np.random.default_rng(4)
    full, synthetic = make(g).tolist(), make(g).tolist()
    told = {read(pl.Series([gap] * k + full[k:]), synthetic) for k in range(11)}
    assert len(told) == 1


def people(seed):
    g = np.random.default_rng(seed)
    n = 200
    return {
        "ill": ["no"] * n, "sex": g.choice(["f", "m"], n).tolist(), "area": g.integers(0, 6, n).astype(str).tolist(),
        "number": g.permutation(n).tolist(),
        "wage": g.integers(1000, 9000, n).astype(str).tolist(), "x": g.normal(size=n).tolist(),
        "day": [f"2020-{m:02d}-{d:02d}" for m, d in zip(g.integers(1, 13, n), g.integers(1, 28, n), strict=True)],
    }  # fmt: skip


ONE = {
    "has another value": {"ill": "yes"}, "has no value": {"ill": None}, "lacks a number": {"x": None},
    "has an infinite number": {"x": float("inf")}, "has a text for missing": {"wage": "?"}, "has no date": {"day": "unknown"},
    "has a text for a number": {"wage": "refused"}, "has a text for a code": {"area": "other"},
    "has a decimal": {"area": "2.5"}, "writes a number otherwise": {"wage": "1,234"}, "writes a date otherwise": {"day": "1/13/20"},
}  # fmt: skip


def words(edition):
    """Everything that an edition says but its decisions and numbers."""
    told = json.loads(edition.to_json())
    named = [(r["attack"], r["variant"], r["keys"], r["target"], r["notes"]) for r in told["results"]]
    parts = ("schema", "preconditions", "notes", "left_out", "not_run", "not_tested", "key_sets", "failed")
    return {p: told[p] for p in parts} | {"results": named, "not_compared": told["verdict"]["not_compared"]}


@pytest.fixture(scope="module")
def run():
    synthetic = people(7) | {"ill": ["yes"] * 11 + ["no"] * 189}
    holdout = people(6) | {"ill": ["yes"] * 4 + ["no"] * 196}

    def made(real):
        found = divulge.assess(
            pl.DataFrame(real), pl.DataFrame(synthetic), holdout=pl.DataFrame(holdout), models=False, search="off",
            membership=False, fidelity=False, keys=["sex", "area"], targets=["ill"], jobs=1,
        )  # fmt: skip
        return words(found.external())

    return made


@pytest.fixture(scope="module")
def nobody(run):
    return run(people(5))


@pytest.mark.parametrize("one", some(ONE.values(), 3, ONE))
def test_that_one_person_has_something_changes_no_word(run, nobody, one):
    real = people(5)
    for name, value in one.items():
        real[name][0] = value
    assert run(real) == nobody


def test_that_two_people_are_equal_changes_no_word(run, nobody):
    real = people(5)
    for values in real.values():
        values[1] = values[0]
    assert run(real) == nobody


def test_page_one_says_that_not_all_preconditions_are_told():
    real = people(5)
    real["x"][0] = float("inf")
    frames = [pl.DataFrame(p) for p in (real, people(7), people(6))]
    found = divulge.assess(
        *frames, keys=["sex"], targets=["area"], membership=False, fidelity=False, models=False, jobs=1
    )
    told = found.external().to_markdown(), found.external().to_html()
    assert all("told in this edition hold" in text and "infinite values fall" not in text for text in told)
    assert all("checked and told in this edition, " in text for text in told)
    assert "told in this edition" not in found.to_markdown()
