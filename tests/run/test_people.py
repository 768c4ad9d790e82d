"""A random sample of people: who may be asked, who is, and that the scores are those of the whole run."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.entry import UNTAUGHT
from divulge.case.asked import asked_of
from divulge.case.case import build_case
from divulge.cli import cli
from divulge.core.errors import SettingError
from divulge.run.planning.people import ASKED, people_of_run

KEYS, TARGETS = ["age", "area"], ["job"]


def people(rng, n, **more):
    z = rng.standard_normal(n)
    pay = (1000 * z).round() + rng.integers(0, 10, n)
    return pl.DataFrame({"age": rng.integers(18, 60, n), "area": rng.integers(0, 4, n).astype(str),
                         "job": np.digitize(z + rng.standard_normal(n), [-1, 0, 1]).astype(str), "pay": pay} | more)  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(3)
    return people(rng, 500), people(rng, 400), people(rng, 300)


@pytest.fixture(scope="module")
def case(tables):
    return build_case(*tables)


@pytest.fixture(scope="module")
def run(tables):
    real, synthetic, holdout = tables
    return divulge.assess(real, synthetic, holdout=holdout, keys=KEYS, targets=TARGETS, models=False, people=150)


def test_what_needs_all_people_never_asks_a_sample():
    """Numbers over synthetic rows or guesses, distances to all other people, and classes of real people."""
    whole = {"copies", "dcr", "nndr", "identical_match_share", "authenticity", "epsilon_identifiability", "nnaa",
             "dcr_baseline", "exposure", "singling_out", "rapid", "weap", "tcap", "disco", "replicated_uniques", "k_anonymity",
             "l_diversity", "t_closeness", "delta_presence"}  # fmt: skip
    sampled = {name for name, entry in CATALOGUE.items() if entry.sampled}
    assert not whole & sampled
    assert {"inference", "linkability", "membership", "cap"} <= sampled
    assert all(CATALOGUE[name].counts == "people" for name in sampled)


CALLS = {
    "cap": {"keys": KEYS, "target": "job"},
    "modal_guess": {"keys": KEYS, "target": "job"},
    "hitting_rate": {},
    "linkability": {},
    "inference": {"target": "job", "ways": UNTAUGHT},
}


@pytest.mark.parametrize("attack", CALLS)
def test_each_score_is_that_of_the_whole_run(case, attack):
    asked = asked_of(case, 150)
    whole, some = (CATALOGUE[attack].run(c, **CALLS[attack]) for c in (case, asked.case))
    whole, some = (r if isinstance(r, tuple) else (r,) for r in (whole, some))
    known = {(r.variant, r.keys): r.individual for r in whole if r.individual is not None}
    compared = [r for r in some if r.individual is not None]
    assert compared
    for r in compared:
        np.testing.assert_array_equal(r.individual.real, known[r.variant, r.keys].real[asked.real])
        np.testing.assert_array_equal(r.individual.holdout, known[r.variant, r.keys].holdout[asked.holdout])


def test_the_draw_forgets_the_order_of_rows(tables):
    real, synthetic, holdout = tables
    order = np.random.default_rng(0).permutation(len(real))
    one, other = (asked_of(build_case(r, synthetic, holdout), 50).real for r in (real, real[order]))
    assert real[one].sort(real.columns).equals(real[order][other].sort(real.columns))
    assert len(one) == 50


def test_units_are_drawn_whole():
    rng = np.random.default_rng(1)
    real, holdout = (people(rng, 300, who=np.sort(rng.integers(0, 100, 300))) for _ in range(2))
    case = build_case(real, real, holdout, unit="who")
    asked = asked_of(case, 20)
    drawn = set(real["who"].gather(asked.real))
    assert len(drawn) == 20
    assert asked.real.tolist() == [i for i, who in enumerate(real["who"]) if who in drawn]
    assert asked.case.n_people("holdout") == 20


def test_fewer_people_than_asked_for_are_all_asked(case):
    assert asked_of(case, 500) is None
    assert asked_of(case, None) is None
    some = asked_of(case, 350)
    assert (some.case.n_rows("real"), some.case.n_rows("holdout")) == (350, 300)
    assert some.holdout.tolist() == list(range(300))


def test_bins_and_ranges_are_those_of_all(case):
    asked = asked_of(case, 20).case
    assert asked.binning("pay") is case.binning("pay")
    synthetic = asked.with_synthetic({"job": case.codes("job", binned=False)[1][::-1].copy()})
    assert synthetic.binning("pay") is case.binning("pay")
    mine, all_of = (c.encoded.measured_columns(["pay", "age"]).ruler for c in (asked, case))
    assert (mine.low.tolist(), mine.span.tolist()) == (all_of.low.tolist(), all_of.span.tolist())


def test_the_report_says_who_was_asked(run):
    (note,) = [n for n in run.assessment.notes if n.startswith(ASKED)]
    assert "150 of 500 members and 150 of 300 strangers" in note
    assert run.assessment.settings.people == 150
    n = {
        r.attack: r.real.n
        for r in reversed(run.assessment.results)  # the first one of each attack
        if r.real is not None and r.attack in ("cap", "inference", "copies")
    }
    assert (n["cap"], n["inference"], n["copies"]) == (150, 150, 500)


def test_dcr_and_copies_never_ask_a_sample(case, run):
    """`hole` is a result of dcr, `row order` and `linked` are of copies."""
    made_of = people_of_run(case, 150)
    for name, entry in CATALOGUE.items():
        assert (made_of.of(name) is case) != (entry.sampled or entry.most is not None), name
    known = {(r.attack, r.variant, r.keys): r for r in run.assessment.results if r.attack in ("dcr", "copies")}
    assert {"hole", "exact"} <= {variant for _, variant, _ in known}
    for r in [r for name in ("dcr", "copies") for r in CATALOGUE[name].run(case)]:
        mine = known[r.attack, r.variant, r.keys]
        for got, wanted in ((mine.real, r.real), (mine.holdout, r.holdout)):
            assert (got and (got.hits, got.n)) == (wanted and (wanted.hits, wanted.n)), r.variant


def test_json_page_text_and_gate_tell_who_was_asked_and_what_that_shows(run, tmp_path):
    told = run.assessment.sampling
    assert (told.members, told.of_members, told.strangers, told.of_strangers) == (150, 500, 150, 300)
    assert 0.05 < told.excess < 0.5
    words = f"150 of 500 members and 150 of 300 strangers; an excess of {told.excess:.2g}"
    run.write(tmp_path)
    for name in ("report.html", "report.md"):
        assert words in (tmp_path / name).read_text(), name
    assert words in " ".join(str(run).split())
    found = CliRunner().invoke(cli, ["gate", str(tmp_path / "assessment.json"), "--fail-on", "any.low > 0.9"])
    assert words in found.output
    outside = run.external()
    assert outside.assessment.sampling is None
    assert "150 of 500" not in outside.to_html() + outside.to_json()
    assert "asked a random sample" in outside.to_html()


def test_records_of_people_who_were_not_asked_have_no_such_scores(run):
    frame = run.records()
    assert frame["asked"].sum() == 150
    away = frame.filter(~pl.col("asked"))
    assert away["n_inferred"].null_count() == away["linked"].null_count() == away["highest_cap"].null_count() == 350
    assert frame.filter("asked")["n_inferred"].null_count() == 0
    assert frame["copied"].null_count() == frame["exposure_rank"].null_count() == 0


def test_a_leak_is_found_in_a_sample_of_people():
    """Half of the members' jobs go out with numbers that nobody else has: a sample of members sees it."""
    rng = np.random.default_rng(5)
    real, holdout, fresh = (people(rng, 2000, nr=rng.integers(0, 10**6, 2000)) for _ in range(3))
    synthetic = pl.concat([real[:1000].with_columns(pay=fresh["pay"][:1000]), fresh[:1000]])
    asked = asked_of(build_case(real, synthetic, holdout), 300).case
    (found,) = divulge.inference.run(asked, keys=["age", "nr"], target="job", ways=("nearest record",))
    assert found.real.n == 300
    assert found.verdict == "excess found"


