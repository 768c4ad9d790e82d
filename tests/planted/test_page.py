"""The page of planted disclosures, made from a tiny file of results."""

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from planted import figures, page
from planted.doses import bar
from planted.runs import Runs, joint_scores
from planted.tables import Numbers
from planted.worlds import WORLDS

MORE_WORDS = {"named": 40, "named_planted": 30}


def row(tool, world, dose, seed, **measures):
    return {
        "tool": tool, "base": WORLDS[world].bases[0] if world in WORLDS else "visits", "world": world, "dose": dose,
        "seed": seed, "planted": round(500 * dose), "measures": measures, "cpu": 2.0, "memory": 300,
        "versions": {"python": "3.11"}, "at": "2026-11-29T12:00:00Z",
    }  # fmt: skip


def measure(score, flag=None, **more):
    return {"score": score, "flag": flag, **more}


@pytest.fixture
def runs(tmp_path):
    """Return runs of divulge, which finds copies and never texts, and of two tools that find texts."""
    runs = Runs(tmp_path)
    for ground in ("null: as it is", "null: notes"):
        for seed in range(20):
            runs.add(row("divulge", ground, 0.0, seed, verdict=measure(seed / 20, seed == 0)))
            runs.add(row("other", ground, 0.0, seed, a=measure(seed / 20, False), b=measure(-seed / 20, seed == 3)))
            runs.add(row("quiet", ground, 0.0, seed, c=measure(seed / 20)))
    for seed in range(5):
        runs.add(row("divulge", "verbatim", 0.1, seed, verdict=measure(5.0, True, **MORE_WORDS)))
        runs.add(row("divulge", "verbatim", 0.02, seed, verdict=measure(0.5, False, named=1, named_planted=0)))
        runs.add(row("divulge", "texts", 0.1, seed, verdict=measure(0.1, False, named=0, named_planted=0)))
        runs.add(row("other", "verbatim", 0.1, seed, a=measure(0.5, False), b=measure(0.0, False)))
        runs.add(row("other", "texts", 0.1, seed, a=measure(0.5, False), b=measure(9.0, True)))
        runs.add(row("quiet", "texts", 0.1, seed, c=measure(0.96 if seed else 0.94)))
    broken = row("quiet", "verbatim", 0.1, 0)
    runs.add({k: v for k, v in broken.items() if k != "measures"} | {"error": "more than 600 s"})
    return runs


@pytest.fixture
def numbers(runs):
    return Numbers(runs)


def test_a_cell_has_the_smallest_dose_of_each_rule(numbers):
    said = {
        (tool, world, rule): numbers.cell(tool, WORLDS[world], "visits", rule).dose
        for tool in ("divulge", "other", "quiet") for world in ("verbatim", "texts") for rule in ("own", "5%")
    }  # fmt: skip
    assert said == {
        ("divulge", "verbatim", "own"): "10%", ("divulge", "verbatim", "5%"): "10%",
        ("divulge", "texts", "own"): "> 10%", ("divulge", "texts", "5%"): "> 10%",
        ("other", "verbatim", "own"): "> 10%", ("other", "verbatim", "5%"): "> 10%",
        ("other", "texts", "own"): "≤ 10%", ("other", "texts", "5%"): "≤ 10%",
        ("quiet", "verbatim", "own"): "failed", ("quiet", "verbatim", "5%"): "failed",
        ("quiet", "texts", "own"): "> 10%", ("quiet", "texts", "5%"): "≤ 10%",
    }  # fmt: skip
    assert numbers.cell("quiet", WORLDS["texts"], "visits", "5%").at_first == (4, 5)
    assert numbers.cell("quiet", WORLDS["verbatim"], "visits", "5%").failed == 1


def test_the_page_says_first_where_another_tool_is_better(runs, numbers, tmp_path):
    runs.keep_documented("other", {"right": 4, "examples": 5, "id": 0})
    runs.keep_documented("quiet", {"right": 0, "examples": 0})
    page.write(runs, tmp_path / "docs" / "planted.md")
    text = (tmp_path / "docs" / "planted.md").read_text()
    first = text.index("## Where another tool is better")
    assert first < text.index("## The smallest dose")
    for rule in ("by own words", "at 5% alarms"):
        assert (
            f"| texts | texts of members, in other rows | other | {rule} | 5 of 5 (57 to 100%) | 0 of 5 (0 to 43%) |"
            in text
        )
    assert "| verbatim | 10% / 10% | > 10% / > 10% | failed |" in text
    assert "| texts | > 10% / > 10% | ≤ 10% / ≤ 10% | – / ≤ 10% |" in text
    assert "| texts | texts of members, in other rows | 0 of 5 (0 to 43%) |" in text
    assert "| divulge | 2 of 40 (1 to 17%) | visits, as it is | 1 of 20 (1 to 24%) |" in text
    assert "| other | 2 of 40 (1 to 17%) | visits, as it is |" in text  # one measure of two
    assert "| divulge | 150 of 500 | 150 of 200 |" in text
    assert f"| other | python 3.11 | 2 of {len(WORLDS)} | 5 | 50 | 0 | 4 of 5 | 2.0 | 300 |" in text
    assert f"| quiet | python 3.11 | 2 of {len(WORLDS)} | 1 to 5 | 46 | 1 | none | 2.0 | 300 |" in text
    assert "| quiet | has no words for an alarm |  |  |" in text
    assert "hole; one person repeated; holdout seen" in text
    assert "nan" not in text and "None" not in text and "{" not in text
    for name in ("planted-doses", "planted-alarms"):
        assert f"pictures/{name}.svg" in text
        ElementTree.parse(tmp_path / "docs" / "pictures" / f"{name}.svg")


