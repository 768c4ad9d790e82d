"""The legal frame of the report: the three questions, the threat model, the decision. The results are built by hand."""

import copy
import json
import re
from itertools import pairwise

import jsonschema
import msgspec
import polars as pl
import pytest
from msgspec.structs import replace
from report_helpers import (
    AVOIDED,
    HOSTILE,
    Page,
    ended,
    markdown,
    page,
    section,
    statement,
    summary,
    tables_of,
    width,
    words,
    wp216,
)  # fmt: skip

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.checks import SHOWN
from divulge.attacks.registry import worded
from divulge.core.records import Precondition
from divulge.core.result import Baseline, Group, Rate, Result, Risk
from divulge.core.schema import Column, Schema
from divulge.core.threat_model import Attacker, Decision, Release, Threat
from divulge.report.assembly import ExposedPeople, assembled
from divulge.report.documents.html_charts import Rung, ladder
from divulge.report.documents.tables import escaped
from divulge.report.model import Failure, Overall, Settings, Tables
from divulge.report.report import Report
from divulge.report.schema import assessment_schema
from divulge.run.judging.verdict import overall

NAMES = [f"column {i}" for i in range(15)]
WAYS = ("nearest record", "CAP", "k-vote", "model")


def rate(hits, n):
    return Rate(hits=hits, n=n, rate=hits / n if n else None)


def risk(value, half=0.02):
    return Risk(
        value=value, low=value - half, high=value + half, low_simultaneous=value - 1.5 * half,
        high_simultaneous=value + 1.5 * half, level=0.95, method="MOVER",
    )  # fmt: skip


def compared(attack, value, *, strangers=True, n=500, **fields):
    """One result; the verdict follows from the risk."""
    verdict = "excess found" if value - 0.03 > 0 else "none found" if value + 0.03 <= 0.05 else "cannot tell"
    found = {"real": rate(40 + round(400 * max(value, 0)), n), "baseline": Baseline(rate=0.07, what="by chance")}
    if strangers:
        found |= {"holdout": rate(40, n), "risk": risk(value), "score": 100 * (1 - max(0.0, value + 0.02))}
        found |= {"smallest_detectable": 0.031}
    made = Result(attack=attack, verdict=verdict if strangers else "no holdout", **found, **fields)
    return worded(made, CATALOGUE[attack])


def results(names=NAMES, strangers=True, attacks=("singling_out", "linkability", "inference")):
    """6 numbers of columns, 3 splits by 10 k, 15 targets by 4 ways."""
    out = []
    variants = ["univariate", "1 column", *(f"{i} columns" for i in range(2, 6))]
    for i, variant in enumerate(reversed(variants)):
        sets = tuple(
            Group(
                of="column set", name=" + ".join(names[j : j + 3]), real=rate(20 - j, 60),
                holdout=rate(5, 60) if strangers else None,
            )
            for j in range(len(names))
        )  # fmt: skip
        out.append(
            compared("singling_out", 0.02 * i, strangers=strangers, variant=variant, groups=sets,
                     context={"tries": 10_000.0, "distinct people singled out": 31.0, "distinct people singled out, strangers": 22.5})
        )  # fmt: skip
    for split in ("given columns", "balanced halves", "numbers and categories"):
        for k in range(1, 11):
            out += [
                compared("linkability", 0.1 - 0.01 * k, strangers=strangers, variant=f"{split}, k = {k}",
                         settings={"first": names[:3], "second": names[3:], "k": k, "split": split})
            ]  # fmt: skip
    for i, target in enumerate(names):
        for way in WAYS:
            subgroups = tuple(
                Group(of=names[0], name=f"subgroup {j}", real=rate(30 + j, 100), risk=risk(0.01 * j) if strangers else None,
                      holdout=rate(30, 100) if strangers else None)
                for j in range(3)
            ) if way == "nearest record" else ()  # fmt: skip
            out.append(
                compared("inference", 0.004 * i, strangers=strangers, variant=way, target=target, groups=subgroups,
                         settings={"known": len(names) - 1}, context={"PRC": 0.4, "model trained on strangers": 0.3},
                         notes=("cannot tell: too wide; about 900 records would do",))
            )  # fmt: skip
    return [r for r in out if r.attack in attacks]


STATED = Threat(
    attacker=Attacker(who=("a recipient", "the public"), knows=("age, sex and postcode",)),
    release=Release(setting=("licensed",), holdout=("one household in five",)),
    decision=Decision(accepted_by=("the controller",), date=("2026-11-21",)),
)


