"""A run in which an engine counts the tables: what it makes, what it says that it did not make, and what it refuses."""

import polars as pl
import pytest
import report_helpers

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import build_case
from divulge.case.cells import n_cells_of
from divulge.case.preconditions import check_all
from divulge.core.errors import SettingError, SizeError
from divulge.measures.catalogue import all_measures
from divulge.report.external.known_sentences import SENTENCES, is_ours
from divulge.run.cost.memory import Room
from divulge.run.engines import engine_plan as counted_module
from divulge.run.engines.engine_plan import NEEDS_ROWS, NO_ROOM
from divulge.run.planning import plan as plan_module
from divulge.tables.opening import opened

KEYS = {"keys": ["age", "job"], "targets": ["income"], "jobs": 1, "people": "none"}


@pytest.fixture(scope="module")
def tables():
    return report_helpers.tables()


@pytest.fixture(scope="module")
def counted(tables):
    real, synthetic, holdout = (t.lazy() for t in tables)
    return divulge.assess(real, synthetic, holdout=holdout, engine="polars", **KEYS)


def test_every_attack_is_made_or_listed_with_the_reason(counted):
    made = {r.attack for r in counted.results}
    listed = {o.attack: o.why for o in counted.assessment.not_run}
    assert made | listed.keys() == CATALOGUE.keys() and not made & listed.keys()
    by_rows = {name for name, why in listed.items() if why == NEEDS_ROWS}
    need = {name for name, e in CATALOGUE.items() if e.plan.counted is None and e.plan.per != "demand"}
    assert need - by_rows == {"linear_reconstruction", "named_in_texts"}  # no target of two values, and no text
    assert not by_rows - need
    assert counted.failed == []


def test_what_was_not_made_never_counts_as_clean(tables):
    real, _, holdout = tables
    # strangers in place of a synthetic table: nothing leaks
    report = divulge.assess(real, holdout.clone(), holdout=holdout, engine="polars", **KEYS)
    assert report.assessment.verdict.verdict != "none found"
    harmless = pl.DataFrame({c: real[c].sample(fraction=1.0, shuffle=True, seed=i) for i, c in enumerate(real.columns)})
    told = divulge.assess(real, harmless, holdout=holdout, engine="polars", **KEYS).assessment.verdict
    assert told.verdict == "cannot tell"
    for name in ("dcr", "linkability", "inference", "membership"):
        assert name in told.sentence


def test_the_report_says_which_engine_and_what_no_check_looked_at(counted):
    data = counted.assessment
    assert data.settings.engine == "polars"
    unknown = {c.check for c in data.preconditions if not c.tested}
    assert unknown == {"exchangeable", "no overlap", "holdout unseen", "rows belong together"}
    assert unknown <= {n.what for n in data.not_tested}
    assert data.records is None
    assert {r.measure for r in data.fidelity if r.verdict != "not measured"} >= {"column_shapes", "column_pairs"}
    assert {n.measure for n in data.fidelity_scope.not_measured} >= {m.name for m in all_measures() if m.models}
    assert set(data.notes[:2]) <= SENTENCES


def test_fidelity_that_does_not_fit_is_left_out_with_a_note_or_refused(tables, monkeypatch):
    real, synthetic, holdout = (t.lazy() for t in tables)
    monkeypatch.setattr(counted_module, "_ROW", 10**9)
    monkeypatch.setattr(counted_module, "room", lambda: Room(10**6, 0, "a test says so"))
    report = divulge.assess(real, synthetic, holdout=holdout, engine="polars", **KEYS)
    assert report.assessment.fidelity == () and NO_ROOM in report.assessment.notes and NO_ROOM in SENTENCES
    assert report.results
    with pytest.raises(SizeError, match=r"the codes of [\d,]+ rows need about .* may use 1 MB \(a test says so\)"):
        divulge.fidelity(real, synthetic, holdout=holdout, engine="polars")
    assert divulge.fidelity(real, synthetic, engine="polars", beyond_memory=True).results


@pytest.mark.slow
def test_fidelity_that_does_not_fit_is_measured_on_rows_that_are_drawn(tables, monkeypatch):
    monkeypatch.setattr(counted_module, "_ROW_OF_FILES", 10**9)
    monkeypatch.setattr(counted_module, "room", lambda: Room(10**9, 0, "a test says so"))
    found = []
    for turned in (False, True):
        real, synthetic, holdout = ((t.reverse() if turned else t).lazy() for t in tables)
        report = divulge.assess(
            real, synthetic, holdout=holdout, engine="polars", people=100, membership=False, targets=["income"]
        )
        (note,) = [n for n in report.assessment.notes if n.startswith("fidelity was measured on")]
        assert "100 + 100 + 100 rows, drawn at random" in note and is_ours(note)
        found.append([(r.measure, r.value, r.p_value, r.verdict) for r in report.assessment.fidelity])
    assert found[0] == found[1] and len(found[0]) > 20


