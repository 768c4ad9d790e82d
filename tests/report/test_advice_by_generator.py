"""The advice names settings of the generator that was stated, by words of a closed list, and the audit as a command."""

import pytest
from msgspec.structs import replace
from test_first_page import EXACT, found, report

from divulge.core.generators import GENERATORS, generators_named
from divulge.core.threat_model import NOT_STATED, Release, Threat, template
from divulge.report.external.edition import external as edition_of
from divulge.report.model import LinkedTable
from divulge.report.prose.advice import advice

GUESSED = found("inference", 900, 700, "excess found", variant="nearest record", target="income level")


def of(*generator, data=None):
    """Return what is advised about a table of this generator."""
    data = report(EXACT, GUESSED) if data is None else data
    return advice(replace(data, threat=Threat(release=Release(generator=generator))))


@pytest.mark.parametrize("kind", GENERATORS, ids=lambda g: g.name)
def test_each_word_of_the_list_brings_the_settings_of_its_kind_and_their_source(kind):
    for word in kind.words:
        assert kind in generators_named([f"Our {word.upper()} 1.2"])
        told = next(a for a in of(f"Our {word.upper()} 1.2") if a.do.startswith(f"{kind.name}: "))
        assert kind.do in told.do and kind.source in told.changes and kind.why in told.changes
    assert kind.words[0] in template(NOT_STATED)


def test_an_unknown_generator_brings_the_general_advice_and_no_name_of_another():
    for generator in ((), ("our own begangement",), ("great",)):
        told = of(*generator)
        assert told[0].do.startswith("Train with less capacity")
        assert not any(a.do.startswith(f"{g.name}: ") for a in told for g in GENERATORS)


def test_the_warning_stands_once_where_two_kinds_are_named():
    told = of("DP-CTGAN")
    assert [a.do.partition(":")[0] for a in told[:2]] == ["CTGAN", "differential privacy"]
    assert [bool(a.warning) for a in told[:2]] == [True, False]


def test_the_next_step_is_an_audit_with_its_command_filled_in():
    data = report(EXACT, GUESSED)
    tables = replace(data.tables, real=replace(data.tables.real, file="my people.csv"))
    data = replace(data, tables=tables, settings=replace(data.settings, unit="home"))
    (told,) = (a for a in of(data=data) if a.command)
    command = "divulge audit 'my people.csv' --train 'python train.py {train} {synthetic} --seed {seed}' --unit home"
    assert told.command == f"{command} --secrets 'income level'" and told.changes.startswith("It trains")
    outside = advice(edition_of(data))
    assert all(name not in a.changes + a.command for a in outside for name in ("my people", "income"))
    calm = report(found("copies", 3, 4, "none found", variant="exact"), verdict="none found")
    assert not any(a.command for a in advice(calm))


@pytest.mark.parametrize(
    ("targets", "kinds", "secret"),
    [
        ((), {}, "nr"),  # the first that is guessed
        ((), {"nr": "identifier"}, "income level"),
        (("job", "income level"), {}, "income level"),  # the target that is guessed
        (("job",), {}, "job"),
        (("nr", "job"), {"nr": "identifier"}, "job"),
        (None, {"nr": "identifier", "income level": "identifier"}, ""),  # the audit chooses
    ],
)
def test_the_secret_of_the_audit_is_a_target_of_the_run_and_no_number_of_a_row(targets, kinds, secret):
    number = found("inference", 900, 700, "excess found", variant="nearest record", target="nr")
    data = report(EXACT, GUESSED, number, schema=[
        {"name": name, "kind": kinds.get(name, "numeric")} for name in ("nr", "income level", "job")
    ])  # fmt: skip
    data = replace(data, settings=replace(data.settings, targets=targets))
    (told,) = (a.command for a in of(data=data) if a.command)
    assert told.partition(" --secrets ")[2].strip("'") == secret


@pytest.mark.parametrize(
    ("command", "file", "audited"),
    [
        ("assess split/real made --holdout split/holdout", "real/people.csv", "split/real/people.csv"),
        ("assess people=a/people.csv,visits=a/v.csv people=b/people.csv,visits=b/v.csv", "people.csv", "a/people.csv"),
        ("assess --holdout real/h real made", "real/people.csv", "real/people.csv"),
        ("divulge.assess(...), 'an unclosed quote", "real/people.csv", "real/people.csv"),
        ("divulge.assess(...)", "", "real.csv"),  # frames
    ],
)
def test_of_linked_tables_the_audit_deals_that_of_the_people_and_a_column_of_theirs(command, file, audited):
    targets = ("visits.ward", "visits.cost: sum", "people.sex")
    data = report(EXACT, GUESSED, command=f"divulge {command}", schema=[
        {"name": name, "kind": "category"} for name in targets
    ])  # fmt: skip
    linked = tuple(LinkedTable(name=n, rows=9, columns=2, people=9, file=file) for n in ("people", "visits"))
    tables = replace(data.tables, real=replace(data.tables.real, linked=linked))
    data = replace(data, tables=tables, settings=replace(data.settings, targets=targets))
    (told,) = (a.command for a in of(data=data) if a.command)
    assert told.startswith(f"divulge audit {audited} --train") and told.endswith(" --secrets sex")
    assert not any("people.csv" in t.file for t in edition_of(data).tables.real.linked)
