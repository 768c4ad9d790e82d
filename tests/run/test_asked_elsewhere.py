"""People asked where an engine holds the tables: who is, by which attacks, what the report says, what is refused."""

from dataclasses import replace
from itertools import product

import duckdb
import numpy as np
import polars as pl
import pytest
import report_helpers
from click.testing import CliRunner

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import build_case
from divulge.case.code_files import bytes_of_codes
from divulge.case.distances import distances_of
from divulge.case.features import features_of
from divulge.case.spill import Spill
from divulge.cli import cli
from divulge.core.errors import DivulgeError, SettingError, SizeError
from divulge.report.external.known_sentences import SENTENCES
from divulge.run.cost import disk
from divulge.run.cost.memory import Room
from divulge.run.cost.searched_bytes import bytes_at_once, bytes_to_search, searches, too_much
from divulge.run.engines import engine_plan as counted_module
from divulge.run.engines import people_sample
from divulge.run.engines.engine_plan import NEEDS_ROWS, NO_ROOM_TO_COUNT
from divulge.run.engines.people_sample import (
    DEFAULT,
    NO_DISK,
    NO_MEMORY,
    NO_ROOM_TO_SEARCH,
    NO_ROWS,
    nobody_in_words,
    with_default_people,
)
from divulge.run.making import runner
from divulge.run.making.checkpoints import Interrupted
from divulge.run.planning.options import Attacker, RunOptions
from divulge.run.planning.people import ASKED
from divulge.run.planning.plan import plan_of

KEYS = {"keys": ["age", "job"], "targets": ["income"], "jobs": 1, "models": False}
ASK = {"engine": "polars", "people": 120, "fidelity": False, **KEYS}


@pytest.fixture(scope="module")
def tables():
    return report_helpers.tables()


@pytest.fixture(scope="module")
def lazy(tables):
    return [t.lazy() for t in tables]


@pytest.fixture(scope="module")
def run(lazy):
    told = []
    report = divulge.assess(*lazy[:2], holdout=lazy[2], before=told.append, **ASK)
    return report, told


def test_every_attack_is_made_or_listed_with_the_reason(run):
    report, _ = run
    made = {r.attack for r in report.results}
    listed = {o.attack: o.why for o in report.assessment.not_run}
    assert made | listed.keys() == CATALOGUE.keys() and not made & listed.keys()
    sampled = {name for name, e in CATALOGUE.items() if e.sampled and e.plan.per != "demand"}
    assert sampled <= made and report.failed == []
    assert {"dcr", "nndr", "singling_out", "exposure", "nnaa"} <= {n for n, why in listed.items() if why == NEEDS_ROWS}


@pytest.mark.slow
def test_what_needs_all_people_is_never_given_a_sample(lazy, monkeypatch):
    """The door: an attack that is not `sampled` sees the tables whole, or is not made."""
    seen = {}
    usual = runner._attacked

    def watched(case, task):
        seen.setdefault(task.attack, set()).add((case.n_rows("real"), case.n_rows("holdout"), case.in_memory))
        return usual(case, task)

    monkeypatch.setattr(runner, "_attacked", watched)
    divulge.assess(*lazy[:2], holdout=lazy[2], **ASK)
    whole = tuple(t.select(pl.len()).collect().item() for t in (lazy[0], lazy[2]))
    for name, sizes in seen.items():
        expected = {(120, 120, True)} if CATALOGUE[name].sampled else {(*whole, False)}
        assert sizes == expected, name
    assert not {"dcr", "nndr", "singling_out", "exposure", "authenticity"} & seen.keys()
    assert {"copies", "replicated_uniques", "disco", "inference", "membership"} <= seen.keys()


def test_report_json_and_gate_say_who_was_asked(run, tmp_path):
    report, told = run
    data = report.assessment
    n, m = (t["rows"] if isinstance(t, dict) else t.rows for t in (data.tables.real, data.tables.holdout))
    assert (data.sampling.members, data.sampling.of_members) == (120, n)
    assert (data.sampling.strangers, data.sampling.of_strangers) == (120, m)
    (note,) = [x for x in data.notes if x.startswith(ASKED)]
    assert f"120 of {n:,} members and 120 of {m:,} strangers" in note
    assert any(t.startswith("the codes of all rows are written to a private folder, ") for t in told)
    assert {r.attack: r.real.n for r in report.results if r.real}["linkability"] == 120
    report.write(tmp_path)
    found = CliRunner().invoke(cli, ["gate", str(tmp_path / "assessment.json"), "--fail-on", "any.low > 0.99"])
    assert f"120 of {n:,} members" in found.output
    report.external().write(tmp_path / "external")


