"""Actors of a schema file: who knows and wants what, what is asked once, and where a report names them."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.cli import cli
from divulge.core.errors import ColumnError, SettingError, TableError
from divulge.core.schema import schema_from_toml
from divulge.report.content import assessment_of, content_of
from divulge.report.external.edition import external
from divulge.report.prose.actors import by_actor
from divulge.run.forecasting.forecast import plan
from divulge.verifying.verify import verify

TWO = """
[columns.ill]
kind = "boolean"
roles = ["target"]
[[actor]]
name = "insurer"
keys = ["job", "sex"]
[[actor]]
name = "colleague"
keys = ["sex", "job"]
[[actor]]
preset = "insider"
"""
QUICK = {"models": False, "fidelity": False, "membership": False, "jobs": 1}


def drawn(rng, n):
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["cook", "nurse", "smith", "clerk"], n),
            "age": rng.normal(45, 15, n).round(1),
            "day": np.datetime64("1990-01-01") + rng.integers(0, 400, n),
            "ill": rng.choice([True, False], n),
        }
    )


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(4)
    real, holdout, other = (drawn(rng, 80) for _ in range(3))
    return real, pl.concat([real[:30], other[:50]]), holdout


def assessed(tables, toml, **options):
    return divulge.assess(*tables, schema=schema_from_toml(toml), **QUICK | options)


@pytest.fixture(scope="module")
def report(tables):
    return assessed(tables, TWO)


def numbers(report):
    """All that a report says of its results but times, and who asks."""
    left_out = ("seconds", "actors")
    return [{k: v for k, v in r.items() if k not in left_out} for r in json.loads(json.dumps(report.data["results"]))]


# ---------------------------------------------------------------- who knows what


def test_presets_know_columns_by_their_kinds_or_the_marked_ones(tables):
    presets = "".join(f'[[actor]]\npreset = "{p}"\n' for p in ("motivated-intruder", "recipient", "insider"))
    marked = '[columns.age]\nkind = "numeric"\nroles = ["key"]\n[columns.ill]\nkind = "boolean"\nroles = ["target"]\n'
    of_kinds = assessed(tables, presets, targets=["ill"]).assessment.threat.actors
    assert [a.keys for a in of_kinds] == [("sex", "job"), ("sex", "job", "day"), ("sex", "job", "age", "day")]
    of_marked = assessed(tables, marked + presets).assessment.threat.actors
    assert [a.keys for a in of_marked] == [("age",), ("sex", "job", "day"), ("sex", "job", "age", "day")]
    assert all(a.targets == ("ill",) for a in (*of_kinds, *of_marked))
    assert [a.knows_membership for a in of_kinds] == [False, False, True]


def test_one_actor_has_the_digits_of_given_keys_and_targets(tables):
    alone = assessed(tables, '[[actor]]\nname = "insurer"\nkeys = ["job", "sex"]\ntargets = ["ill"]\n')
    usual = divulge.assess(*tables, keys=["job", "sex"], targets=["ill"], **QUICK)
    named = {json.dumps([r["attack"], r["variant"], sorted(r["keys"]), r["target"]]): r for r in numbers(alone)}
    given = {json.dumps([r["attack"], r["variant"], sorted(r["keys"]), r["target"]]): r for r in numbers(usual)}
    further = {k for k in named if k not in given}
    assert {json.loads(k)[0] for k in further} == {"reidentification", "inference"}  # the mean has the actor's keys
    for key in given.keys() & named.keys():
        one, other = named[key], given[key]
        assert {k: v for k, v in one.items() if k != "keys"} == {k: v for k, v in other.items() if k != "keys"}
    assert alone.verdict == usual.verdict


def test_what_two_actors_ask_is_asked_once_and_shared(report):
    caps = [r for r in report.results if (r.attack, r.variant) == ("cap", "zero")]
    assert [r.actors for r in caps] == [("colleague", "insurer"), ("insider",)]
    assert all(not r.actors for r in report.results if r.attack in ("copies", "dcr", "linkability"))
    means = [r for r in report.results if r.attack == "inference" and r.target is None]
    assert [(r.actors, r.keys) for r in means] == [
        (("colleague", "insurer"), ("sex", "job")), (("insider",), ("sex", "job", "age", "day")),
    ]  # fmt: skip


def test_each_actor_has_families_of_its_own(tables, report):
    alone = assessed(tables, TWO.replace("[[actor]]\npreset", '[[actor]]\nkeys = ["age"]\npreset'))
    first = {(r.variant, r.p_adjusted) for r in report.results if r.attack == "cap" and "insurer" in r.actors}
    same = {(r.variant, r.p_adjusted) for r in alone.results if r.attack == "cap" and "insurer" in r.actors}
    assert first == same  # what the insider knows does not move it


def test_the_order_of_actors_changes_no_digit(tables, report):
    head, *actors = TWO.split("[[actor]]\n")
    turned = assessed(tables, "[[actor]]\n".join([head, *actors[::-1]]))

    def told(one):
        return sorted(
            (r.attack, r.variant, r.keys, str(r.target), r.actors, str(r.risk), r.p_adjusted) for r in one.results
        )

    assert told(report) == told(turned)


# ---------------------------------------------------------------- what cannot be used


@pytest.mark.parametrize(
    ("toml", "error", "says"),
    [
        ('[[actor]]\npreset = "spy"', SettingError, "no preset of this name. hint: one of motivated-intruder"),
        ('[[actor]]\nname = "a"\nkeys = []', SettingError, "keys names no column"),
        ("actor = []", SettingError, "actor holds no actor"),
        ('[actor]\nname = "a"', SettingError, "in two brackets"),
        (
            '[[actor]]\npreset = "insider"\n[[actor]]\npreset = "insider"',
            SettingError,
            "two actors are named 'insider'",
        ),
        ('[attacker]\nwho = "x"\n[[actor]]\nname = "a"', SettingError, "both [attacker] and [[actor]]"),
        ('[[actor]]\nname = "a"\npopulation = "10%"', SettingError, "percentages are not read"),
        ('[[actor]]\nname = "a"\npopulation = 0.1', SettingError, "percentages are not read"),
        ('[[actor]]\nname = "a"\nkeys = ["age"]\npopulation = 79', SettingError, "smaller than the real table"),
        (
            '[[actor]]\nname="a"\nkeys=["age"]\npopulation=90\n[[actor]]\nname="b"\nkeys=["age"]\npopulation=91',
            SettingError,
            "another population",
        ),
        ('[[actor]]\nname = "a"\nknow = "x"', SettingError, "unknown entry 'know'"),
        ('[[actor]]\nkeys = ["age"]', SettingError, "name is no text"),
        ('[[actor]]\nname = "a"\nkeys = ["wage"]', ColumnError, "[[actor]] 'a': keys: no column 'wage'"),
        ('[[actor]]\nname = "a"\nkeys = ["age"]\ntargets = ["age"]', SettingError, "'age' is key and target"),
        ('[[actor]]\nname = "a"', SettingError, 'no column is marked "key"'),
        ('[[actor]]\npreset = "insider"', SettingError, "no column is left that it wants"),
    ],
)
def test_an_actor_that_cannot_be_used_ends_in_a_sentence_with_a_hint(tables, toml, error, says):
    with pytest.raises(error) as raised:
        assessed(tables, toml)
    assert says in str(raised.value)
    assert str(raised.value).count("hint: ") == 1


def test_keys_beside_actors_are_refused(tables):
    with pytest.raises(SettingError, match=r"keys: the schema file has actors.*hint: leave --keys out"):
        assessed(tables, TWO, keys=["age"])


def test_a_schema_keeps_its_actors_when_it_is_written():
    schema = schema_from_toml(TWO + '[[actor]]\nname = "clerk"\npopulation = 500\nwho = ["me", "you"]\neffort = "none"')
    assert schema_from_toml(schema.to_toml()).threat == schema.threat
    assert (
        "[attacker]" not in schema.to_toml()
        and '# preset = "motivated-intruder"' in schema_from_toml("[release]").to_toml()
    )


def test_a_population_is_a_file_beside_the_schema_file_and_what_it_lacks_is_told_before_the_run(tables, tmp_path):
    schema = tmp_path / "schema.toml"
    schema.write_text(
        '[[actor]]\nname = "a"\nkeys = ["sex", "job"]\ntargets = ["ill"]\npopulation = "register.csv"', encoding="utf-8"
    )
    with pytest.raises(TableError, match=r"^\[\[actor\]\] 'a': population: register.csv: no such file.*hint: "):
        divulge.assess(*tables, schema=schema, **QUICK)
    everybody = pl.concat(tables)
    everybody.select("sex").write_csv(tmp_path / "register.csv")
    with pytest.raises(ColumnError, match=r"^\[\[actor\]\] 'a': population: no column 'job'"):
        divulge.assess(*tables, schema=schema, **QUICK)
    everybody.write_csv(tmp_path / "register.csv")
    found = {
        r.variant: r for r in divulge.assess(*tables, schema=schema, **QUICK).results if r.attack == "reidentification"
    }
    alone = everybody.group_by("sex", "job").len()["len"].min()
    assert found["journalist"].value.real == 1 / alone


# ---------------------------------------------------------------- where they are named


def test_the_insider_alone_is_told_how_often_lone_matches_are_right(report):
    claims = [r for r in report.results if r.attack == "lone_match"]
    assert [(r.actors, r.settings["reads"]) for r in claims] == [(("insider",), "apparent")]
    real = [r for r in report.results if r.attack == "reidentification"]
    assert {r.settings["reads"] for r in real} == {"real table"} and all(r.verdict is None for r in real)


def test_who_does_not_know_the_members_asks_a_population_whether_a_match_is_alone(tables, tmp_path):
    pl.concat(tables).write_csv(tmp_path / "register.csv")
    (tmp_path / "schema.toml").write_text(
        '[[actor]]\nname = "reporter"\nkeys = ["age"]\ntargets = ["ill"]\npopulation = "register.csv"\n'
        '[[actor]]\nname = "counter"\nkeys = ["sex", "age"]\ntargets = ["ill"]\npopulation = 500',
        encoding="utf-8",
    )
    claims = [
        r for r in divulge.assess(*tables, schema=tmp_path / "schema.toml", **QUICK).results if r.attack == "lone_match"
    ]
    assert [(r.variant, r.keys, r.actors) for r in claims] == [("journalist", ("age",), ("reporter",))]


def test_actors_who_know_the_same_share_the_prosecutor_alone(tables, tmp_path):
    toml = TWO.replace('keys = ["sex", "job"]', 'keys = ["sex", "job"]\npopulation = 500')
    found = assessed(tables, toml)
    assert [(r.variant, r.actors) for r in found.results if r.attack == "reidentification" and "age" not in r.keys] == [
        ("prosecutor", ("colleague", "insurer")), ("journalist", ("colleague",)), ("marketer", ("colleague",)),
    ]  # fmt: skip
    (tmp_path / "assessment.json").write_text(found.to_json())
    assert verify(tmp_path / "assessment.json").faults == ()


def test_journalist_and_marketer_are_unanswered_without_a_population(tables):
    toml = '[[actor]]\nname = "reader"\nkeys = ["job", "sex"]\ntargets = ["ill"]\n'
    without = by_actor(assessed(tables, toml).assessment)[1].real_table
    with_number = by_actor(assessed(tables, toml + "population = 4000\n").assessment)[1].real_table
    assert without == "not answered: population is not stated"
    assert with_number.startswith("journalist ") and "marketer" in with_number and "prosecutor" not in with_number


def test_every_document_has_a_row_for_each_actor(report):
    rows = by_actor(report.assessment)
    assert [r.name for r in rows] == ["whoever has the synthetic table", "insurer", "colleague", "insider"]
    for document in (report.to_html(), report.to_markdown(), str(report)):
        assert all(name in document for name in ("insurer", "colleague", "insider"))
    assert [a["actor"] for a in content_of(report.assessment)["summary"]["actors"]][1:] == [
        "insurer",
        "colleague",
        "insider",
    ]


def test_a_run_with_one_attacker_has_no_table_of_actors(tables):
    usual = divulge.assess(*tables, keys=["job", "sex"], targets=["ill"], **QUICK)
    assert by_actor(usual.assessment) == [] and "By actor" not in usual.to_html()


def test_an_external_edition_has_actors_and_no_names_of_columns(report):
    outside = external(report.assessment)
    actors = outside.threat.actors
    assert [a.name for a in actors] == ["insurer", "colleague", "insider"]
    assert actors[0].keys == ("column 1", "column 2") and actors[0].targets == ("column 5",)
    assert {n for r in outside.results for n in r.actors} == {"insurer", "colleague", "insider"}
    assert outside.threat.actors[2].knows_membership


def test_a_report_with_actors_follows_from_itself_and_a_changed_actor_is_told(report, tmp_path):
    path = tmp_path / "assessment.json"
    path.write_text(report.to_json())
    assert verify(path).faults == ()
    data = json.loads(path.read_text())
    data["summary"]["actors"][1]["verdict"] = (
        "none found" if data["summary"]["actors"][1]["verdict"] != "none found" else "cannot tell"
    )
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    assert any(fault.startswith("summary.actors[1].verdict") for fault in verify(path).faults)
    assert assessment_of(json.loads(report.to_json())).threat.actors[0].name == "insurer"


def test_records_name_the_actors_to_whom_a_person_is_disclosed(report):
    records = report.records()
    assert set(records["disclosed_to"].str.split(", ").explode().unique()) >= {"insider"}
    assert records.filter(pl.col("disclosed_to") != "")["n_disclosed"].min() >= 1


def test_a_rule_may_name_an_actor(report):
    from divulge.attacks.entry import CATALOGUE
    from divulge.release.rules import judge_rule, parse_rule

    def judge(text):
        return judge_rule(report.assessment, parse_rule(text, list(CATALOGUE)))

    judged = {a: judge(f"cap[{a}].high > 0") for a in ("insurer", "insider")}
    assert all(not j.kept and j.found for j in judged.values())
    assert judged["insurer"].found != judged["insider"].found
    assert judge("any[nobody].high > 0").why == "was not tested"


def test_a_plan_counts_the_tests_of_each_actor(tables):
    told = plan(*tables, schema=schema_from_toml(TWO), models=False)
    assert any(note.startswith("actors: colleague ") and "insider" in note for note in told.notes)


def test_explain_knows_presets():
    said = CliRunner().invoke(cli, ["explain", "insider"]).output
    assert said.startswith("insider  [preset of an actor]") and "prosecutor" in said


def test_a_comparison_ranks_by_what_actors_know(tables):
    real, synthetic, holdout = tables
    candidates = {"copies": synthetic, "fewer copies": synthetic[20:]}
    left_out = {"membership": False, "jobs": 1}
    report = divulge.compare(real, candidates, holdout=holdout, schema=schema_from_toml(TWO), **left_out)
    assert "cap" in [a["attack"] for a in report.data["attacks"]]