def report(found, names=NAMES, strangers=True, threat=STATED, failed=(), failing="no overlap", verdict="excess found"):
    columns = ["real", "synthetic", "holdout"][: 2 + strangers]
    tables = {r: {"rows": 2000, "columns": len(names), "sha256": "0" * 64, "hashed": "file",
                  "missing": 0.01, "repeated": 12, "units": None} for r in columns}  # fmt: skip
    schema = Schema((*(Column(n, "categorical") for n in names), Column("untouched", "categorical")), threat)
    return Report(
        assembled(
            version="0.0.0",
            settings=Settings(
                seed=3,
                level=0.95,
                jobs=1,
                acceptable=0.05,
                search="off",
                models=None,
                keys=None,
                targets=None,
                subgroups=(),
                unit=None,
                ignore=(),
                missing=0,
            ),
            started="2026-11-21T00:00:00+00:00",
            seconds=1.0,
            tables=msgspec.convert({"holdout": None} | tables, Tables),
            schema=schema,
            bins={},
            checks=[
                Precondition(check="sizes", ok=True, detail=""),
                Precondition(check=failing, ok=False, detail="3 of 9"),
            ],
            results=found,
            failed=list(failed),
            key_sets=[],
            minimal=[],
            notes=[],
            verdict=Overall(
                verdict=verdict if strangers else "no holdout", sentence="Something by singling_out (univariate)."
            ),
            records=None,
            exposed=ExposedPeople(strangers=None),
        ),
        tuple(found),
        None,
    )


@pytest.fixture(scope="module")
def full():
    return report(results())


@pytest.fixture(scope="module")
def lonely():
    return report(results(strangers=False), strangers=False)


@pytest.fixture(scope="module")
def hostile():
    names = [*NAMES[:3], *HOSTILE, "k" * 5000, "new\nline | pipe", "\x1b[31m|<script>[x](http://evil.example)"]
    text = tuple(names)
    threat = Threat(
        attacker=Attacker(**dict.fromkeys(Attacker.__struct_fields__, text)),
        release=Release(**dict.fromkeys(Release.__struct_fields__, text)),
        decision=Decision(**dict.fromkeys(Decision.__struct_fields__, (*text, "word " * 5000))),
    )
    return report(results(names), names, threat=threat)


@pytest.fixture(scope="module")
def reports(full, lonely, hostile):
    return {"full": full, "lonely": lonely, "hostile": hostile}


EACH = pytest.mark.parametrize("which", ["full", "lonely", "hostile"])


def answer(report, attack):
    return next(a for a in wp216.answers(report.data) if a["attack"] == attack)


def one(text, name):
    """Return one question of the page: sections lie within a section here."""
    start = text.index(f'<section class="question" aria-labelledby="{name}">')
    return text[start : text.index("</section>", start)]


# ---------------------------------------------------------------- the page as a page


