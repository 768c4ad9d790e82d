"""A holdout by person or household: who is drawn, with what chance, and that no cell changes."""

import csv
import gzip
import io
import itertools

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import divulge
from divulge.cli import cli
from divulge.core.errors import ColumnError, DivulgeError, SettingError, TableError
from divulge.run.splitting.holdout_files import split_file
from divulge.run.splitting.holdout_split import _drawn, split_rows
from divulge.tables.frames import table_of


def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "household": rng.integers(0, n // 3, n),
            "age": rng.integers(0, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "name": [f"p{i}" for i in range(n)],
        }
    )


def divided(frame, holdout=0.5, **settings):
    return split_rows(table_of(frame, "table"), holdout=holdout, **settings)


@given(
    n=st.integers(2, 40),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
    unit=st.booleans(),
    stratify=st.sampled_from([(), ("sex",), ("sex", "age")]),
    together=st.booleans(),
)
def test_every_row_is_on_one_side_and_units_are_whole(n, share, seed, unit, stratify, together):
    frame = people(n, seed).drop("name") if n > 3 else people(9, seed).head(n).drop("name")
    chosen = "household" if unit else None
    try:
        found = divided(frame, share, unit=chosen, stratify=stratify, seed=seed, together=together)
    except DivulgeError:
        n_units = frame["household"].n_unique() if unit else frame.n_unique() if together else n
        assert n_units * min(share, 1 - share) < 1
        return
    assert sorted([*found.real, *found.holdout]) == list(range(n))
    assert (np.diff(found.real) > 0).all()
    assert (np.diff(found.holdout) > 0).all()
    assert min(found.units) >= 1
    assert abs(found.units[1] - share * sum(found.units)) < 1
    for stratum in found.strata:
        assert abs(stratum.units[1] - share * sum(stratum.units)) < 1
    assert sum(sum(s.rows) for s in found.strata) == n
    assert tuple(np.sum([s.units for s in found.strata], axis=0)) == found.units
    sides = frame[found.real], frame[found.holdout]
    if unit:
        assert not set(sides[0]["household"]) & set(sides[1]["household"])
    elif together:
        assert not set(sides[0].rows()) & set(sides[1].rows())


@pytest.mark.parametrize(
    "settings",
    [{}, {"unit": "household"}, {"stratify": ["sex", "age"]}, {"unit": "household", "stratify": ["age"]}],
    ids=str,
)
def test_the_order_of_rows_and_columns_changes_nobody(settings):
    frame = people(200).with_columns(household=pl.when(pl.col("age") > 80).then(None).otherwise("household"))
    frame = pl.concat([frame.drop("name"), frame.drop("name").head(40)])
    rows = np.random.default_rng(1).permutation(len(frame))
    moved = frame[rows].select(reversed(frame.columns))
    for one, other in zip(divulge.split(frame, **settings), divulge.split(moved, **settings), strict=True):
        assert one.sort(one.columns).equals(other.select(one.columns).sort(one.columns))


