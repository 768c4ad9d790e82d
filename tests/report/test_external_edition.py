"""The external edition gives nothing away: canaries, hostile names, and an attacker who wants the withheld counts."""

import copy
import csv
import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from html import unescape
from itertools import product

import jsonschema
import msgspec
import numpy as np
import polars as pl
import pytest
from amount import tries
from any_text import any_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from report_helpers import assessment, broken, change, external, in_schema_order, judge_policy, replaced

import divulge
from divulge import cli
from divulge.attacks.checks import SHOWN, judge, rate_of
from divulge.core.errors import DivulgeError, SettingError
from divulge.core.result import TOWARDS, Result
from divulge.core.threat_model import Attacker, Decision, Threat
from divulge.release.conditions import conditions
from divulge.release.policy import TEMPLATE, Policy, policy_from_toml
from divulge.report.external.edition import external as external_edition
from divulge.report.external.known_sentences import WORDS, is_ours
from divulge.report.external.masking import Names, masked
from divulge.report.external.most import finding_of_most
from divulge.report.external.rounding import alike, count, rounded, size
from divulge.report.external.sentences import numberless
from divulge.report.prose.compared import lead
from divulge.report.prose.tiles import leading
from divulge.report.report import Report
from divulge.report.schema import assessment_schema, fault
from divulge.stats import Outcomes, compare
from divulge.stats.intervals import mover_residual

VALUE, NAME, FILE = "zqxwvkjqzx", "vwjkqxzpvk", "kpqfzjxwvq"
"""Letters that stand in every text cell, every column name, every file name, and nowhere else.

Ten each: the pages hold base64 hashes, new in each run, and four letters stand in one of some thousands.
"""

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=1>',
    "=cmd|' /C calc'!A0",
    "\x1b[31mred\u202e",
    "a|b`c`\n# d [x](http://evil.example/)",
    "]]>&amp;' onmouseover='alert(2)",
]


def people(n, seed):
    """Each kind of cell, with a value that is recognised wherever it turns up."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 40, n)
    income = np.round(481_516.23 + 1_000.7 * age + rng.normal(0, 300, n), 2)
    return pl.DataFrame(
        {
            f"{NAME}_age": 7_319_417 + 13 * age,
            f"{NAME} sex": [f"{VALUE}sex{v}" for v in rng.integers(0, 2, n)],
            f"{NAME}'s town": [f"{VALUE}<town & {v}>" for v in rng.choice(list("abcde"), n)],
            f"{NAME}_income": [f"{v}" if rng.random() > 0.05 else f"{VALUE}-8" for v in income],
            f"{NAME}_house": [f"{VALUE}house{seed}-{i // 2}" for i in range(n)],
            f"{NAME}_born": [f"{1931 + int(a)}-07-{10 + int(a) % 9}" for a in age],
            f"{NAME}_id": [f"{VALUE}-{seed}-{i:05d}" for i in range(n)],
            f"{NAME}_memo": [f"{VALUE} wrote on day {i} that all is {VALUE} and well in this town" for i in range(n)],
            f'{NAME} "flag"': [f"{VALUE}yes" if v else f"{VALUE}no" for v in rng.integers(0, 2, n)],
            f"{NAME}_true": rng.integers(0, 2, n).astype(bool),
            "vote": rng.integers(0, 3, n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three tables on disk under names that are canaries too."""
    folder = tmp_path_factory.mktemp(FILE)
    real, holdout = people(110, 1), people(100, 2)
    synthetic = pl.concat([real[:14], people(90, 3)])
    for role, frame in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        frame.write_csv(folder / f"{FILE} {role}.csv")
    return folder


THREAT = Threat(
    attacker=Attacker(who=(f"a neighbour who knows {NAME}_age and '{NAME} sex'",)), decision=Decision(decided=("go",))
)


@pytest.fixture(scope="module")
def report(folder):
    """A run on files with unit, subgroups and search, and what later steps add to its data."""
    tables = [divulge.read(folder / f"{FILE} {r}.csv", role=r, missing=[f"{VALUE}-8"])
              for r in ("real", "synthetic", "holdout")]  # fmt: skip
    found = divulge.assess(
        tables[0], tables[1], holdout=tables[2], unit=f"{NAME}_house", subgroups=[f"{NAME} sex"], models=False,
        missing=[f"{VALUE}-8"], search="full", jobs=1,
    )  # fmt: skip
    data = dict(found.data)
    data["command"] = f"divulge assess '{FILE} real.csv'"
    data["threat"] = msgspec.to_builtins(THREAT)
    data["failed"] = [
        {"attack": "rapid", "why": f"KeyError inside the attack (('{NAME}_age',) -> {NAME}'s town); please report it"}
    ]
    data["left_out"] = [{"attack": "dcap", "n": 1, "of": 2, "why": "the time was up"}]
    data["notes"] = [*data["notes"], f"real: {FILE} real.csv: not UTF-8, so read as cp1252; save it as UTF-8 to be sure",
                     f"holdout: columns that not all tables have are left out, 1 in all: '{NAME}_extra'"]  # fmt: skip
    data["policy"] = judge_policy(data, Policy(name=f"{FILE} policy.toml"), ["cap.high > 0.01", "any.high > 0.01"])
    data["change"] = change(data, copy.deepcopy(data))
    return replaced(found, **data)


@pytest.fixture(scope="module")
def small():
    """A run of a second, for tests that need any data."""
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (
        pl.DataFrame({c: rng.integers(0, k, 90) for c, k in (("age", 9), ("sex", 2), ("ill", 3))}) for _ in range(3)
    )
    return divulge.assess(
        real, synthetic, holdout=holdout, keys=["age"], targets=["ill"], models=False, membership=False
    )


def own_order(report):
    """The custodian's results in the order in which an external edition has them."""
    return in_schema_order(report.data)["results"]


