"""`divulge membership`, `divulge changes` and `divulge assess --together`: tables, files, one sentence for bad input."""

import json
import re

import msgspec
import numpy as np
import polars as pl
import pytest

from divulge.report.model import Precondition

FAST = ("--scores", "ratio")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three tables with copies of 20 members each; two releases, between which 20 people left."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def people(n):
        return pl.DataFrame({f"x{j}": rng.normal(size=n).round(3) for j in range(3)})

    real = people(120)
    real.write_csv("real.csv")
    people(120).write_csv("holdout.csv")
    for i in range(3):
        pl.concat([real[20 * i : 20 * i + 20], people(40)]).write_csv(f"s{i}.csv")
    named = real.with_row_index("id")
    for name, table in (("1", named), ("2", named[20:])):
        table.write_csv(f"real{name}.csv")
        table.drop("id").with_columns(pl.col("x0") + 0.01).write_csv(f"syn{name}.csv")
    return tmp_path


def test_several_tables_are_attacked_together(divulge, files):
    synthetic = [f"s{i}.csv" for i in range(3)]
    code, out, err = divulge(
        "membership", "real.csv", *synthetic, "--holdout", "holdout.csv", *FAST, "--json", "o.json"
    )
    assert (code, err) == (0, "divulge: reading the tables\ndivulge: scoring people\n")
    written = json.loads((files / "o.json").read_text())
    assert list(written) == ["divulge", "preconditions", "results"]
    (found,) = written["results"]
    assert found["verdict"] == "excess found"
    assert "divulge: membership: excess found" in out
    assert f"{found['context']['AUC']:.3f}" in out
    assert "By number of synthetic tables, ratio:" in out
    assert re.search(rf"\n 3 +180 +{found['context']['AUC']:.3f} ", out)
    given = ("--json", "o.json", *FAST, "-q")
    assert divulge("membership", "real.csv", "s0.csv", "--holdout", "holdout.csv", *given) == (0, "", "")
    one = (files / "o.json").read_text()
    assert divulge("membership", "real.csv", "s0.csv", "holdout.csv", *given) == (0, "", "")
    same = (files / "o.json").read_text()
    assert re.sub(r'"seconds": .*', "", same) == re.sub(r'"seconds": .*', "", one)


def test_preconditions_are_written_in_the_form_of_an_assessment(divulge, files):
    """A holdout of other people: each check has its name, whether it is met, its numbers and its sentence."""
    given = ("membership", "real.csv", "s0.csv", *FAST, "--json", "o.json", "--holdout")
    people = pl.read_csv("holdout.csv")
    people.with_columns(pl.col("x0") + 3).write_csv("others.csv")
    told = {}
    for name in ("holdout", "others", "real"):
        _, out, _ = divulge(*given, f"{name}.csv")
        checks = json.loads((files / "o.json").read_text())["preconditions"]
        assert [msgspec.convert(check, Precondition).check for check in checks] == [check["check"] for check in checks]
        assert all(set(check) == set(Precondition.__struct_fields__) for check in checks)
        told[name] = {check["check"]: check for check in checks}
        # what is not met is said on the terminal too, where no note of the scores says it
        flat = re.sub(r"\s+", " ", out)
        assert [check["check"] for check in checks if not check["ok"] and check["detail"] not in flat] == []
        assert "! blind check" not in out and "! no overlap" not in out
    assert [name for name, check in told["holdout"].items() if not check["ok"]] == ["sizes"]  # 60 synthetic rows
    for check in ("exchangeable", "blind check"):
        fair, unfair = told["holdout"][check]["numbers"], told["others"][check]["numbers"]
        assert fair["AUC"] < 0.7 < unfair["AUC"] and unfair["p"] < 0.025 < fair["p"]
        assert f"AUC {unfair['AUC']:.3f}" in told["others"][check]["detail"]
    same = told["real"]
    assert (same["no overlap"]["ok"], same["no overlap"]["numbers"]["equal rows"]) == (False, 120)
    assert (same["blind check"]["tested"], same["blind check"]["numbers"]) == (False, {})


def test_each_note_is_told_once_with_the_scores_that_have_it(divulge, files):
    """Of 5 strangers no rate has a lower limit: three notes, of all scores; a column that one table lacks is told once."""
    people = pl.read_csv("holdout.csv")
    people[:5].rename({"x2": "other"}).write_csv("five.csv")
    _, out, _ = divulge("membership", "real.csv", "s0.csv", "--holdout", "five.csv", "--scores", "ratio,hit")
    told = [line for line in out.splitlines() if "strangers; there are 5" in line]
    assert [line.split("rate of ")[1] for line in told] == [
        f"{rate} needs {needed} strangers; there are 5"
        for rate, needed in (("10%", "36"), ("1%", "368"), ("0.1%", "3,688"))
    ]
    assert "! holdout: columns that not all tables have are left out, 1 in all: 'other'\n" in out
    assert "scores)" not in out


