"""Rows that belong together by number or by place: the leaks that nothing else sees, and what is innocent."""

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.stats.pairing import lagged

ROWS = ["linked", "row order"]


def people(rng, n, **columns):
    z = rng.standard_normal(n)
    base = {"sex": rng.integers(0, 2, n).astype(str), "job": rng.integers(0, 5, n).astype(str), "pay": z.round(2), "rent": (z + rng.standard_normal(n)).round(2)}  # fmt: skip
    return pl.DataFrame(base | columns)


def of(results, variant, *keys):
    return next((r for r in results if (r.variant, r.keys) == (variant, keys)), None)


def findings(results):
    return {(r.variant, *r.keys) for r in results if r.verdict == "excess found"}


def with_secret(rng, real, synthetic, holdout):
    """A synthetic table whose job is that of the real row in the same place, and of nobody else's."""
    return real, synthetic.with_columns(job=real["job"]), holdout


# ---------------------------------------------------------------- the leaks


def test_row_numbers_that_tell_the_secret_are_found():
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (people(rng, 200, nr=np.arange(200) + k) for k in (1, 1, 900))
    real, synthetic, holdout = with_secret(rng, real, synthetic, holdout)
    mixed = synthetic[rng.permutation(200)]
    results = divulge.copies(real, mixed, holdout=holdout)
    assert findings(results) == {("linked", "nr")}
    own = of(results, "linked", "nr")
    assert own.real.n == 200
    assert own.holdout is None
    assert own.baseline.what == "rows a few places apart"
    assert own.risk.value == pytest.approx((own.real.rate - own.baseline.rate) / (1 - own.baseline.rate))
    assert own.real.rate - own.baseline.rate == pytest.approx(0.8, abs=0.06)  # in the secret's column, 1/5 by chance
    assert own.real.rate == 1
    assert "by chance (rows a few places apart)" in str(own)


def test_the_order_of_rows_is_found():
    rng = np.random.default_rng(1)
    real, synthetic, holdout = with_secret(rng, *(people(rng, 200) for _ in range(3)))
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert findings(results) == {("row order",)}
    mixed = synthetic[rng.permutation(200)]
    assert findings(divulge.copies(real, mixed, holdout=holdout)) == set()


def test_each_of_several_tables_is_laid_beside_the_real_one():
    """The third of three tables follows the order of the real one; a table of another length has no place in it."""
    rng = np.random.default_rng(1)
    real, holdout = people(rng, 200), people(rng, 200)
    others = [people(rng, 200), people(rng, 200), people(rng, 150)]
    _, third, _ = with_secret(rng, real, people(rng, 200), holdout)

    def placed(*tables):
        return of(divulge.copies(real, list(tables), holdout=holdout, variants=["exact", *ROWS]), "row order")

    found = placed(*others, third)
    assert found.verdict == "excess found"
    assert found.real.n == 200
    assert any("this is about one of 3 synthetic tables or orders" in note for note in found.notes)
    alone = of(divulge.copies(real, third, holdout=holdout, variants=["exact", *ROWS]), "row order")
    assert found.p_value == pytest.approx(3 * alone.p_value, rel=1e-9)
    assert found.risk.value == alone.risk.value
    assert found.risk.low < alone.risk.low
    assert placed(*others, third[rng.permutation(200)]).verdict != "excess found"


def test_numbers_that_stand_in_each_of_several_tables_link_rows():
    rng = np.random.default_rng(0)
    real, first, holdout = (people(rng, 200, nr=np.arange(200) + k) for k in (1, 1, 900))
    _, second, _ = with_secret(rng, real, people(rng, 200, nr=np.arange(200) + 1), holdout)
    mixed = [t[rng.permutation(200)] for t in (second, first)]
    found = of(divulge.copies(real, mixed, holdout=holdout, variants=["exact", *ROWS]), "linked", "nr")
    assert found.verdict == "excess found"
    assert found.real.n == 200


def test_the_order_of_copied_rows_is_found_where_lengths_differ():
    rng = np.random.default_rng(2)
    real, holdout, fresh = people(rng, 200), people(rng, 200), people(rng, 300)
    who = np.sort(rng.choice(200, 60, replace=False))
    place = np.sort(rng.choice(360, 60, replace=False))
    rows = np.full(360, -1)
    rows[place] = who
    rest = np.flatnonzero(rows < 0)
    rows[rest] = 200 + np.arange(300)
    kept = pl.concat([real, fresh])[rows]
    placed = of(divulge.copies(real, kept, holdout=holdout, variants=["exact", *ROWS]), "row order")
    assert (placed.real.rate, placed.real.n, placed.baseline.rate, placed.verdict) == (1, 59, 0.5, "excess found")
    mixed = of(
        divulge.copies(real, kept[rng.permutation(360)], holdout=holdout, variants=["exact", *ROWS]), "row order"
    )
    assert mixed.verdict != "excess found"
    # sorted by all that tells rows apart, copies stand in order in any table
    columns = ["pay", "rent", "job", "sex"]
    left = divulge.copies(real.sort(columns), kept.sort(columns), holdout=holdout, variants=["exact", *ROWS])
    assert of(left, "row order").verdict != "excess found"


