"""A part of a report made again from the tables gives the same bytes; other tables, versions and settings are refused."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import divulge as package
from divulge.core import __version__
from divulge.core.errors import SettingError
from divulge.core.schema import schema_from_toml
from divulge.demo import tables
from divulge.report.content import read_assessment, text_of
from divulge.verifying.part import attacks_of_part, check_tables, made_again, parts_of
from divulge.verifying.verify import verify

ROLES = ("real", "synthetic", "holdout")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of the survey: three files, its report, and the external edition."""
    folder = tmp_path_factory.mktemp("run")
    for role, table in zip(ROLES, tables(), strict=True):
        table.write_csv(folder / f"{role}.csv")
    files = [folder / f"{role}.csv" for role in ROLES]
    report = package.assess(*files, keys=["age", "educ"], targets=["vote"], subgroups=["educ"], seed=3, models=False)
    report.write(folder)
    report.external().write(folder / "external")
    return folder


@pytest.fixture(scope="module")
def data(run):
    return read_assessment(run / "assessment.json")


def given(folder):
    return {role: str(folder / f"{role}.csv") for role in ROLES}


def test_each_part_gives_the_bytes_of_the_whole_run(run, data):
    """One seed, and a generator for each step: what is made alone does not depend on what else was made."""
    families = [p for p in parts_of(data) if any(r.attack == p for r in data.results) is False]
    assert {"copying", "distance", "attribution", "uniqueness"} <= set(families)
    made = {}
    for part in ("copies", "singling_out", "linkability", "inference", "membership", "exposure", *families):
        again = made_again(data, part, given(run))
        assert again.faults == (), part
        made |= dict.fromkeys(attacks_of_part(data, part), again.n)
    assert set(made) == {r.attack for r in data.results}  # nothing was left out


def test_a_number_of_the_part_that_is_not_of_the_tables_is_told(run, data):
    i = next(i for i, r in enumerate(data.results) if (r.attack, r.variant) == ("copies", "near"))

    def changed(**parts):
        content = json.loads((run / "assessment.json").read_text())
        content["results"][i] |= parts
        return package.Report.from_dict(content).assessment

    context = dict(data.results[i].context)
    name = next(n for n, v in context.items() if v is not None)
    for parts, told in (
        ({"context": context | {name: 0.123}}, "other bytes (context)"),
        ({"p_value": 0.5}, "other bytes (p_value)"),
        ({"settings": {"columns": 9}}, "other bytes (settings)"),
        ({"notes": ["fine"]}, "other bytes (notes)"),
    ):
        (fault,) = made_again(changed(**parts), "copies", given(run)).faults
        assert fault.startswith("copies (near)") and told in fault
    less = json.loads((run / "assessment.json").read_text())
    del less["results"][i]
    faults = made_again(package.Report.from_dict(less).assessment, "copies", given(run)).faults
    assert faults[0].startswith("the part has ")


def test_what_is_corrected_over_all_attacks_takes_the_others_from_the_report():
    """An excess of one attack alone is held back beside many others; it is so, too, when it is made again."""
    rng = np.random.default_rng(4)

    def people(n=300):
        return pl.DataFrame({c: rng.integers(0, 5, n) for c in "abcde"} | {"ill": rng.integers(0, 2, n)})

    held = 0
    for share in (4, 6, 8):
        real, holdout = people(), people()
        sides = {"real": real, "synthetic": pl.concat([real.head(share), people(300 - share)]), "holdout": holdout}
        report = package.assess(*sides.values(), keys=["a", "b"], targets=["ill"], models=False, fidelity=False)
        one = report.assessment
        held += sum("correction for the number of attacks" in n for r in one.results for n in r.notes)
        for part in ("copying", "distance", "membership", "uniqueness"):
            assert made_again(one, part, sides).faults == ()
    assert held