def test_a_run_whose_distinct_rows_do_not_fit_is_refused_before_it_begins(tables, monkeypatch):
    real, synthetic, holdout = (t.lazy() for t in tables)
    asked = {"holdout": holdout, "engine": "polars", "fidelity": False, **KEYS}
    n_cells = []
    monkeypatch.setattr(
        counted_module, "n_cells_of", lambda *a, **k: n_cells.append(n_cells_of(*a, **k)) or n_cells[-1]
    )
    monkeypatch.setattr(counted_module, "room", lambda: Room(1000, 0, "a test says so"))
    with pytest.raises(SizeError, match=r"the distinct rows of [\d,]+ \+ [\d,]+ \+ [\d,]+ rows need about"):
        divulge.assess(real, synthetic, **asked)
    assert len(n_cells) == 6 and max(n_cells) <= max(map(len, tables))
    assert divulge.assess(real, synthetic, beyond_memory=True, **asked).results
    cells = sum(n_cells)
    monkeypatch.setattr(counted_module, "room", lambda: Room(170 * cells, 0, "a test says so"))
    assert divulge.assess(real, synthetic, **asked).results
    monkeypatch.setattr(counted_module, "room", lambda: Room(170 * cells - 1, 0, "a test says so"))
    with pytest.raises(SizeError):
        divulge.assess(real, synthetic, **asked)


def test_measures_that_fit_models_are_left_out_with_a_note_or_refused(tables):
    real, synthetic, _ = (t.lazy() for t in tables)
    found = divulge.fidelity(real, synthetic, engine="polars")
    assert any(n.startswith("measures that fit models were not made") for n in found.notes)
    with pytest.raises(SettingError, match="'detection' needs every row, and polars counts"):
        divulge.fidelity(real, synthetic, engine="polars", measures=["detection", "column_shapes"])
    with pytest.raises(SettingError, match="polars counts one table"):
        divulge.fidelity({"a": tables[0]}, {"a": tables[1]}, engine="polars")


def test_documents_and_editions_are_written(counted, tmp_path):
    counted.write(tmp_path / "custodian")
    counted.external().write(tmp_path / "external")
    for folder in ("custodian", "external"):
        assert NEEDS_ROWS in (tmp_path / folder / "report.md").read_text()
        assert not (tmp_path / folder / "records.parquet").exists()


@pytest.mark.slow
def test_key_sets_are_searched_where_scores_of_the_tests_fit(tables, monkeypatch):
    real, synthetic, holdout = (t.lazy() for t in tables)
    people = len(tables[0]) + len(tables[2])

    def told():
        report = divulge.assess(real, synthetic, holdout=holdout, engine="polars", people="none", fidelity=False)
        return report, report.assessment.notes

    n_targets = len({k.target for k in told()[0].assessment.key_sets})
    monkeypatch.setattr(plan_module, "_SCORES", 3 * n_targets * people)
    report, notes = told()
    assert len(report.assessment.key_sets) == 3 * n_targets
    assert f"{n_targets} targets are many for so many people: the best 3 key sets of each were tested" in notes
    monkeypatch.setattr(plan_module, "_SCORES", (n_targets - 1) * people)
    report, notes = told()
    assert {(r.attack, r.variant) for r in report.results} == {("copies", "exact")}
    assert any(n.startswith("no key set was searched for: too many people") and n in SENTENCES for n in notes)


def test_cells_moved_between_rows_are_not_called_the_same_table():
    real, moved = (pl.DataFrame({"a": [0, 0, 1, 1], "b": b}) for b in ([0, 0, 1, 1], [1, 1, 0, 0]))

    def told(*tables):
        checks = check_all(build_case(*tables))
        return [c.detail for c in checks if c.check == "different tables"]

    (counts,) = told(*(opened(t.lazy(), role, (), "polars") for t, role in ((real, "real"), (moved, "synthetic"))))
    assert counts.startswith("real and synthetic have each value of each column equally often") and "moved" in counts
    assert not told(real, moved) and told(real, real[::-1]) == [
        "real and synthetic are the same table: were the files mixed up?"
    ]


@pytest.mark.parametrize("option", [{"positive_control": 0.1}, {"fidelity_models": True}])
def test_options_that_need_rows_are_refused(tables, option):
    name = next(iter(option))
    with pytest.raises(SettingError, match=f"{name}: not with engine='polars'"):
        divulge.assess(*tables[:2], holdout=tables[2], engine="polars", **option)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_the_command_line_counts_files(divulge, tables, tmp_path, engine):
    for name, frame in zip("rsh", tables, strict=True):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in "rsh"]
    asked = ["--keys", "age,job", "--targets", "income", "--engine", engine, "--people", "none"]
    status, _, err = divulge("assess", *files[:2], "--holdout", files[2], *asked, "--out", tmp_path / "out")
    assert status == 0
    assert "counting the tables where they are" in err or err
    assert f'"engine": "{engine}"' in (tmp_path / "out" / "assessment.json").read_text()
    (tmp_path / "parts").mkdir()
    tables[1].write_parquet(tmp_path / "parts" / "0.parquet")
    status, out, _ = divulge("fidelity", files[0], tmp_path / "parts", "--engine", engine)
    assert status == 0 and "column pairs" in out and "models were not made" in out + _
    status, _, err = divulge("assess", tmp_path / "r.csv", files[1], "--engine", engine)
    assert status == 2 and "no such file" in err
    tables[0].write_csv(tmp_path / "r.csv")
    status, _, err = divulge("assess", tmp_path / "r.csv", files[1], "--engine", engine)
    assert status == 2 and "no Parquet file" in err