def test_the_first_rows_are_laid_side_by_side_where_lengths_differ():
    """Rows that are much changed, in the places of the members; more rows follow, and no row stands there as it is."""
    rng = np.random.default_rng(8)
    real, synthetic, holdout = people(rng, 200), people(rng, 200), people(rng, 200)
    _, placed, _ = with_secret(rng, real, synthetic, holdout)
    longer = pl.concat([placed, people(rng, 70)])
    for synthetic in (longer, placed.head(120)):
        found = of(divulge.copies(real, synthetic, holdout=holdout, variants=["exact", *ROWS]), "row order")
        assert found.verdict == "excess found"
        assert found.real.n == min(200, synthetic.height)
        assert any("the tables differ in length; their first" in note for note in found.notes)
    mixed = of(
        divulge.copies(real, longer[rng.permutation(270)], holdout=holdout, variants=["exact", *ROWS]), "row order"
    )
    assert mixed.verdict != "excess found"


def test_addresses_in_capitals_link_too():
    rng = np.random.default_rng(3)
    mail = [f"p{v}@web.de" for v in rng.integers(0, 2**40, 120)]
    real, synthetic, holdout = (
        people(rng, 120, mail=m) for m in (mail, [m.upper() for m in mail], [m + "x" for m in mail])
    )
    real, synthetic, holdout = with_secret(rng, real, synthetic, holdout)
    results = divulge.copies(real, synthetic[rng.permutation(120)], holdout=holdout)
    assert findings(results) == {("linked", "mail"), ("one column", "mail")}


# ---------------------------------------------------------------- plain numpy


def test_pairs_are_compared_as_plain_numpy_does():
    """Numbers by their rank among the real rows, missing equal to missing alone, categories equal or not."""
    rng = np.random.default_rng(4)
    n = 60
    real = people(rng, n, nr=rng.permutation(1000)[:n])
    synthetic = people(rng, n, nr=pl.concat([real["nr"][:50], pl.Series(np.arange(2000, 2010))]).shuffle(seed=1))
    gaps = pl.when(pl.col("job") == "0").then(None).otherwise("pay").alias("pay")
    real, synthetic = real.with_columns(gaps), synthetic.with_columns(gaps)
    holdout = people(rng, n, nr=np.arange(3000, 3000 + n))
    own = of(divulge.copies(real, synthetic, holdout=holdout, variants=["linked"]), "linked", "nr")
    joined = real.join(synthetic, on="nr", suffix="_s").sort("nr")
    assert own.real.n == len(joined) == 50

    def rank(column, values):
        known = real[column].drop_nulls().to_numpy()
        ranks = [10**6 if v is None else 2 * int((known < v).sum()) + int((known == v).sum()) for v in values]
        return np.array(ranks)

    sides = [
        [rank(c, joined[c + end]) if c in ("pay", "rent") else joined[c + end].cast(int).to_numpy()
         for c in ("job", "pay", "rent", "sex")] for end in ("", "_s")
    ]  # fmt: skip
    expected = lagged(*sides, [1, 2 * n, 2 * n, 1])
    assert (own.real.rate, own.baseline.rate, own.p_value) == pytest.approx(
        (expected.real.rate, expected.holdout.rate, min(1, 2 * expected.p_value))
    )


def test_order_units_and_names_change_nothing_that_is_linked():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (people(rng, 90, who=[f"n{i:03d}" for i in range(k, k + 90)]) for k in (0, 30, 500))

    def told(*tables):
        results = divulge.copies(*tables[:2], holdout=tables[2], variants=["linked"])
        return [{**r.to_dict(), "seconds": 0} for r in results]

    before = told(real, synthetic, holdout)
    assert [list(r["keys"]) for r in before] == [["who"]]
    moved = [t[rng.permutation(90)].select(reversed(t.columns)) for t in (real, synthetic, holdout)]
    assert told(*moved) == before
    other = [
        t.with_columns(pl.col("pay") * 3 + 7, job=pl.col("job").replace({"0": "x", "1": "c", "2": "m"})) for t in moved
    ]
    assert told(*other) == before
    twice = [moved[0], pl.concat([moved[1], moved[1]]), moved[2]]
    assert told(*twice) == before