@pytest.mark.slow
def test_a_sample_that_is_everybody_is_not_called_one(lazy):
    report = divulge.assess(*lazy[:2], holdout=lazy[2], **ASK | {"people": 10_000, "membership": False})
    assert report.assessment.sampling is None
    assert not any(n.startswith(ASKED) for n in report.assessment.notes)
    n = lazy[0].select(pl.len()).collect().item()
    assert {r.real.n for r in report.results if r.attack in ("linkability", "inference")} == {n}


@pytest.mark.slow
def test_without_a_number_an_engine_asks_a_million_or_as_many_as_fit(lazy, monkeypatch):
    asked = {k: v for k, v in ASK.items() if k != "people"} | {"membership": False, "search": "off", "keys": None}
    everybody = divulge.assess(*lazy[:2], holdout=lazy[2], **asked)
    data = everybody.assessment
    assert "linkability" in {r.attack for r in everybody.results} and data.sampling is None
    assert data.settings.people is None and not any(n == DEFAULT or n.startswith(ASKED) for n in data.notes)
    monkeypatch.setattr(people_sample, "SAMPLES", (150, 120))
    told = []
    sample = divulge.assess(*lazy[:2], holdout=lazy[2], before=told.append, **asked).assessment
    assert (sample.sampling.members, sample.settings.people) == (150, 150)
    assert DEFAULT in sample.notes and DEFAULT in told and DEFAULT in SENTENCES


def test_the_number_of_people_that_an_engine_asks_follows_from_memory(tables, monkeypatch):
    monkeypatch.setattr(people_sample, "SAMPLES", (150, 120))
    columns, sizes = tables[0].width, [len(tables[0]), len(tables[2])]
    for free, expected in ((10**9, 150), (2 * 105 * columns * 299, 120), (1000, "none"), (None, 150)):
        assert with_default_people(RunOptions(engine="polars"), sizes, 100, columns, free).people == expected
    assert with_default_people(RunOptions(engine="polars", people="all"), sizes, 100, columns, 0).people == max(sizes)
    assert with_default_people(RunOptions(engine="spark"), sizes, 100, columns, 0).people is None
    named = RunOptions(engine="polars", people=130)
    assert with_default_people(named, sizes, 100, columns, 0) is named
    assert with_default_people(RunOptions(engine="polars"), sizes, 100, columns, None, by_rows=False).people == "none"


def test_fewer_are_asked_by_default_where_searches_would_not_fit_with_more():
    def asked(synthetic, gigabytes):
        options = RunOptions(engine="polars")
        return with_default_people(options, [10**8, 25 * 10**6], synthetic, 15, round(gigabytes * 10**9)).people

    # the values of two million people take 3.2 GB, so that eight are enough for these
    assert asked(10**6, 8) == 10**6
    assert asked(10**8, 8) == 10**6
    # the nearest of a hundred million rows take 2.4 GB beside 1,100 bytes a person
    assert asked(10**8, 6.5) == 10**6
    assert asked(10**8, 6) == 500_000
    assert asked(10**8, 4.5) == asked(10**8, 4) == 200_000
    # and where nobody could be searched for, the values decide as before
    assert asked(10**8, 3) == asked(10**6, 3) == 200_000


@pytest.mark.slow
def test_nobody_is_asked_by_default_where_the_disk_has_no_room(lazy, monkeypatch):
    monkeypatch.setattr(people_sample, "free_on_disk", lambda folder: 0)
    asked = {k: v for k, v in ASK.items() if k != "people"}
    report = divulge.assess(*lazy[:2], holdout=lazy[2], **asked)
    assert NO_DISK in report.assessment.notes and NO_DISK in SENTENCES
    assert "linkability" in {o.attack for o in report.assessment.not_run} and report.assessment.sampling is None


def test_nothing_is_called_clean_that_was_not_made(tables):
    real, _, holdout = tables
    both = pl.concat([real, holdout.select(real.columns)])  # whose margins are as near to members as to strangers
    harmless = pl.DataFrame({c: both[c].sample(len(real), shuffle=True, seed=i) for i, c in enumerate(real.columns)})
    told = divulge.assess(real, harmless, holdout=holdout, **ASK).assessment.verdict
    assert told.verdict == "cannot tell"
    assert "dcr" in told.sentence


