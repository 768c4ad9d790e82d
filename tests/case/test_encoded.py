"""Tables encoded once: equal to the plain computation, made once, and shared where the rows are the same."""

from collections import Counter
from importlib import import_module

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case import encoded as module
from divulge.case import invariant_order
from divulge.case.case import build_case
from divulge.case.cells import stacked_codes
from divulge.case.distances import Distances, distances_of
from divulge.case.encoded import EncodedTables
from divulge.case.features import features_of
from divulge.case.invariant_order import Canonical, canonical_of
from divulge.case.spill import Spill
from divulge.core.errors import SettingError
from divulge.core.hashing import code_hashes
from divulge.core.schema import Column, Schema
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index
from divulge.tables.fingerprints import fingerprint

ROLES = ("real", "synthetic", "holdout")
SCHEMA = Schema(
    (
        Column("x", "numeric"),
        Column("n", "numeric"),
        Column("flat", "numeric"),
        Column("town", "categorical"),
        Column("big", "numeric"),
    )
)


def table(rng, n):
    x = [None if u < 0.1 else round(v, 2) for u, v in zip(rng.random(n), rng.normal(size=n), strict=True)]
    return pl.DataFrame(
        {
            "town": rng.choice(["Ayr", "Bath", None], n),
            "x": x,
            "n": rng.choice(["1", "2", "7", "11", "other"], n),  # text with numbers and a value that is none
            "flat": [5.0 if u < 0.8 else None for u in rng.random(n)],
            "big": np.where(rng.random(n) < 0.3, 8e307, -1.5e308),
        },
        schema_overrides={"x": pl.Float64, "flat": pl.Float64},
    )


def tables(seed=0, sizes=(60, 40, 50)):
    rng = np.random.default_rng(seed)
    return [table(rng, n) for n in sizes]


def case_of(given=None):
    return build_case(*(given or tables()), schema=SCHEMA)


def plain_field(case, column, weight=1.0):
    """A column row by row, as the distance sees it."""
    pooled, codes = case.pooled(column), case.codes(column, binned=False)
    if case.schema[column].kind != "numeric":
        return Field(column, None, codes, weight)
    levels = np.append(np.nan, pooled.numbers())
    marks = np.where(np.isnan(levels), np.cumsum(np.isnan(levels)), 0).astype(np.int32)
    return Field(column, tuple(levels[c] for c in codes), tuple(marks[c] for c in codes), weight)


# ---------------------------------------------------------------- equal to the plain computation


@pytest.mark.parametrize("weights", [{}, {"x": 2.5, "town": 0.5, "flat": 0.0}])
@pytest.mark.parametrize(
    "columns", [["x"], ["town", "x", "n", "flat", "big"], ["flat", "town"], ["flat"], ["n", "big"]]
)
@pytest.mark.parametrize("ranges_of", [None, (1,)])
def test_rulers_and_rows_are_those_of_all_rows_together(columns, weights, ranges_of):
    case = case_of()
    if columns == ["flat"] and weights:
        with pytest.raises(SettingError, match="no column to compare"):
            case.encoded.measured_columns(columns, weights)
        return
    ruler, rows = fit_ruler([plain_field(case, c, weights.get(c, 1.0)) for c in columns], ranges_of or (0, 2))
    laid = case.encoded.measured_columns(columns, weights, ranges_of)
    for name in ("low", "span", "number_weight", "code_weight", "total"):
        assert np.array_equal(getattr(laid.ruler, name), getattr(ruler, name))
    for role, expected in zip(ROLES, rows, strict=True):
        found = laid.rows(role)
        assert np.array_equal(found.numbers, expected.numbers, equal_nan=True)
        assert found.codes.shape == expected.codes.shape
        assert np.array_equal(pairwise(laid.ruler, found, laid.rows("synthetic")), pairwise(ruler, expected, rows[1]))
        assert laid.n_rows(role) == len(expected)
    assert np.array_equal(
        laid.rows("people").numbers, np.concatenate([rows[0].numbers, rows[2].numbers]), equal_nan=True
    )


def test_binned_codes_are_compared_as_categories():
    rng = np.random.default_rng(1)
    case = build_case(
        *(pl.DataFrame({"x": rng.normal(size=n), "c": rng.choice(list("ab"), n)}) for n in (300, 200, 100))
    )
    assert case.binning("x").bins
    ruler, rows = fit_ruler([Field(c, None, case.codes(c)) for c in ("x", "c")], [0])
    laid = case.encoded.measured_columns(["x", "c"], binned=True)
    assert laid.ruler.total == ruler.total
    assert all((laid.rows(role).codes == r.codes).all() for role, r in zip(ROLES, rows, strict=True))


