"""Candidates compared where an engine holds the tables: the digits of memory, and the same people for every table."""

import datetime as dt
import json
from dataclasses import replace

import duckdb
import msgspec
import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case import asked as asked_module
from divulge.case.asked import ask_where_they_are
from divulge.case.case import build_case
from divulge.case.code_files import CodeFolder
from divulge.core.errors import SettingError, SizeError, TableError
from divulge.measures.catalogue import all_measures
from divulge.report.comparison.prose import STANDING
from divulge.run import assess as assess_module
from divulge.run.comparing import candidates as candidates_module
from divulge.run.comparing import compared_people
from divulge.run.comparing.compared_people import OTHERS_ASKED, people_of_comparison
from divulge.run.cost.expected_cost import bytes_of_scores
from divulge.run.cost.memory import Room
from divulge.run.engines import drawn_rows as rows_drawn
from divulge.run.engines import people_sample
from divulge.run.engines.drawn_rows import drawn_rows
from divulge.run.engines.engine_plan import COUNTED, EXACT_ALONE, NO_ROOM, restrict_to_counts
from divulge.run.engines.people_sample import DEFAULT
from divulge.run.planning.options import Attacker, RunOptions
from divulge.run.planning.plan import plan_of
from divulge.tables.opening import opened

ENGINES = ("duckdb", "polars")
ASKED = {"keys": ["age", "job"], "targets": ["illness", "income"], "jobs": 1, "fidelity": False}


def table(n, seed, offset=0, jobs=("cook", "judge", "nurse", None)):
    rng = np.random.default_rng(seed)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 30, n)]
    return pl.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "job": rng.choice(np.array(jobs, dtype=object), n).tolist(),
            "income": rng.normal(0, 1, n).round(1),
            "since": days,
            "illness": rng.choice(["flu", "gout", "none"], n, p=[0.2, 0.1, 0.7]),
            "household": [f"h{i}" for i in np.arange(n) // 3 + offset],
        }
    )


REAL, HOLDOUT = table(400, 1), table(240, 3, 1000)
CANDIDATES = {
    "copies": pl.concat([table(300, 2, 5000), REAL[:80], REAL[:20]]),
    # values that nobody has come before, between and after those of people, so that all codes are others
    "others": table(350, 4, 7000, ("actor", "baker", "cook", "judge", "lawyer", "zoologist")).with_columns(
        pl.col("age") - 9, pl.col("income") * 1.7
    ),
}


def written(folder, **tables):
    for name, frame in tables.items():
        frame.write_parquet(folder / f"{name}.parquet")
    return {name: str(folder / f"{name}.parquet") for name in tables}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return written(tmp_path_factory.mktemp("compared"), real=REAL, holdout=HOLDOUT, **CANDIDATES)


def by_engine(paths, engine, **more):
    given = {name: paths[name] for name in CANDIDATES}
    return divulge.compare(paths["real"], given, holdout=paths["holdout"], engine=engine, **ASKED | more)


def in_memory(**more):
    return divulge.compare(REAL, CANDIDATES, holdout=HOLDOUT, **ASKED | more)


def counted_plan(case, attacker, options):
    """Return the plan of a run in memory with what an engine makes."""
    plan = plan_of(case, attacker, options)
    restrict_to_counts(plan, replace(options, people=10**6))  # what asks people is kept
    return plan


RANKED = ("attacks", "pairs", "two_by_two", "verdict", "distances", "front")


def told(found):
    """Return what a comparison says of risk."""
    data = found.to_dict()
    candidates = [{k: c[k] for k in ("label", "verdict", "why", "apart", "worst")} for c in data["candidates"]]
    bands = [[t["bands"] for t in c["tables"]] for c in data["candidates"]]
    return {part: data[part] for part in RANKED} | {"candidates": candidates, "bands": bands}


@pytest.mark.slow
@pytest.mark.parametrize("people", [None, 100])
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_comparison_by_an_engine_has_the_digits_of_memory(engine, unit, people, paths, tmp_path, monkeypatch):
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])  # those of rows, without which nothing is judged
    asked = {"unit": unit, "people": people, "fidelity": people is None}  # that of a sample is of fewer rows
    found = by_engine(paths, engine, spill=tmp_path, **asked)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(assess_module, "plan_of_actors", counted_plan)
    expected = in_memory(**asked)
    for part, value in told(expected).items():
        assert told(found)[part] == value, part
    assert {a["attack"] for a in found.data["attacks"]} == {"copies", "membership", "linkability", "inference", "cap"}
    assert {n["what"] for n in found.data["not_compared"]} >= {"dcr", "singling_out"}
    assert found.data["sampling"] == expected.data["sampling"]
    assert (found.data["sampling"] is None) == (people is None)
    assert found.failed == []
    assert len(found.data["distances"]) == (2 if people is None else 0) == 2 * (found.data["front"] is not None)