@pytest.mark.slow
def test_a_leak_is_found_in_a_sample_by_an_engine():
    rng = np.random.default_rng(5)

    def people(n):
        return pl.DataFrame({"job": rng.integers(0, 4, n).astype(str), "wage": rng.integers(0, 10**6, n)})

    real, holdout, fresh = people(2000), people(2000), people(2000)
    synthetic = pl.concat([real[:1000], fresh[:1000]])
    report = divulge.assess(real, synthetic, holdout=holdout, engine="duckdb", people=300, keys=["wage"], targets=["job"],
                            membership=False, fidelity=False, models=False)  # fmt: skip
    assert {r.verdict for r in report.results if (r.attack, r.variant) == ("inference", "nearest record")} == {
        "excess found"
    }


def test_files_are_removed_whatever_happens(lazy, tmp_path, monkeypatch):
    held = []  # as long as the folder is held, it does not go by itself
    usual = people_sample.CodeFolder
    monkeypatch.setattr(people_sample, "CodeFolder", lambda parent: held.append(usual(parent)) or held[-1])

    def broken(*_):
        assert [p.name[:14] for p in tmp_path.iterdir()] == ["divulge-codes-"]
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "_attacked", broken)
    with pytest.raises(Interrupted):
        divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path, **ASK)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("by_engine", [True, False])
def test_large_arrays_do_not_stay_with_a_process_that_keeps_rows_in_files(
    by_engine, lazy, tables, tmp_path, monkeypatch
):
    def apart():
        raise ZeroDivisionError

    monkeypatch.setattr(people_sample, "large_arrays_apart", apart)
    given, more = (lazy, ASK) if by_engine else (tables, KEYS)
    with pytest.raises(ZeroDivisionError):
        divulge.assess(*given[:2], holdout=given[2], spill=tmp_path, **more)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_does_not_fit_is_left_out_and_listed(lazy, monkeypatch):
    monkeypatch.setattr(people_sample, "room", lambda: Room(200_000, 0, "a test says so"))
    monkeypatch.setattr(counted_module, "room", lambda: Room(1000, 0, "a test says so"))
    report = divulge.assess(*lazy[:2], holdout=lazy[2], **ASK)
    listed = {o.attack: o.why for o in report.assessment.not_run}
    # hits and, by keys, inference take the synthetic rows part by part
    assert {n for n, why in listed.items() if why == NO_ROOM_TO_SEARCH} == {"linkability", "membership"}
    assert {"copies", "disco", "replicated_uniques"} <= {n for n, why in listed.items() if why == NO_ROOM_TO_COUNT}
    made = {r.attack for r in report.results}
    assert {"cap", "hitting_rate", "inference"} <= made <= {name for name, e in CATALOGUE.items() if e.sampled}
    without = divulge.assess(*lazy[:2], holdout=lazy[2], **ASK | {"keys": None, "search": "off"})
    assert "inference" in {o.attack for o in without.assessment.not_run if o.why == NO_ROOM_TO_SEARCH}
    assert {NO_ROOM_TO_SEARCH, NO_ROOM_TO_COUNT} <= SENTENCES
    assert report.assessment.verdict.verdict != "none found"
    assert divulge.assess(*lazy[:2], holdout=lazy[2], beyond_memory=True, **ASK).assessment.failed == ()


def test_what_an_engine_has_no_use_for_is_refused(lazy, tmp_path, monkeypatch):
    with pytest.raises(SettingError, match="people: not with engine='spark', which counts alone"):
        divulge.assess(*lazy[:2], holdout=lazy[2], engine="spark", people=120)
    for engine, people in (("polars", "none"), ("spark", None)):
        with pytest.raises(SettingError, match="spill: counts alone need no folder"):
            divulge.assess(*lazy[:2], holdout=lazy[2], engine=engine, people=people, spill=tmp_path)
    with pytest.raises(SettingError, match="people: 'none' counts where the tables are, with an engine"):
        divulge.assess(*lazy[:2], holdout=lazy[2], people="none")
    with pytest.raises(SettingError, match="spill: no such folder"):
        divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path / "nowhere", **ASK)
    monkeypatch.setattr(disk, "free_on_disk", lambda folder: 10**6)
    entry = CATALOGUE["linkability"]
    large = replace(entry, cost=replace(entry.cost, disk=lambda columns, in_blocks: 10**5))
    monkeypatch.setitem(CATALOGUE, "linkability", large)
    with pytest.raises(SizeError, match=r"^spill: the codes of all rows and what is searched need about \d+ MB of disk, "
                       r"and 1 MB are free in '.+'\. hint: name a folder with more room \(--spill\), count alone"):  # fmt: skip
        divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path, **ASK)
    assert list(tmp_path.iterdir()) == []