def test_the_same_seed_draws_the_same_and_another_seed_others():
    frame = people(100)
    first, again, other = (divided(frame, seed=s).holdout.tolist() for s in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.first(1)
@pytest.mark.parametrize("share", [0.25, 0.3, 0.5])
def test_each_units_chance_is_the_share(share):
    # strata of 1 to 7 units, where a fixed rounding would always draw the same ones
    strata = np.repeat(np.arange(7), range(1, 8))
    draws = 4000
    times = np.sum([_drawn(strata, share, np.random.SeedSequence(seed)) for seed in range(draws)], axis=0)
    z = (times - draws * share) / np.sqrt(draws * share * (1 - share))
    assert np.abs(z).max() < 4.5
    assert (z**2).sum() < 28 + 6 * np.sqrt(2 * 28)


@pytest.mark.slow
def test_each_rows_chance_is_the_share():
    frame = pl.DataFrame({"row": np.arange(12), "household": np.arange(12) // 3})
    draws = 400
    times = np.zeros(12)
    for seed in range(draws):
        times[divided(frame, 0.25, seed=seed, unit="household").holdout] += 1
    assert (times == np.repeat(times[::3], 3)).all()
    assert times.sum() == draws * 3
    assert np.abs(times - draws / 4).max() < 4.5 * np.sqrt(draws * 3 / 16)


def test_strata_keep_their_shares_and_numbers_are_cut_into_bins():
    frame = people(1000)
    found = divided(frame, 0.2, stratify=["age"])
    assert len(found.strata) == 10
    assert all(abs(s.units[1] / sum(s.units) - 0.2) < 0.012 for s in found.strata)


def test_a_unit_counts_in_the_stratum_of_most_of_its_rows():
    frame = pl.DataFrame({"h": [1, 1, 1, 2, 2, 2, 3, 4], "sex": ["f", "f", "m", "m", "m", "f", "f", "m"]})
    found = divided(frame, unit="h", stratify=["sex"])
    assert [sum(s.units) for s in found.strata] == [2, 2]
    assert any("2 units differ" in n for n in found.notes)


def test_a_missing_unit_is_a_unit_of_its_own():
    frame = pl.DataFrame({"h": ["a", "a", "?", "?", None, "b"], "x": range(6)})
    found = divided(frame, unit="h", missing=["?"])
    assert sum(found.units) == 5
    assert any("missing in 3 rows; each of them is a unit of its own" in n for n in found.notes)


def test_equal_rows_are_told_and_stay_together_when_asked():
    frame = pl.DataFrame({"x": [1, 1, 1, 2, 3, 4, 5, 6]})
    plain = divided(frame)
    assert plain.repeated == 2
    assert any("2 of 8 rows repeat" in n and "--together" in n for n in plain.notes)
    for seed in range(10):
        found = divided(frame, seed=seed, together=True)
        assert sum(found.units) == 6
        assert len({row in found.holdout for row in range(3)}) == 1


def test_a_unit_for_each_row_is_told():
    assert any("another in every row" in n for n in divided(people(), unit="name").notes)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"holdout": 0}, SettingError, "share"),
        ({"holdout": 1.0}, SettingError, "share"),
        ({"holdout": float("nan")}, SettingError, "share"),
        ({"holdout": "half"}, SettingError, "share"),
        ({"holdout": 0.001}, SettingError, "leaves one side"),
        ({"seed": -1}, SettingError, "seed"),
        ({"unit": "hosehold"}, ColumnError, "household"),
        ({"unit": "one"}, ColumnError, "same in all rows"),
        ({"unit": "none"}, ColumnError, "missing in all rows"),
        ({"stratify": ["sexe"]}, ColumnError, "sexe"),
        ({"stratify": ["name"]}, ColumnError, "few values"),
        ({"stratify": ["household"], "unit": "household"}, ColumnError, "is the unit"),
    ],
    ids=str,
)
def test_settings_that_cannot_be(settings, error, words):
    frame = people().with_columns(one=pl.lit("x"), none=pl.lit(None, dtype=pl.String))
    with pytest.raises(error, match=words) as found:
        divulge.split(frame, **settings)
    assert not any(f"p{i}" in str(found.value) for i in range(60))


def test_tables_that_cannot_be():
    with pytest.raises(TableError, match="no rows"):
        divulge.split(people().clear())
    with pytest.raises(TableError, match="one row"):
        divulge.split(people().head(1))
    with pytest.raises(DivulgeError, match="not a table"):
        divulge.split([1, 2])


def test_the_kind_of_frame_comes_back_with_its_cells(make, kind):
    frame = pl.DataFrame({"code": ["007", "1.0", "é", None], "n": [1, 2, None, 4], "x": [0.5, None, -1.0, 2.0]})
    table = make(frame)
    real, holdout = divulge.split(table, seed=1)
    home = {"pandas": "pandas", "pyarrow": "pyarrow"}.get(kind.split()[0], "polars")
    assert all(type(part).__module__.split(".")[0] == home for part in (real, holdout))
    if home == "pandas":
        whole = table.loc[sorted([*real.index, *holdout.index])]
        assert whole.equals(table)
        assert (whole.dtypes == table.dtypes).all()
        real, holdout = (pl.DataFrame({"code": [str(v) for v in part["code"]]}) for part in (real, holdout))
    elif home == "pyarrow":
        assert real.schema == table.schema
        real, holdout = pl.from_arrow(real), pl.from_arrow(holdout)
    elif isinstance(table, pl.DataFrame):
        assert real.schema == table.schema
    assert len(real) == len(holdout) == 2
    known = sorted(str(v) for v in [*real["code"].to_list(), *holdout["code"].to_list()])[:3]
    assert known[:2] == ["007", "1.0"]


def test_a_frame_of_lists_is_split_too():
    frame = pl.DataFrame({"tags": [["a"], ["a", "b"], [], None], "x": [1, 2, 3, 4]})
    real, holdout = divulge.split(frame)
    assert len(pl.concat([real, holdout]).unique("x")) == 4


# ---------------------------------------------------------------- files and the command

HOSTILE = (
    '\ufeffid;"na;me";"<b>x</b> ""q""";^v$\r\n'
    '007;"a;b";1,50;\r\n'
    '008;"line\nbreak";?;"quo""te"\r\n'
    "009; spaced ;-8;=1+1\r\n"
    '010;é;NA;""\r\n'
)


def cells(text):
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row]