@pytest.mark.slow
def test_a_resumed_run_asks_the_same_people_or_makes_the_tests_again(tables, tmp_path):
    real, synthetic, holdout = tables

    def made(n):
        kept = []
        divulge.assess(real, synthetic, holdout=holdout, keys=KEYS, targets=TARGETS, models=False, membership=False,
                       people=n, keep=tmp_path / "kept", resume=True, finished=kept.append)  # fmt: skip
        return {done.attack for done in kept if done.kept}

    assert made(150) == set()
    assert "inference" in made(150)
    assert not made(200) & {n for n, entry in CATALOGUE.items() if entry.sampled}


@pytest.mark.parametrize("people", [99, 0, -1, 150.5, float("nan"), "many", True])
def test_what_is_no_number_of_people_is_refused(tables, people):
    with pytest.raises(SettingError, match="people"):
        divulge.assess(tables[0], tables[1], holdout=tables[2], people=people)


def test_the_command_line_refuses_too_few(tmp_path, tables):
    for name, table in zip("abc", tables, strict=True):
        table.write_csv(tmp_path / f"{name}.csv")
    found = CliRunner().invoke(cli, ["assess", *(str(tmp_path / f"{n}.csv") for n in "ab"), "--people", "5"])
    assert found.exit_code == 2
    assert "--people" in found.output