def refused(paths, error, says, **more):
    with pytest.raises(error, match=says):
        by_engine(paths, **{"engine": "polars"} | more)


def test_nobody_asked_is_refused(paths):
    refused(paths, SettingError, "engine: candidates are ranked person by person, and spark tells", engine="spark")
    refused(paths, SettingError, "people: 'none' asks nobody, and candidates are ranked", people="none")
    with pytest.raises(SettingError, match="people: 'none' asks nobody"):
        in_memory(people="none")


def test_what_no_engine_counts_is_refused_or_listed(paths, tmp_path):
    REAL.write_csv(tmp_path / "real.csv")
    with pytest.raises(
        SettingError, match=r"engine: real 'real.csv' is no Parquet file, and polars counts these alone"
    ):
        divulge.compare(str(tmp_path / "real.csv"), {n: paths[n] for n in CANDIDATES}, engine="polars", **ASKED)
    relation = duckdb.from_arrow(REAL.to_arrow())
    with pytest.raises(SettingError, match="a relation of duckdb tells counts and no rows"):
        divulge.compare(relation, {n: paths[n] for n in CANDIDATES}, engine="duckdb", **ASKED)
    with pytest.raises(TableError, match=r"none can be read. The first: engine: synthetic is a table of duckdb"):
        divulge.compare(paths["real"], {"a": relation, "b": relation}, engine="polars", **ASKED)


def test_scores_that_do_not_fit_are_refused(paths, monkeypatch):
    def free(n):
        monkeypatch.setattr(compared_people, "room", lambda: Room(n, 0, "a test says so"))

    free(10**5)
    refused(paths, SizeError, "memory: the scores of 200 people under 2 tables need about .*a test says so", people=200)
    refused(paths, SizeError, "memory: nobody was asked: the values of the fewest people that are asked need more than")


def test_the_number_of_people_follows_from_memory_and_tables(paths, monkeypatch):
    people = [opened(paths[n], n, (), "polars") for n in ("real", "holdout")]
    monkeypatch.setattr(compared_people, "SAMPLES", (300, 150))
    monkeypatch.setattr(people_sample, "SAMPLES", (300, 150))

    def asked(n_tables, free=10**9, **options):
        monkeypatch.setattr(compared_people, "room", lambda: Room(free, 0, "a test says so"))
        found, notes = people_of_comparison(
            RunOptions(engine="polars", **options), people, 6, Attacker(), n_tables
        )  # fmt: skip
        return found.people, notes

    assert asked(2) == (300, [DEFAULT])
    each = sum(bytes_of_scores([300, 240], 6, Attacker(), membership=True))
    assert asked(10, free=19 * each) == (150, [DEFAULT])
    assert asked(10, free=20 * each) == (300, [DEFAULT])
    assert asked(10, free=1, beyond_memory=True)[0] == 300
    assert asked(2, people="all") == asked(2, people=400) == ("all", [])