def test_people_whose_values_do_not_fit_into_memory_are_refused(lazy, tmp_path, monkeypatch):
    """The system would end the process without a word, after the codes of all rows were written."""
    monkeypatch.setattr(people_sample, "room", lambda: Room(50_000, 0, "its container has a limit"))
    with pytest.raises(SizeError, match=r"^memory: about \d+ MB are needed for the values of 240 people, and this process "
                       r"may use 1 MB \(its container has a limit\)\. hint: ask fewer \(--people\), count alone"):  # fmt: skip
        divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path, **ASK)
    assert list(tmp_path.iterdir()) == []
    begun = []
    monkeypatch.setattr(people_sample, "ask_where_they_are", lambda *of: begun.append(of) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path, beyond_memory=True, **ASK)
    assert begun


def test_indices_that_the_disk_does_not_hold_are_refused(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "free_on_disk", lambda folder: 1000)
    with pytest.raises(SizeError, match=r"^spill: the indices of all rows need about 1 MB of disk, and 1 MB are free"):
        divulge.assess(*tables[:2], holdout=tables[2], spill=tmp_path, fidelity=False, **KEYS)
    assert list(tmp_path.iterdir()) == []


def test_run_and_plan_ask_for_the_same_disk(lazy):
    case, options = build_case(*lazy, engine="polars"), RunOptions(engine="polars", people=120)
    codes, every = bytes_of_codes(case.encoded, case.columns), ("cap", "linkability", "inference", "membership")
    one = disk.on_disk(case, every, options, codes)
    assert (
        one.needed == disk.on_disk_at_most(case, options, codes) > disk.on_disk(case, ("cap",), options, codes).needed
    )
    assert disk.on_disk(case, ("cap", "copies"), options, codes) == (2 * codes, 0)
    assert disk.on_disk(case, ("cap",), options, codes) == (codes, 0) and disk.on_disk(
        case, ("dcr",), options, codes
    ) == (0, 0)
    assert disk.check_disk(disk.OnDisk(2**60, 1), replace(options, beyond_memory=True)) < 2**60


def test_what_an_attack_searched_is_removed_when_it_has_ended(lazy, tmp_path, monkeypatch):
    """Its index and the numbers of all rows would lie on the disk until the run ends."""
    lying = {}

    def searched(case, task):
        if task.attack not in ("membership", "linkability", "inference"):
            return ()
        lying[task.attack, "before"] = len(list(tmp_path.glob("*/divulge-blocks-*")))
        lying[task.attack, "numbers"] = sum(key[0] == "features" for key in case.encoded._of_all.values())
        near = distances_of(case).nearest("real", "synthetic").distances
        features_of(case, case.columns)
        lying[task.attack, "made"] = len(list(tmp_path.glob("*/divulge-blocks-*")))
        lying[task.attack, "found"] = near.tobytes()
        return ()

    monkeypatch.setattr(runner, "_attacked", searched)
    divulge.assess(*lazy[:2], holdout=lazy[2], spill=tmp_path, **ASK)
    attacks = ("membership", "linkability", "inference")
    assert [lying[a, "before"] for a in attacks] == [0, 0, 0] and [lying[a, "made"] for a in attacks] == [1, 1, 1]
    assert {lying[a, "numbers"] for a in attacks} == {0}
    assert len({lying[a, "found"] for a in attacks}) == 1  # made again where somebody asks again
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_the_command_line_asks_people(divulge, tables, tmp_path, engine):
    for name, frame in zip("rsh", tables, strict=True):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in "rsh"]
    (tmp_path / "disk").mkdir()
    asked = ["--keys", "age,job", "--targets", "income", "--engine", engine, "--people", "120", "--no-fidelity"]
    status, _, err = divulge(
        "assess", *files[:2], "--holdout", files[2], *asked, "--spill", tmp_path / "disk", "--out", tmp_path / "out"
    )
    assert status == 0, err
    assert '"members": 120' in (tmp_path / "out" / "assessment.json").read_text()
    assert list((tmp_path / "disk").iterdir()) == []


@pytest.mark.slow
def test_an_assessment_by_blocks_in_files_is_that_in_memory(tables, tmp_path, monkeypatch):
    def found(**more):
        report = divulge.assess(*tables[:2], holdout=tables[2], keys=["age"], targets=["income"], models=False,
                                fidelity=False, jobs=1, **more)  # fmt: skip
        return [{**r.to_dict(), "seconds": 0} for r in report.results], report.records(), report.failed

    monkeypatch.setattr(people_sample, "Spill", lambda folder: Spill(folder, 61))
    expected, results = found(), found(spill=tmp_path)
    assert results[0] == expected[0] and results[1].equals(expected[1]) and results[2] == expected[2] == []
    assert list(tmp_path.iterdir()) == []


