"""A report follows from itself: honest ones do, and each change that is not consistent with the rest is told."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from amount import tries
from msgspec.structs import replace
from mutations import mutations, what_was_changed

import divulge as package
from divulge.core import __version__
from divulge.core.errors import DivulgeError, SettingError
from divulge.demo import tables
from divulge.release.baseline import change
from divulge.release.conditions import judge_policy
from divulge.release.policy import policy_from_toml
from divulge.release.regimes.regime import policy_text, read_regime, regimes
from divulge.report.content import text_of
from divulge.verifying import signature as signature_module
from divulge.verifying.names import faults_of_names
from divulge.verifying.verify import verify

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/verify.md").read_text(encoding="utf-8")
RULES = ["cap.high > 0.05", "any.score < 5", "excess", "column_pairs[all].ruler > 3", "column_shapes differs"]


@pytest.fixture(scope="session")
def judged():
    """A report of the survey with a policy, rules and a previous run."""
    real, synthetic, holdout = tables()
    asked = {"keys": ["age", "educ"], "targets": ["vote"], "models": False}
    before = package.assess(real, synthetic.head(300), holdout, **asked)
    report = package.assess(real, synthetic, holdout, **asked, positive_control=None)
    policy = policy_from_toml(policy_text(read_regime("wp216")))
    report = report.replaced(change=change(report.assessment, before.assessment))
    return report.replaced(policy=judge_policy(report.assessment, policy, RULES, before.assessment))


@pytest.fixture
def saved(tmp_path):
    def save(content):
        path = tmp_path / "assessment.json"
        path.write_text(content if isinstance(content, str) else text_of(content), encoding="utf-8")
        return path

    return save


# ---------------------------------------------------------------- honest reports


def test_the_result_of_a_measure_for_all_columns_is_the_smallest_in_both_tails(judged, saved):
    """Its own p-value is that of the mean, and the adjusted one that of the column that differs most."""
    data = judged.assessment
    whole = next(i for i, r in enumerate(data.fidelity) if not r.columns and r.p_low_tail is not None)
    one = next(i for i, r in enumerate(data.fidelity) if r.columns and r.p_low_tail is not None)
    for i, told in ((whole, False), (one, True)):
        r = replace(data.fidelity[i], p_low_tail=0.9, p_low_tail_adjusted=0.8)
        changed = replace(data, fidelity=(*data.fidelity[:i], r, *data.fidelity[i + 1 :]))
        assert any("p_low_tail_adjusted: below" in f for f in faults_of_names(changed)) == told


@pytest.mark.parametrize("reveal", [None, [], ["columns"]])
def test_an_honest_report_follows_from_itself(judged, reveal, saved):
    report = judged if reveal is None else judged.external(reveal)
    found = verify(saved(report.to_json()))
    assert found.faults == () and found.checked and found.unchecked


def test_a_p_value_of_all_columns_together_may_lie_above_the_smallest_that_is_corrected(judged, saved):
    told = {}
    for i, r in enumerate(judged.assessment.fidelity):
        if r.p_value is not None and r.p_adjusted is not None and r.p_value > 0.3:
            told.setdefault(bool(r.columns), i)
    faults = {
        one: verify(saved(changed(judged, ("fidelity", i, "p_adjusted"), 0.25))).faults for one, i in told.items()
    }
    assert faults.keys() == {False, True}
    assert not any("below p_value" in f for f in faults[False])
    assert any("below p_value" in f for f in faults[True])


@pytest.mark.slow
def test_reports_of_every_kind_follow_from_themselves(saved, tmp_path):
    sys.path.insert(0, str(ROOT / "tests/corpus"))
    import remake_corpus

    for name, text in remake_corpus.corpus(tmp_path):
        if name not in ("comparison", "audit"):
            assert verify(saved(text)).faults == (), name


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_report_of_linked_tables_follows_from_itself(share, saved):
    """Comparisons of histories name tables, those of values a column of a table; measures of relations are others."""
    rng = np.random.default_rng(8)

    def shop(first):
        users = pl.DataFrame({"uid": np.arange(first, first + 120), "age": rng.integers(18, 80, 120)})
        owner = np.repeat(users["uid"].to_numpy(), rng.integers(2, 8, 120))
        when = np.datetime64("2024-01-01T00:00:00", "ms") + 1000 * rng.integers(0, 10**8, len(owner))
        items = [f"i{k}" for k in rng.integers(0, 12, len(owner))]
        return {"users": users, "orders": pl.DataFrame({"uid": owner, "item": items, "when": when})}

    real, synthetic, holdout = (shop(first) for first in (0, 1_000, 2_000))
    copied = real["orders"].filter(pl.col("uid") < 120 * share).with_columns(pl.col("uid") + 1_000)
    rest = synthetic["orders"].filter(pl.col("uid") >= 1_000 + 120 * share)
    synthetic["orders"] = pl.concat([copied, rest])
    report = package.assess(real, synthetic, holdout, models=False, membership=False, jobs=1)
    for one in (report, report.external(), report.external(["columns"])):
        assert verify(saved(one.to_json())).faults == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", regimes())
def test_the_policy_of_each_regime_is_judged_again(name, judged, saved):
    policy = policy_from_toml(policy_text(read_regime(name)))
    report = judged.replaced(policy=judge_policy(judged.assessment, policy))
    assert verify(saved(report.to_json())).faults == ()


def test_the_rule_of_a_condition_goes_out_without_a_name_of_a_column(judged):
    rules = ["column_pairs[age + educ].ruler > 3", "cap[zero].high > 0.05"]
    report = judged.replaced(policy=judge_policy(judged.assessment, None, rules))
    own, outside = (r.assessment.policy.conditions[-2:] for r in (report, report.external()))
    assert [(c.rule.part, c.rule.limit) for c in own] == [("age + educ", 3.0), ("zero", 0.05)]
    assert [(c.rule.part, c.rule.limit, c.condition) for c in outside] == [
        ("…", 3.0, "column_pairs (…): ruler at most 3"),
        ("zero", 0.05, "cap (zero): simultaneous upper limit of risk at most 0.05"),
    ]


# ---------------------------------------------------------------- changes, kind by kind


def changed(report, place, value):
    data = json.loads(report.to_json())
    inside = data
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value(inside[place[-1]]) if callable(value) else value
    return data


def first(report, **asked):
    return next(
        i
        for i, r in enumerate(report.assessment.results)
        if all(getattr(r, k) == v for k, v in asked.items()) and r.risk is not None
    )


CHANGES = {
    "a verdict": (("verdict", "verdict"), "none found"),
    "a sentence": (("verdict", "sentence"), lambda s: re.sub(r"\d(?=%)", lambda m: str((int(m[0]) + 1) % 10), s, count=1)),
    "a word of it": (("verdict", "sentence"), lambda s: s.replace("Excess", "No excess", 1)),
    "the policy is kept": (("policy", "kept"), lambda kept: not kept),
    "a condition is kept": (("policy", "conditions", 0, "kept"), lambda kept: not kept),
    "what it found": (("policy", "conditions", 0, "found"), "«none found»"),
    "a condition less": (("policy", "conditions"), lambda c: c[1:]),
    "their order": (("policy", "conditions"), lambda c: [*c[1:3], c[0], *c[3:]]),
    "another limit": (("policy", "conditions", -5, "condition"), lambda c: c + "1"),
    "its limit in fields": (("policy", "conditions", -5, "rule", "limit"), lambda limit: limit / 2),
    "what it is about": (("policy", "conditions", -5, "rule", "of"), "linkability"),
    "a field that its kind has not": (("policy", "conditions", 0, "rule", "part"), "x"),
    "without its rule": (("policy", "conditions", -5, "rule"), None),
    "a question": (("summary", "questions", 0, "state"), "none found"),
    "its order": (("summary", "questions"), lambda q: q[::-1]),
    "a number of page one": (("summary", "metrics", "tests"), lambda n: n + 1),
    "an advice": (("summary", "advice", 0, "do"), "Release it."),
    "what was not tested": (("not_tested",), [{"what": "nothing", "question": "?"}]),
    "a share of records": (("records", "exposed_share"), lambda v: v / 2),
    "the change": (("change", "verdict"), "fell"),
    "its sentence": (("change", "sentence"), "No risk changed."),
    "whether it is bounded": (("verdict", "bounds", 0, "bounded"), lambda b: not b),
    "screened": (("verdict", "screened"), lambda n: n + 1),
    "the reach": (("verdict", "most"), None),
    "a result less": (("results",), lambda r: r[1:]),
    "a result twice": (("results",), lambda r: [*r, r[0]]),
    "an unknown field": (("note",), None),
    "a fidelity verdict": (("fidelity", 1, "verdict"), "like a fresh sample"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_does_not_follow_is_told(what, judged, saved):
    place, value = CHANGES[what]
    data = json.loads(judged.to_json())
    if what == "an unknown field":
        data["remark"] = "all is well"
    else:
        data = changed(judged, place, value)
    assert data != json.loads(judged.to_json())
    assert verify(saved(data)).faults, what


@pytest.mark.parametrize(
    "field",
    [("real", "hits"), ("real", "n"), ("real", "rate"), ("holdout", "hits"), ("holdout", "rate"), ("risk", "value"),
     ("risk", "low"), ("risk", "high"), ("risk", "low_simultaneous"), ("risk", "high_simultaneous"), ("risk", "level"),
     ("difference", "value"), ("difference", "low"), ("risk", "leak_free_high"), ("score",), ("smallest_detectable",),
     ("verdict",), ("target",), ("notes",)],
    ids=".".join,
)  # fmt: skip
def test_each_number_of_a_comparison_of_counts_is_told(field, judged, saved):
    i = first(judged, attack="copies", variant="near")

    def other(value):
        if isinstance(value, list):
            return ["members are met less often than strangers"]
        if isinstance(value, str) or value is None:
            return "none found" if field == ("verdict",) else "another"
        return value + 1 if isinstance(value, int) and value > 1 else value * 0.97

    data = changed(judged, ("results", i, *field), other)
    if field == ("notes",):
        data["results"][i]["verdict"] = "cannot tell"
    assert verify(saved(data)).faults


def untold(kind):
    """Return the kinds of place that the page lists as those of which nothing can be told."""
    heads = ["| place | why |"] + ["| place in an external edition | why |"] * (kind == "external")
    table = "".join(PAGE.split(head, 1)[1].split("\n\n", 1)[0] for head in heads)
    return [re.compile(re.escape(p).replace(r"\*", ".*")) for p in re.findall(r"`([a-z0-9_.*]+)`", table)]


@pytest.fixture(scope="session")
def small():
    """A report of 160 people with a policy and a previous run, whose file is short."""
    rng = np.random.default_rng(0)

    def people(n=160):
        frame = {"age": rng.integers(18, 80, n), "town": rng.integers(0, 9, n), "ill": rng.integers(0, 3, n)}
        return pl.DataFrame(frame)

    real, holdout = people(), people()
    asked = {"keys": ["age", "town"], "targets": ["ill"], "models": False, "membership": False, "fidelity": False}
    before = package.assess(real, people(), holdout, **asked)
    report = package.assess(real, pl.concat([real.head(60), people(100)]), holdout, **asked)
    report = report.replaced(change=change(report.assessment, before.assessment))
    policy = policy_from_toml(policy_text(read_regime("wp216")))
    return report.replaced(policy=judge_policy(report.assessment, policy, RULES[:3], before.assessment))


@pytest.mark.parametrize(
    ("which", "kind", "n"),
    [
        ("small", "custodian", 1000),
        ("small", "external", 300),
        ("judged", "custodian", 100),
        ("judged", "external", 100),
    ],
)
def test_of_many_changes_each_is_told_or_of_a_kind_that_the_page_lists(which, kind, n, judged, small, saved):
    report = judged if which == "judged" else small
    report = json.loads((report if kind == "custodian" else report.external(["columns"])).to_json())
    listed, missed = untold(kind), Counter()
    told, all_of, told_of = 0, Counter(), Counter()
    for what, place, data in mutations(report, tries(n), np.random.default_rng(7)):
        try:
            found = bool(verify(saved(data)).faults)
        except DivulgeError:
            found = True
        told += found
        all_of[what_was_changed(what, place)] += 1
        told_of[what_was_changed(what, place)] += found
        if not found and not any(p.fullmatch(place) for p in listed):
            missed[what, place] += 1
    assert not missed and told
    if (which, kind) == ("small", "custodian"):
        shown = {
            name: (int(n), int(of)) for name, n, of in re.findall(r"^\| ([a-z ]+) \| (\d+) of (\d+) \|", PAGE, re.M)
        }
        assert sum(of for _, of in shown.values()) == 1000 and set(all_of) <= set(shown)
        for name, (n, of) in shown.items():  # the report changes with the versions of packages, a little
            if made := all_of[name]:
                share = n / of
                assert abs(told_of[name] / made - share) <= 0.05 + 3 * np.sqrt(share * (1 - share) / made), name


# ---------------------------------------------------------------- files that are no such report


def test_files_that_cannot_be_verified_are_told(judged, saved):
    text = judged.to_json()
    with pytest.raises(SettingError, match=r"^assessment.json: cut short: its last bracket is missing"):
        verify(saved(text[: len(text) // 2]))
    with pytest.raises(SettingError, match="no assessment"):
        verify(saved("{}\n"))
    other = text.replace(f'"divulge": "{__version__}"', '"divulge": "9.9.9"', 1)
    with pytest.raises(SettingError, match=r"written by divulge 9.9.9, and this is .*nothing was checked"):
        verify(saved(other))
    hostile = text.replace(f'"divulge": "{__version__}"', '"divulge": "<b>"', 1)
    with pytest.raises(SettingError, match="written by divulge another version"):
        verify(saved(hostile))


def test_a_file_that_is_written_in_another_way_is_told(judged, saved):
    assert verify(saved(json.dumps(json.loads(judged.to_json())))).faults == (
        "the file: written in another way than divulge writes it (spaces, or forms of numbers)",
    )
    twice = judged.to_json().replace('{\n "format"', '{\n "edition": "external",\n "format"', 1)
    assert "a field stands twice" in verify(saved(twice)).faults


def test_the_external_edition_and_the_page_beside_a_report_are_its_own(judged, tmp_path):
    folder = judged.write(tmp_path / "run")
    outside = judged.external().write(folder / "external")
    found = verify(folder / "assessment.json")
    assert found.faults == () and "the external edition beside it" in found.checked
    path = outside / "assessment.json"
    data = json.loads(path.read_text())
    data["results"][0]["real"]["n"] += 5
    path.write_text(text_of(data))
    assert any(f.startswith("external/assessment.json: ") for f in verify(folder / "assessment.json").faults)
    (folder / "report.html").write_text("<p>another page</p>")
    assert "report.html: made of another assessment.json" in verify(folder / "assessment.json").faults


def test_no_message_holds_a_value_of_the_file(judged, saved):
    data = json.loads(judged.to_json())
    data["verdict"]["sentence"] = "Mrs Miller has diabetes"
    data["results"][0]["keys"] = ["Mrs Miller"]
    data["settings"]["Mrs Miller"] = 1
    assert not [f for f in verify(saved(data)).faults if "Miller" in f]


def test_a_report_of_an_earlier_build_does_not_end_in_a_traceback(saved):
    for path in sorted((ROOT / "tests/corpus").glob("*/*.json.gz"))[:6]:
        text = gzip.decompress(path.read_bytes()).decode()
        if '"divulge-assessment/' in text:
            assert verify(saved(text)).faults
        else:
            with pytest.raises(SettingError, match=r"^assessment\.json: "):
                verify(saved(text))


# ---------------------------------------------------------------- the command, and signatures


def test_the_command_says_what_it_recomputed_and_ends_with_1_where_something_does_not_follow(judged, saved, divulge):
    path = saved(judged.to_json())
    status, out, err = divulge("verify", path)
    assert (status, err) == (0, "")
    assert out.startswith("custodian's edition, ") and out.endswith("All that was recomputed follows.\n")
    status, out, err = divulge("verify", saved(changed(judged, ("verdict", "verdict"), "none found")), "-q")
    assert status == 1 and out == ""
    assert "does not follow: verdict.verdict: does not follow from the results" in err
    assert divulge("verify", path, "--signature", path)[0] == 2


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")
def test_a_signature_of_openssh_is_checked(judged, saved, tmp_path, divulge):
    path, key, signers = saved(judged.to_json()), tmp_path / "key", tmp_path / "allowed_signers"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "divulge", path]
    subprocess.run(sign, check=True, capture_output=True)
    signature = Path(f"{path}.sig")
    signers.write_text(f"officer@example.org {key.with_suffix('.pub').read_text()}")
    asked = ("verify", path, "--signature", signature, "--signers", signers)
    status, out, _ = divulge(*asked)
    assert status == 0 and "signature: good, by officer@example.org\n" in out
    saved(judged.external().to_json())
    status, _, err = divulge(*asked)
    assert status == 1 and "signature: not of this file, or of nobody among the signers" in err
    signers.write_text("officer@example.org ssh-ed25519 AAAA\n")
    assert divulge(*asked)[0] == 1
    with pytest.raises(SettingError, match="no such file"):
        signature_module.signer(path, tmp_path / "absent", signers)


def test_without_openssh_a_signature_is_not_checked(judged, saved, monkeypatch):
    monkeypatch.setattr(signature_module.shutil, "which", lambda name: None)
    with pytest.raises(SettingError, match="ssh-keygen is not installed"):
        signature_module.signer("a", "b", "c")