def test_a_secret_that_most_people_share_is_found_in_its_own_column():
    """Nine in ten have one value, so that the mean over ten columns hardly moves; the column itself agrees always."""
    rng = np.random.default_rng(12)
    tables = []
    for first in (0, 0, 5000):
        columns = {f"x{j}": rng.normal(size=300) for j in range(9)}
        codes = np.where(rng.random(300) < 0.9, "no", rng.choice(list("abcdefgh"), 300))
        tables.append(pl.DataFrame({"nr": rng.permutation(300) + first, **columns, "ill": codes}))
    real, synthetic, holdout = tables
    told = real.sort("nr")["ill"].gather(synthetic["nr"])
    results = divulge.copies(real, synthetic.with_columns(told), holdout=holdout, variants=["linked"])
    ill = of(results, "linked", "nr")
    assert (ill.verdict, ill.real.rate) == ("excess found", 1.0)
    assert any(n.startswith("this is about one of 10 columns") and n.endswith("'ill'") for n in ill.notes)
    clean = divulge.copies(real, synthetic, holdout=holdout, variants=["linked"])
    assert not findings(clean)


# ---------------------------------------------------------------- what cannot be tested, and what is innocent


def test_what_was_not_tested_is_told():
    rng = np.random.default_rng(6)
    few = divulge.copies(people(rng, 30), people(rng, 30), variants=["exact", *ROWS])
    assert [r.variant for r in few] == ["exact"]
    assert "row order: not tested, fewer than 40 rows" in few[0].notes
    coarse = [people(rng, n).select("sex", "job") for n in (60, 61)]
    exact = divulge.copies(*coarse, variants=["exact", *ROWS])[0]
    assert "linked: not tested, no column has a value of its own for nearly everybody" in exact.notes
    fresh = [people(rng, 60, who=rng.integers(0, 2**40, 60).astype(str)) for _ in range(2)]
    exact = divulge.copies(*fresh, variants=["exact", *ROWS])[0]
    assert any(
        n.startswith("linked: not tested, fewer than 40 values recur once") and "'who'" in n for n in exact.notes
    )


def test_without_a_holdout_the_rates_are_told_and_no_verdict():
    rng = np.random.default_rng(7)
    real, synthetic, _ = with_secret(rng, *(people(rng, 100) for _ in range(3)))
    placed = of(divulge.copies(real, synthetic, variants=ROWS), "row order")
    assert (placed.verdict, placed.risk, placed.holdout) == ("no holdout", None, None)
    assert placed.real.rate > placed.baseline.rate + 0.1


def sorted_tables(rng, n):
    return [people(rng, n).sort("job", "pay") for _ in range(3)]


def homes(rng, n):
    """Homes of one to five neighbours who share two columns, in the order of homes."""
    out = []
    for _ in range(3):
        which = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n]
        out.append(people(rng, n).with_columns(people(rng, n).select("job", "rent")[which]))
    return out