@EACH
def test_the_page_is_whole(reports, which):
    html = reports[which].to_html()
    parsed = Page(html)
    ids = [a["id"] for _, a, _ in parsed.tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = {i for _, a, _ in parsed.tags for i in a.get("aria-labelledby", "").split()}
    named |= {a["href"][1:] for a, _ in parsed.of("a")}
    assert named <= set(ids)
    assert all(b - a <= 1 for a, b in pairwise(parsed.levels))
    assert len(parsed.of("caption")) == len(parsed.of("table"))
    assert len([1 for _, parents in parsed.of("table") if "figure" in parents]) == len(parsed.of("figure")) == 11
    assert len([1 for _, parents in parsed.of("title") if "svg" in parents]) == len(parsed.of("svg"))
    for table in re.findall("<table.*?</table>", ended(html), re.DOTALL):
        assert len({width(row) for row in re.findall("<tr.*?</tr>", table, re.DOTALL)}) == 1, table[:300]


@EACH
def test_the_content_follows_the_schema(reports, which):
    data = json.loads(reports[which].to_json())
    schema = assessment_schema()
    jsonschema.Draft202012Validator(schema).validate(data)
    assert set(schema["$defs"]["Assessment"]["properties"]) == set(data)


@pytest.mark.slow
def test_untrusted_text_stays_text(hostile):
    parsed = Page(hostile.to_html())
    assert len(parsed.of("script")) == 1
    assert not {"img", "iframe"} & {t for t, _, _ in parsed.tags}
    assert not [k for _, a, _ in parsed.tags for k in a if k.startswith("on") or k == "style"]
    assert "{{7*7}}" in parsed.text
    for text in (hostile.to_html(), hostile.to_markdown(), summary(hostile.data)):
        assert not re.search("[\u202e\x1b]", text)
    told = hostile.to_markdown()
    assert "<script" not in told
    assert not re.search(r"(?<!\\)\]\(", told)


def test_overlong_text_is_cut(hostile):
    assert "k" * 100 not in tables_of(hostile.to_html())
    assert hostile.to_html().count("word word") < 5000
    assert "k" * 100 not in hostile.to_markdown().replace(hostile.data["schema"][9]["name"], "")
    assert len(summary(hostile.data)) < 8000


def test_markdown_tables_stay_whole(hostile):
    lines = hostile.to_markdown().splitlines()
    for before, after in pairwise(lines):
        if before.startswith("| ") and after.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", before)) == len(re.findall(r"(?<!\\)\|", after))


@pytest.mark.first(1)
@EACH
def test_words_that_promise_too_much_are_absent(reports, which):
    for text in (Page(reports[which].to_html()).text, reports[which].to_markdown(), summary(reports[which].data)):
        assert not AVOIDED.findall(text)


def test_the_page_stays_small(full):
    assert len(full.to_html()) < 400_000


# ---------------------------------------------------------------- the three questions


@pytest.mark.parametrize("attack", ["singling_out", "linkability", "inference"])
def test_each_question_has_its_words_and_its_headline(full, attack):
    a = answer(full, attack)
    for text in (words(one(full.to_html(), a["id"])), full.to_markdown().replace("\\", "")):
        for said in (a["definition"], a["says"], a["headline"]["text"]):
            assert said in text.replace("&#58;", ":")


def test_singling_out_counts_guesses_and_is_headed_by_three_columns(full):
    text = answer(full, "singling_out")["headline"]["text"]
    assert text == (
        "With 3 columns: 56 of 500 guesses (11.2%) single out exactly one member, 40 of 500 (8.0%) exactly one "
        "stranger; 7.0% by chance alone. That is 31 distinct members and about 22 strangers. "
        "Risk 0.040 (interval of this comparison alone 0.020 to 0.060, simultaneous 0.010 to 0.070). "
        "Score 94.0, from the upper limit of this comparison alone, 0.060."
    )


def test_the_clearest_split_and_target_stand_for_all(full):
    link, guess = (answer(full, a)["headline"] for a in ("linkability", "inference"))
    assert link["text"].startswith(
        "By given columns, with k = 1: 76 of 500 members (15.2%) are linked, of strangers 40"
    )
    assert link["text"].endswith("This is the clearest of 3 splits, by its lower limit (3 excess found).")
    assert guess["r"]["target"] == "column 14"
    assert guess["r"]["variant"] == "nearest record"
    assert guess["text"].endswith(
        "This is the clearest of 15 targets, by its lower limit (7 excess found, 2 cannot tell, 6 none found)."
    )


def inferred(*values, **fields):
    found = [compared("inference", v, variant="nearest record", target=f"t{i}", **fields) for i, v in enumerate(values)]
    return answer(report(found), "inference")["headline"]


def test_without_a_finding_the_largest_upper_limit_stands_for_all():
    doubtful = inferred(0.021, 0.029, 0.025)
    assert doubtful["r"]["target"] == "t1"
    assert doubtful["text"].endswith("This has the largest upper limit of 3 targets (3 cannot tell).")
    mixed = inferred(0.021, -0.1, 0.025)
    assert mixed["text"].endswith(
        "Of 3 targets (2 cannot tell, 1 none found) this has the largest upper limit with this verdict."
    )
    assert inferred(0.021, -0.1, 0.0)["text"].endswith("Of 3 targets: 1 cannot tell, 2 none found.")
    assert "targets" not in inferred(0.021)["text"]


def test_several_results_of_one_target_are_counted_as_comparisons():
    pair = [compared("inference", 0.1, variant="nearest record", target=t, keys=(k,)) for t in "ab" for k in "xy"]
    assert (
        "of 4 comparisons, by its lower limit (4 excess found)" in answer(report(pair), "inference")["headline"]["text"]
    )


def test_the_score_can_be_worked_out_from_what_stands_beside_it():
    text = inferred(0.1, context={SHOWN: 0.5})["text"]
    assert (
        "Risk 0.100 (interval of this comparison alone 0.080 to 0.120, simultaneous 0.070 to 0.130). Score 88.0, "
        in text
    )
    assert (
        "from the upper limit of this comparison alone, 0.120, over 0.500, the part of a full copy that would show here."
        in text
    )
    nothing = compared("inference", 0.1, variant="nearest record", target="t", context={SHOWN: 0.0})
    told = answer(report([replace(nothing, score=None)]), "inference")["headline"]["text"]
    assert told.endswith("No score: a full copy of the real table would not show here.")


def test_both_intervals_stand_in_the_tables(full):
    row = "| 11.2% (56 of 500 guesses) | 8.0% (40 of 500 guesses) | 7.0% | 0.040 | 0.020 to 0.060 | 0.010 to 0.070 | 94.0 |"
    assert row in full.to_markdown()
    assert "<td>0.020 to 0.060</td><td>0.010 to 0.070</td><td>94.0</td>" in ended(full.to_html())


def test_the_part_that_would_show_has_a_column_where_it_is_below_one(full):
    assert "part of a full copy that would show</th>" not in full.to_html()
    part = [compared("linkability", 0.1, variant=f"balanced halves, k = {k}", context={SHOWN: 1 / k}) for k in (1, 2)]
    some = report(part)
    assert "| 0.080 to 0.120 | 0.070 to 0.130 | 0.500 | 88.0 |" in some.to_markdown()
    assert "| 0.080 to 0.120 | 0.070 to 0.130 | 1.000 | 88.0 |" in some.to_markdown()
    assert some.to_html().count("<td>0.070 to 0.130<td>0.500<") == 1
    assert answer(some, "linkability")["further"] is None


def test_too_few_guesses_are_said_to_be():
    few = compared(
        "singling_out", 0.1, variant="3 columns", notes=("cannot tell: fewer than 20 guesses could be made, x",)
    )
    none = Rate(hits=0, n=0, rate=None)
    few = replace(few, risk=None, score=None, real=none, holdout=none, verdict="cannot tell", baseline=None)
    some = report([few])
    assert "| 3 columns | - | - | - | fewer than 20 guesses | - | - | - | ◆ cannot tell |" in some.to_markdown()
    assert '<small class="note">fewer than 20 guesses</small>' in some.to_html()
    told = answer(some, "singling_out")["headline"]["text"]
    assert told == "With 3 columns: no guess could be made. No risk could be given: fewer than 20 guesses."


def test_markdown_lists_every_row_up_to_forty_and_the_headline_rows_always(full):
    text = full.to_markdown()
    for split in ("given columns", "balanced halves", "numbers and categories"):
        assert all(f"| {split}, {k} |" in text for k in range(1, 11))
    assert all(f"| {escaped(n)}, nearest record |" in text for n in NAMES)
    assert "40 of 60 stand here: those by nearest record, then the others by verdict and limit" in text
    rows = answer(full, "inference")["rows"]
    assert [r["target"] for r in wp216.listed("inference", rows, 15)] == NAMES
    assert wp216.listed("inference", rows, 60) == rows


def test_subgroups_in_markdown_have_risk_way_and_what_the_limits_hold_for(full):
    text = full.to_markdown()
    assert (
        "| column 4 | nearest record | column 0: subgroup 2 | 32.0% (32 of 100) | 30.0% (30 of 100) | 0.020 (" in text
    )
    assert "| column 0 | nearest record | the target: subgroup 2 |" in text
    assert text.count("not corrected for the number of targets") == 2
    assert words(one_section(full, "subgroups")).count("not corrected for the number of targets") == 1


def test_sets_of_columns_with_long_names_are_cut():
    name = "a long name " * 50
    part = Group(of="column set", name=f"{name} + b", real=rate(5, 60), holdout=rate(5, 60))
    some = report([compared("singling_out", 0.1, variant="2 columns", groups=(part,))])
    for text in (some.to_markdown(), some.to_html()):
        assert "a long name " * 10 in text
        assert "a long name " * 15 not in text


def test_the_questions_come_before_the_table_in_the_terminal():
    told = summary(report([compared("copies", 0.1, variant="exact"), *results()]).data)
    assert told.index("! no overlap") < told.index("Singling out: ") < told.index("In full: ")
    assert told.index("Inference: excess found.") < told.index("In full: ")


def test_a_failing_precondition_does_not_ask_for_more_people():
    unfair = report(results(), verdict="cannot tell")
    for text in (words(unfair.to_html()), unfair.to_markdown()):
        assert "strangers are no fair comparison" in text
        assert "What fails: no overlap." in text
        assert "more people would be needed" not in text
    fair = report(results(), verdict="cannot tell", failing="sizes")
    assert "they are the answer" in words(fair.to_html())


def test_attacks_have_words_for_names_in_sentences(full):
    for text in (words(full.to_html()), full.to_markdown(), " ".join(summary(full.data).split())):
        assert "Something by singling out (univariate)." in text.replace("\\", "")


def test_counts_of_guesses_are_not_called_people(full):
    assert "80 of 500 guesses" in words(one(full.to_html(), "singling-out"))
    assert "16.0% (80 of 500 guesses)" in full.to_markdown()
    assert "guesses" not in words(one(full.to_html(), "linkability"))


def test_numbers_of_columns_are_in_order(full):
    rows = [r["variant"] for r in answer(full, "singling_out")["rows"]]
    assert rows == ["univariate", "1 column", "2 columns", "3 columns", "4 columns", "5 columns"]


def test_k_is_in_order_of_number(full):
    rows = [wp216.first_cell(r) for r in answer(full, "linkability")["rows"]]
    assert rows[:10] == [("given columns", str(k)) for k in range(1, 11)]


@pytest.mark.parametrize(("attack", "n"), [("singling-out", 6), ("linkability", 30), ("inference", 60)])
def test_every_result_has_a_row(full, attack, n):
    text = one(full.to_html(), attack)
    table = text[text.index("</figure>\n</div>") :]
    table = table[table.index("<tbody>") :]
    assert table[: table.index("</table>")].count("<tr>") == n


@pytest.mark.parametrize(
    ("attack", "drawn"), [("singling_out", [6]), ("linkability", [10] * 3), ("inference", [15] * 4)]
)
def test_what_is_drawn(full, attack, drawn):
    assert [len(c["rows"]) for c in answer(full, attack)["charts"]] == drawn


def test_the_sets_of_columns_that_single_out_most_come_first(full):
    a = answer(full, "singling_out")
    hits = [p["real"]["hits"] for p in a["parts"]]
    assert hits == sorted(hits, reverse=True)
    assert (len(hits), a["n_parts"]) == (12, 90)
    assert "column 0 + column 1 + column 2" in words(one(full.to_html(), "singling-out"))


def test_subgroups_come_by_their_lower_limit(full):
    parts = answer(full, "inference")["parts"]
    assert {p["name"] for p in parts} == {"column 0: subgroup 2", "the target: subgroup 2"}


def test_what_was_not_tested_names_the_other_columns(full):
    text = words(one(full.to_html(), "inference"))
    assert "What was not tested other targets: untouched" in text
    assert "descriptions of more than 5 columns" in words(one(full.to_html(), "singling-out"))
    assert "more than 10 nearest rows" in words(one(full.to_html(), "linkability"))


def test_a_note_of_one_result_says_which():
    found = [compared("singling_out", 0.1, variant=f"{i} columns", notes=("shared", f"note {i}")) for i in (2, 3)]
    told = answer(report(found), "singling_out")["notes"]
    assert told == ["without the table: by chance", "shared", "2 columns: note 2", "3 columns: note 3"]


def test_what_would_do_stands_beside_the_verdict(full):
    text = words(one(full.to_html(), "inference"))
    assert "cannot tellabout 900 records would do" in text
    assert not any("900" in n for n in answer(full, "inference")["notes"])


def test_further_numbers_stand_in_a_table_of_their_own(full):
    text = one(full.to_html(), "inference")
    table = ended(text[text.index("<summary>Further numbers</summary>") :])
    row = re.search(r'<tr><th scope="row">column 0</th>(.*?)</tr>', table)[1]
    assert re.findall(r"<td>([\d.]+)</td>", row) == ["0.400", "0.300"]


def test_risk_is_told_apart_from_the_chance_to_guess(full):
    for text in (words(full.to_html()), full.to_markdown()):
        assert "It is not the chance that a guess is right" in text
        assert "100 means an upper limit of 0" in text
        assert "does not by itself mean that the synthetic table is personal data" in text


def test_without_a_holdout_only_rates_are_told(lonely):
    for text in (words(section(lonely.to_html(), "questions")), lonely.to_markdown(), summary(lonely.data)):
        assert "exactly one stranger" not in text
        assert not re.search(r"score \d|Score is", text)
        assert not re.search(r"simultaneous interval|\bleak", text)
    assert "Inference and disclosure are not separated" in words(one_section(lonely, "questions"))
    assert "This is the highest of 15 targets." in answer(lonely, "inference")["headline"]["text"]


def one_section(report, name):
    html = report.to_html()
    start = html.index(f'<section aria-labelledby="{name}">')
    return html[start : html.index('aria-labelledby="threat"')]


def test_an_attack_that_was_not_run_is_said_not_to_be_tested():
    some = report(results(attacks=("linkability",)), failed=[Failure(attack="inference", why="ValueError")])
    assert "Not tested. This run did not ask it." in words(one(some.to_html(), "singling-out"))
    assert "Not tested. It failed" in words(one(some.to_html(), "inference"))
    assert "! inference failed: ValueError" in summary(some.data)
    assert "Not tested: membership, singling out" in summary(some.data)
    assert "Not tested. This run did not ask it." in some.to_markdown()


def test_what_was_run_is_not_among_what_was_not_tested(full):
    assert [n["what"] for n in full.data["not_tested"]] == ["membership", "reconstruction of secrets"]
    none = report([])
    assert [n["what"] for n in none.data["not_tested"]] == [
        "membership",
        "singling out",
        "linkability",
        "reconstruction of secrets",
    ]


@pytest.mark.slow
@pytest.mark.first(1)
@EACH
def test_numbers_that_are_missing_render(reports, which):
    data = copy.deepcopy(reports[which].data)
    for r in data["results"]:
        for part in ("real", "holdout", "baseline", "risk"):
            if r[part]:
                r[part] = {k: v if isinstance(v, str) else None for k, v in r[part].items()}
        for g in r["groups"]:
            g |= {"real": {"hits": None, "n": None, "rate": None}, "holdout": None, "risk": None}
        r |= {"score": None, "smallest_detectable": None, "context": {}, "settings": {}}
    for text in (page(data, []), markdown(data), summary(data)):
        assert "None" not in text
    for r in data["results"]:
        r |= dict.fromkeys(("real", "holdout", "baseline", "risk", "verdict", "target")) | {"groups": [], "variant": ""}
    for text in (page(data, []), markdown(data), summary(data)):
        assert "None" not in text


def test_an_older_file_without_the_new_fields_renders(full):
    data = {k: v for k, v in full.data.items() if k not in ("threat", "versions")}
    data["results"] = [{k: v for k, v in r.items() if k != "groups"} for r in data["results"]]
    for text in (page(data, []), markdown(data), summary(data)):
        assert "column 8" in text


# ---------------------------------------------------------------- the rest of the report


@pytest.mark.slow
def test_the_other_lists_are_not_drowned(full):
    other = compared("copies", 0.1, variant="exact")
    joined = report([other, *results()])
    html = joined.to_html()
    start = html.index('<table class="forest">')
    forest = html[start : html.index("</table>", start)]
    assert "copies" in re.findall(r'scope="rowgroup">(\w+)', forest)
    assert forest.count('scope="row"') <= 1 + 3 * 3  # of each question three
    listed = joined.to_markdown()
    assert "| inference" not in listed[listed.index("## Risks") : listed.index("## What was not tested")]
    table = summary(joined.data)
    assert "inference (" not in table
    assert "copies (exact)" in table
    assert "attribution" not in re.findall('aria-labelledby="(.*?)"', html)


def test_the_table_of_all_comparisons_has_them(full):
    html = full.to_html()
    table = html[html.index("All comparisons with counts") :]
    assert table[: table.index("</table>")].count("<tr>") == 1 + 6 + 30 + 60


# ---------------------------------------------------------------- threat model, decision, evidence


def test_what_was_stated_is_shown_and_the_rest_is_named(full):
    html = full.to_html()
    text = Page(html).text
    for said in ("who a recipient the public", "knows age, sex and postcode", "setting licensed", "date 2026-11-21"):
        assert said in text
    assert "Not stated: source, wants, harm, what else the attacker sees, effort." in text
    assert "Not stated: why this limit of risk, when and by whom the limit was set, decided, " in text
    listed = full.to_markdown()
    assert "- who: a recipient; the public" in listed
    assert "- not stated: source, wants, harm, what else the attacker sees, effort" in listed
    assert "attacker 2 of 7, release 2 of 15, decision 2 of 9" in " ".join(summary(full.data).split())


def test_the_evidence_is_on_file(full):
    told = dict(statement.evidence(full.data))
    assert "sha256 " + "0" * 64 in told["tables"]
    assert "one household in five" in told["control set"]
    assert told["preconditions"] == "2 checked, 1 hold; not met: no overlap."
    assert told["comparisons"].startswith("96 by 3 attacks.")
    assert "singling out 3.1%" in told["smallest detectable"]
    assert "Seed 3; divulge 0.0.0, python " in told["seed and versions"]
    text = words(full.to_html())
    assert all(sentence in text for sentence in told.values())
    assert all(escaped(sentence) in full.to_markdown() for sentence in told.values())


def test_every_way_of_saying_nothing_is_short():
    nothing = report([], threat=Threat())
    assert "Stated in the schema file" not in summary(nothing.data)
    assert "smallest detectable" not in dict(statement.evidence(nothing.data))
    assert "itself processing of personal data" in words(nothing.to_html())


@pytest.mark.slow
def test_texts_travel_from_the_file_to_the_report(tmp_path):
    path = tmp_path / "frame.toml"
    path.write_text('[attacker]\nwho = "a neighbour"\n[release]\nsetting = ["public", "for ever"]\n', encoding="utf-8")
    people = pl.DataFrame({"age": [f"a{i % 7}" for i in range(80)], "job": [f"j{i % 3}" for i in range(80)]})
    found = divulge.assess(people, people, schema=divulge.read_schema(path), search="off", jobs=1)
    assert found.data["threat"]["attacker"]["who"] == ["a neighbour"]
    assert found.data["threat"]["release"]["setting"] == ["public", "for ever"]
    assert {c["kind"] for c in found.data["schema"]} == {"categorical"}
    assert "a neighbour" in found.to_html()


# ---------------------------------------------------------------- words for one result


def test_the_words_of_a_result_fit_its_attack():
    out = compared("singling_out", 0.1, variant="3 columns")
    assert str(out).startswith(
        "singling_out (3 columns): 80 of 500 guesses (16.0%) single out exactly one member; "
        "40 of 500 guesses (8.0%) exactly one stranger; risk 0.100"
    )
    linked = compared("linkability", 0.1, variant="balanced halves, k = 1")
    assert ": linked: 16.0% of members (80 of 500); 8.0% of strangers (40 of 500)" in str(linked)
    guessed = compared("inference", 0.1, variant="model", target="income")
    assert "inference (model) -> income: right for 16.0% of members" in str(guessed)


def test_the_verdict_of_the_whole_counts_guesses():
    told = overall([compared("singling_out", 0.1, variant="3 columns")], True, 0.95).sentence
    assert told.startswith(
        "Excess found: by singling_out (3 columns), 16.0% of the guesses single out exactly one person of the table and "
        "8.0% exactly one stranger; risk 0.100, at least 0.070 ("
    )


# ---------------------------------------------------------------- the drawing


def marks(svg):
    return [
        (float(x), float(y))
        for x, y in re.findall(r'class="mark [^"]*" (?:d="M|cx=")([\d.]+)(?: |" cy=")([\d.]+)', svg)
    ]


def test_larger_risks_lie_further_right():
    rungs = [Rung(str(i), 0.02 * i, (0.0, 0.1), (-0.01, 0.12), "none found") for i in range(6)]
    places = marks(ladder("u", "t", "d", rungs, 0.05))
    assert len(places) == 6
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert all(b > a for (_, a), (_, b) in pairwise(places))


def test_a_risk_that_is_unknown_leaves_its_line_empty():
    svg = ladder("u", "t", "d", [Rung("a", None), Rung("b" * 50, 0.1, (0, 0.2), (None, None), "cannot tell")], 0.05)
    assert len(marks(svg)) == 1
    assert "b" * 20 not in svg


def test_rates_are_drawn_beside_their_baselines():
    svg = ladder("u", "t", "d", [Rung("a", 0.5, baseline=0.25)], None)
    ((x, _),) = marks(svg)
    (bar,) = re.findall(r'class="baseline" d="M([\d.]+)', svg)
    assert (x, float(bar)) == (115.0, 62.5)