def test_two_releases_tell_who_left(divulge, files):
    given = ("real1.csv", "syn1.csv", "real2.csv", "syn2.csv", "--unit", "id", "--scores", "nearest")
    code, out, _ = divulge("changes", *given, "--json", "o.json")
    assert code == 0
    found = json.loads((files / "o.json").read_text())
    assert found["people"] == {"left": 20, "stayed": 100, "joined": 0}
    assert found["results"]["left"][0]["verdict"] == "excess found"
    assert "divulge: 20 people left, 100 stayed, 0 joined" in out
    assert "leavers against stayers: excess found" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("membership real.csv s0.csv", "--holdout: members cannot be compared with anybody. hint: give a table"),
        (
            "membership real.csv s0.csv s1.csv s2.csv",
            "--holdout: members cannot be compared with anybody. hint: give a",
        ),
        ("membership real.csv s0.csv --holdout holdout.csv --scores x", "scores: 'x' is no score. hint: use some of"),
        ("membership - s0.csv --holdout -", "-: only one table can come from standard input. hint: name a file"),
        ("membership real.csv s0.csv --holdout holdout.csv --json real.csv", "--json: this file is an input. hint"),
        ("membership real.csv s0.csv no.csv --holdout holdout.csv", "synthetic: no.csv: no such file"),
        ("changes real1.csv syn1.csv real1.csv syn2.csv --unit id", "unit: both real tables have the same ids"),
        ("changes syn1.csv real1.csv real2.csv syn2.csv --unit id", "the first real table has no column 'id', and its"),
        ("changes real1.csv syn1.csv real2.csv syn2.csv --unit ID", "the first real table: no column 'ID'"),
        (
            "assess real.csv s0.csv s1.csv --holdout holdout.csv",
            "3 tables and --holdout: REAL, SYNTHETIC and one HOLDOUT",
        ),
        (
            "plan real.csv s0.csv s1.csv s2.csv",
            "4 tables: REAL, SYNTHETIC and one HOLDOUT are expected. hint: add --toge",
        ),
    ],
)
def test_bad_input_is_told_in_a_sentence(divulge, files, words, told):
    code, out, err = divulge(*words.split())
    assert (code, out) == (2, "")
    assert told in err
    assert err.strip().splitlines()[-1].startswith("divulge: ")


def test_of_three_tables_the_last_is_the_holdout(divulge, files):
    found = []
    for i, given in enumerate((["s0.csv", "holdout.csv"], ["s0.csv", "--holdout", "holdout.csv"])):
        options = ("--out", str(i), "--no-models", "--no-membership", "--no-fidelity", "--search", "off", "--quiet")
        divulge("assess", "real.csv", *given, *options)
        data = json.loads((files / str(i) / "assessment.json").read_text())
        found.append({role: table["rows"] for role, table in data["tables"].items()})
    assert found[0] == found[1] == {"real": 120, "synthetic": 60, "holdout": 120}


def test_without_a_unit_there_are_no_leavers(divulge, files):
    code, _, err = divulge("changes", "real1.csv", "syn1.csv", "real2.csv", "syn2.csv")
    assert code == 2
    assert "Missing option '--unit'" in err


@pytest.mark.slow
def test_a_report_on_several_tables(divulge, files):
    given = ("assess", "real.csv", "s0.csv", "s1.csv", "--holdout", "holdout.csv", "--no-models", "-q", "--out", "o")
    assert divulge(*given, "--together")[0] == 0
    made = json.loads((files / "o" / "assessment.json").read_text())
    assert made["tables"]["synthetic"]["rows"] == 120
    assert "synthetic: 2 tables of one training set, taken together: 120 rows" in made["notes"]


# ---------------------------------------------------------------- folders of linked tables


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Three folders of users and orders; forty users stand whole in the synthetic one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def shop(n, first):
        own = np.repeat(np.arange(first, first + n), rng.integers(1, 6, n))
        users = {"id": np.arange(first, first + n), "age": rng.integers(18, 90, n), "sex": rng.integers(0, 2, n)}
        orders = {"user_id": own, "price": rng.normal(size=len(own)).round(2), "item": rng.integers(0, 30, len(own))}
        return {"users": pl.DataFrame(users), "orders": pl.DataFrame(orders)}

    real, holdout, synthetic = shop(200, 0), shop(200, 1000), shop(200, 2000)
    for name, key in (("users", "id"), ("orders", "user_id")):
        kept = synthetic[name].filter(pl.col(key) >= 2040)
        synthetic[name] = pl.concat([real[name].filter(pl.col(key) < 40).with_columns(pl.col(key) + 2000), kept])
    for folder, tables in (("real", real), ("holdout", holdout), ("synthetic", synthetic)):
        (tmp_path / folder).mkdir()
        for name, table in tables.items():
            table.write_csv(tmp_path / folder / f"{name}.csv")
    return tmp_path


def test_folders_of_linked_tables_are_whole_people(divulge, folders):
    code, out, err = divulge("membership", "real", "synthetic", "--holdout", "holdout", "--json", "o.json")
    assert (code, err) == (0, "divulge: scoring people\n")
    found = json.loads((folders / "o.json").read_text())
    assert found["results"][0]["variant"] == "whole person"
    assert found["results"][0]["verdict"] == "excess found" and found["results"][0]["settings"]["people"] == "users"
    assert [c["check"] for c in found["preconditions"]][-1:] == ["blind check"]
    assert "divulge: membership: excess found" in out and "whole person" in out
    assert divulge("membership", "real", "synthetic", "holdout", "--unit", "users", "-q")[0] == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--unit", "user"), "unit: no table 'user'"),
        (("--scores", "hit"), "scores: this is a setting of one table"),
        (("synthetic",), "the files have different columns"),
    ],
)
def test_what_folders_cannot_be_is_a_sentence(divulge, folders, given, told):
    code, out, err = divulge("membership", "real", "synthetic", *given, "--holdout", "holdout")
    assert code == 2 and out == "" and told in err and "hint: " in err


def test_parts_of_one_table_in_folders_stay_one_table(divulge, files):
    for name in ("real", "s0", "holdout"):
        (files / name).mkdir()
        table = pl.read_csv(files / f"{name}.csv")
        for i in (0, 1):
            table[i::2].write_parquet(files / name / f"part{i}.parquet")
    code, out, _ = divulge("membership", "real", "s0", "holdout", *FAST)
    assert code == 0 and "ratio" in out