def run(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=True)


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.txt"])
def test_the_text_of_each_cell_comes_out_as_it_went_in(tmp_path, name):
    data = HOSTILE.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    done = run("split", tmp_path / name, "--out", tmp_path / "out", "--missing", "?,-8")
    assert done.exception is None
    suffix = name.removeprefix("people").removesuffix(".gz")
    parts = [(tmp_path / "out" / f"{role}{suffix}").read_bytes().decode("utf-8") for role in ("real", "holdout")]
    wanted = cells(HOSTILE.removeprefix("\ufeff"))
    for part in parts:
        assert part.startswith('id;"na;me";"<b>x</b> ""q""";^v$\n')
        rows = cells(part)[1:]
        assert rows == [row for row in wanted if row in rows]
    assert sorted(row for part in parts for row in cells(part)[1:]) == sorted(wanted[1:])


@pytest.fixture
def file(tmp_path):
    people(300).write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def test_the_command_tells_shares_and_what_comes_next_and_no_value(file, tmp_path):
    done = run("split", file, "--unit", "household", "--stratify", "sex", "--out", tmp_path / "o ut")
    assert done.exit_code == 0
    assert "of 300 rows" in done.output
    assert "stratum 2: " in done.output
    assert f"divulge assess '{tmp_path}/o ut/real.csv' synthetic.csv --holdout" in done.output
    assert "--unit household" in done.output
    assert "p1" not in done.output.replace(str(tmp_path), "")


def test_same_seed_same_bytes_and_nothing_is_overwritten(file, tmp_path):
    def both(out, *more):
        assert run("split", file, "--out", out, *more).exit_code == 0
        return [(out / f"{r}.csv").read_bytes() for r in ("real", "holdout")]

    first = both(tmp_path / "a")
    assert first == both(tmp_path / "b")
    again = run("split", file, "--out", tmp_path / "a", "--seed", 1)
    assert isinstance(again.exception, SettingError)
    assert "--force" in str(again.exception)
    assert first == [(tmp_path / "a" / f"{r}.csv").read_bytes() for r in ("real", "holdout")]
    assert first != both(tmp_path / "a", "--seed", 1, "--force")
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["holdout.csv", "real.csv"]


def test_the_table_itself_is_never_overwritten(tmp_path):
    people().write_csv(tmp_path / "real.csv")
    before = (tmp_path / "real.csv").read_bytes()
    done = run("split", tmp_path / "real.csv", "--out", tmp_path, "--force")
    assert isinstance(done.exception, SettingError)
    assert (tmp_path / "real.csv").read_bytes() == before


def test_an_empty_name_is_no_folder(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real.csv").write_text("kept")
    done = run("split", file, "--out", "", "--force")
    assert isinstance(done.exception, SettingError)
    assert "--out: the name of the folder is empty" in str(done.exception)
    assert (tmp_path / "real.csv").read_text() == "kept"


def test_an_empty_list_names_its_option(file):
    assert str(run("split", file, "--missing", ",,").exception).startswith("--missing: the list of names is empty")
    assert str(run("split", file, "--stratify", "").exception).startswith("--stratify: the list of names is empty")


@pytest.mark.parametrize(
    ("values", "settings", "said"),
    [
        ([7, 7, 7], {"together": True}, "0.5 of the one group of equal rows leaves"),
        ([1, 2, 3], {"together": True, "holdout": 0.1}, "0.1 of 3 rows leaves"),
        ([1, 1, 2], {"unit": "h", "holdout": 0.1}, "0.1 of 2 units leaves"),
    ],
)
def test_a_share_too_small_says_of_what(values, settings, said):
    with pytest.raises(SettingError, match=said) as refused:
        divided(pl.DataFrame({"h": values}), **settings)
    assert ("--together" in str(refused.value)) == ("equal rows" in said)


def test_formats(file, tmp_path):
    frame = people(300)
    frame.write_parquet(tmp_path / "people.parquet")
    for source, kind in itertools.product((file, tmp_path / "people.parquet"), ("csv", "parquet")):
        out = tmp_path / f"{source.suffix}{kind}"
        assert run("split", source, "--out", out, "--format", kind).exit_code == 0
        read = pl.read_csv if kind == "csv" else pl.read_parquet
        whole = pl.concat([read(out / f"{role}.{kind}") for role in ("real", "holdout")])
        assert whole.sort("name").equals(frame.sort("name"))


def test_a_permuted_file_gives_the_same_people(file, tmp_path):
    frame = people(300)
    frame.sample(fraction=1, shuffle=True, seed=1).select(sorted(frame.columns)).write_csv(tmp_path / "moved.csv")
    run("split", file, "--out", tmp_path / "a")
    run("split", tmp_path / "moved.csv", "--out", tmp_path / "b")
    one, other = (set(pl.read_csv(tmp_path / o / "holdout.csv")["name"]) for o in "ab")
    assert one == other


def test_an_excel_file_is_told_as_what_it_is_where_no_format_was_named(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("fastexcel")
    pd.DataFrame({"age": range(30)}).to_excel(tmp_path / "people.xlsx", index=False)
    says = r"^the table is an Excel file, which divulge reads and does not write\. hint: .*--format csv"
    with pytest.raises(SettingError, match=says):
        split_file(tmp_path / "people.xlsx", tmp_path / "out")