@pytest.mark.parametrize("how", ["people", "unit", "failing"])
def test_parts_of_other_kinds_of_runs_give_the_same_bytes(how):
    rng = np.random.default_rng(5)

    def people(n=240):
        frame = {"age": rng.integers(18, 80, n), "town": rng.integers(0, 9, n), "ill": rng.integers(0, 3, n)}
        return pl.DataFrame(frame | {"home": np.arange(n) // 2 + 1000 * rng.integers(1, 10**6)})

    real, holdout = people(), people()
    if how == "failing":
        holdout = pl.concat([real.head(60), holdout.head(180)])  # strangers who are members
    sides = {"real": real, "synthetic": pl.concat([real.head(40), people(200)]), "holdout": holdout}
    asked = {"keys": ["age"], "targets": ["ill"], "models": False, "fidelity": False}
    asked |= {"people": {"people": 120}, "unit": {"unit": "home"}, "failing": {}}[how]
    one = package.assess(*sides.values(), **asked).assessment
    for part in ("copies", "linkability", "inference", "distance"):
        assert made_again(one, part, sides).faults == (), part


def test_parts_of_a_run_with_actors_are_made_again_from_the_report_alone(run):
    stated = """[[actor]]\nname = "a"\nkeys = ["age", "educ"]\ntargets = ["vote"]\nknows_membership = true\npopulation = 9000
    [[actor]]\nname = "b"\nkeys = ["educ"]\ntargets = ["vote"]"""
    one = package.assess(*given(run).values(), schema=schema_from_toml(stated), models=False, fidelity=False).assessment
    for part in ("lone_match", "reidentification", "copies", "inference"):
        again = made_again(one, part, given(run))
        assert again.n and again.faults == (), part


def test_parts_of_linked_tables_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(8)

    def shop(folder, first):
        owner = np.repeat(np.arange(first, first + 90), rng.integers(2, 8, 90))
        items = [f"i{k}" for k in rng.integers(0, 12, len(owner))]
        (tmp_path / folder).mkdir()
        users = pl.DataFrame({"uid": np.arange(first, first + 90), "age": rng.integers(18, 80, 90)})
        users.write_csv(tmp_path / folder / "users.csv")
        pl.DataFrame({"uid": owner, "item": items}).write_csv(tmp_path / folder / "orders.csv")
        return {"users": users, "orders": pl.read_csv(tmp_path / folder / "orders.csv")}

    sides = {role: shop(role, 1000 * i) for i, role in enumerate(ROLES)}
    one = package.assess(*sides.values(), models=False, membership=False, fidelity=False).assessment
    for part in ("copies", "linkability", "distance"):
        assert made_again(one, part, sides).faults == (), part


# ---------------------------------------------------------------- what is refused


def test_tables_that_are_not_those_of_the_report_are_refused(run, data, tmp_path):
    files = given(run)
    assert check_tables(data, files) == list(ROLES)
    for paths, told in (
        (
            files | {"real": files["synthetic"], "synthetic": files["real"]},
            "real: not the table of this report, by its sha256; it is the synthetic table of the report. hint: change",
        ),
        (files | {"holdout": None}, "holdout: the run of this report had one. hint: name the holdout"),
    ):
        with pytest.raises(SettingError, match=re.escape(told)):
            check_tables(data, paths)
    with pytest.raises(package.TableError, match="absent"):
        made_again(data, "copies", files | {"real": str(tmp_path / "absent.csv")})
    short = tmp_path / "real.csv"
    short.write_bytes(Path(files["real"]).read_bytes()[:-20])
    with pytest.raises(
        SettingError, match=r"real: not the table of this report, by its sha256\. hint: name the very file"
    ):
        check_tables(data, files | {"real": str(short)})
    frames = dict(zip(ROLES, (pl.read_csv(f) for f in files.values()), strict=True))
    with pytest.raises(SettingError, match="real: not the table"):  # a frame has a hash of its columns
        made_again(data, "copies", frames)


def test_what_the_report_lacks_is_refused(run, data):
    files = given(run)
    with pytest.raises(SettingError, match=r"--part: the report has no part of this name. hint: use one of copies, "):
        made_again(data, "copys", files)
    with pytest.raises(SettingError, match=r"--missing: the run of this report had 0 texts .* 1 are given"):
        made_again(data, "copies", files, missing=["-8"])
    with pytest.raises(SettingError, match="the columns are read in another way"):
        made_again(data, "copies", files, schema=schema_from_toml('[columns.age]\nkind = "categorical"'))
    with pytest.raises(SettingError, match="an external edition has rounded numbers"):
        made_again(read_assessment(run / "external" / "assessment.json"), "copies", files)
    late = json.loads((run / "assessment.json").read_text())
    late["left_out"] = [{"attack": "copies", "n": 1, "of": 2, "why": "late"}]
    with pytest.raises(SettingError, match="tests of copies failed or were left out"):
        made_again(package.Report.from_dict(late).assessment, "copies", files)


def test_the_command_says_what_it_made_again_and_what_not(run, divulge, tmp_path):
    report, files = run / "assessment.json", list(given(run).values())
    status, out, err = divulge("verify", report, *files, "--part", "copies")
    assert (status, err) == (0, "")
    assert "compared: the sha256 of the file of real, synthetic, holdout\n" in out
    assert "made again with the settings of the report: copies, " in out and "\nnot made again: dcr, " in out
    assert "not checked: of the other parts: whether the numbers are those of the tables" in out
    content = json.loads(report.read_text())
    i = next(i for i, r in enumerate(content["results"]) if r["attack"] == "copies" and r["p_value"])
    content["results"][i]["p_value"] /= 2
    copy = tmp_path / "assessment.json"
    copy.write_text(text_of(content))
    assert verify(copy).faults == ()  # without the data nobody can tell
    status, _, err = divulge("verify", copy, *files[:2], "--holdout", files[2], "--part", "copying")
    assert status == 1 and "does not follow: copies" in err and "other bytes (p_value)" in err


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        (["--part", "copies"], "--part: it needs the tables of the run. hint: divulge verify assessment.json real.csv"),
        ([0, "--part", "copies"], "--part: it needs the tables of the run"),
        ([0], "synthetic: a custodian's report is of a real table, too. hint: name both"),
        ([0, 1], "holdout: the run of this report had one. hint: name the holdout (--holdout), too."),
        ([0, 1, 2, 2], "4 tables: REAL, SYNTHETIC and one HOLDOUT are expected. hint: "),
        ([0, 1, 2, "--holdout", 2], "3 tables and --holdout: REAL"),
        ([1, 0, 2, "--part", "copies"], "it is the synthetic table of the report. hint: change the order"),
        ([0, 1, 2, "--part", "fidelity"], "--part: the report has no part of this name. hint: use one of copies"),
        (["absent.csv", 1, 2, "--part", "copies"], "absent.csv: "),
    ],
)
def test_a_wrong_command_ends_in_one_sentence_with_a_hint(given_, told, run, divulge):
    files = list(given(run).values())
    asked = [files[g] if isinstance(g, int) else g for g in given_]
    status, out, err = divulge("verify", run / "assessment.json", *asked)
    assert (status, out) == (2, "") and told in err and err.count("\n") == 1 and "hint: " in err


def test_a_report_of_another_version_or_cut_short_is_refused_with_tables_too(run, divulge, tmp_path):
    files, text, copy = list(given(run).values()), (run / "assessment.json").read_text(), tmp_path / "assessment.json"
    for content, told in (
        (text.replace(f'"divulge": "{__version__}"', '"divulge": "9.9.9"', 1), "written by divulge 9.9.9"),
        (text[: len(text) // 2], "cut short"),
        ("{}", "no assessment"),
    ):
        copy.write_text(content)
        status, _, err = divulge("verify", copy, *files, "--part", "copies")
        assert status == 2 and told in err and err.count("\n") == 1


def test_of_an_external_edition_the_hash_of_the_synthetic_table_is_compared(run, divulge):
    report, files = run / "external" / "assessment.json", given(run)
    status, out, _ = divulge("verify", report, files["synthetic"])
    assert status == 0 and "compared: the sha256 of the file of synthetic\n" in out
    status, _, err = divulge("verify", report, files["real"])
    assert status == 2 and "synthetic: not the table of this report, by its sha256. hint: name the very file" in err
    status, _, err = divulge("verify", report, *files.values(), "--part", "copies")
    assert status == 2 and "an external edition has rounded numbers" in err
