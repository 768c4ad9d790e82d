"""The whole run: what is planned, corrected and concluded."""

import json

import amount
import numpy as np
import polars as pl
import pytest
from amount import models

import divulge
from divulge.attacks.checks import SHOWN
from divulge.demo import tables

KEYS, TARGETS = ["age", "educ", "TVnews"], ["vote", "PID"]


def people():
    """The tables of the demo; by default 200 rows of each."""
    return tuple(table if amount.everything else table.head(200) for table in tables())


@pytest.fixture(scope="module")
def demo():
    real, synthetic, holdout = people()
    return divulge.assess(real, synthetic, holdout=holdout, keys=KEYS, targets=TARGETS, models=models())


def independent(seed, n=200):
    """Three tables from one population: nobody's data are in the synthetic one."""
    rng = np.random.default_rng(seed)

    def one():
        a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
        return pl.DataFrame({"a": a, "b": b, "c": (a + rng.integers(0, 3, n)) % 4, "d": rng.integers(0, 2, n)})

    return one(), one(), one()


def test_simultaneous_intervals_contain_pointwise_ones(demo):
    for r in demo.results:
        if r.risk is not None and r.risk.low is not None:
            assert r.risk.low_simultaneous <= r.risk.low <= r.risk.value <= r.risk.high <= r.risk.high_simultaneous


def test_adjusted_p_values_are_never_below_the_plain_ones(demo):
    for r in demo.results:
        if r.p_adjusted is not None:
            assert r.p_adjusted >= r.p_value


def test_verdicts_follow_from_the_bounds(demo):
    for r in demo.results:
        if r.verdict == "excess found":
            assert r.difference.low_simultaneous > 0 or r.attack == "membership"  # its p-values decide
        elif r.verdict == "none found":
            assert r.risk.high_simultaneous <= 0.05
        if r.verdict == "cannot tell":
            assert any(n.startswith("cannot tell") for n in r.notes)


def test_absolute_measures_have_no_verdict(demo):
    for r in demo.results:
        if r.attack in ("k_anonymity", "l_diversity", "t_closeness", "delta_presence", "dcap", "weap", "baseline_cap"):
            assert r.verdict is None
            assert r.risk is None


def test_score_is_100_less_the_upper_limit(demo):
    for r in demo.results:
        if r.score is not None:
            shown = r.context.get(SHOWN, 1)
            assert r.score == pytest.approx(100 * (1 - min(1, max(0, r.risk.high / (1 if shown is None else shown)))))


def test_members_and_strangers_are_everybody(demo):
    real, _, holdout = people()
    cap = next(r for r in demo.results if r.attack == "cap" and r.variant == "zero")
    assert (cap.real.n, cap.holdout.n) == (len(real), len(holdout))


def test_every_attack_of_the_catalogue_ran(demo):
    from divulge.attacks.catalogue import CATALOGUE

    on_demand = {name for name, entry in CATALOGUE.items() if entry.plan.per == "demand" or entry.plan.for_actors}
    assert on_demand == {"cap_minimum", "lone_match", "reidentification"}
    assert {r.attack for r in demo.results} == set(CATALOGUE) - on_demand - {"named_in_texts"}  # there is no text
    assert demo.failed == []


def test_records_name_rows_and_scores_only(demo):
    records = demo.records()
    assert records.columns == [
        "row", "copied", "named", "repeated", "replicated_unique", "n_disclosed", "disclosed", "highest_cap", "highest_cap_target",
        "own_words", "singled_out", "linked", "n_inferred", "exposure", "exposure_rank", "distance_to_synthetic", "distance_to_person", "hit_score", "p_value", "flagged",
        "nearest_synthetic", "attraction", "membership", "membership_p_value", "recognised", "recognised_by", "reasons",
    ]  # fmt: skip
    assert sorted(records["row"]) == list(range(len(people()[0])))
    assert records["copied"].sum() == demo.data["records"]["copied"]


def test_a_single_call_gives_the_rates_of_the_run(demo):
    real, synthetic, holdout = people()
    alone = divulge.cap(real, synthetic, holdout=holdout, keys=KEYS, target="vote", unseen="zero")
    inside = next(r for r in demo.results if (r.attack, r.variant, r.target) == ("cap", "zero", "vote"))
    assert alone.real == inside.real
    assert alone.difference.value == inside.difference.value
    assert (alone.risk.low, alone.risk.high) == (inside.risk.low, inside.risk.high)


