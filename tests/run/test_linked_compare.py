"""Linked tables beside `assess`: candidates compared in people, the gate, audits, and bad input of each."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.cli import cli
from divulge.core.errors import DivulgeError, SettingError, TableError

N = 120


def shop(rng, first):
    users = pl.DataFrame({"uid": np.arange(first, first + N), "age": rng.integers(18, 80, N)})
    owner = np.repeat(users["uid"].to_numpy(), rng.integers(2, 7, N))
    items = [f"i{k}" for k in rng.integers(0, 9, len(owner))]
    return {"users": users, "orders": pl.DataFrame({"uid": owner, "item": items, "n": rng.integers(1, 4, len(owner))})}


RNG = np.random.default_rng(48)
REAL, HOLDOUT, FRESH = (shop(RNG, first) for first in (0, 1_000, 2_000))
COPY = {name: t.sample(t.height, shuffle=True, seed=1).with_columns(pl.col("uid") + 5_000) for name, t in REAL.items()}
FAST = {"holdout": HOLDOUT, "membership": False, "jobs": 1}


@pytest.fixture(scope="module")
def found():
    return divulge.compare(REAL, {"fresh": FRESH, "copy": COPY}, **FAST)


@pytest.fixture
def folders(tmp_path):
    for name, tables in {"real": REAL, "holdout": HOLDOUT, "fresh": FRESH, "copy": COPY}.items():
        (tmp_path / name).mkdir()
        for table, frame in tables.items():
            frame.write_csv(tmp_path / name / f"{table}.csv")
    (tmp_path / "half").mkdir()
    FRESH["users"].write_csv(tmp_path / "half" / "users.csv")
    (tmp_path / "empty").mkdir()
    return tmp_path


def command(*args):
    return CliRunner().invoke(cli, list(map(str, args)))


def told(result):
    assert result.exception is None or isinstance(result.exception, (DivulgeError, SystemExit))
    return f"{result.output}{result.exception}"


def test_candidates_of_linked_tables_are_ranked_by_people(found):
    assert found.order == ["fresh", "copy"]
    (worse,) = (c for c in found.comparison.candidates if c.label == "copy")
    assert worse.verdict == "excess found"
    assert worse.worst.low > 0.5
    assert found.comparison.two_by_two[0].riskier == "copy"
    assert found.comparison.front.labels
    assert any("those of people" in n for n in found.comparison.notes)
    assert any(r.variant == "whole history" for r in found.reports["copy"][0].results)
    assert "<svg" in found.to_html()


def test_a_candidate_that_holds_whole_histories_of_common_rows_has_their_risk():
    mine = REAL["orders"].filter(pl.col("uid") < N // 2).with_columns(pl.col("uid") + 2_000)
    own = FRESH["orders"].filter(pl.col("uid") >= 2_000 + N // 2)
    pasted = FRESH | {"orders": pl.concat([mine, own])}
    found = divulge.compare(REAL, {"pasted": pasted, "fresh": FRESH}, fidelity=False, **FAST)
    assert found.order == ["fresh", "pasted"]
    (copies,) = (a for a in found.comparison.attacks if a.attack == "copies")
    risks = {c.label: c.risk for c in copies.candidates}
    assert abs(risks["pasted"] - 0.5) < 0.05
    assert risks["fresh"] < 0.05
    assert "whole history (a person counts once)" in copies.chosen
    report = found.reports["pasted"][0]
    bounds = {b.keys: b for b in report.assessment.verdict.bounds if b.variant == "whole history"}
    assert bounds.keys() == {("orders",), ("users", "orders")}
    assert all(b.primary for b in bounds.values())
    assert bounds["orders",].limit > 0.4 > bounds["users", "orders"].limit


def test_a_comparison_does_not_depend_on_the_order_of_rows_or_on_keys(found):
    turned = [{n: t.reverse().with_columns(pl.col("uid") * 3 + 7) for n, t in s.items()} for s in (FRESH, COPY)]
    again = divulge.compare(REAL, {"copy": turned[1], "fresh": turned[0]}, **FAST)
    assert again.order == found.order
    assert [c.worst for c in again.comparison.candidates] == [c.worst for c in found.comparison.candidates]


def test_several_syntheses_of_one_generator_and_people_asked():
    found = divulge.compare(REAL, {"a": [FRESH, FRESH], "b": COPY}, people=100, fidelity=False, unit="users", **FAST)
    assert found.order == ["a", "b"]
    assert [len(c.tables) for c in found.comparison.candidates] == [2, 1]


def test_candidates_that_lack_something_fail_alone_and_mixed_kinds_are_told():
    lacking = {"t": {"users": FRESH["users"]}, "c": FRESH | {"orders": FRESH["orders"].drop("n")}, "e": {}, "f": FRESH}
    found = divulge.compare(REAL, lacking, fidelity=False, **FAST)
    why = {f["label"]: f["why"] for f in found.failed}
    assert found.order == ["f"]
    assert "no table 'orders'" in why["t"]
    assert "'orders': no column 'n'" in why["c"]
    assert "has no table" in why["e"]
    for real, candidates, what in (
        (REAL, {"a": FRESH, "b": FRESH["users"]}, "candidates: 'b': this is one table, and real is several"),
        (REAL["users"], {"a": FRESH["users"], "b": COPY}, "real: this is one table, and holdout is several"),
        (REAL, {"a": {"users": 3}, "b": {"users": 4}}, "none can be read"),
    ):
        with pytest.raises((SettingError, TableError), match=what):
            divulge.compare(real, candidates, **FAST)
    with pytest.raises(SettingError, match="no table 'orders'"):
        divulge.compare(REAL, {"a": {"users": FRESH["users"]}, "b": {"users": COPY["users"]}}, **FAST)


def test_the_command_takes_folders_and_lists(folders):
    def listed(name):
        return f"users={folders / name / 'users.csv'},orders={folders / name / 'orders.csv'}"

    quick = ["--no-membership", "--no-fidelity", "--out", folders / "c"]
    sides = [folders / "real", folders / "fresh", folders / "copy", "--holdout", folders / "holdout"]
    result = command("compare", *sides, *quick)
    assert result.exit_code == 0, result.output
    assert "Least risk: “fresh”" in result.output
    result = command(
        "compare", listed("real"), listed("fresh"), f"B={listed('copy')}", "--holdout", listed("holdout"), *quick
    )
    assert result.exit_code == 0, result.output
    assert "Most risk: “B”" in result.output
    assert (folders / "c" / "B").is_dir()
    assert (folders / "c" / "fresh").is_dir()


def test_bad_sides_of_the_command_are_told_in_a_sentence(folders):
    real, fresh, holdout = folders / "real", folders / "fresh", ["--holdout", folders / "holdout", "-q"]
    one = fresh / "users.csv"
    listed = f"B=users={one},orders={fresh / 'orders.csv'}"
    for args, what in (
        ([real, folders / "half", fresh, *holdout], "half failed: synthetic: no table 'orders'; there are 'users'"),
        ([real, folders / "empty", fresh, *holdout], "empty' has no tables"),
        ([real, one, fresh, *holdout], "candidates: 'users' is one table, and real is several"),
        ([one, one, listed, "-q"], "real: this is one table, and candidate 'B' is several"),
        ([one, fresh, folders / "copy", "-q"], "the files have different columns"),
        ([real, fresh, folders / "copy", "--holdout", one, "-q"], "the files have different columns"),
        ([real, fresh, folders / "nowhere", *holdout], "nowhere: no such file"),
        ([real, fresh, folders / "copy", "--holdout", folders / "nowhere", "-q"], "nowhere: no such file"),
    ):
        result = command("compare", *args, "--no-membership", "--no-fidelity", "--out", folders / "c")
        assert result.exit_code, result.output
        assert what in told(result)


def test_an_audit_of_linked_tables_says_what_to_do_instead(folders):
    with pytest.raises(SettingError, match="several tables, and an audit deals the rows of one"):
        divulge.audit(REAL, lambda table, seed: table, secrets=["age"], runs=10)
    for data in (folders / "real", f"users={folders}/real/users.csv,orders={folders}/real/orders.csv"):
        result = command("audit", data, "--train", "true {train} {synthetic}", "--out", folders / "a")
        assert "`divulge assess` attacks linked tables" in told(result)


def test_the_gate_tells_what_changed_from_reports_alone(folders, found):
    now, before = found.reports["copy"][0], found.reports["fresh"][0]
    now.write(folders / "now")
    before.write(folders / "before")
    now.external().write(folders / "external")
    policy = folders / "policy.toml"
    policy.write_text('name = "p"\n[change]\nverdict = "no change found"\n')
    earlier = ["--baseline", folders / "before" / "assessment.json", "--policy", policy]
    result = command("gate", folders / "now" / "assessment.json", *earlier)
    assert result.exit_code == 1
    assert "«rose»" in result.output
    assert command("gate", folders / "before" / "assessment.json", *earlier).exit_code in (0, 1)
    result = command("gate", folders / "external" / "assessment.json", *earlier)
    assert "an external edition" in told(result)


def test_the_page_of_a_comparison_counts_people(found):
    html = found.to_html()
    size = f"users: {N}, orders: {REAL['orders'].height}"
    assert size in html
    assert [t.name for t in found.comparison.tables.real.linked] == ["users", "orders"]
    assert [t.name for t in found.comparison.candidates[0].tables[0].linked] == ["users", "orders"]