def test_numbers_marks_and_what_occurs_are_told_by_level():
    case = build_case(*tables(), schema=SCHEMA)
    levels = case.pooled("n").levels.to_list()
    number = dict(zip([None, *levels], case.encoded.numbers("n"), strict=True))
    mark = dict(zip([None, *levels], case.encoded.marks("n"), strict=True))
    assert (number["7"], mark["7"]) == (7.0, 0)
    assert np.isnan(number["other"])
    assert (mark[None], mark["other"]) == (1, 2)
    assert case.encoded.occurs("n").tolist() == [False] + [True] * len(levels)
    assert case.encoded.marks("town").tolist() == [0, 1, 2]


def test_rows_share_a_hash_where_they_share_all_codes():
    case = case_of()
    for columns in (["town"], ["town", "n"], ["x", "flat", "town"]):
        for i in range(3):
            plain = code_hashes([case.codes(c, binned=False)[i] for c in columns])
            found = case.encoded.row_hashes(columns, i)
            assert np.array_equal(
                *(np.unique(h, return_index=True, return_inverse=True)[1].sort() for h in (plain, found))
            )
            assert np.array_equal(plain[:, None] == plain, found[:, None] == found)
            assert np.array_equal(found, case.encoded.row_hashes(columns[::-1], i))


def test_fingerprints_are_those_of_the_columns():
    case = case_of()
    columns = [case.pooled(c) for c in case.columns]
    assert [case.encoded.fingerprint(i) for i in range(3)] == [fingerprint(columns, i) for i in range(3)]


def test_values_become_the_rows_of_the_table_that_has_them():
    """The real table's own numbers and categories, given as new values: infinities, marks and a column without range."""
    case = case_of()
    d, order = Distances(case, case.columns), Canonical(case, case.columns)
    values = [(order.numbers(j, 0), order.codes(j, 0)) for j in range(len(case.columns))]
    found, real = d.rows_of_values(values), d.rows("real")
    assert np.array_equal(found.numbers, real.numbers, equal_nan=True)
    assert (found.codes == real.codes).all()
    flat = d.columns.index("flat")
    values[flat] = np.full(60, 5.5), np.zeros(60, np.int32)
    assert (pairwise(d.ruler, d.rows_of_values(values), real)[np.arange(60), np.arange(60)] == 1 / 5).all()


