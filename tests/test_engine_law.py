"""The engine that counts the tables changes no bit of a result: engines x attacks x units."""

import datetime as dt
from contextlib import suppress

import msgspec
import numpy as np
import polars as pl
import pytest
from fuzz.triples import File, triple
from test_laws import settings_of

import divulge
from divulge.attacks import key_sets
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.multiplicity import correct
from divulge.case.case import build_case
from divulge.case.encoded import ROLES
from divulge.core.errors import DivulgeError, TableError
from divulge.measures.catalogue import all_measures
from divulge.run import assess as assess_module
from divulge.run.engines.engine_plan import restrict_to_counts
from divulge.run.planning.plan import plan_of
from divulge.tables import outlines
from divulge.tables.opening import opened

ENGINES = ("duckdb", "polars")
COUNTED = sorted(
    name for name, entry in CATALOGUE.items() if entry.plan.per in ("pair", "key set") and name != "baseline_cap"
)
"""Of `baseline_cap` one guess is a model trained on rows."""


def table(n, seed, offset=0):
    """Return a table with every kind of value that engines write in their own way."""
    rng = np.random.default_rng(seed)
    amounts = rng.normal(0, 1, n).round(3)
    amounts[rng.random(n) < 0.1] = np.nan
    amounts[rng.random(n) < 0.1] = -0.0
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 40, n)]
    return pl.DataFrame(
        {
            "income": pl.Series(amounts).set(pl.Series(rng.random(n) < 0.1), None),
            "job": rng.choice(["cook", "judge", "", " ", "1", "01", None], n).tolist(),
            "rooms": pl.Series(rng.integers(1, 6, n), dtype=pl.Int8),
            "since": days,
            "owner": rng.random(n) < 0.5,
            "illness": rng.choice(["flu", "gout", "none"], n, p=[0.2, 0.1, 0.7]),
            "household": (np.arange(n) // 3 + offset).astype(str),
        }
    )


@pytest.fixture(scope="module")
def tables():
    real = table(240, 1)
    synthetic = pl.concat([table(200, 2, 500), real[:30], real[:10]])  # some rows repeat
    return real, synthetic, table(120, 3, 1000)


@pytest.fixture(scope="module")
def paths(tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines")
    for name, frame in zip(("real", "synthetic", "holdout"), tables, strict=True):
        frame.write_parquet(folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet") for name in ("real", "synthetic", "holdout")]


def told(found):
    """Return what results say in assessment.json, without the time they took."""
    return [{**r.to_dict(), "seconds": 0} for r in (found if isinstance(found, tuple) else (found,))]


CASES = [(name, one) for name in COUNTED for one in settings_of(name) if "boosting" not in one.values()]
CASES += [("copies", {"variants": ["exact"]}), ("copies", {"variants": ["exact"], "columns": ["job", "income"]})]


def answers(given, engine, unit):
    """Return what every counted attack says of the same tables; those of one attack are corrected together."""
    real, synthetic, holdout = given
    case = build_case(real, synthetic, holdout, unit=unit, engine=engine)
    if engine != "memory":
        assert not case.in_memory
        case.gather([c for c in case.columns if c != unit], case.whole_record)
    found = []
    for name, settings in CASES:
        some = CATALOGUE[name].run(case, **settings)
        found += some if isinstance(some, tuple) else (some,)
    return told(tuple(correct(case, found)))


@pytest.mark.first(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", [None, "household"])
def test_the_engine_changes_no_bit_of_a_result(engine, unit, tables, paths):
    expected, found = answers(tables, "memory", unit), answers(paths, engine, unit)
    assert [one for one, other in zip(found, expected, strict=True) if one != other] == []
    assert any(r["p_adjusted"] != r["p_value"] for r in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "engine"), [(None, "duckdb"), ("household", "polars"), (None, "polars"), ("household", "duckdb")]
)
def test_numbers_that_are_coded_by_their_edges_change_no_bit(engine, unit, tables, paths, monkeypatch):
    monkeypatch.setattr(outlines, "MANY", 12)
    monkeypatch.setattr(outlines, "_FETCHED", 3)
    case = build_case(*paths, unit=unit, engine=engine)
    assert [c for c in case.columns if case.encoded.outlines.of(c) is not None] == ["income", "since"]
    expected, found = answers(tables, "memory", unit), answers(paths, engine, unit)
    assert [one for one, other in zip(found, expected, strict=True) if one != other] == []


@pytest.mark.first(1)
@pytest.mark.parametrize("unit", ["household", None])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("disco", {"keys": ["job", "income"], "target": "illness"}),
        ("cap", {"keys": ["job", "rooms"], "target": "income"}),
        ("replicated_uniques", {"keys": ["job", "since"]}),
        ("copies", {"variants": ["exact"]}),
    ],
)
def test_a_function_says_the_same_on_every_engine(name, settings, engine, unit, tables, paths):
    attack = getattr(divulge, name)
    expected = attack(*tables[:2], holdout=tables[2], unit=unit, **settings)
    assert told(attack(*paths[:2], holdout=paths[2], unit=unit, engine=engine, **settings)) == told(expected)


def kept(given, engine, unit=None, **settings):
    """Return what the counted measures of fidelity say."""
    found = divulge.fidelity(*given[:2], holdout=given[2], unit=unit, engine=engine, **settings)
    warnings = [w for w in found.warnings if "equal a real row" not in w]  # an engine does not look for these
    return told(found.results), warnings, found.settings


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["household", None])
@pytest.mark.parametrize("engine", ENGINES)
def test_fidelity_is_the_same_on_every_engine(engine, unit, tables, paths):
    expected = kept(tables, "memory", unit, models=False, groups=["job", "owner"])
    assert kept(paths, engine, unit, groups=["job", "owner"]) == expected
    measured = {r["measure"] for r in expected[0] if r["verdict"] != "not measured"}
    assert measured == {m.name for m in all_measures() if not m.models}