def numbered(rng, n):
    """Numbers given in the order of time, with which pay drifts; the synthesizer copies number and drift."""
    drift = np.linspace(-3, 3, n)
    return [
        people(rng, n, nr=np.arange(n)).with_columns(pay=pl.col("pay") + drift, rent=pl.col("rent") + drift)
        for _ in range(3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("make", [sorted_tables, homes, numbered])
@pytest.mark.parametrize("n", [60, 300])
def test_tables_that_are_alike_in_order_are_innocent(make, n):
    found, runs = 0, 100
    for i in range(runs):
        rng = np.random.default_rng([i, n, 8])
        real, synthetic, holdout = make(rng, n)
        results = divulge.copies(real, synthetic, holdout=holdout, variants=["exact", *ROWS])
        found += bool(findings(results))
    assert found / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


# ---------------------------------------------------------------- beside the other results


def test_paired_rows_are_a_family_of_their_own():
    """What the order of rows says changes no digit of the comparisons with strangers, and the reverse."""
    rng = np.random.default_rng(9)
    real, synthetic, holdout = with_secret(rng, *(people(rng, 80, nr=np.arange(80) + k) for k in (0, 0, 500)))
    told = divulge.copies(real, synthetic, holdout=holdout)
    others = ["exact", "near", "subsets", "all but one", "one column"]
    for variants in (others, ROWS):
        for result in divulge.copies(real, synthetic, holdout=holdout, variants=variants):
            same = of(told, result.variant, *result.keys)
            assert (same.p_adjusted, same.risk, same.verdict) == (result.p_adjusted, result.risk, result.verdict)
    rows = sorted((r for r in told if r.variant in ROWS), key=lambda r: r.p_value)
    assert len(rows) == 2
    assert rows[0].p_adjusted == pytest.approx(2 * rows[0].p_value)


@pytest.mark.slow
def test_a_run_keeps_what_is_linked(tmp_path):
    """A run with keys of a column outside the schema and paired rows: documents, editions, and a run that goes on."""
    rng = np.random.default_rng(10)
    real, synthetic, holdout = (people(rng, 120, nr=np.arange(120) + k, name=[f"n{k}x{i}" for i in range(120)]) for k in (0, 0, 500))  # fmt: skip
    real, synthetic, holdout = with_secret(rng, real, synthetic.with_columns(name=real["name"]), holdout)
    options = {"holdout": holdout.drop("name"), "search": "off", "models": False, "keep": tmp_path / "kept"}
    report = divulge.assess(real, synthetic, **options)
    results = [r for r in report.results if r.attack == "copies"]
    assert of(results, "one column", "name").real.hits == 120
    assert {r.variant for r in results if r.verdict == "excess found"} == set(ROWS)
    assert report.verdict == "excess found"
    again = divulge.assess(real, synthetic, resume=True, **options)
    assert [r.p_value for r in again.results if r.attack == "copies"] == [r.p_value for r in results]
    assert not any("kept file" in n for n in again.data["notes"])
    for text in (report.to_html(), report.to_markdown()):
        assert "row order" in text
    outside = report.external()
    assert "name" not in {k for r in outside.data["results"] for k in r["keys"]}
    assert "rows a few places apart" in str(outside.data["results"])
    assert "'name'" not in outside.to_html()


# ---------------------------------------------------------------- values that strangers share


def weighted(rng, n):
    """Survey weights: nearly everybody has one of his own, and a weight belongs to one kind of person."""
    weight = rng.permutation(20 * n)[:n]
    kind = weight % 7
    return pl.DataFrame({"weight": weight * 1.37, "age": kind * 9 + rng.integers(0, 3, n), "job": kind % 3, "z": kind})


def test_values_that_say_what_kind_of_person_has_them_link_nobody():
    """Rows with the same weight agree, and strangers' rows do as well."""
    real, synthetic, holdout = (weighted(np.random.default_rng(s), 3000) for s in (1, 2, 3))
    found = [r for r in divulge.copies(real, synthetic, holdout=holdout, variants=["linked"]) if r.variant == "linked"]
    (only,) = found
    assert only.real.rate > 0.9 and only.holdout.rate > 0.9
    assert only.verdict not in ("excess found", "deficit found")


def test_numbers_that_strangers_have_too_link_members_to_their_rows():
    """Each table counts its rows from 1; the synthetic row with a member's number bears the member's secret."""
    rng = np.random.default_rng(4)
    n = 300
    real, synthetic, holdout = (
        pl.DataFrame({"number": rng.permutation(n), "secret": rng.integers(0, 9, n), "b": rng.integers(0, 4, n)})
        for _ in range(3)
    )
    told = real.sort("number")["secret"].gather(synthetic["number"])
    leaking = synthetic.with_columns(secret=told)
    options = {"holdout": holdout, "variants": ["linked"]}
    assert [r.verdict for r in divulge.copies(real, leaking, **options) if r.variant == "linked"] == ["excess found"]
    assert [r.verdict for r in divulge.copies(real, synthetic, **options) if r.variant == "linked"] != ["excess found"]


@pytest.mark.parametrize("levels", [(10, 10, 5, 8), (20, 10, 10, 4)])
def test_tables_that_are_only_sorted_are_no_leak_whatever_their_lengths(levels):
    """Sorted by all columns, whole records that both tables have by chance stand in one order in both."""
    for seed in range(3):
        rng = np.random.default_rng(seed)

        def drawn(n, rng=rng):
            table = pl.DataFrame({f"c{j}": rng.integers(0, k, n) for j, k in enumerate(levels)})
            return table.cast(pl.String).sort(table.columns)

        real, synthetic, holdout = drawn(1500), drawn(1200), drawn(1500)
        named = [t.with_columns(c1=pl.col("c1").replace_strict({str(i): f"{(i * 7) % 10}" for i in range(10)}))
                 for t in (real, synthetic, holdout)]  # fmt: skip
        for tables in ((real, synthetic, holdout), named):
            placed = of(divulge.copies(*tables[:2], holdout=tables[2], variants=["exact", "row order"]), "row order")
            assert placed is None or placed.verdict != "excess found"
        half = pl.concat([real, synthetic]).sort("c0")
        assert of(divulge.copies(real.sort("c0"), half, holdout=holdout, variants=["exact", "row order"]), "row order")


def test_the_order_of_copies_is_found_within_a_sorted_column():
    """Both tables are sorted by one column, and copies stand in the order of the real rows within it."""
    rng = np.random.default_rng(9)
    real, fresh, holdout = (people(rng, 600).sort("job", maintain_order=True) for _ in range(3))
    synthetic = pl.concat([real, fresh.head(250)]).sort("job", maintain_order=True)
    found = of(divulge.copies(real, synthetic, holdout=holdout, variants=["exact", "row order"]), "row order")
    assert found.verdict == "excess found"