def test_a_search_takes_rows_without_their_repeats_as_it_takes_rows():
    case = case_of()
    d = Distances(case, ["town", "n", "flat"])
    plain = Index(d.ruler, d.rows("real"))
    for k in (1, 3):
        one, other = plain.nearest(d.rows("synthetic"), k), d.index("real").nearest(d.distinct("synthetic"), k)
        for name in ("distances", "rows", "n_ties"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
    own = np.arange(60)
    one, other = (i.nearest(r("real"), 2, own=own) for i, r in ((plain, d.rows), (d.index("real"), d.distinct)))
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(plain.attraction(d.rows("synthetic")), d.index("real").attraction(d.distinct("synthetic")))


def test_distinct_rows_of_distinct_rows_are_the_same():
    d = Distances(case_of(), ["town", "x"])
    once = Distinct.of(d.rows("real"))
    assert Distinct.of(once) is once
    assert len(once) == 60
    assert np.array_equal(Distinct.of(once, always=True).times, Distinct.of(d.rows("real"), always=True).times)


# ---------------------------------------------------------------- other synthetic rows


@pytest.fixture
def altered():
    """A case and one in which a tenth of the synthetic rows are copies of real ones."""
    case = case_of()
    codes = {c: case.codes(c, binned=False)[1].copy() for c in case.columns}
    for c in case.columns:
        codes[c][:4] = case.codes(c, binned=False)[0][:4]
    return case, case.with_synthetic(codes)


def test_other_synthetic_rows_are_encoded_as_if_alone(altered):
    case, other = altered
    distances_of(case).nearest("synthetic", "people")
    alone = EncodedTables(case.tables, case.columns, case.schema, pooled={c: other.pooled(c) for c in case.columns})
    shared, own = (
        other.encoded.measured_columns(case.columns, keep=True),
        alone.measured_columns(case.columns, keep=True),
    )
    for role in (*ROLES, "people"):
        assert np.array_equal(shared.rows(role).numbers, own.rows(role).numbers, equal_nan=True)
        assert np.array_equal(shared.rows(role).codes, own.rows(role).codes)
    assert other.encoded.fingerprint(1) == alone.fingerprint(1) != case.encoded.fingerprint(1)
    assert (distances_of(other).nearest("synthetic", "real").distances[:4] == 0).all()


def test_what_follows_from_people_alone_is_shared(altered):
    case, other = altered
    one, two = distances_of(case), distances_of(other)
    assert one.rows("people") is two.rows("people")
    assert one.index("real") is two.index("real")
    assert one.nearest("real", "real") is two.nearest("real", "real")
    assert case.codes("x")[0] is other.codes("x")[0]
    assert canonical_of(case, ["x"], [0]).hashed is canonical_of(other, ["x"], [0]).hashed
    assert one.rows("synthetic") is not two.rows("synthetic")
    assert one.nearest("real", "synthetic") is not two.nearest("real", "synthetic")
    assert canonical_of(case, ["x"]).hashed is not canonical_of(other, ["x"]).hashed


def test_marks_that_the_other_rows_no_longer_have_are_left_out():
    """Missing in the synthetic table alone: with other rows there, no mark is needed, and people are laid anew."""
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (pl.DataFrame({"x": rng.normal(size=50)}) for _ in range(3))
    case = build_case(real, synthetic.with_columns(x=pl.Series([None, *synthetic["x"][1:]])), holdout)
    codes = case.codes("x", binned=False)[1].copy()
    codes[0] = codes[1]
    other = case.with_synthetic({"x": codes})
    widths = [distances_of(c).rows(role).codes.shape[1] for c in (case, other) for role in ("people", "synthetic")]
    assert widths == [1, 1, 0, 0]


def test_rulers_that_nobody_keeps_go_oldest_first(monkeypatch):
    monkeypatch.setattr(module, "_PASSING_BYTES", 2.5 * case_of().encoded.measured_columns(["x"]).nbytes)
    case = case_of()
    kept = case.encoded.measured_columns(["x", "n"], keep=True)
    one, two = case.encoded.measured_columns(["x"]), case.encoded.measured_columns(["flat"])
    assert case.encoded.measured_columns(["x"]) is one
    case.encoded.measured_columns(["big"])
    assert case.encoded.measured_columns(["x"]) is one
    assert case.encoded.measured_columns(["flat"]) is not two
    assert case.encoded.measured_columns(["n", "x"]) is case.encoded.measured_columns(["n", "x"], keep=True) is kept
    monkeypatch.setattr(module, "_PASSING_BYTES", 0)
    case = case_of()
    assert case.encoded.measured_columns(["big"]) is not case.encoded.measured_columns(["big"])


# ---------------------------------------------------------------- once


def content(rows):
    return rows.numbers.tobytes(), rows.codes.tobytes()


@pytest.fixture
def made(monkeypatch):
    """Count what is made, by what it is made of."""
    made = Counter()

    def count(where, name, key):
        plain = getattr(where, name)

        def counted(*args, **kwargs):
            made[name, key(*args, **kwargs)] += 1
            return plain(*args, **kwargs)

        monkeypatch.setattr(where, name, counted)

    count(module, "ruler_of", lambda columns: tuple((c.name, c.weight, c.span) for c in columns))
    count(module, "measure", lambda field, ranges: (field.name, field.numbers is None, field.codes[0].size))
    count(module, "fingerprint", lambda columns, which: which)
    count(module, "pool", lambda tables, column, missing, said: column)
    count(module, "combine", lambda columns, sizes: len(sizes))
    count(
        invariant_order.Canonical,
        "_hashed",
        lambda self, blind: (self.columns, self._tables, blind, id(self._encoded)),
    )
    count(
        Index,
        "__init__",
        lambda self, ruler, reference, **more: (
            ruler.span.tobytes(), ruler.code_weight.tobytes(), content(getattr(reference, "whole", reference))
        ),
    )  # fmt: skip
    return made


@pytest.mark.slow
def test_a_run_makes_no_ruler_index_order_or_hash_twice(made, monkeypatch, tmp_path):
    """With a folder of finished tests, which needs the hashes of the tables before the report does."""
    columns = import_module("divulge.tables.pooled_columns").PooledColumn
    asked, plain = Counter(), columns.numbers
    monkeypatch.setattr(columns, "numbers", lambda self: asked.update([self.name]) or plain(self))
    rng = np.random.default_rng(3)

    def people(n):
        return pl.DataFrame(
            {"x": rng.normal(size=n), "y": rng.normal(size=n), "z": rng.normal(size=n), "c": rng.choice(list("abc"), n)}
        )

    divulge.assess(people(120), people(100), holdout=people(110), models=False, seed=1, keep=tmp_path / "kept")
    assert {name for name, _ in made} == {
        "ruler_of",
        "measure",
        "fingerprint",
        "pool",
        "combine",
        "_hashed",
        "__init__",
    }
    assert {key: n for key, n in made.items() if n > 1} == {}
    assert set(asked.values()) == {1}


def test_texts_for_missing_are_taken_out_once(tmp_path, monkeypatch):
    frames = import_module("divulge.tables.pooled_columns")
    path = tmp_path / "people.csv"
    path.write_text("age,town\n30,Ayr\n-8,?\n41,Bath\n")
    read = divulge.read(path, missing=["-8", "?"])
    looked, plain = [], frames.without_codes
    monkeypatch.setattr(frames, "without_codes", lambda series, codes: looked.append(codes) or plain(series, codes))
    case = build_case(read, read, missing=["-8", "?", "none"])
    assert set(looked) == {("none",)}
    assert [case.pooled(c).counts[0][0] for c in ("age", "town")] == [1, 1]


def test_the_nearest_synthetic_rows_of_all_people_are_those_of_each_side():
    rng = np.random.default_rng(3)
    people, other = (
        pl.DataFrame({"x": rng.integers(0, 60, 90) / 4, "c": rng.choice(list("abc"), 90)}) for _ in range(2)
    )
    case = build_case(people[:60], other, people[60:])
    d = distances_of(case)
    for k in (1, 3):
        found, searched = d.nearest("people", "synthetic", k), d.index("synthetic").nearest(d.rows("people"), k)
        for name in ("distances", "rows", "n_ties"):
            np.testing.assert_array_equal(getattr(found, name), getattr(searched, name))


def test_what_is_made_of_all_rows_part_by_part_is_what_is_made_at_once(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    real, synthetic = (
        pl.DataFrame({"x": rng.normal(size=n).round(1), "c": rng.choice(list("abc"), n), "n": rng.integers(0, 90, n)})
        for n in (60, 47)
    )
    whole = build_case(real, synthetic)
    expected = features_of(whole, ["x", "c", "n"]), stacked_codes(whole.encoded, 1, ["x", "c", "n"])
    monkeypatch.setattr("divulge.case.features._PART", 10)
    monkeypatch.setattr("divulge.case.cells._PART", 10)
    case = build_case(real, synthetic)
    case.encoded.spill = Spill(tmp_path)
    features, codes = features_of(case, ["x", "c", "n"]), stacked_codes(case.encoded, 1, ["x", "c", "n"])
    assert np.array_equal(features.synthetic, expected[0].synthetic) and np.array_equal(codes, expected[1])
    assert np.array_equal(features.people, expected[0].people) and codes.dtype == np.uint8
    # numbers lie in files by the narrowest type: each part of an order reads whole columns
    assert {c.dtype.itemsize for c in features.synthetic.columns} == {1}
    for made in (lambda f: f.indicators(f.synthetic), lambda f: f.apart(f.synthetic[:])):
        for one, other in zip(made(features), made(expected[0]), strict=True):
            np.testing.assert_array_equal(one, other)
    assert np.array_equal(codes[1], case.codes("c")[1]) and len(np.unique(codes[2])) < 47
    assert list(tmp_path.iterdir()) == []


def test_bins_are_those_of_people_whatever_the_synthetic_rows():
    real, synthetic, holdout = tables()
    far = synthetic.with_columns(pl.col("x") * 100 + 7)
    one, other = (case_of((real, s, holdout)) for s in (synthetic, far))
    assert one.n_codes("x") > 5
    for which in (0, 2):
        assert np.array_equal(one.codes("x")[which], other.codes("x")[which])


def test_keys_in_another_order_are_one_table_of_counts():
    case = case_of()
    assert case.contingency(["town", "n"], ["x", "flat"]) is case.contingency(["n", "town"], ["flat", "x"])


def test_each_step_of_a_run_draws_its_own_numbers():
    case = case_of()
    drawn = [case.rng(step).random() for step in ("copies", "copies", "membership")]
    assert drawn[0] == drawn[1] != drawn[2]