def texts(report):
    """Every text that a report gives."""
    out = {
        "json": report.to_json(), "html": report.to_html(), "markdown": report.to_markdown(),
        "junit": report.to_junit(), "terminal": str(report), "repr": repr(report), "notebook": report._repr_html_(), "csv": report.to_csv(),
        "frame": str(report.to_frame().to_dicts()), "properties": str(report.get_properties().to_dicts()),
        "details": str(report.get_details().to_dicts()), "info": str(report.get_info()),
        "records": "" if report.assessment.edition == "external" else str(report.records().to_dicts()),
    }  # fmt: skip
    for attack in ("copies", "inference", "linkability", "cap"):
        out[f"figure of {attack}"] = report.get_visualization(attack).to_svg()
    return out


def numbers():
    """Cell values that are numbers or dates, in the ways in which a number is written."""
    frame = pl.concat([people(110, 1), people(90, 3), people(100, 2)])
    whole = frame[f"{NAME}_age"].unique().to_list()
    broken = [float(v) for v in frame[f"{NAME}_income"].to_list() if not v.startswith(VALUE)]
    out = {f(v) for v in whole for f in (str, "{:,}".format, "{:.1f}".format, "{:.4e}".format)}
    out |= {f(v) for v in broken for f in (str, "{:,.2f}".format, "{:.1f}".format, "{:.0f}".format, "{:.5e}".format)}
    return out | set(frame[f"{NAME}_born"].unique().to_list())


def leaks(text, *, with_names=True):
    """Return what of the tables stands in a text."""
    plain = re.sub(r"[0-9a-f]{64}", "", unescape(unescape(text))).casefold()
    tokens = re.findall(r"\d[\d,.e+-]*\d", plain)
    found = {t for t in (VALUE, *((NAME, FILE) if with_names else ())) if t in plain}
    return found | (numbers_once() & set(tokens))


_NUMBERS = []


def numbers_once():
    if not _NUMBERS:
        _NUMBERS.append(numbers())
    return _NUMBERS[0]


# ---------------------------------------------------------------- canaries


@pytest.mark.slow
def test_the_canaries_would_be_seen(report):
    shown = texts(report)
    assert NAME in leaks(shown["json"])
    assert leaks(f"<td>{VALUE.upper()}</td>") == {VALUE}
    assert leaks("7,319,417 people")
    assert leaks("born 1931-07-10")
    assert FILE in leaks(shown["json"])


def test_no_canary_is_in_any_part_of_an_external_edition(report):
    assert {part: leaks(text) for part, text in texts(report.external()).items() if leaks(text)} == {}


@pytest.mark.slow
def test_revealed_columns_bring_their_names_and_nothing_else(report):
    shown = texts(report.external(["columns"]))
    assert NAME in shown["json"]
    assert {p: leaks(t, with_names=False) for p, t in shown.items() if leaks(t, with_names=False)} == {}
    assert all(FILE not in text for text in shown.values())


@pytest.mark.slow
def test_a_custodians_edition_holds_no_cell_value(report):
    found = {part: leaks(text, with_names=False) for part, text in texts(report).items()}
    assert {part: f for part, f in found.items() if f} == {}