def test_the_json_has_no_nan_and_reads_back(demo):
    assert json.loads(demo.to_json()) == demo.data
    assert "NaN" not in demo.to_json()


def test_to_frame_has_a_row_for_each_result(demo):
    frame = demo.to_frame()
    assert len(frame) == len(demo.results)
    assert frame["members"].max() <= 1


@pytest.mark.slow
def test_copied_people_are_found_without_naming_keys():
    rng = np.random.default_rng(98)
    tables = [t.with_columns(e=pl.Series(rng.integers(0, 9, 200))) for t in independent(1)]
    leaky = pl.concat([tables[0][:60], tables[1][60:]])
    assert divulge.assess(tables[0], leaky, holdout=tables[2], models=False, membership=False).verdict == "excess found"


@pytest.mark.slow
def test_a_full_search_lists_minimal_sets_without_a_verdict():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 10, 300), rng.integers(0, 10, 300)
    frame = pl.DataFrame({"a": a, "b": b, "c": (a + b) % 10, "noise": rng.integers(0, 2, 300)})
    report = divulge.assess(frame, frame, search="full", targets=["c"])
    found = [tuple(m["keys"]) for m in report.data["minimal_key_sets"]]
    assert found == [("a", "b")]
    assert report.data["minimal_key_sets"][0]["share"] == 1


@pytest.mark.slow
def test_the_search_looks_at_the_synthetic_table_only():
    real, synthetic, holdout = independent(2)
    one = divulge.assess(real, synthetic, holdout=holdout, models=False, membership=False)
    other = divulge.assess(holdout, synthetic, holdout=real, models=False, membership=False)
    assert one.data["key_sets"] == other.data["key_sets"]


@pytest.mark.slow
def test_keys_without_targets_take_every_other_column():
    real, synthetic, holdout = independent(3)
    report = divulge.assess(real, synthetic, holdout=holdout, keys=["a"], models=False, membership=False)
    assert {r.target for r in report.results if r.attack == "cap"} == {"b", "c", "d"}


@pytest.mark.slow
def test_search_off_tests_no_key_set():
    real, synthetic, holdout = independent(4)
    report = divulge.assess(real, synthetic, holdout=holdout, search="off", models=False, membership=False)
    assert all(not r.keys for r in report.results if r.attack != "copies")
    assert {"copies", "dcr", "exposure"} <= {r.attack for r in report.results}
    assert not {"cap", "disco", "replicated_uniques"} & {r.attack for r in report.results}


@pytest.mark.slow
def test_duckdb_relations_give_the_digits_of_polars():
    import duckdb

    real, synthetic, holdout = independent(6)
    there = [duckdb.from_arrow(t.to_arrow()) for t in (real, synthetic, holdout)]
    settings = {"keys": ["a", "b"], "target": "c"}
    one = divulge.cap(there[0], there[1], holdout=there[2], **settings).to_dict()
    other = divulge.cap(real, synthetic, holdout=holdout, **settings).to_dict()
    del one["seconds"], other["seconds"]
    assert one == other
    report = divulge.assess(there[0], there[1], holdout=there[2], models=False, membership=False)
    assert any("read into memory" in n for n in report.data["notes"])


@pytest.mark.parametrize("search", ["default", "full"])
def test_one_column_has_no_key_set_and_its_distances_all_the_same(search):
    real, synthetic, holdout = (t.select("a") for t in independent(7))
    report = divulge.assess(real, synthetic, holdout=holdout, search=search, membership=False)
    assert {"copies", "dcr", "exposure"} <= {r.attack for r in report.results}
    assert not any(r.target for r in report.results)
    assert any("no key set was tested" in n for n in report.data["notes"])
    assert report.failed == []


@pytest.mark.slow
def test_few_people_get_fewer_key_sets_and_their_exact_number_is_not_told():
    real, synthetic, holdout = independent(8)
    sets = {}
    for n in (18, 22, 200):
        report = divulge.assess(real[:n], synthetic, holdout=holdout, models=False, membership=False)
        sets[n] = {(tuple(r.keys), r.target) for r in report.results if r.attack == "cap"}
        note = [x for x in report.data["notes"] if "targets are many for so few people" in x]
        told = "4 targets are many for so few people: the best 5 key sets of each were tested"
        assert note == ([told] if n < 200 else [])  # 18 and 22 are both shown as 20
    assert sets[18] == sets[22] < sets[200]
