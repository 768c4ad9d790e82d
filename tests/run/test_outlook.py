"""`divulge plan`: what it tells of a run is what the run does."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import build_case
from divulge.cli import cli
from divulge.core.coded_scores import CODED_FROM
from divulge.core.errors import ColumnError, SettingError
from divulge.run.cost.disk import on_disk
from divulge.run.cost.expected_cost import Work, bytes_parts, expected_bytes, expected_seconds, levels_of, work_of
from divulge.run.cost.memory import Room
from divulge.run.engines import people_sample
from divulge.run.engines.people_sample import NO_DISK, NO_ROOM_TO_SEARCH
from divulge.run.forecasting import forecast
from divulge.run.forecasting.forecast import prepared, sizes_of
from divulge.run.planning.options import Attacker, Reading, RunOptions
from divulge.run.planning.plan import plan_of

N = 9000


def people(rng, n):
    return pl.DataFrame({"age": rng.integers(18, 60, n), "area": rng.integers(0, 4, n).astype(str),
                         "secret job": rng.integers(0, 3, n).astype(str), "pay": rng.normal(size=n).round(4),
                         "home": np.sort(rng.integers(0, n // 3, n)).astype(str)})  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    return people(rng, N), people(rng, N), people(rng, 3000)


@pytest.fixture(scope="module")
def files(tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    for name, table in zip(("real", "syn", "hold"), tables, strict=True):
        table.write_parquet(folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet") for name in ("real", "syn", "hold")]


@pytest.mark.first(3)
@pytest.mark.parametrize("known", [{}, {"keys": ["age", "area"], "targets": ["secret job"]}, {"targets": ["pay"]}])
@pytest.mark.parametrize("search", ["default", "off"])
def test_the_tests_are_those_of_the_run(tables, files, known, search):
    options = RunOptions(search=search)
    made = plan_of(build_case(*tables), Attacker(**known), options)
    told = divulge.plan(files[0], files[1], holdout=files[2], search=search, **known)
    counts, planned = Counter(made.attacks), {a.attack: a.tests for a in told.attacks}
    of_key_sets = {name for name, a in CATALOGUE.items() if a.plan.per == "key set"}
    assert told.tests_at_most == (search == "default" and "keys" not in known) == (", at most: " in str(told))
    assert told.tests >= len(made.tasks) if told.tests_at_most else told.tests == len(made.tasks)
    for name in counts.keys() | planned.keys():
        # targets may have their best key set in common
        alike = planned[name] >= counts[name] if name in of_key_sets else planned[name] == counts[name]
        assert alike, (name, counts[name], planned[name])
    assert {n for n, _ in told.not_run} == {n.attack for n in made.not_run}


def test_the_work_seen_in_a_sample_is_that_of_the_whole(tables, files):
    whole, options = build_case(*tables), RunOptions(models=False)
    _, _, seen = prepared(sizes_of(files, ()), Attacker(), Reading(), options)
    known = work_of(whole, plan_of(whole, Attacker(), options).tasks, options)
    assert (seen.rows, seen.columns, seen.targets) == (known.rows, known.columns, known.targets)
    assert seen.levels == pytest.approx(known.levels, rel=0.5)
    assert seen.table_bytes == pytest.approx(known.table_bytes, rel=0.1)


@pytest.mark.parametrize(("n_values", "told"), [(3, 3), (20_000, 20_000), (10**9, 10**8)])
def test_values_that_no_row_of_a_sample_has_are_told_by_the_rare_ones(n_values, told):
    """Among ten thousand rows of a hundred million."""
    values = np.random.default_rng(3).integers(0, n_values, 10_000)
    case = build_case(pl.DataFrame({"x": values[:6000]}), pl.DataFrame({"x": values[6000:]}))
    tables = [replace(t, n_rows=n) for t, n in zip(case.tables, (6 * 10**7, 4 * 10**7), strict=True)]
    whole = replace(case, tables=tuple(tables))
    assert levels_of(whole, "x") == pytest.approx(told, rel=0.1)
    assert levels_of(case, "x") == len(np.unique(values))


def test_by_an_engine_membership_is_counted_once():
    """Its bytes are told with those of the searches; the plan then leaves out no more than the run does."""
    work = Work(10, 10**8, 10, 10, 15, 1.0, 10, 0, 0, apart=("membership",))
    assert forecast._bytes_of(work, RunOptions(engine="duckdb")) < 2 * 10**9 < forecast._bytes_of(work, RunOptions())


def test_rows_cells_and_people(files):
    told = divulge.plan(files[0], files[1], holdout=files[2], models=False, people=500)
    assert [(t.role, t.rows, t.columns, t.exact) for t in told.tables] == [
        ("real", N, 5, True), ("synthetic", N, 5, True), ("holdout", 3000, 5, True)
    ]  # fmt: skip
    assert (told.rows, told.cells) == (21_000, 105_000)
    assert (told.people, told.asked, told.of) == (500, (500, 500), (N, 3000))
    everybody = divulge.plan(files[0], files[1], holdout=files[2], models=False, people="all")
    assert (everybody.people, everybody.asked) == (None, (N, 3000))
    assert everybody.needed > told.needed
    assert all(b < s for (_, b), (_, s) in zip(everybody.excesses, told.excesses, strict=True))
    assert "with 500 and 500 members and strangers" in told.reach


def test_units_are_counted(files):
    told = divulge.plan(files[0], files[1], holdout=files[2], unit="home")
    assert told.of[0] == pytest.approx(0.95 * N / 3, rel=0.05)
    assert "units of members" in told.reach


def test_without_a_holdout_nothing_is_found(files):
    told = divulge.plan(files[0], files[1])
    assert (told.reach, told.excesses, told.of) == ("", (), (N, 0))
    assert ("dcr" in {a.attack for a in told.attacks}, "finds" in str(told)) == (True, False)


def test_mistakes_are_told_as_by_assess(files):
    with pytest.raises(ColumnError, match="keys: no column 'agee'"):
        divulge.plan(files[0], files[1], keys=["agee"])
    with pytest.raises(SettingError, match="people"):
        divulge.plan(files[0], files[1], people=5)
    with pytest.raises(SettingError, match="standard input"):
        divulge.plan("-", files[1])


def test_the_command_prints_and_writes_it(files, tmp_path, monkeypatch):
    given = ["plan", files[0], files[1], "--holdout", files[2], "--jobs", "1"]
    found = CliRunner().invoke(cli, [*given, "--people", "500", "--json", str(tmp_path / "plan.json")])
    assert found.exit_code == 0, found.output
    assert "real 9,000 x 5" in found.output
    assert "ask 500 of 9,000 members and 500 of 3,000 strangers, drawn by seed 0: " in found.output
    assert "ask everybody, always: copies 1, dcr 1" in found.output
    data = json.loads((tmp_path / "plan.json").read_text())
    assert (data["rows"], data["fits"], data["people"]) == (21_000, True, 500)
    assert {"attack": "dcr", "tests": 1, "sampled": False} in data["attacks"]
    monkeypatch.setattr(forecast, "room", lambda: Room(10**6, 0, "its container has a limit"))
    found = CliRunner().invoke(cli, given)
    assert found.exit_code == 2
    assert "the run does not fit (its container has a limit)" in found.output


WORK = Work(rows=10**5, synthetic=4 * 10**4, people=6 * 10**4, asked=6 * 10**4, columns=10, bits=30.0, levels=10**4,
            table_bytes=10**7, text_bytes=0, targets=5, pairs=100, sampled=105, scores=7 * 10**6, apart=("membership",))  # fmt: skip


def test_fewer_people_take_less():
    costs = [(expected_bytes(w), expected_seconds(w, 2)) for w in map(WORK.of_people, (0.01, 0.1, 1.0))]
    assert costs == sorted(costs)
    assert WORK.of_people(1.0) == WORK
    assert expected_seconds(WORK, 1) > expected_seconds(WORK, 4)


def test_coded_scores_take_less():
    """From 65,536 people on a score is one or two bytes; the scores themselves are more."""
    n, m = CODED_FROM, CODED_FROM // 4

    def held(members, strangers, asked=None):
        people = members + strangers
        work = replace(WORK, members=members, people=people, asked=asked or people, scores=100 * (asked or people))
        return round(bytes_parts(work)["byte of scores"])

    assert held(n - 1, m) == 800 * (n + m - 1)
    assert held(n, m) == 200 * n + 800 * m
    assert held(4 * n, n) == 1000 * n
    assert held(4 * n, n, asked=n) == 800 * n


@pytest.mark.slow
def test_the_plan_of_an_engine_says_what_it_makes_asks_and_writes(tables, files, tmp_path):
    asked = {"holdout": files[2], "keys": ["age", "area"], "targets": ["secret job"]}
    counts = divulge.plan(*files[:2], engine="duckdb", people="none", **asked)
    assert (counts.disk, counts.blocks, counts.people) == (0, 0, None)
    assert "linkability" in dict(counts.not_run) and "linkability" not in {a.attack for a in counts.attacks}
    told = divulge.plan(*files[:2], engine="duckdb", people=500, **asked)
    assert {"linkability", "inference", "membership", "disco"} <= {a.attack for a in told.attacks}
    assert "dcr" in dict(told.not_run) and told.asked == (500, 500)
    codes = 1 + 1 + 1 + 2 + 2  # bytes a row: ages, areas, jobs, pays and homes
    columns = len(build_case(*tables).schema.usable())
    # of two halves with their cells, which are more than the index of membership, and a hash
    indices = 2 * 63 + 6 * columns + 2 * 40 + 8
    assert told.disk == codes * 2 * N + codes * 3000 + indices * N and told.blocks == 1
    assert "in a private folder, removed at the end: codes of all rows, and indices of up to 1 block" in " ".join(
        str(told).split()
    )
    assert json.loads(told.to_json())["engine"] == "duckdb"
    report = divulge.assess(*files[:2], people=500, engine="duckdb", jobs=1, fidelity=False, models=False, **asked)
    assert {o.attack for o in report.assessment.not_run} == set(dict(told.not_run))
    with pytest.raises(SettingError, match="people: not with engine='spark'"):
        divulge.plan(*files[:2], engine="spark", people=500, **asked)


def test_the_plan_asks_a_sample_by_itself_with_an_engine(files, monkeypatch):
    asked = {"holdout": files[2], "keys": ["age"], "targets": ["secret job"], "engine": "polars"}
    told = divulge.plan(*files[:2], **asked)
    assert told.people is None and {"linkability", "cap"} <= {a.attack for a in told.attacks} and told.disk
    monkeypatch.setattr(people_sample, "SAMPLES", (2000, 300))
    told = divulge.plan(*files[:2], **asked)
    assert told.people == 2000 and "ask 2,000 of " in str(told)


def test_the_plan_says_whether_the_disk_has_room(files, monkeypatch):
    asked = {"holdout": files[2], "keys": ["age"], "targets": ["secret job"], "engine": "polars"}
    told = divulge.plan(*files[:2], **asked)
    assert told.disk_free > 0 and told.fits_on_disk and "are free there" in " ".join(str(told).split())
    monkeypatch.setattr(forecast, "free_on_disk", lambda folder: 1000)
    told = divulge.plan(*files[:2], people=500, **asked)
    assert told.disk > told.disk_free == 1000 and not told.fits_on_disk and "too little" in str(told)
    assert json.loads(told.to_json())["fits_on_disk"] is False
    given = ["plan", *files[:2], "--keys", "age", "--targets", "secret job", "--engine", "polars", "--people", "500"]
    assert CliRunner().invoke(cli, given).exit_code == 2
    told = divulge.plan(*files[:2], **asked)  # nobody named a number: a run would ask nobody
    assert told.disk == 0 and NO_DISK in told.notes and "linkability" in dict(told.not_run)


def test_the_plan_of_relations_asks_nobody(files):
    base = pytest.importorskip("duckdb").connect()
    tables = [base.sql(f"select * from read_parquet('{file}')") for file in files]
    told = divulge.plan(*tables[:2], holdout=tables[2], keys=["age"], targets=["secret job"], engine="duckdb")
    assert told.disk == 0 and told.disk_free is None and "linkability" in dict(told.not_run)


def test_the_plan_says_which_searches_do_not_fit(files, monkeypatch):
    monkeypatch.setattr(forecast, "room", lambda: Room(10**6, 0, "a test says so"))
    told = divulge.plan(*files[:2], holdout=files[2], engine="duckdb", people=500)
    assert "membership" in dict(told.not_run)
    assert dict(told.not_run)["linkability"] == NO_ROOM_TO_SEARCH
    assert {"cap", "disco"} <= {a.attack for a in told.attacks}


def test_the_plan_says_what_indices_in_files_take(tables, files, tmp_path):
    told = divulge.plan(*files[:2], holdout=files[2], spill=tmp_path)
    assert told.engine == "auto" and told.blocks == 1
    assert told.disk == (63 + 6 * len(build_case(*tables).schema.usable())) * (N + 2 * (N + 3000))
    assert "disk" in str(told) and "codes of all rows" not in str(told)
    assert divulge.plan(*files[:2], holdout=files[2]).disk == 0


def test_what_one_attack_writes_and_goes_is_no_room_of_the_next(tables):
    case, codes = build_case(*tables), 1000
    options, c = RunOptions(engine="duckdb", people=500), len(build_case(*tables).schema.usable())
    each = {name: on_disk(case, [name], options, codes).needed - codes for name in ("membership", "linkability")}
    n = case.n_rows("synthetic")
    assert each == {"membership": n * (83 + 12 * c), "linkability": n * (206 + 6 * c)}
    assert on_disk(case, ["linkability", "inference"], options, codes).needed == codes + each["linkability"]
    hashes = 8 * n  # by which membership orders rows: of what it makes they alone stay
    assert each["membership"] < each["linkability"]
    assert on_disk(case, [*each, "inference"], options, codes).needed == codes + each["linkability"] + hashes


def test_a_column_that_a_table_lacks_is_told(tables):
    real, synthetic, holdout = (t.head(200) for t in tables)
    told = divulge.plan(real, synthetic.drop("pay"), holdout.drop("pay", "home"))
    lacking = ["synthetic lacks 'pay', which", "holdout lacks 'pay', 'home', which"]
    assert [note.partition(" other")[0] for note in told.notes[:2]] == lacking
    assert "note      synthetic lacks 'pay', which other tables have: not compared" in str(told)
    told = divulge.plan(real, synthetic.drop("pay"), holdout.drop("pay", "home"), ignore=["pay", "home"])
    assert not any("lacks" in note for note in told.notes)
    assert not any("lacks" in note for note in divulge.plan(real, synthetic, holdout).notes)


@pytest.mark.parametrize("shuffled", [False, True])
def test_people_are_counted_wherever_their_rows_stand(shuffled):
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"id": np.repeat(np.arange(4000), 10), "a": rng.integers(0, 9, 40_000)})
    table = table[rng.permutation(40_000)] if shuffled else table
    told = divulge.plan(table, table, holdout=table, unit="id")
    assert told.of == (pytest.approx(4000, rel=0.1), pytest.approx(4000, rel=0.1))