def test_a_tool_is_better_where_it_finds_more_than_its_alarms_explain(runs):
    def better():
        return [(m.world.name, b.tool, b.rule) for m, b in Numbers(runs).better_elsewhere()]

    assert better() == [("texts", "other", "own"), ("texts", "other", "5%")]
    for seed in range(1, 5):  # one alarm of five is chance
        runs.add(row("other", "texts", 0.1, seed, a=measure(0.5, False), b=measure(-0.5, False)))
    assert better() == [("texts", "quiet", "5%")]
    for seed in range(20):  # five alarms of five are none where every null world raises one
        runs.add(row("other", "null: notes", 0.0, seed, a=measure(seed / 20, True), b=measure(-seed / 20, True)))
        runs.add(row("other", "texts", 0.1, seed, a=measure(0.5, True), b=measure(-0.5, False)))
    assert better() == [("texts", "quiet", "5%")]


def test_too_few_null_worlds_give_no_bar(tmp_path):
    runs = Runs(tmp_path)
    for seed in range(18):
        runs.add(row("divulge", "null: as it is", 0.0, seed, verdict=measure(0.0, False)))
    runs.add(row("divulge", "verbatim", 0.1, 0, verdict=measure(1.0, True)))
    numbers = Numbers(runs)
    assert numbers.cell("divulge", WORLDS["verbatim"], "visits", "5%").dose == ""
    assert numbers.cell("divulge", WORLDS["verbatim"], "visits", "own").dose == "≤ 10%"


def test_the_joint_score_is_the_highest_standard_score_among_all():
    rows = [{"measures": {"a": measure(a), "b": measure(b), "c": measure(1.0)}} for a, b in ((3, 0), (1, 20), (2, 10))]
    step = 1.5**0.5
    assert joint_scores(rows) == pytest.approx([step, step, 0.0])
    first, constant = ([{"measures": {m: r["measures"][m]}} for r in rows] for m in "ac")
    assert joint_scores([*first, {"error": "x"}]) == pytest.approx([step, -step, 0.0, -math.inf])
    assert joint_scores(constant) == [-math.inf] * 3


def test_a_tool_of_several_measures_raises_an_alarm_in_one_null_world_of_twenty_one():
    rng, alarms, tries = np.random.default_rng(0), 0, 2000
    for _ in range(tries):
        rows = [{"measures": dict(zip("ab", map(measure, r), strict=True))} for r in rng.standard_t(3, size=(21, 2))]
        mine, *others = joint_scores(rows)
        alarms += mine > bar(others)
    assert alarms / tries == pytest.approx(1 / 21, abs=4 * (0.0453 / tries) ** 0.5)


def test_the_darker_a_cell_the_smaller_the_dose():
    grounds = [figures.shade(d)[0] for d in (0.02, 0.05, 0.1, 0.2, None)]
    assert len(set(grounds)) == 5 and grounds[-1] == "#ffffff"


def test_the_page_is_that_of_the_runs_that_are_passed_on(tmp_path, monkeypatch):
    """`python benchmarks/planted --results benchmarks/planted --page FILE` writes the page of the documentation."""
    root = Path(__file__).parents[2]
    monkeypatch.setattr(page, "commit", lambda: "8d778e3")  # of the worlds, where there is no history
    page.write(Runs(root / "benchmarks" / "planted"), tmp_path / "planted.md")
    assert (tmp_path / "planted.md").read_text() == (root / "docs" / "planted.md").read_text()
    for picture in (tmp_path / "pictures").iterdir():
        assert picture.read_bytes() == (root / "docs" / "pictures" / picture.name).read_bytes()


def test_runs_that_are_passed_on_are_those_that_were_made(runs):
    runs.add(row("other", "texts", 0.1, 9) | {"error": "out of memory"})
    runs.to_parquet()
    runs.file.unlink()
    again = Runs(runs.folder)
    assert again.rows.keys() == runs.rows.keys()
    for key, one in runs.rows.items():
        other = again.rows[key]
        assert (one.get("measures") or None, one.get("error")) == (other.get("measures"), other.get("error"))
    again.add(row("other", "texts", 0.1, 10))
    assert Runs(runs.folder).rows.keys() == again.rows.keys()  # a call goes on from runs that were passed on