@pytest.mark.slow
def test_other_people_are_never_ranked_together(paths, monkeypatch):
    """The guard: the order of codes follows from the synthetic table."""
    monkeypatch.setattr(asked_module, "_places", lambda case, i, names, rows=None: [
        case.codes(c, binned=False)[i] if rows is None else case.codes(c, binned=False)[i][rows] for c in names
    ])  # fmt: skip
    found = by_engine(paths, "polars", membership=False)
    assert [(f["label"], f["why"]) for f in found.failed] == [("others", OTHERS_ASKED)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_people_who_were_written_anew_meanwhile_are_not_ranked_with_the_others(engine, tmp_path):
    own = written(tmp_path, real=REAL, holdout=HOLDOUT, **CANDIDATES)

    def heard(what, done, total):
        if what == "others: table 2 of 2":
            REAL.with_columns(pl.col("age") + (pl.int_range(pl.len()) == 7)).write_parquet(own["real"])

    found = by_engine(own, engine, membership=False, targets=["illness"], progress=heard)
    assert [(f["label"], f["why"]) for f in found.failed] == [("others", OTHERS_ASKED)] and found.order == ["copies"]


@pytest.mark.slow
def test_a_candidate_that_lacks_a_column_or_fails_leaves_the_others(tmp_path):
    small = written(
        tmp_path, real=REAL, holdout=HOLDOUT, less=CANDIDATES["copies"].drop("income"), more=CANDIDATES["others"],
        none=pl.DataFrame({"z": [1]}),
    )  # fmt: skip
    asked = ASKED | {"targets": ["illness"], "membership": False, "ignore": ["income"]}
    found = divulge.compare(
        small["real"],
        {n: small[n] for n in ("less", "more", "none")},
        holdout=small["holdout"],
        engine="polars",
        **asked,
    )
    assert [f["label"] for f in found.failed] == ["none"] and len(found.order) == 2
    assert found.data["notes"][0] == "1 column that not all tables have were left out for all: income"
    assert set(found.data["notes"]) >= {COUNTED, EXACT_ALONE}
    told = " ".join(str(found).split())  # the terminal says what was left out of this comparison
    assert all(f"Note: {n}" in told for n in found.data["notes"] if n not in STANDING) and "No model was" not in told
    copies = next(a for a in found.data["attacks"] if a["attack"] == "copies")
    assert copies["candidates"][0]["members"] == 0.2
    found.write(tmp_path / "out")


@pytest.mark.slow
def test_what_is_written_goes_with_each_table(paths, tmp_path, monkeypatch):
    there, usual = [], candidates_module.people_seen

    def watched(case, options):
        there.append([p.name[:14] for p in tmp_path.iterdir()])
        if len(there) == 2:
            raise KeyboardInterrupt
        return usual(case, options)

    monkeypatch.setattr(candidates_module, "people_seen", watched)
    with pytest.raises(KeyboardInterrupt):
        by_engine(paths, "polars", spill=tmp_path, membership=False)
    assert there == [["divulge-codes-"]] * 2 and list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_compares_by_an_engine(engine, divulge, paths, tmp_path):
    (tmp_path / "disk").mkdir()
    status, out, err = divulge(
        "compare", paths["real"], *(paths[n] for n in CANDIDATES), str(tmp_path / "none.parquet"), "--holdout",
        paths["holdout"], "--keys", "age,job", "--targets", "illness", "--engine", engine, "--people", "100",
        "--no-membership", "--spill", tmp_path / "disk", "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 3, err
    asked = "100 of 400 members and 100 of 240 strangers"
    assert asked in " ".join(out.split())
    data = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert data["sampling"]["members"] == data["settings"]["people"] == 100 and data["settings"]["engine"] == engine
    assert asked in (tmp_path / "out" / "comparison.html").read_text()
    assert asked in (tmp_path / "out" / "comparison.md").read_text()
    assert list((tmp_path / "disk").iterdir()) == [] and [f["label"] for f in data["failed"]] == ["none"]


@pytest.mark.slow
def test_a_sample_in_memory_ranks_by_the_people_asked():
    found = in_memory(people=100, membership=False)
    assert found.data["sampling"]["members"] == 100
    copies = next(a for a in found.data["attacks"] if a["attack"] == "copies")
    assert "near" in copies["chosen"]
    assert copies["candidates"][0]["members"] in [n / 200 for n in range(201)]


LIGHT = {"membership": False, "fidelity": True, "targets": ["illness"]}


def kept(found):
    """Return what the reports of a comparison say of fidelity, without times."""
    return {
        label: [{**msgspec.to_builtins(r), "seconds": 0} for r in report.assessment.fidelity]
        for label, (report,) in found.reports.items()
    }


@pytest.fixture
def no_room(monkeypatch):
    def refused(*_, **__):
        raise SizeError("memory: a test says so")

    monkeypatch.setattr(rows_drawn, "codes_for_fidelity", refused)


@pytest.mark.slow
def test_fidelity_of_rows_drawn_is_that_of_memory_where_all_are(paths, no_room, monkeypatch):
    found = by_engine(paths, "polars", **LIGHT)
    monkeypatch.setattr(assess_module, "plan_of_actors", counted_plan)
    expected = in_memory(**LIGHT)
    counted = {m.name for m in all_measures() if not m.models}
    assert kept(found) == {k: [r for r in own if r["measure"] in counted] for k, own in kept(expected).items()}
    assert found.data["distances"] == expected.data["distances"] != []
    assert not any(n.startswith("differences of") for n in found.data["notes"])


@pytest.mark.slow
def test_fidelity_is_of_rows_drawn_where_all_do_not_fit(paths, no_room):
    found = by_engine(paths, "polars", people=100, **LIGHT)
    assert found.data["front"] is not None and found.data["distances"] != []
    assert "differences of distance were measured on 100 rows of each table, drawn at random" in found.data["notes"]
    for (report,) in found.reports.values():
        notes = report.assessment.notes
        assert NO_ROOM not in notes and len(report.assessment.fidelity) > 20
        assert any(n.startswith("fidelity was measured on 100 + 100 + 100 rows, drawn at random") for n in notes)


def test_rows_drawn_are_those_asked_and_no_more_than_there_may_be(tmp_path, monkeypatch):
    case = build_case(REAL, CANDIDATES["others"], HOLDOUT, engine="polars")
    asked = ask_where_they_are(case, 120, CodeFolder(tmp_path))
    drawn = drawn_rows(case, RunOptions(engine="polars", people=120), 2)
    assert [t.n_rows for t in drawn.tables] == [120, 120, 120] and drawn.of == (400, 350, 240)
    everybody = REAL.with_columns(pl.col("since").cast(pl.Datetime("us")), pl.col("age").cast(pl.Float64))
    named = drawn.real.named()
    assert named.join(everybody, on=named.columns, how="semi", nulls_equal=True).height == 120
    assert named["age"].to_list() == [case.numbers("age")[c] for c in asked.case.codes("age", binned=False)[0]]
    of_units = build_case(REAL, CANDIDATES["others"], HOLDOUT, engine="polars", unit="household")
    ask_where_they_are(of_units, 100, CodeFolder(tmp_path))
    homes = drawn_rows(of_units, RunOptions(engine="polars", people=100), 2)
    assert [t.named()["household"].n_unique() for t in homes.tables] == [100, 100, 80]  # there are 80 strangers
    assert homes.synthetic.n_rows > 250 and homes.schema.with_role("unit") == ("household",)
    more = build_case(HOLDOUT, REAL, HOLDOUT, engine="polars")
    ask_where_they_are(more, 300, CodeFolder(tmp_path))
    assert drawn_rows(more, RunOptions(engine="polars", people=300), 2).synthetic.n_rows == 400  # everybody is asked
    monkeypatch.setattr(rows_drawn, "TOGETHER", 90 * 11)
    assert [t.n_rows for t in drawn_rows(case, RunOptions(engine="polars", people=120), 10).tables] == [90, 90, 90]
    monkeypatch.setattr(rows_drawn, "MOST", 70)
    assert [t.n_rows for t in drawn_rows(case, RunOptions(engine="polars", people=120), 2).tables] == [70, 70, 70]


@pytest.mark.slow
def test_a_table_that_is_too_large_leaves_the_others(paths, monkeypatch):
    usual = candidates_module.assess_with

    def full(real, table, *more, **named):
        if table.n_rows == len(CANDIDATES["copies"]):
            raise SizeError("spill: a test says so")
        return usual(real, table, *more, **named)

    monkeypatch.setattr(candidates_module, "assess_with", full)
    found = by_engine(paths, "polars", membership=False, targets=["illness"])
    assert [f["why"] for f in found.failed] == ["spill: a test says so"] and found.order == ["others"]
    with pytest.raises(SizeError, match="a test says so"):
        in_memory(membership=False)


@pytest.mark.slow
def test_where_no_attack_ranks_people_an_engine_ranks_nothing(monkeypatch):
    def compared():
        tables = {name: frame.select("job") for name, frame in CANDIDATES.items()}
        return divulge.compare(REAL.select("job"), tables, holdout=HOLDOUT.select("job"), engine="polars", people=100,
                               membership=False)  # fmt: skip

    found = compared()
    assert (
        found.order == []
        and found.failed == []
        and [d["measure"] for d in found.data["distances"]] == ["column_shapes"]
    )
    assert found.data["verdict"]["sentence"].startswith("Nothing is ranked")
    monkeypatch.setattr(candidates_module, "drawn_rows", lambda *_: None)  # as where nobody is asked
    assert compared().data["distances"] == []


@pytest.mark.slow
def test_without_a_holdout_an_engine_ranks_nothing(paths):
    found = divulge.compare(
        paths["real"], {n: [paths[n]] for n in CANDIDATES}, engine="polars", **ASKED | {"membership": False}
    )
    assert found.order == [] and found.data["pairs"] == []
    rates = {a["attack"]: [c["members"] for c in a["candidates"]] for a in found.data["attacks"]}
    assert rates["copies"] == [0.2, 0.0]