def hostile_answers(given, engine):
    """Return what some counted attacks, and fidelity, say of any tables, about their first columns."""
    case = build_case(*given, engine=engine)
    first = list(case.columns[:3])
    if engine != "memory":
        case.gather(first, case.whole_record)
    found = list(CATALOGUE["replicated_uniques"].run(case, keys=first[:2]))
    if len(first) == 3:
        found.append(CATALOGUE["cap"].run(case, keys=first[:2], target=first[2], unseen="zero"))
    if case.whole_record:
        found += CATALOGUE["copies"].run(case, variants=["exact"])
    return told(tuple(correct(case, found))), kept(given, engine, models=False)[:2]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("many", [outlines.MANY, 3])
def test_the_engine_changes_no_bit_of_hostile_tables(many, monkeypatch):
    monkeypatch.setattr(outlines, "MANY", many)
    equal = dict.fromkeys(ENGINES, 0)
    for seed in range(48):
        drawn = triple(seed)
        given = [drawn.real, drawn.synthetic, drawn.holdout]
        if any(isinstance(t, File | list | str | pl.LazyFrame) for t in given):
            continue
        try:
            here = [None if t is None else opened(t, role) for t, role in zip(given, ROLES, strict=True)]
            expected = hostile_answers(here, "memory")
        except DivulgeError:
            continue
        for engine in ENGINES:
            with suppress(TableError):  # objects of Python, which no engine groups
                assert hostile_answers(here, engine) == expected, f"seed {seed}, {engine}"
                equal[engine] += 1
    assert min(equal.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_for_key_sets_looks_at_the_same_rows_on_every_engine(engine, tables, paths, monkeypatch):
    def searched(given, engine, most):
        monkeypatch.setattr(key_sets, "_MOST", most)
        case = build_case(*given, engine=engine, unit="household")
        return key_sets.ranked_key_sets(case, ["illness", "income"], keep=50)

    monkeypatch.setattr(key_sets, "_FEWEST", 0)
    for most in (240, 90):
        expected, notes = searched(tables, "memory", most)
        assert searched(paths, engine, most) == (expected, notes)
        assert searched([t.reverse() for t in tables], "memory", most) == (expected, notes)
        assert len(expected) > 20 and ("90 of 240 synthetic rows" in " ".join(notes)) == (most == 90)


ASKED = {"keys": ["job", "rooms"], "targets": ["illness", "income", "owner"]}


def counted_plan(case, attacker, options):
    """Return the plan of a run in memory with what an engine makes alone."""
    plan = plan_of(case, attacker, options)
    restrict_to_counts(plan, options)
    return plan


def assessed(given, engine, unit, **asked):
    """Return the results, failures and fidelity of an assessment, without times."""
    alone = {"people": "none"} if engine in ENGINES else {}
    options = {"models": False, "jobs": 1} | alone | asked
    report = divulge.assess(*given[:2], holdout=given[2], unit=unit, engine=engine, **options)
    fidelity = msgspec.to_builtins(report.assessment.fidelity)
    return told(tuple(report.results)), report.failed, [{**r, "seconds": 0} for r in fidelity]


@pytest.mark.first(1)
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_assessment_has_the_same_results_on_every_engine(engine, unit, tables, paths, monkeypatch):
    monkeypatch.setattr(
        assess_module, "check_all", lambda case: []
    )  # those of rows, which failing take the scores away
    found = assessed(paths, engine, unit, **ASKED)
    monkeypatch.setattr(assess_module, "plan_of_actors", counted_plan)
    expected = assessed(tables, "memory", unit, **ASKED)
    assert found == expected
    usual = {name for name in COUNTED if not CATALOGUE[name].plan.for_actors}
    assert {r["attack"] for r in found[0]} == {*usual, "copies"} and len(found[2]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_assessment_without_keys_has_the_same_results_on_every_engine(engine, unit, tables, paths, monkeypatch):
    monkeypatch.setattr(key_sets, "_FEWEST", 0)
    monkeypatch.setattr(key_sets, "_MOST", 100)
    asked = {"targets": ["illness", "rooms"]}
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])
    found = assessed(paths, engine, unit, **asked)
    monkeypatch.setattr(assess_module, "plan_of_actors", counted_plan)
    assert assessed(tables, "memory", unit, **asked) == found
    assert len({tuple(r["keys"]) for r in found[0]}) > 20