def test_each_attack_that_searches_was_measured(lazy):
    plan = plan_of(build_case(*lazy), Attacker(), RunOptions(search="off"))
    measured = {name for name, entry in CATALOGUE.items() if entry.cost.memory is not None}
    assert {t.attack for t in plan.tasks if searches(t)} == measured
    needed = bytes_to_search(plan.tasks, 10**6, 2 * 10**4, 15)
    assert needed.keys() == measured
    most = max(needed, key=needed.get)
    assert too_much(needed, bytes_at_once(needed, 0, 15) - 1) == [most] and too_much(needed, 0) == list(needed)
    assert not too_much(needed, bytes_at_once(needed, 0, 15))


def test_each_search_among_a_hundred_million_rows_fits_into_six_gigabytes(lazy):
    plan = plan_of(build_case(*lazy), Attacker(), RunOptions(search="off"))
    needed = bytes_to_search(plan.tasks, 10**8, 2 * 10**5, 15)
    assert max(needed.values()) < 6e9


@pytest.fixture
def relations(tables):
    return [duckdb.from_arrow(t.to_arrow()) for t in tables]


COUNTED = KEYS | {"engine": "duckdb", "fidelity": False, "search": "off"}


def test_relations_tell_no_rows_and_the_plan_says_so(relations):
    told = divulge.plan(*relations[:2], holdout=relations[2], **COUNTED)
    assert NO_ROWS in told.notes and NO_ROWS in SENTENCES
    assert "linkability" in dict(told.not_run) and told.disk == 0
    for call, people in product((divulge.assess, divulge.plan), (120, "all")):
        with pytest.raises(SettingError, match=r"people: a table is a relation of duckdb.*hint: write it as Parquet"):
            call(*relations[:2], holdout=relations[2], people=people, **COUNTED)
    for people in (120, "all"):
        with pytest.raises(SettingError, match="people: not with engine='spark'"):
            divulge.plan(*relations[:2], people=people, engine="spark")


def test_the_plan_refuses_what_a_run_by_an_engine_refuses(tables, tmp_path):
    tables[0].write_csv(tmp_path / "t.csv")
    for i, frame in enumerate((tables[0], tables[0].drop("age"))):
        frame.write_parquet(tmp_path / f"{i}.parquet")
    for table, engine, why in (
        (tmp_path / "t.csv", "polars", "no Parquet file"),
        (tables[0].lazy(), "duckdb", "a table of polars, which duckdb does not count"),
        (tables[0], "spark", "no Spark frame"),
        (tmp_path / "?.parquet", "polars", "the files have different columns: 'age'"),
    ):
        for call in (divulge.plan, divulge.assess):
            with pytest.raises(DivulgeError, match=why):
                call(table, tables[1], engine=engine)


@pytest.mark.slow
def test_a_run_on_relations_makes_what_the_plan_says(relations):
    told = divulge.plan(*relations[:2], holdout=relations[2], **COUNTED)
    data = divulge.assess(*relations[:2], holdout=relations[2], **COUNTED).assessment
    assert NO_ROWS in data.notes and {a for a, _ in told.not_run} == {o.attack for o in data.not_run}
    alone = divulge.assess(*relations[:2], holdout=relations[2], people="none", **COUNTED).assessment
    assert not any(n.startswith("nobody was asked") for n in alone.notes)


def test_nobody_is_asked_where_memory_does_not_suffice_and_the_report_says_so():
    engine = RunOptions(engine="polars")
    asking = with_default_people(engine, [10**6, 10**6], 10**6, 15, 10**6)
    assert nobody_in_words(engine, asking, by_rows=True) == [NO_MEMORY] and NO_MEMORY in SENTENCES
    assert nobody_in_words(engine, with_default_people(engine, [100, 100], 100, 15, 10**9), by_rows=True) == []
    spark, memory = RunOptions(engine="spark"), RunOptions()
    assert nobody_in_words(spark, spark, by_rows=False) == [NO_ROWS]
    assert nobody_in_words(memory, memory, by_rows=False) == []


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_a_folder_that_is_not_there_is_told_before_a_table_is_read(engine, tables, tmp_path):
    (tmp_path / "file").touch()
    for spill in (tmp_path / "away", tmp_path / "file"):
        with pytest.raises(SettingError, match="spill: no such folder"):
            divulge.assess("no such table.parquet", tables[1], engine=engine, spill=spill)
