"""Candidates compared: ranks, documents, the command; one small case through every attack."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.cli.compare import labelled
from divulge.cli.root import cli
from divulge.core.errors import SettingError, TableError
from divulge.core.result import Individual
from divulge.report.comparison.charts import Point, risk_against_use
from divulge.report.comparison.report import ComparisonReport, folder_names
from divulge.report.comparison.schema import comparison_schema, comparison_schema_text
from divulge.run.comparing.candidates import Assessed, _scores_of, scores_of_people
from divulge.stats.rank_intervals import Scores, rank

EVIL = "<script>alert(1)</script>|`x` =cmd"


def people(seed, n):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "zip": rng.integers(0, 40, n).astype(str),
            "job": rng.integers(0, 6, n).astype(str),
            "pay": rng.normal(50, 20, n).round(1),
        }
    )


REAL, HOLDOUT = people(0, 160), people(1, 160)


def copying(seed, share):
    """A table that copies a share of the real people, and makes the rest up."""
    n = round(share * len(REAL))
    return pl.concat([REAL.sample(n, seed=seed), people(100 + seed, len(REAL) - n)])


def run(candidates, **settings):
    given = {
        "holdout": HOLDOUT,
        "keys": ["age", "zip"],
        "targets": ["job"],
        "membership": False,
    } | settings
    return divulge.compare(REAL, candidates, **given)


@pytest.fixture(scope="module")
def found():
    candidates = {"half": copying(1, 0.5), EVIL: copying(2, 0.0), "twice": [copying(3, 0.9), copying(4, 0.9)]}
    return run(candidates)


# ---------------------------------------------------------------- statistics


def scores(leaks, n=900, m=600, seed=0):
    rng = np.random.default_rng(seed)
    leaks = np.asarray(leaks)[:, None]
    members = (rng.random((len(leaks), n)) < 0.3 + 0.7 * leaks) * 1.0
    return Scores(members, (rng.random((len(leaks), m)) < 0.3) * 1.0)


def ranked(found, **settings):
    tables = [[i] for i in range(len(found.members))]
    return rank([found], **{"tables": tables, "rng": np.random.default_rng(0), "draws": 999} | settings)


def test_worked_numbers_of_two_tables():
    # 6 of 10 members and 1 of 5 strangers against 2 of 10 and 1 of 5
    members = np.array([[1.0] * 6 + [0.0] * 4, [1.0] * 2 + [0.0] * 8])
    strangers = np.array([[1.0, 0, 0, 0, 0], [0.0, 1, 0, 0, 0]])
    found = ranked(Scores(members, strangers))
    assert found.risk[0] == pytest.approx([(0.6 - 0.2) / 0.8, 0.0])
    assert found.difference[0, 0, 1] == pytest.approx(0.5)
    # by people: the four members who are hit by the first alone, and the two strangers who trade places
    ours = (members[0] - 0.6 - (members[1] - 0.2)) / (0.8 * 10)
    theirs = (-(1 - 0.5) * (strangers[0] - 0.2) + (strangers[1] - 0.2)) / (0.8 * 5)
    spread = np.sqrt((ours**2).sum() * 10 / 9 + (theirs**2).sum() * 5 / 4)
    half = found.difference_high[0, 0, 1] - found.difference[0, 0, 1]
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (4000, 15))
    parts = np.concatenate([ours * np.sqrt(10 / 9), theirs * np.sqrt(5 / 4)])
    alone = np.quantile(np.abs(signs @ parts) / spread, 0.95)
    assert half / spread >= max(1.959, alone - 0.1)  # of three errors together it is larger than of one alone
    assert half / spread < 3


def test_equal_scores_differ_by_nothing_but_unseen_people():
    one = scores([0.2])
    found = ranked(Scores(np.repeat(one.members, 2, axis=0), np.repeat(one.strangers, 2, axis=0)))
    # on each side at most Wilson's upper limit of people whom one table hits and the other does not
    strangers = one.strangers.mean()
    risk = (one.members.mean() - strangers) / (1 - strangers)
    z = 2.2
    limits = [z**2 / (n + z**2) * slope / (1 - strangers) for n, slope in ((900, 1), (600, 1 - risk))]
    assert found.difference_high[0, 0, 1] == -found.difference_low[0, 0, 1] == pytest.approx(np.hypot(*limits), rel=0.2)
    assert found.first.tolist() == [[1, 1]]
    assert found.last.tolist() == [[2, 2]]
    assert found.high[0, 0] - found.low[0, 0] > 0.05  # the risk itself is not known that well


def test_nobody_hit_has_limits_with_width():
    found = ranked(Scores(np.zeros((2, 50)), np.zeros((2, 40))))
    assert (found.low < 0).all()
    assert (found.high > 0).all()
    assert not found.riskier.any()


def test_no_stranger_hit_leaves_room_for_rare_hits_in_a_difference():
    # 40 of 2000 members and none of 50 strangers against nobody: 2% of strangers may go unseen
    members, strangers = np.zeros((2, 2000)), np.zeros((2, 50))
    members[0, :40] = 1
    found = ranked(Scores(members, strangers))
    assert found.risk[0].tolist() == [0.02, 0.0]
    assert found.difference_low[0, 0, 1] < 0.02 - 1.96**2 / (50 + 1.96**2)
    assert not found.riskier.any()
    # fewer clusters tell less: 25 homes of two strangers
    homes = ranked(Scores(members, strangers), cluster_strangers=np.repeat(np.arange(25), 2))
    assert homes.difference_low[0, 0, 1] < found.difference_low[0, 0, 1] - 0.03
    # many strangers tell it
    assert ranked(Scores(members, np.zeros((2, 2000)))).riskier[0, 1]


def test_row_order_and_cluster_names_change_no_digit():
    given = scores([0.0, 0.1, 0.3])
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(450), 2), np.repeat(np.arange(300), 2)
    order = rng.permutation(900), rng.permutation(600)
    turned = Scores(given.members[:, order[0]], given.strangers[:, order[1]])
    names = rng.permutation(1000)
    first = ranked(given, cluster_members=cluster[0], cluster_strangers=cluster[1])
    again = ranked(turned, cluster_members=names[cluster[0][order[0]]], cluster_strangers=names[cluster[1][order[1]]])
    for name in ("risk", "low", "high", "difference_low", "worst_high", "worst_first"):
        assert (getattr(first, name) == getattr(again, name)).all(), name
    alone = ranked(given)
    assert (ranked(turned).difference_low == alone.difference_low).all()
    assert (alone.difference_low != first.difference_low).any()


def test_ranks_are_those_that_the_claims_leave():
    found = ranked(scores([0.0, 0.02, 0.5, 0.9]))
    assert found.first[0].tolist() == [1, 1, 3, 4]
    assert found.last[0].tolist() == [2, 2, 3, 4]
    assert found.riskier.tolist() == [[False] * 4, [False] * 4, [True, True, False, False], [True, True, True, False]]


def test_the_worst_attack_decides_and_every_attack_of_the_other_must_be_below():
    # the first leaks by one attack, the second by another: neither is above all of the other
    one, other = scores([0.5, 0.0], seed=1), scores([0.0, 0.5], seed=2)
    both = rank([one, other], tables=[[0], [1]], rng=np.random.default_rng(0), draws=999)
    assert both.first.tolist() == [[2, 1], [1, 2]]
    assert not both.riskier.any()
    assert both.worst_last.tolist() == [2, 2]


def test_candidates_behind_rank_last_whatever_their_risk_and_are_ordered_among_themselves():
    given = [scores([0.9, 0.0, 0.5, 0.0, 0.52])]
    found = rank(
        given, tables=[[i] for i in range(5)], behind=[False, True, True, False, True], rng=np.random.default_rng(0)
    )
    assert list(zip(found.worst_first.tolist(), found.worst_last.tolist(), strict=True)) == [
        (2, 2), (3, 3), (4, 5), (1, 1), (4, 5),
    ]  # fmt: skip
    # the ranks by attack, the risks and the claims about them are those without it
    plain = rank(given, tables=[[i] for i in range(5)], rng=np.random.default_rng(0))
    for name in ("risk", "low", "first", "last", "riskier", "worst", "difference_low"):
        assert (getattr(found, name) == getattr(plain, name)).all(), name


def test_a_generator_has_the_spread_of_its_tables_in_its_limits():
    given = scores([0.1, 0.1, 0.1, 0.0, 0.1, 0.2])
    one = rank([given], tables=[[0, 1, 2], [3, 4, 5]], rng=np.random.default_rng(0), draws=999)
    assert one.risk.shape == (1, 2)
    steady, loose = (one.high - one.low)[0]
    assert loose > steady + 0.1
    tables = given.members[3:].mean(axis=1), given.strangers[3:].mean(axis=1)
    assert one.risk[0, 1] == pytest.approx((tables[0].mean() - tables[1].mean()) / (1 - tables[1].mean()))


def test_scores_of_many_people_are_kept_in_little_memory():
    hits = (np.arange(70_000) % 3 == 0) * 1.0
    kept = [_scores_of("copies", Individual(real=hits, holdout=hits[:100])) for _ in range(2)]
    assert kept[0][0].codes.dtype == np.uint8
    key = ("copies", "exact", (), "")
    assessed = [Assessed("a", None, {key: scores}, (), [], []) for scores in kept]
    assert (scores_of_people(assessed, [key], 0) == hits).all()
    assert (scores_of_people(assessed, [key], 1) == hits[:100]).all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "nothing to rank"),
        ([Scores(np.zeros((2, 3)), np.zeros((2, 0)))], "nobody"),
        ([Scores(np.ones((2, 3)), np.ones((2, 3)))], "always hit"),
    ],
)
def test_what_cannot_be_ranked_is_told(given, says):
    with pytest.raises(SettingError, match=says):
        rank(given, tables=[[0], [1]], rng=np.random.default_rng(0))


# ---------------------------------------------------------------- from table to report


@pytest.mark.slow
def test_planted_copies_are_put_in_order(found):
    assert found.order == [EVIL, "half", "twice"]
    worst = {c["label"]: c["worst"] for c in found.data["candidates"]}
    assert worst["half"]["low"] > 0.3
    assert worst["half"]["high"] < 0.75
    assert worst[EVIL]["low"] <= 0 <= worst[EVIL]["high"]
    assert (worst[EVIL]["first"], worst[EVIL]["last"]) == (1, 1 if worst["half"]["first"] > 1 else 2)
    copies = next(a for a in found.data["attacks"] if a["attack"] == "copies")
    half = next(c for c in copies["candidates"] if c["label"] == "half")
    assert half["members"] == pytest.approx(0.5, abs=0.02)
    chosen = {a["attack"]: a["comparisons"] for a in found.data["attacks"]}
    assert chosen == {"copies": 2, "linkability": 1, "inference": 1, "cap": 1}
    linked = [r for r in found.reports["half"][0].data["results"] if r["variant"] == "balanced halves, k = 1"]
    cell = next(
        c
        for a in found.data["attacks"]
        for c in a["candidates"]
        if (a["attack"], c["label"]) == ("linkability", "half")
    )
    for side, role in (("members", "real"), ("strangers", "holdout")):
        assert cell[side] == pytest.approx(np.mean([r[role]["rate"] for r in linked]))
    assert [len(c["tables"]) for c in found.data["candidates"] if c["label"] == "twice"] == [2]


@pytest.mark.slow
def test_pairs_name_the_riskier_one(found):
    pairs = {(p["attack"], p["first"], p["second"]): p for p in found.data["pairs"]}
    assert len(pairs) == 4 * 3
    pair = pairs["copies", EVIL, "half"]
    assert pair["riskier"] == "half"
    assert pair["low"] < pair["difference"] < pair["high"] < 0


@pytest.mark.slow
def test_limits_of_single_comparisons_allow_for_all_tables(found):
    tables = [t for c in found.data["candidates"] for t in c["tables"]]
    assert len(tables) == 4
    for table, report in zip(
        tables, [r for c in found.data["candidates"] for r in found.reports[c["label"]]], strict=True
    ):
        for band in table["bands"]:
            own = [r["risk"] for r in report.data["results"] if r["attack"] == band["attack"] and r["risk"]]
            assert band["low"] <= max(r["low"] for r in own if r["low"] is not None) + 1e-9
            alone = max(r["high"] for r in own if r["high"] is not None)
            assert band["high"] > alone or alone == 1


@pytest.mark.slow
def test_an_attack_that_always_hits_strangers_is_left_out_and_the_others_are_ranked():
    everybody = pl.concat([REAL, HOLDOUT])
    ranked = run({"everybody": everybody, "made up": people(9, 160)})
    why = {n["what"]: n["why"] for n in ranked.data["not_compared"]}
    assert "strangers are always hit" in why["copies"]
    assert "copies" not in {a["attack"] for a in ranked.data["attacks"]}
    assert {"linkability", "inference"} <= {a["attack"] for a in ranked.data["attacks"]}
    assert len(ranked.order) == 2


@pytest.mark.slow
def test_use_stands_beside_risk(found):
    for candidate in found.data["candidates"]:
        assert candidate["fidelity"]["measure"] == "column_pairs"
    by_label = {c["label"]: c["fidelity"]["excess"] for c in found.data["candidates"]}
    assert by_label["twice"] < by_label[EVIL]


@pytest.mark.slow
def test_comparison_json_follows_its_published_schema(found):
    jsonschema = pytest.importorskip("jsonschema")
    data = json.loads(found.to_json())
    jsonschema.validate(data, comparison_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({k: v for k, v in data.items() if k != "pairs"}, comparison_schema())
    published = Path(__file__).parents[2] / "docs" / "comparison.schema.json"
    assert published.read_text(encoding="utf-8") == comparison_schema_text()


@pytest.mark.slow
def test_labels_are_text_in_every_document(found):
    page = found.to_html()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "script-src 'sha256-" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    ours = found.to_markdown()
    assert "<script>" not in ours
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\|" in ours
    assert "told apart" in str(found).lower()
    assert re.fullmatch(r"<ComparisonReport \d candidates: (\d [a-z ]+(, |>$))+", repr(found))
    assert "&lt;script" in found._repr_html_()


@pytest.mark.slow
def test_the_picture_has_a_table_of_its_numbers(found):
    page = found.to_html()
    assert page.count("<svg") == page.count("Numbers of this chart") == page.count('role="img"') == 1
    verdicts = [c["verdict"] for c in found.data["candidates"]]
    assert page.count('class="mark m-excess"') == verdicts.count("excess found") == 2


def test_further_right_is_nearer_to_the_real_table():
    points = [
        Point("a", 0.1, 0.5, 0.4, 0.6, "cannot tell"), Point("b", 0.2, 0.9, 0.8, 1.0, "excess found"),
    ]  # fmt: skip
    svg = risk_against_use("p", points, measure="m", acceptable=0.05)
    diamond, triangle = (float(re.search(rf'{css}" d="M([\d.]+)', svg)[1]) for css in ("m-unsure", "m-excess"))
    assert triangle < diamond


def test_crowded_points_are_named_by_their_number():
    points = [Point(f"candidate {i}", 0.1 + i / 1000, 0.5, 0.5, 0.5, "cannot tell") for i in range(20)]
    points.append(Point("far away", 0.1, 0.9, 0.9, 0.9, "cannot tell"))
    svg = risk_against_use("p", points, measure="m", acceptable=0.05)
    labels = re.findall(r'class="legend"[^>]*>([^<]*)<', svg)
    assert len(labels) == 21
    assert {"candidate 0", "far away"} <= set(labels)
    assert sum(label.isdigit() for label in labels) > 5


@pytest.mark.slow
def test_documents_and_reports_are_written_into_their_folders(found, tmp_path):
    found.write(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {
        "comparison.json", "comparison.html", "comparison.md", "half", "script_alert_1_script_x_cmd", "twice",
    }  # fmt: skip
    for folder in ("half", "twice/1", "twice/2"):
        assert (tmp_path / folder / "report.html").exists()
    page = (tmp_path / "comparison.html").read_text()
    assert 'href="twice/2/report.html"' in page
    data = json.loads((tmp_path / "comparison.json").read_text())
    assert [t["folder"] for c in data["candidates"] for t in c["tables"]][-2:] == ["twice/1", "twice/2"]


def test_folder_names_stay_inside_and_apart():
    names = folder_names(["..", "/etc/passwd", "A", "a", "comparison.html", "x" * 200, "", "é"])
    assert len({n.lower() for n in names.values()}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", n) and len(n) < 70 for n in names.values())


@pytest.fixture(scope="module")
def alone():
    tables = {"a": copying(1, 0.5), "b": copying(2, 0.0).drop("pay"), "c": pl.DataFrame({"z": [1, 2]})}
    return run(tables, holdout=None)


def test_without_a_holdout_nothing_is_ranked(alone):
    assert alone.order == []
    assert alone.data["pairs"] == []
    assert "nothing is ranked" in alone.data["verdict"]["sentence"]
    rates = {a["attack"]: [c["members"] for c in a["candidates"]] for a in alone.data["attacks"]}
    assert rates["copies"][0] == pytest.approx(0.5, abs=0.02)
    assert "Not ranked" in alone.to_html()
    assert "rank" not in str(alone).split("Not ranked")[0].replace("nothing is ranked", "")


def test_all_candidates_are_compared_on_the_columns_that_all_have(alone):
    assert any("'pay'" not in n and "pay" in n for n in alone.data["notes"])
    for reports in alone.reports.values():
        used = [r for r in reports[0].data["results"] if "pay" in r["keys"] or r["target"] == "pay"]
        assert not used


def test_a_candidate_that_fails_leaves_the_others(alone):
    assert [f["label"] for f in alone.failed] == ["c"]
    assert [c["label"] for c in alone.data["candidates"]] == ["a", "b"]
    assert "could not be attacked" in alone.to_html()
    assert "could not be attacked" in alone.to_markdown()


@pytest.mark.slow
def test_rows_of_one_unit_are_one_person(monkeypatch):
    given = {}

    def noted(scores, **settings):
        given.update(settings)
        return rank(scores, **settings)

    monkeypatch.setattr("divulge.run.comparing.candidates.rank", noted)
    homes = [t.head(60).with_columns(home=pl.int_range(60) // 2 + k) for t, k in ((REAL, 0), (HOLDOUT, 100))]
    candidates = {"a": homes[0], "b": people(7, 60).with_columns(home=pl.lit(500))}
    found = divulge.compare(homes[0], candidates, holdout=homes[1], unit="home", keys=["zip"], targets=["job"])
    assert len(np.unique(given["cluster_members"])) == len(np.unique(given["cluster_strangers"])) == 30
    assert (given["cluster_members"][::2] == given["cluster_members"][1::2]).all()
    shuffled = [t.sample(fraction=1.0, shuffle=True, seed=1).select(reversed(t.columns)) for t in homes]
    turned = {k: t.sample(fraction=1.0, shuffle=True, seed=2) for k, t in reversed(candidates.items())}
    again = divulge.compare(shuffled[0], turned, holdout=shuffled[1], unit="home", keys=["zip"], targets=["job"])
    for part in ("attacks", "pairs", "verdict"):
        assert again.data[part] == found.data[part], part


@pytest.mark.parametrize(
    ("candidates", "error", "says"),
    [
        ([REAL, REAL], SettingError, "pass a dictionary"),
        ({"a": REAL}, SettingError, "two are needed"),
        ({"": REAL, "b": REAL}, SettingError, "label is empty"),
        ({"a": pl.DataFrame({"z": [1]}), "b": pl.DataFrame({"z": [1]})}, TableError, "no column in common"),
        ({"a": 3, "b": 4}, TableError, "none can be read"),
    ],
)
def test_unusable_candidates_are_refused(candidates, error, says):
    with pytest.raises(error, match=says):
        run(candidates)


def test_a_setting_that_no_candidate_can_take_is_told_once():
    with pytest.raises(divulge.ColumnError, match="keys"):
        run({"a": REAL, "b": REAL}, keys=["nothing"])


# ---------------------------------------------------------------- the command


def test_labels_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x=y.csv").write_text("a\n1\n")
    assert labelled(("one/ctgan.csv", "two/ctgan.csv.gz", "gen=a.csv", "gen=b.csv", "x=y.csv", "gen.csv")) == [
        ("ctgan", "one/ctgan.csv"), ("ctgan (2)", "two/ctgan.csv.gz"), ("gen", "a.csv"), ("gen", "b.csv"),
        ("x=y", "x=y.csv"), ("gen (2)", "gen.csv"),
    ]  # fmt: skip


@pytest.mark.slow
def test_the_command_reports_what_it_can_and_says_what_failed(tmp_path):
    files = {"real": REAL, "holdout": HOLDOUT, "copy": REAL, "free": people(9, 160)}
    for name, table in files.items():
        table.select("age", "zip", "job").write_csv(tmp_path / f"{name}.csv")
    (tmp_path / "broken.csv").write_text("a,b\n1\n")
    arguments = ["compare", *(str(tmp_path / f"{n}.csv") for n in ("real", "copy")), f"made up={tmp_path / 'free.csv'}",
                 str(tmp_path / "broken.csv"), "--holdout", str(tmp_path / "holdout.csv"), "--keys", "age,zip",
                 "--targets", "job", "--out", str(tmp_path / "out")]  # fmt: skip
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 3, done.output
    said = r"Most risk: “copy” \(excess found; every member stands in it verbatim, and [0-9.]+% of strangers\)\."
    assert re.search(said, " ".join(done.output.split()))
    assert "broken could not be attacked" in done.output
    data = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert data["verdict"]["order"] == ["made up", "copy"]
    assert data["failed"][0]["label"] == "broken"
    assert (tmp_path / "out" / "made_up" / "assessment.json").exists()
    warned = {w["check"]: w["detail"] for w in data["warnings"]}
    assert warned["different tables"].startswith("“copy”: real and synthetic are the same table")


def test_the_command_refuses_before_the_work(tmp_path):
    REAL.write_csv(tmp_path / "real.csv")
    real = str(tmp_path / "real.csv")
    for arguments, says in (
        ([real, real], "two are needed"),
        ([real, real, real, "--out", real], "name a folder"),
        (["-", "-", real], "standard input"),
        ([real, str(tmp_path / "no.csv"), real], "fewer than two"),
    ):
        done = CliRunner().invoke(cli, ["compare", *arguments])
        assert says in str(done.exception), done.output
        assert isinstance(done.exception, divulge.DivulgeError)


def test_the_report_is_public():
    assert isinstance(ComparisonReport, type)
    assert divulge.ComparisonReport is ComparisonReport