@pytest.mark.slow
def test_the_command_line_tells_nothing_in_external_mode(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    code, told = run_cli(
        capsys, monkeypatch, "assess", f"{FILE} real.csv", f"{FILE} synthetic.csv", "--holdout", f"{FILE} holdout.csv",
        "--edition", "external", "--keys", f"{NAME}_age,{NAME} sex", "--targets", "vote", "--no-models",
        "--missing", f"{VALUE}-8", "--ignore", f"{NAME}_memo", "--jobs", "1", "--out", "out", "-v",
    )  # fmt: skip
    assert code == 0
    assert "divulge: " in told
    assert leaks(told) == set()
    written = sorted((folder / "out").iterdir())
    assert [p.name for p in written] == ["assessment.json", "junit.xml", "report.html", "report.md"]
    assert {p.name: leaks(p.read_text()) for p in written if leaks(p.read_text())} == {}


@pytest.mark.parametrize(
    "wrong",
    [
        ("--keys", f"{NAME}_agee"),
        ("--keys", f"{NAME}_age", "--targets", f"{NAME}_age"),
        ("--unit", f"{NAME}_hous"),
        ("--holdout", f"{FILE} nowhere.csv"),
        ("--holdout", f"{FILE} nowhere"),
        ("--holdout", f"{FILE} broken.csv"),
        ("--schema", f"{FILE} schema.toml"),
        ("--baseline", f"{FILE} before.json"),
        ("--edition", "external", "--reveal", f"{NAME}_age"),
    ],
)
def test_errors_name_neither_columns_nor_files_in_external_mode(wrong, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / f"{FILE} broken.csv").write_text(f'{NAME}_age,{NAME} sex\n7319417,{VALUE}sex1\n7319430,"{VALUE}open\n')
    (folder / f"{FILE} schema.toml").write_text(f'[columns."{NAME}_ag"]\nkind = "{VALUE}"\n')
    files = (f"{FILE} real.csv", f"{FILE} synthetic.csv", "--edition", "external", "--no-models", "-q", *wrong)
    code, told = run_cli(capsys, monkeypatch, "assess", *files)
    assert code == 2
    assert "hint: " in told
    assert leaks(told) == set()


def run_cli(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out = capsys.readouterr()
    return stopped.value.code or 0, out.out + out.err


def test_masked_takes_out_quoted_parts_with_escapes_and_file_names():
    name = f'{NAME} \\\'s "{VALUE}"\n'
    assert leaks(masked(f"keys: no column {name!r}. hint: use {[name]!r}")) == set()
    assert masked("real: my data.v2.csv.gz: the file is empty (0 bytes).") == "real: …: the file is empty (0 bytes)."
    assert masked("cannot open /home/ann/x or C:\\data\\patients.csv") == "cannot open … or …"
    assert masked("the key's class and the record's own") == "the key's class and the record's own"
    assert masked("it has no assessment.json") == "it has no assessment.json"


# ---------------------------------------------------------------- only what is known gets through


def everywhere(data, key="surplus", value="surplus canary"):
    """Put an unknown field into every dictionary, context, settings and curves included."""
    if isinstance(data, dict):
        for inner in data.values():
            everywhere(inner, key, value)
        data[key] = value
    elif isinstance(data, list):
        for inner in data:
            everywhere(inner, key, value)
    return data


def test_an_unknown_field_is_left_out_wherever_it_stands(report):
    data = copy.deepcopy(report.data)
    for table in ("versions", "attacks"):  # named by package and attack
        data[table] = {k: everywhere(v) if isinstance(v, dict) else v for k, v in data[table].items()}
    kept = {table: data.pop(table) for table in ("versions", "attacks")}
    for r in data["results"]:
        r["context"] |= {"age of the oldest": 93.5}
        r["curves"] |= {"ages": [1.0, 2.0]}
        r["settings"] |= {"radius of Anneliese": 0.25}
    everywhere(data)
    for part in ("context", "curves", "settings"):
        for r in data["results"]:
            r[part].pop("surplus")
    made = json.dumps(external(data | kept))
    assert "surplus" not in made
    assert "oldest" not in made
    assert "ages" not in made
    assert "Anneliese" not in made


@pytest.mark.slow
def test_the_input_is_left_as_it_was_and_twice_gives_the_same(report):
    before = copy.deepcopy(report.data)
    first = external(report.data)
    assert report.data == before
    assert external(report.data) == first


def test_an_external_edition_says_so_and_keeps_to_the_published_schema(report, small):
    for one in (report, small):
        for reveal in ((), ("columns",)):
            data = one.external(reveal).data
            assert (data["edition"], data["revealed"]) == ("external", list(reveal))
            assert fault(data) == ""
            assert data["records"] is None
            assert (data["command"], data["machine"]) == ("", "")
            hashes = {role: t["sha256"] for role, t in data["tables"].items()}
            assert hashes == {"real": None, "holdout": None, "synthetic": one.data["tables"]["synthetic"]["sha256"]}


def leads(n, pairs):
    """The finding that leads among links of 1, 2, ... candidates that hit so many members and strangers of n each."""
    table = {"rows": n, "columns": 3, "sha256": "", "hashed": "file"}
    made = [compared(a, n, b, n) | {"variant": f"balanced halves, k = {k}"} for k, (a, b) in enumerate(pairs, 1)]
    return {"results": made, "tables": dict.fromkeys(("real", "synthetic", "holdout"), table)}


def test_both_editions_lead_with_the_finding_of_most_people_by_the_counts_that_all_may_see(small):
    for pairs in ([(200, 40), (300, 40)], [(300, 40), (303, 60)], [(300, 42), (301, 38)]):
        data = assessment(small.data | leads(1000, pairs))
        most = finding_of_most(data)
        made = external_edition(replace(data, verdict=replace(data.verdict, most=most))).verdict.most
        assert most is not None and made is not None and made.variant == most.variant
    assert finding_of_most(assessment(small.data | leads(1000, [(200, 40), (300, 40)]))).variant.endswith("2")
    # counts that are shown alike change no choice: which of the two is larger is nobody's to know
    alike = [[(a, 40), (b, 40)] for a, b in product((298, 300, 302), repeat=2)]
    assert len({finding_of_most(assessment(small.data | leads(1000, pairs))) for pairs in alike}) == 1


def test_the_first_sentences_of_both_editions_are_about_one_test():
    rng = np.random.default_rng(4)
    real, holdout, fresh = (pl.DataFrame({c: rng.integers(0, 40, 400) for c in "abcd"}) for _ in range(3))
    copied = pl.concat([real.head(160), fresh.tail(240)])
    own = divulge.assess(real, copied, holdout, keys=["a"], targets=["d"], models=False, fidelity=False)
    outside = own.external()
    told = own.assessment.verdict.most, outside.assessment.verdict.most
    assert told[0] is not None and (told[0].attack, told[0].variant) == (told[1].attack, told[1].variant)
    for one in (own, outside):
        assert lead(leading(one.assessment)) in one.to_markdown().replace("\\", "")


@pytest.mark.slow
def test_the_published_schema_takes_both_editions(small):
    for data in (small.data, small.external().data):
        jsonschema.validate(json.loads(json.dumps(data)), assessment_schema())


def test_columns_are_numbered_in_the_order_of_the_schema_everywhere(report):
    data = report.external().data
    assert [c["name"] for c in data["schema"]] == [f"column {i}" for i in range(1, 12)]
    assert data["settings"]["unit"] == "column 5"
    assert data["settings"]["subgroups"] == ["column 2"]
    for one, other in zip(own_order(report), data["results"], strict=True):
        place = [c["name"] for c in report.data["schema"]].index
        assert other["keys"] == [f"column {i + 1}" for i in sorted(map(place, one["keys"]))]
        assert (other["target"] is None) == (one["target"] is None)
    sets = {g["name"] for r in data["results"] if r["attack"] == "singling_out" for g in r["groups"]}
    assert all(re.fullmatch(r"column \d+( \+ column \d+)*", s) for s in sets)
    assert "column 1 and 'column 2'" in data["threat"]["attacker"]["who"][0]


def test_a_column_called_like_a_word_of_ours_changes_no_sentence(report):
    # "vote" is a column here: were it replaced, its number would stand where everybody knows the word
    data = report.external().data
    notes = {n for r in data["results"] for n in r["notes"]}
    assert any("synthetic rows vote, with all that tie" in n for n in notes)


def test_every_sentence_of_this_run_is_known(report):
    texts = [n for r in report.data["results"] for n in r["notes"] if not n.startswith(("near: ", "cannot tell: "))]
    texts += [c["detail"] for c in report.data["preconditions"]]
    texts += [r["baseline"]["what"] for r in report.data["results"] if r["baseline"]]
    assert {t for t in texts if not is_ours(t)} == set()


def test_names_that_contain_each_other_or_quotes_are_replaced_whole():
    names = Names.of(["age", "age + sex", "it's", 'say "no"', "real"], reveal=False)
    assert (
        names.text("age + sex, age, 'it\\'s', it's") == "column 2, column 1, 'column 3', column 3"
        or names.text("age + sex, age, \"it's\", it's") == "column 2, column 1, 'column 3', column 3"
    )
    assert names.joined("age + age + sex") == "column 1 + column 2"
    assert names.joined("age + wage") is None
    assert names.text("wages of the aged") == "wages of the aged"
    assert names.several(["real", "it's", "age"]) == ["column 1", "column 3", "column 5"]


@settings(max_examples=tries(30, least=3))
@given(st.lists(any_texts(min_size=1, max_size=12), min_size=1, max_size=6, unique=True), any_texts(max_size=20))
def test_no_quoted_name_survives(columns, rest):
    names = Names.of([f"{NAME}{c}" for c in columns], reveal=False)
    for c in columns:
        quoted = f"{NAME}{c}"
        assert NAME not in names.text(f"column {quoted!r} is of kind text; {quoted} -> {quoted!r}")


def test_reveal_takes_columns_alone(report):
    with pytest.raises(SettingError, match="no external edition shows them"):
        report.external(["values"])
    assert report.external("columns").data["revealed"] == ["columns"]


def test_an_external_edition_gives_no_names_back(small):
    outside = small.external()
    with pytest.raises(SettingError, match="does not hold columns"):
        outside.external(["columns"])
    named = small.external(["columns"])
    assert [c["name"] for c in named.external().data["schema"]] == ["column 1", "column 2", "column 3"]


def test_an_external_edition_does_not_go_beside_the_records(small, tmp_path):
    small.write(tmp_path)
    before = (tmp_path / "assessment.json").read_bytes()
    with pytest.raises(SettingError, match=r"records\.parquet"):
        small.external().write(tmp_path)
    assert (tmp_path / "assessment.json").read_bytes() == before


# ---------------------------------------------------------------- counts


def rates(data):
    """All pairs of rates, custodian's and external."""
    for one, other in zip(data[0]["results"], data[1]["results"], strict=True):
        yield from ((one[role], other[role]) for role in ("real", "holdout") if one[role])


def test_no_count_of_few_people_is_shown_nor_follows(report, small):
    few = 0
    for one in (report, small):
        data = in_schema_order(one.data), one.external().data
        for own, shown in rates(data):
            if own["hits"] < 10 or own["n"] - own["hits"] < 10:
                few += 1
                assert shown["hits"] is None
                assert shown["rate"] is None
            if shown["hits"] is not None:
                assert 10 <= shown["hits"] <= shown["n"]
                assert shown["rate"] == pytest.approx(shown["hits"] / shown["n"], abs=1e-4)
    assert few > 20


def test_parts_that_add_up_to_a_shown_number_are_withheld(report):
    assert any(r["groups"] for r in report.data["results"])
    assert not any(r["groups"] for r in report.external().data["results"])


def test_a_withheld_count_takes_with_it_all_that_follows(report):
    seen = 0
    for one, r in zip(own_order(report), report.external().data["results"], strict=True):
        if not any(side and side["hits"] is None for side in (r["real"], r["holdout"])):
            continue
        seen += 1
        assert r["verdict"] == one["verdict"]
        gone = ("difference", "p_value", "p_adjusted", "smallest_detectable", "score")
        assert [r[k] for k in gone] == [None] * len(gone)
        assert r["curves"] == {}
        assert r["risk"] is None or r["risk"]["value"] is None
        numbers = [n for n in r["notes"] if n.startswith("cannot tell: the interval") and re.search(r"\d", n)]
        assert numbers == []
    assert seen > 20


def compared(hits, n, other, m):
    """A result of one attack, right for so many members and strangers."""
    sides = [Outcomes(np.repeat([1.0, 0.0], [k, of - k])) for k, of in ((hits, n), (other, m))]
    plain = Result(attack="linkability", variant="balanced halves, k = 1", real=rate_of(sides[0]))
    plain = msgspec.structs.replace(plain, holdout=rate_of(sides[1]))
    return judge(plain, compare(*sides, level=0.95, rng=np.random.default_rng(0), draws=0), 0.95).to_dict()


@pytest.mark.first(6)
@pytest.mark.parametrize("of", ["members", "strangers"])
@pytest.mark.parametrize(("n", "many"), list(product((30, 120, 5000), (0, 12, 0.5, 0.9))))
def test_an_attacker_who_knows_all_but_the_count_learns_nothing_but_the_verdict(small, of, n, many):
    # he knows divulge, the other side's count exactly, and tries each count that might have been withheld
    known = many if many >= 1 or many == 0 else int(many * n)
    shown = {}
    for few in range(10):
        hits, other = (few, known) if of == "members" else (known, few)
        table = {"rows": n, "columns": 3, "sha256": "", "hashed": "file"}
        data = small.data | {
            "results": [compared(hits, n, other, n)], "tables": dict.fromkeys(("real", "synthetic", "holdout"), table)
        }  # fmt: skip
        made = external(data)["results"][0]
        shown.setdefault(made["verdict"], set()).add(json.dumps(made))
    assert [len(outputs) for outputs in shown.values()] == [1] * len(shown)


@pytest.mark.parametrize(
    ("hits", "other", "members", "strangers"),
    [(9, 8, (0, 12.5), (0, 12.5)), (20, 30, (17.5, 22.5), (27.5, 32.5))],
    ids=["withheld", "shown"],
)
@pytest.mark.parametrize("tests", [1, 8])
def test_simultaneous_limits_allow_for_every_comparison_of_the_attack(small, hits, other, members, strangers, tests):
    one = compared(hits, 60, other, 100)
    assert one["verdict"] == "cannot tell"
    table = {"rows": 60, "columns": 3, "sha256": "", "hashed": "file"}
    another = one | {"attack": "copies"}  # of another attack, and so of another family
    tables = dict.fromkeys(("real", "synthetic", "holdout"), table)
    risk = external(small.data | {"results": [one] * tests + [another] * 3, "tables": tables})["results"][0]["risk"]
    for kind, level in (("", 0.95), ("_simultaneous", 1 - 0.05 / tests)):
        corners = [mover_residual(a, 60, b, 100, level) for a in members for b in strangers]
        assert risk[f"low{kind}"] == rounded(min(c.low for c in corners), 2, "down")
        assert risk[f"high{kind}"] == rounded(max(c.high for c in corners), 2, "up")


def test_sizes_are_rounded_as_counts_are(report):
    odd = 0
    for own, shown in rates((in_schema_order(report.data), report.external().data)):
        odd += own["n"] % 5 != 0
        step = 10  # two rows to a house
        assert shown["n"] is None or (shown["n"] >= 15 and abs(shown["n"] - own["n"]) <= step / 2)
        assert shown["n"] is None or shown["n"] % step == 0 or shown["n"] == report.data["tables"]["synthetic"]["rows"]
    assert odd > 5


@pytest.mark.slow
def test_of_a_withheld_result_no_further_number_is_shown_that_rests_on_people(report):
    # of these the level, or all the data, decides
    harmless = {TOWARDS, SHOWN, "fdr", "leak-free excess over strangers"}
    gone = 0
    for own, shown in zip(own_order(report), report.external().data["results"], strict=True):
        if any(shown[role] and shown[role]["hits"] is None for role in ("real", "holdout")):
            assert shown["context"].keys() <= harmless
            gone += len(own["context"].keys() - harmless)
    assert gone > 20


def test_limits_of_risk_hold_for_the_counts_themselves(report, small):
    seen = 0
    for one in (report, small):
        for own, shown in zip(own_order(one), one.external().data["results"], strict=True):
            sides = own["real"], own["holdout"]
            if not shown["risk"] or shown["risk"]["low"] is None or own["attack"] in ("singling_out",):
                continue
            seen += 1
            exact = mover_residual(*(x for s in sides for x in (s["hits"], s["n"])), own["risk"]["level"])
            assert shown["risk"]["low"] <= exact.low or own["verdict"] == "excess found"
            high = shown["risk"]["high"]
            assert high is None or high >= exact.high or own["verdict"] == "deficit found"
    assert seen > 5


def test_no_curve_is_shown(report):
    assert any(r["curves"] for r in report.data["results"])
    assert not any(r["curves"] for r in report.external().data["results"])


def test_further_numbers_withhold_small_shares(report, small):
    for one in (report, small):
        n = one.data["tables"]["real"]["rows"]
        for own, shown in zip(own_order(one), one.external().data["results"], strict=True):
            for name in ("real records alone on their key", "share of real rows that equal another real row"):
                value = own["context"].get(name)
                if value is not None and (value * n < 10 or (1 - value) * n < 10):
                    assert name not in shown["context"]
            assert not any(w in name for name in shown["context"] for w in ("largest of", "radius", "smallest", "0th"))


def test_policy_and_change_tell_no_risk_of_what_is_withheld(report):
    data = external(report.data)
    names = ("attack", "variant", "target")
    hidden = [r for r in data["results"] if r["risk"] and r["risk"]["value"] is None]
    for r in data["change"]["comparisons"]:
        if any([r[k] for k in (*names, "keys")] == [h[k] for k in (*names, "keys")] for h in hidden):
            assert r["now"] is None
            assert r["high_simultaneous"] is None
    worst = report.data["results"][0] | {"attack": "copies", "variant": "exact", "keys": [], "target": None}
    one = {
        "condition": "copies: risk at most 0.01",
        "found": "0.4321 (copies (exact))",
        "kept": False,
        "why": "above 0.01",
        "rule": {"kind": "risk", "of": "copies", "field": "value", "operator": ">", "limit": 0.01},
    }
    rates = {role: {"hits": 3.0, "n": worst[role]["n"], "rate": 0.03} for role in ("real", "holdout")}
    policy = report.data["policy"] | {"conditions": [one]}
    made = external(report.data | {"results": [worst | rates], "change": None, "policy": policy})
    assert made["policy"]["conditions"][0]["found"] == "withheld (copies (exact))"
    checked = {"kind": "precondition", "of": "holdout unseen"}
    untested = {"condition": "precondition: holdout unseen", "found": "not tested", "kept": False,
                "why": "was not tested: 117 rows are few", "rule": checked}  # fmt: skip
    made = external(report.data | {"policy": policy | {"conditions": [untested]}})
    assert made["policy"]["conditions"][0]["why"] == "was not tested"


def test_sentences_go_out_without_their_numbers():
    assert numberless("3 of 1,120 people (2.5%) and p = 3e-05") == "… of … people (…%) and p = …"
    assert numberless("'wave 12' and column 4, a mean of -1.5") == "'wave 12' and column 4, a mean of …"
    assert numberless("a classifier tells real from holdout with AUC 0.53 (0.5 is chance, p = 0.4)") == (
        "a classifier tells real from holdout with AUC … (0.5 is chance, p = …)"
    )
    assert numberless("the 7th nearest of 12st") == "the … nearest of …"
    for text in ("all tables have the same 4 columns", "key sets of 3 columns: the 12 that extend the best smaller ones "
                 "were looked at"):  # fmt: skip
        assert numberless(text) == text


@given(st.floats(0, 1e6), st.integers(1, 10**6), st.sampled_from([5, 20]))
def test_counts_are_never_small_and_their_ranges_hold_them(value, n, step):
    value, shown_n = min(value, n), size(n, step)
    shown = count(value, shown_n, step)
    assert shown is None or (shown >= 15 and shown % step == 0 and abs(shown - value) <= step / 2)
    ends = alike(value, shown_n, step)
    assert (ends is None) == (shown_n is None)
    assert ends is None or ends[0] <= value <= ends[1] + step / 2


@given(st.floats(-10, 1, allow_nan=False))
def test_limits_are_rounded_outward(low):
    assert rounded(low, 2, "down") <= low <= rounded(low, 2, "up")


# ---------------------------------------------------------------- hostile text


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(5)

    def table():
        return pl.DataFrame({c: [f"={c}{v}" for v in rng.integers(0, 3, 80)] for c in HOSTILE})

    real, synthetic, holdout = table(), table(), table()
    found = divulge.assess(
        real, synthetic, holdout=holdout, keys=HOSTILE[:2], targets=HOSTILE[2:4], models=False, membership=False
    )
    why = f"KeyError inside the attack ({HOSTILE[4]} -> {HOSTILE[3]})"
    return replaced(found, failed=[{"attack": "rapid", "why": why}])


@pytest.mark.first(1)
@pytest.mark.parametrize("edition", ["custodian", "external", "external with names"])
def test_hostile_names_stay_text_in_every_document(hostile, edition):
    one = hostile if edition == "custodian" else hostile.external(["columns"] if "names" in edition else ())
    page = one.to_html()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert not re.search(r"<[^>]*\sonmouseover=", page)
    assert "<script>" not in one.to_markdown()
    assert "](http:" not in one.to_markdown()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", repr(one))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", page + one.to_markdown())
    ET.fromstring(one.to_junit())
    ET.fromstring(one.get_visualization("cap").to_svg())
    assert "<script>" not in one.get_visualization("cap").to_svg()
    if edition == "external":
        documents = "".join(unescape(t) for t in (page, one.to_markdown(), one.to_json(), one.to_csv(), one.to_junit()))
        assert not [name for name in HOSTILE if name in documents]


def test_a_spreadsheet_takes_no_cell_for_a_formula(hostile, tmp_path):
    path = tmp_path / "results.csv"
    text = hostile.to_csv(path)
    assert path.read_text() == text
    rows = list(csv.reader(io.StringIO(text, newline="")))
    frame = hostile.to_frame()
    assert rows[0] == frame.columns
    assert len(rows) == 1 + len(frame)
    texts = [i for i, c in enumerate(frame.columns) if frame[c].dtype == pl.String]
    cells = {row[i] for row in rows[1:] for i in texts}
    assert not [c for c in cells if c[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")]
    assert any(c.startswith("'=cmd") for c in cells)


def test_errors_of_ours_are_raised_for_hostile_reveals(small):
    for wrong in (["\x1b[31m"], ["columns", "records"], [""]):
        with pytest.raises(DivulgeError, match="hint: ") as error:
            small.external(wrong)
        assert "\x1b" not in str(error.value)


def test_external_reports_show_themselves(small):
    outside = small.external()
    assert isinstance(outside, Report)
    assert outside.results == ()
    with pytest.raises(SettingError, match=r"^records: an external edition has none\. hint: "):
        outside.records()
    assert str(outside).startswith("divulge: ")
    assert re.fullmatch(
        r"<Report cannot tell: [0-9]+0 real, [0-9]+0 synthetic, [0-9]+0 holdout rows, \d+ results>", repr(outside)
    )
    tables = outside.assessment.tables
    withheld = replace(outside.assessment, tables=replace(tables, real=replace(tables.real, rows=None)))
    assert repr(Report(withheld, (), None, outside.kind)).startswith("<Report cannot tell: few real, ")
    assert outside._repr_html_().startswith("<iframe")


# ---------------------------------------------------------------- columns called like words of ours


def our_words():
    """The words of our sentences, also those of policies, gates and changes, in a fixed order."""
    policy = policy_from_toml(STRICT)
    told = [*WORDS, *" ".join([TEMPLATE, *conditions(policy)]).split()]
    told += [
        "risk",
        "rose",
        "since",
        "the",
        "previous",
        "run",
        "changed",
        "for",
        "certain",
        "comparisons",
        "largest",
        "rise",
        "that",
        "limits",
        "leave",
        "room",
    ]
    told += [
        "found",
        "not",
        "tested",
        "kept",
        "broken",
        "withheld",
        "above",
        "below",
        "another",
        "one",
        "fails",
        "was",
        "is",
        "seen",
        "number",
        "column",
        "columns",
    ]
    return sorted({w for t in told for w in re.findall(r"[A-Za-z]{1,}", t)})


STRICT = """
required = ["copies", "inference"]
fail_on = ["any.high > 0.3", "copies[exact].value > 0.00005", "any.score < 99", "excess", "cap.low > 0.001"]
preconditions = ["sizes", "same columns", "same types", "same values"]
[power]
copies = 0.00012
any = 0.5
[attacks."inference[nearest record]"]
high = 0.05
[positive_control]
seen = true
smallest_share = 0.0512
[change]
verdict = "no change found"
"""


TOKENS = [f"{NAME}{i}x" for i in range(9)]
"""Names that stand for others until these are put in their places."""


@pytest.fixture(scope="module")
def worded():
    """The custodian's data of a run on such columns, with all that adds sentences of its own."""
    rng = np.random.default_rng(3)

    def table(n=90):
        kinds = (rng.integers(0, 6, n), rng.integers(0, 3, n), rng.normal(0, 1, n).round(1), rng.choice(["u", "v"], n))
        memo = [f"row {i} says that all is well and more" for i in rng.integers(0, 10**6, n)]
        cells = {c: rng.permutation(kinds[i % 4]) for i, c in enumerate(TOKENS)}
        return pl.DataFrame(cells | {TOKENS[7]: [f"id{i}" for i in rng.permutation(10**5)[:n]], TOKENS[8]: memo})

    real, synthetic, holdout = table(), table(), table()
    found = divulge.assess(
        real, pl.concat([real[:5], synthetic[5:]]), holdout=holdout, models=False, positive_control=0.1, membership=False,
        keys=TOKENS[:3], targets=[TOKENS[5], TOKENS[3], TOKENS[4]], subgroups=[TOKENS[5]], jobs=1,
    )  # fmt: skip
    data = found.data
    data["change"] = change(data, copy.deepcopy(data)) | {"previous_started": "2026-11-22T05:15:56+00:00"}
    data["failed"] = [{"attack": "rapid", "why": f"KeyError inside the attack ({TOKENS[0]} -> {TOKENS[3]}); please "
                       "report it"}]  # fmt: skip
    data["policy"] = judge_policy(data, policy_from_toml(STRICT))
    return data


def renamed(data, names):
    """The same data, had the columns these names: plain words, which are written alike everywhere."""
    text = json.dumps(data)
    for token, name in zip(TOKENS, names, strict=True):
        text = text.replace(token, name)
    return json.loads(text)


@pytest.mark.slow
def test_the_names_of_columns_decide_nothing_in_an_external_edition(worded):
    expected = external(worded)
    words = our_words()
    assert len(words) > 400
    assert {"risk", "of", "the", "share", "rows", "real", "column", "found", "withheld", "copies"} <= set(words)
    words = np.random.default_rng(1).permutation(words).tolist()
    for start in range(0, len(words) - 9, 9):
        assert external(renamed(worded, words[start : start + 9])) == expected


@pytest.mark.slow
@pytest.mark.parametrize("names", [
    ["risk", "of", "the", "share", "rows", "real", "found", "column", "people"],
    ["copies", "near", "exact", "above", "withheld", "at", "most", "comparisons", "any"],
    ["kept", "precondition", "since", "run", "no", "was", "targets", "seen", "verdict"],
])  # fmt: skip
def test_documents_of_columns_called_like_our_words_show_numbers_in_their_places(worded, names):
    one, other = (Report.from_dict(external(d)) for d in (renamed(worded, names), worded))
    for make in (Report.to_json, Report.to_html, Report.to_markdown, Report.to_junit, repr):
        assert make(one) == make(other)
    assert broken(one.data["policy"]) == broken(other.data["policy"])
    told = [c[k] for c in one.data["policy"]["conditions"] for k in ("condition", "found", "why")]
    told += [one.data["change"]["sentence"]]
    assert not [t for t in told if re.search(r"^…$|: …$|\(…\)", t)]
    # a label stands in brackets, or after "as"
    rest = [re.sub(r"\([^()]*(?:\([^()]*\))?[^()]*\)|, as .*", "", t) for t in told]
    assert [t for t in rest if re.search(r"column \d", t)] == []


@pytest.mark.slow
def test_dates_and_limits_of_a_policy_are_never_rounded(worded):
    data = external(worded)
    assert "since the run of 2026-11-22, in" in data["change"]["sentence"]
    asked = [(c["condition"], o["condition"]) for c, o in
             zip(data["policy"]["conditions"], worded["policy"]["conditions"], strict=True)]  # fmt: skip
    assert all(one == other for one, other in asked)
    assert any("5e-05" in one for one, _ in asked)
    assert any("0.0512" in one for one, _ in asked)
    assert "no column of units was named" in [c["found"] for c in data["policy"]["conditions"]]


@pytest.mark.slow
def test_a_variant_that_no_comparison_has_is_not_repeated(worded):
    made = judge_policy(worded, None, [f"any[{TOKENS[0]} secret].high > 0.5", "copies[exact].high > 0.5"])
    asked = [c["condition"] for c in external(worded | {"policy": made})["policy"]["conditions"]]
    assert asked == [
        "all attacks (…): simultaneous upper limit of risk at most 0.5",
        "copies (exact): simultaneous upper limit of risk at most 0.5",
    ]
    made["conditions"] = [{"condition": "Ann", "found": "Ann", "kept": False, "why": "Ann"}]  # words not known here
    assert "Ann" not in json.dumps(external(worded | {"policy": made})["policy"])


@pytest.mark.slow
def test_a_policy_tells_no_number_that_the_edition_withholds(worded):
    shown = external(worded)
    hidden = {i for i, r in enumerate(shown["results"]) if r["risk"] and r["risk"]["value"] is None}
    seen = 0
    done = set()
    for i, r in enumerate(in_schema_order(worded)["results"]):
        if not r["risk"] or (r["attack"], r["variant"]) in done:
            continue
        done.add((r["attack"], r["variant"]))
        for field in ("value", "high", "low", "score"):
            rule = f"{r['attack']}{'[' + r['variant'] + ']' if r['variant'] else ''}.{field} {'<' if field == 'score' else '>'} 0.5"
            made = judge_policy(worded | {"results": [r], "failed": [], "left_out": []}, None, [rule])
            one = external(worded | {"results": [r], "policy": made, "change": None})
            result, c = one["results"][0], one["policy"]["conditions"][-1]  # what always must hold stands before it
            allowed = [
                result["score"],
                *((result["risk"] or {}).get(k) for k in ("value", "high_simultaneous", "low_simultaneous")),
            ]
            number = re.match(r"-?[\d.]+(?:e-?\d+)?(?= \()", c["found"])
            assert number is None or float(number[0]) in allowed
            if i in hidden and field in ("value", "score"):
                seen += 1
                assert number is None
        made = judge_policy(worded | {"results": [r], "failed": [], "left_out": []}, Policy(power={r["attack"]: 0.5}))
        one = external(worded | {"results": [r], "policy": made, "change": None})
        if i in hidden and r["smallest_detectable"] is not None:
            assert one["policy"]["conditions"][-1]["found"].startswith(("withheld (", "not tested"))
    assert seen > 10


@pytest.mark.slow
def test_what_breaks_every_policy_is_told_in_an_external_edition(worded):
    check = {"check": "exchangeable", "ok": False, "detail": "a classifier tells real from holdout with AUC 0.9 (0.5 "
             "is chance, p = 0.001): they are no random split; every excess below is suspect"}  # fmt: skip
    data = worded | {"results": [], "failed": [], "left_out": [], "preconditions": [check], "change": None}
    made = judge_policy(data, None, ["excess"])
    told = external(data | {"policy": made})["policy"]["conditions"]
    assert [(c["condition"], c["why"]) for c in told[:2]] == [
        ("the comparison of members with strangers holds", "it does not"),
        ("at least one attack compares members with strangers", "none did"),
    ]
    assert told[0]["found"].startswith("exchangeable: a classifier tells real from holdout")
    assert not [c[k] for c in told for k in ("condition", "found", "why") if c[k] == "…"]


@pytest.mark.slow
def test_no_list_is_in_the_order_of_names(worded):
    # the same data, its names in another order of the alphabet, give the same lists
    backwards = [f"{c}w" for c in "zyxvutsrq"]
    data = renamed(worded, backwards)
    data["results"].sort(key=lambda r: (r["attack"], r["target"] or "", r["keys"]))
    for r in data["results"]:
        r["groups"].sort(key=lambda g: (g["of"], g["name"] if r["attack"] == "singling_out" else ""))
    data["change"]["comparisons"].sort(key=lambda r: (r["target"] or "", r["keys"]))
    made = external(data)
    for attack in ("cap", "inference", "copies"):
        rows = [r for r in made["results"] if r["attack"] == attack]
        numbers = [[int(r["target"][7:]) if r["target"] else 0, [int(k[7:]) for k in r["keys"]]] for r in rows]
        assert numbers == sorted(numbers)
    for r in made["results"]:
        if r["attack"] == "singling_out":
            sets = [[int(n) for n in re.findall(r"\d+", g["name"])] for g in r["groups"]]
            assert sets == sorted(sets)
    rows = [r for r in made["change"]["comparisons"] if r["attack"] == "copies" and r["keys"]]
    assert [r["keys"] for r in rows] == sorted(r["keys"] for r in rows)
    names = Names.of(["zoo", "bar", "ant"], reveal=False)
    assert names.text("left out of the distance: 'ant' (text), 'zoo' (identifier)") == (
        "left out of the distance: 'column 1' (identifier), 'column 3' (text)"
    )
    assert names.text("left out of the distance: 'ant', 'bar' and 12 more") == "left out of the distance: 14 columns"


def test_empty_cells_and_repeated_rows_tell_no_small_count(small):
    def shown(missing, repeated):
        table = {"rows": 120, "columns": 5, "sha256": "", "hashed": "file", "missing": missing, "repeated": repeated}
        return external(small.data | {"tables": dict.fromkeys(("real", "synthetic", "holdout"), table)})["tables"]

    # one person may have several empty cells; the recipient has the synthetic table
    tables = shown(1 / 3, 3)
    assert [tables[role]["missing"] for role in ("real", "holdout", "synthetic")] == [None, None, 1 / 3]
    assert tables["synthetic"]["repeated"] == 3
    assert [shown(0.5, n)["real"]["repeated"] for n in (0, 12, 38, 108, 120)] == [None, None, 40, None, None]


def test_what_people_wrote_gives_no_common_word_away(small):
    names = Names.of(["of", "wage"], reveal=False)
    assert names.prose("the wage of a neighbour") == "…"
    assert names.prose("the wage that a neighbour has") == "the column 2 that a neighbour has"
    assert Names.of(["of"], reveal=True).prose("one of them") == "one of them"


# ---------------------------------------------------------------- errors on the way to an external edition


@pytest.mark.parametrize(
    ("arguments", "kept", "gone"),
    [
        (("--fail-on", "vwjk"), "write 'cap.high > 0.05', 'singling_out[3 columns].score < 95', 'any.low > 0'", "vwjk"),
        (("--jobs", "vwjk"), "Invalid value for '--jobs': '…' is not a valid integer", "vwjk"),
        (("--vwjk", "1"), "No such option", "vwjk"),
        (("vwjk", "vwjl"), "REAL, SYNTHETIC and one HOLDOUT are expected. hint: add --together", "vwj"),
        (("--search", "vwjk"), "is not one of 'default'", "vwjk"),
        (("--keys=vwjk,vwjl",), "hint: ", "vwj"),
    ],
)
def test_errors_keep_our_own_words_and_hide_what_was_typed(arguments, kept, gone, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    files = (f"{FILE} real.csv", f"{FILE} synthetic.csv", "--edition", "external", "--no-models", "-q")
    code, told = run_cli(capsys, monkeypatch, "assess", *files, *arguments)
    assert code == 2
    assert kept in told
    assert gone not in told
    assert leaks(told) == set()


def test_a_report_read_again_steers_no_terminal(small):
    data = copy.deepcopy(small.data)
    for part in data["not_tested"]:
        part["what"] += "\x1b[31m"
    data["preconditions"] = [{"check": "a\x1b[31m", "ok": False, "detail": "b\x1b"}]
    data["failed"] = [{"attack": "c\x1b", "why": "d\x1b"}]
    data["left_out"] = [{"attack": "e\x1b", "n": 1, "of": 2, "why": "f\x1b"}]
    assert "\x1b" not in repr(Report.from_dict(data))


@pytest.mark.parametrize("seed", range(4))
def test_an_edition_of_an_edition_is_the_same_in_whatever_order_variants_come(report, seed):
    data = report.assessment
    one = data.results[0]
    rows = [
        replace(one, attack="copies", keys=(c.name,), target=None, variant=v)
        for c in data.schema for v in ("one column", "one column, ends", "linked")
    ]  # fmt: skip
    order = np.random.default_rng(seed).permutation(len(rows))[: len(rows) // 2]  # of each column other variants
    found = external_edition(replace(data, results=tuple(rows[i] for i in order)))
    assert external_edition(found).results == found.results