# ---------------------------------------------------------------- people asked, by the codes of all rows in files

SAMPLED = sorted(name for name, entry in CATALOGUE.items() if entry.sampled)


def sampled_plan(case, attacker, options):
    """Return the plan of a run in memory with what a run by an engine asks a sample of people."""
    plan = plan_of(case, attacker, options)
    restrict_to_counts(plan, options)
    return plan


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """Return tables with people enough for every attack, and their paths."""
    real = table(700, 5)
    tables = real, pl.concat([table(500, 6, 5000), real[:90], real[:20]]), table(400, 7, 9000)
    folder = tmp_path_factory.mktemp("larger")
    for name, frame in zip(ROLES, tables, strict=True):
        frame.write_parquet(folder / f"{name}.parquet")
    return tables, [str(folder / f"{name}.parquet") for name in ROLES]


@pytest.mark.slow
@pytest.mark.parametrize("people", [150, 10_000])
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_sample_of_people_has_the_same_results_on_every_engine(engine, unit, people, larger, tmp_path, monkeypatch):
    tables, paths = larger
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])
    asked = {"people": people, "targets": ["illness", "income"], "keys": ["job", "rooms"], "fidelity": False}
    found = assessed(paths, engine, unit, spill=tmp_path, **asked)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(assess_module, "plan_of_actors", sampled_plan)
    expected = assessed(tables, "memory", unit, **asked)
    assert [r for r, other in zip(found[0], expected[0], strict=True) if r != other] == []
    assert found == expected
    assert set(SAMPLED) - {"abstention"} <= {r["attack"] for r in found[0]} and found[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", [None, "household"])
@pytest.mark.parametrize("engine", ENGINES)
def test_fidelity_by_codes_in_files_is_that_of_memory(engine, unit, larger, monkeypatch):
    tables, paths = larger
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])
    asked = {"people": 150, "targets": ["illness"], "keys": ["job"], "membership": False}
    found = assessed(paths, engine, unit, **asked)
    monkeypatch.setattr(assess_module, "plan_of_actors", sampled_plan)
    expected = assessed(tables, "memory", unit, **asked)
    counted = {m.name for m in all_measures() if not m.models}
    assert found[2] == [r for r in expected[2] if r["measure"] in counted] and len(found[2]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_models_learn_the_same_on_every_engine(engine, larger, monkeypatch):
    tables, paths = larger
    monkeypatch.setattr(assess_module, "check_all", lambda case: [])
    asked = {"people": 150, "targets": ["illness", "income"], "models": True, "membership": False, "fidelity": False}
    found = assessed(paths, engine, None, search="off", **asked)
    monkeypatch.setattr(assess_module, "plan_of_actors", sampled_plan)
    assert found == assessed(tables, "memory", None, search="off", **asked)
    assert "model" in {r["variant"] for r in found[0]}
