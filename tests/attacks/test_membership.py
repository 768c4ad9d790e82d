"""Membership: worked scores, laws of the label-blind reference, units, bad input."""

import re
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.membership import classifier_score
from divulge.attacks.membership.known_members import stacked
from divulge.attacks.membership.scores import EVERY, TESTED
from divulge.case.case import build_case
from divulge.case.narrow_rows import NarrowRows
from divulge.case.spill import Spill
from divulge.core.errors import SettingError
from divulge.core.result import FOUND, found_by
from divulge.core.schema import Column, Schema
from divulge.stats.intervals import normal_quantile

FAST = ["ratio", "hit", "dpi", "3-way margins", "rare 4-way margins"]


def people(rng, n, width=4):
    """Numbers of one sample of people."""
    return pl.DataFrame({f"x{j}": rng.normal(size=n).round(3) for j in range(width)})


def tables(seed, n=200, copied=0.3, m=None):
    rng = np.random.default_rng(seed)
    real, holdout = people(rng, n), people(rng, m or n)
    taken = round(copied * n)
    return real, pl.concat([real[:taken], people(rng, n - taken)]), holdout


def by_variant(found):
    return {r.variant: r for r in found}


# ---------------------------------------------------------------- the scores by hand


def test_scores_of_four_people_by_hand():
    """Real 0 and 4, holdout 6 and 10, synthetic 1 and 10 on one column of range 10."""
    real, holdout, synthetic = (pl.DataFrame({"x": v}) for v in ([0.5, 4.5], [6.5, 10.5], [1.5, 10.5]))
    asked = ["ratio", "hit", "dcr", "dcr difference", "monte carlo"]
    found = by_variant(divulge.membership(real, synthetic, holdout=holdout, scores=asked))

    def score(name):
        one = found[name].individual
        return np.r_[one.real, one.holdout]

    np.testing.assert_allclose(score("dcr"), [-0.1, -0.3, -0.4, 0.0])
    np.testing.assert_allclose(score("dcr difference"), [0.3, -0.1, -0.2, 0.4], atol=1e-12)
    # the smallest positive distance is 0.1, so that 0 counts as 0.05; there are three other people
    np.testing.assert_allclose(score("ratio"), np.log([4, 2 / 3, 1 / 2, 8]))
    np.testing.assert_allclose(score("hit"), np.log([10, 2, 1.5, 20]))
    # the median distance to the synthetic table is 0.1 (the lower of two)
    np.testing.assert_allclose(score("monte carlo"), [1, 0, 0, 1])


def test_the_data_plagiarism_index_divides_the_sizes_out():
    """Of 4 people and 2 synthetic rows all lie within the 20th neighbour: shares are 1 and 1."""
    real, holdout, synthetic = (pl.DataFrame({"x": v}) for v in ([0.5, 4.5], [6.5, 10.5], [1.5, 10.5]))
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=["dpi"])
    assert found.individual.real.tolist() == [0.5, 0.5]


def test_margins_are_log_ratios_of_shares():
    real = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    holdout = pl.DataFrame({"a": ["y", "x"], "b": ["u", "v"]})
    synthetic = pl.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=["2-way margins"])
    # n = 3 others of whom nobody has the person's pair; 2, 1, 0 and 0 of 3 synthetic rows have it
    share = {s: np.log((s + 0.5) / 3.5) - np.log(0.5 / 3.5) for s in (0, 1, 2)}
    np.testing.assert_allclose(found.individual.real, [share[2], share[1]])
    np.testing.assert_allclose(found.individual.holdout, [share[0], share[0]])


def test_mean_rank_is_the_mean_of_four_ranks():
    with patch.object(classifier_score, "TREES", 10):
        found = by_variant(divulge.membership(*tables(1, 60)[:2], holdout=tables(1, 60)[2]))
    ranks = []
    for name in ("ratio", "hit", "classifier", "3-way margins"):
        scores = np.r_[found[name].individual.real, found[name].individual.holdout]
        ranks.append([((scores < s).sum() + (scores == s).sum() / 2) / 120 for s in scores])
    mine = found["mean rank"].individual
    np.testing.assert_allclose(np.r_[mine.real, mine.holdout], np.mean(ranks, axis=0))
    assert tuple(found) == TESTED


def test_planted_copies_are_the_risk():
    """Copies have ratio ranks above all: AUC is share + (1 - share) / 2, and the risk at 10 % is the share."""
    real, synthetic, holdout = tables(2, 600, 0.2)  # 1,200 people: the error of the AUC is 0.017
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=["ratio"])
    assert found.context["AUC"] == pytest.approx(0.6, abs=0.034)
    assert found.risk.low < 0.2 < found.risk.high
    assert found.verdict == "excess found"
    assert found.real.rate == pytest.approx(0.28, abs=0.04)
    assert (found.holdout.hits, found.holdout.n) == (60.0, 600)
    assert found.difference.value == pytest.approx(found.real.rate - 0.1)
    assert found.smallest_detectable < 0.08


# ---------------------------------------------------------------- label-blind


def test_swapping_members_and_strangers_turns_every_auc_round():
    real, synthetic, holdout = tables(3, 60)
    with patch.object(classifier_score, "TREES", 10):
        here = divulge.membership(real, synthetic, holdout=holdout, scores=EVERY)
        there = by_variant(divulge.membership(holdout, synthetic, holdout=real, scores=EVERY))
    for r in here:
        assert r.context["AUC"] + there[r.variant].context["AUC"] == pytest.approx(1, abs=1e-12), r.variant
        np.testing.assert_allclose(r.individual.real, there[r.variant].individual.holdout, atol=1e-8, err_msg=r.variant)


def test_swapping_turns_the_classifier_round_where_categories_are_equally_frequent():
    rng = np.random.default_rng(24)
    schema = Schema((Column("a", "categorical"), Column("b", "categorical")))

    def one(n):
        return pl.DataFrame({c: [f"{c}{v}" for v in rng.permutation(np.arange(n) % 20)] for c in "ab"})

    people_of_both, synthetic = one(80), one(40)  # each category four times among people, not twice in either table
    real, holdout = people_of_both[:40], people_of_both[40:]
    with patch.object(classifier_score, "TREES", 10):
        here, there = (
            divulge.membership(a, synthetic, holdout=b, scores="classifier", schema=schema)[0]
            for a, b in ((real, holdout), (holdout, real))
        )
    assert here.individual.real.tolist() == there.individual.holdout.tolist()


def test_a_synthetic_table_of_strangers_is_a_deficit():
    real, _, holdout = tables(4, 150)
    (found,) = divulge.membership(real, holdout, holdout=holdout, scores=["ratio"])
    assert found.verdict == "deficit found"
    assert found.context["AUC"] == 0.0


def test_the_same_scores_alone_and_together():
    real, synthetic, holdout = tables(5, 80)
    together = by_variant(divulge.membership(real, synthetic, holdout=holdout, scores=FAST))
    (alone,) = divulge.membership(real, synthetic, holdout=holdout, scores=["hit"])
    assert alone.individual.real.tolist() == together["hit"].individual.real.tolist()
    assert alone.p_value == pytest.approx(together["hit"].p_value, abs=0.03)
    assert alone.p_adjusted <= together["hit"].p_adjusted + 0.03


# ---------------------------------------------------------------- units


def households(rng, homes, size=3, name="h"):
    n = homes * size
    centre = np.repeat(rng.normal(size=(homes, 3)), size, axis=0)
    values = (centre + 0.05 * rng.normal(size=(n, 3))).round(4)
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(3)} | {"home": [f"{name}{i // size}" for i in range(n)]})


def test_a_unit_is_one_person_and_no_reference_for_itself():
    rng = np.random.default_rng(6)
    real, holdout, fresh = households(rng, 60, name="r"), households(rng, 60, name="h"), households(rng, 60, name="s")
    found = divulge.membership(real, fresh, holdout=holdout, unit="home", scores=["ratio", "3-way margins"])
    for r in found:
        assert (r.real.n, r.holdout.n) == (60, 60)
        assert r.verdict != "excess found"
        assert any("rows of one unit are one person" in note for note in r.notes)
    # the nearest other person is of another home, many times as far as the housemates
    apart = found[0].individual.real
    without = divulge.membership(real.drop("home"), fresh.drop("home"), holdout=holdout.drop("home"), scores=["ratio"])
    assert np.median(apart - without[0].individual.real) > 1


def test_a_unit_scores_as_its_highest_record():
    rng = np.random.default_rng(22)
    real, holdout, fresh = households(rng, 40, name="r"), households(rng, 40, name="h"), households(rng, 40, name="s")
    (found,) = divulge.membership(real, fresh, holdout=holdout, unit="home", scores="ratio")
    members, strangers = (side.reshape(40, 3).max(axis=1) for side in (found.individual.real, found.individual.holdout))
    assert found.context["AUC"] == pytest.approx(np.mean(members[:, None] > strangers), abs=1e-9)


@pytest.mark.parametrize("unit", [None, "home"])
def test_nobody_is_in_the_trees_that_score_him(unit):
    """People and synthetic rows are drawn alike: trees without the person, and the housemates, take half for synthetic."""
    rng = np.random.default_rng(23)
    real, holdout, fresh = (households(rng, 40, 3 if unit else 1, name) for name in "rhs")
    more = households(rng, 40, 3 if unit else 1, "t")
    with patch.object(classifier_score, "TREES", 30):
        (found,) = divulge.membership(
            real, pl.concat([fresh, more]), holdout=holdout, unit=unit or "home", scores="classifier"
        )
    assert 0.35 < np.mean(np.r_[found.individual.real, found.individual.holdout]) < 0.65


def test_names_of_units_change_nothing():
    rng = np.random.default_rng(7)
    real, holdout, fresh = households(rng, 30, name="r"), households(rng, 30, name="h"), households(rng, 30, name="s")
    other = [t.with_columns(home=pl.lit("z") + pl.col("home").str.reverse()) for t in (real, fresh, holdout)]
    with patch.object(classifier_score, "TREES", 10):
        here = divulge.membership(real, fresh, holdout=holdout, unit="home")
        there = divulge.membership(other[0], other[1], holdout=other[2], unit="home")
    assert [r.to_dict() | {"seconds": 0} for r in here] == [r.to_dict() | {"seconds": 0} for r in there]


# ---------------------------------------------------------------- the blind check


def test_tables_that_differ_without_a_leak_tell_nothing():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (people(rng, 200).with_columns(pl.col("x0") + shift) for shift in (1.0, 1.0, 0.0))
    for r in divulge.membership(real, synthetic, holdout=holdout, scores=FAST[3:]):
        assert r.verdict == "cannot tell"
        assert r.score is None
        assert not any("small traces" in n for n in r.notes)  # nothing is said of a leak
        assert any("never sees the synthetic table tells members from strangers" in n for n in r.notes)
        assert r.context["AUC without the synthetic table"] > 0.7


@pytest.mark.parametrize("seed", [0, 3])
def test_a_finding_says_by_what_it_was_found_where_the_interval_of_its_risk_holds_0(seed):
    real, synthetic, holdout = tables(seed, 300, 0.08)
    found = [r for r in divulge.membership(real, synthetic, holdout=holdout, scores=FAST) if r.verdict in FOUND]
    told = [bool(found_by(r)) for r in found]
    assert told == [r.risk.low_simultaneous <= 0 <= r.risk.high_simultaneous for r in found]
    assert any(told)
    assert [" by the order of all scores" in str(r) or " by the highest scores" in str(r) for r in found] == told


def test_people_in_both_tables_tell_nothing():
    real, synthetic, holdout = tables(9, 200)
    mixed = pl.concat([holdout[:150], real[:50]])
    for r in divulge.membership(real, synthetic, holdout=mixed, scores=["ratio"]):
        assert r.verdict == "cannot tell"
        assert any("50 of 200 holdout rows equal a real row: more than a random split" in n for n in r.notes)


# ---------------------------------------------------------------- known members


@pytest.mark.slow
def test_who_knows_members_learns_which_scores_to_trust():
    real, synthetic, holdout = tables(10, 400, 0.4)
    found = by_variant(divulge.membership(real, synthetic, holdout=holdout, scores=FAST, known_members=True))
    stack = found["known members"]
    assert stack.verdict == "excess found"
    assert stack.p_value == stack.context["smallest p-value of the permutations"] == 0.001
    best = max(r.context["AUC"] for v, r in found.items() if v != "known members")
    assert stack.context["AUC of the best single score"] == best
    gain = stack.context["gain over the best single score"]
    assert gain == pytest.approx(stack.context["AUC"] - best)


def test_the_last_bit_of_a_logarithm_changes_no_digit_of_known_members():
    """Processors differ in it, and folds follow from the content of rows."""
    rng, log = np.random.default_rng(1), np.log
    scores, is_member = list(rng.normal(size=(3, 240))), np.arange(240) < 120
    here = stacked(scores, is_member, np.random.default_rng(2))
    with patch.object(np, "log", lambda x: np.nextafter(log(x), np.inf)):
        there = stacked(scores, is_member, np.random.default_rng(2))
    assert here.p_value == there.p_value
    np.testing.assert_array_equal(here.score, there.score)


def test_too_few_known_members_are_refused():
    real, synthetic, holdout = tables(11, 99)
    with pytest.raises(SettingError, match="needs 100 members and 100 strangers, found 99 and 99"):
        divulge.membership(real, synthetic, holdout=holdout, scores=["ratio"], known_members=True)


# ---------------------------------------------------------------- bad input


def test_without_a_holdout_nothing_is_compared():
    (found,) = divulge.membership(*tables(12)[:2])
    assert (found.verdict, found.real, found.p_value) == ("no holdout", None, None)
    assert found.notes == (
        "no holdout: members cannot be compared with anybody; give people that the synthesizer never saw",
    )


def test_five_strangers_have_an_auc_and_no_verdict():
    real, synthetic, holdout = tables(13, 100, m=5)
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=["ratio"])
    assert (found.verdict, found.real, found.risk) == ("cannot tell", None, None)
    assert found.context["AUC"] is not None
    few = "cannot tell: strangers are too few for a lower limit at a false positive rate of 10%: 5; 36 would do"
    assert few in found.notes


def test_what_could_be_seen_is_said():
    real, synthetic, holdout = tables(14, 400)
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores="dcr")
    assert found.context["TPR at FPR 0.1%"] is None
    assert [n for n in found.notes if "needs" in n] == [
        "a lower limit of the rate at a false positive rate of 0.1% needs 3,688 strangers; there are 400"
    ]


def test_what_is_found_is_a_few_standard_errors_from_chance():
    real, synthetic, holdout = tables(14, 60, m=80)
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores="dcr")
    level = found.comparison.level_each
    errors = normal_quantile(level) + 0.8416
    assert found.context["smallest AUC found with 80% power"] == pytest.approx(
        0.5 + errors * (141 / (12 * 60 * 80)) ** 0.5, abs=1e-3
    )
    assert found.context["smallest membership advantage found with 80% power"] == pytest.approx(
        errors * ((1 / 60 + 1 / 80) / 4) ** 0.5, abs=1e-4
    )


def test_where_many_share_a_score_more_people_are_not_said_to_help():
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (pl.DataFrame({"a": rng.choice(["x", "y"], 200, p=[0.3, 0.7])}) for _ in "abc")
    (found,) = divulge.membership(real, synthetic, holdout=holdout, scores=["2-way margins"])
    scores = found.individual.holdout
    share = float(np.mean(scores == np.sort(scores)[-20]))
    told = [n for n in found.notes if n.startswith("cannot tell")]
    assert told == [
        f"cannot tell: {100 * share:.0f}% of strangers share the score at which 10% would be claimed, so that the rate of "
        "members there is not known; more people would not narrow it"
    ]
    assert share > 0.2


def test_equal_tables_are_found():
    real, _, holdout = tables(15, 120)
    (found,) = divulge.membership(real, real, holdout=holdout, scores=["ratio"])
    assert (found.verdict, found.context["AUC"], found.real.rate) == ("excess found", 1.0, 1.0)


@pytest.mark.parametrize(
    "columns",
    [
        {"x": "number"},
        {"a": "text"},
        {"a": "text", "b": "text", "c": "text", "d": "text", "e": "text"},
        {"x": "number", "y": "number", "z": "number"},
    ],
    ids=["one number", "one category", "all categories", "all numbers"],
)
def test_any_columns_do(columns):
    rng = np.random.default_rng(16)

    def one(n):
        return pl.DataFrame(
            {
                c: rng.normal(size=n).round(2) if kind == "number" else rng.choice(list("uvwxyz"), n)
                for c, kind in columns.items()
            }
        )

    with patch.object(classifier_score, "TREES", 10):
        found = divulge.membership(one(60), one(60), holdout=one(60), scores=EVERY)
    assert len(found) == len(EVERY)
    for r in found:
        assert r.verdict in ("none found", "cannot tell"), r.variant
        assert 0.2 < r.context["AUC"] < 0.8


@pytest.mark.slow
def test_400_columns_do():
    rng = np.random.default_rng(17)
    real, synthetic, holdout = (people(rng, 80, 400) for _ in range(3))
    for r in divulge.membership(real, synthetic, holdout=holdout):
        assert r.verdict != "excess found"


def test_tables_that_are_not_in_memory_are_read():
    real, synthetic, holdout = tables(20, 40)
    lazy = divulge.membership(real.lazy(), synthetic.lazy(), holdout=holdout.lazy(), scores="ratio")
    (here,) = divulge.membership(real, synthetic, holdout=holdout, scores="ratio")
    assert lazy[0].real == here.real
    assert any(note.startswith("the tables were read into memory") for note in lazy[0].notes)


def test_the_blind_check_sees_no_synthetic_row():
    real, synthetic, holdout = tables(21, 60)
    other = pl.concat([real, real, holdout.with_columns(pl.all() * 7 - 3)])
    seen = [
        divulge.membership(real, s, holdout=holdout, scores="dcr")[0].context["p-value without the synthetic table"]
        for s in (synthetic, other)
    ]
    assert seen[0] == seen[1]


def test_one_score_and_one_column_need_no_list():
    real, synthetic, holdout = tables(19, 40)
    one = divulge.membership(real, synthetic, holdout=holdout, scores="ratio", columns="x1")
    many = divulge.membership(real, synthetic, holdout=holdout, scores=["ratio"], columns=["x1"])
    assert [r.to_dict() | {"seconds": 0} for r in one] == [r.to_dict() | {"seconds": 0} for r in many]
    assert one[0].keys == ("x1",)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([], "scores: none named"),
        (3, "scores: '3' is no score"),
        (["loss"], "scores: 'loss' is no score. hint: use some of: mean rank, ratio"),
    ],
)
def test_scores_that_are_none_are_refused(scores, told):
    real, synthetic, holdout = tables(18, 40)
    with pytest.raises(SettingError, match=re.escape(told)):
        divulge.membership(real, synthetic, holdout=holdout, scores=scores)


def test_without_a_holdout_several_tables_are_not_compared_either():
    real, synthetic, _ = tables(24, 30)
    (found,) = divulge.membership(real, [synthetic[:15], synthetic[15:]])
    assert (found.verdict, found.individual, found.curves) == ("no holdout", None, {})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r, s, h: (r, s, h[:1]), "too few for a lower limit at a false positive rate of 10%: 1; 36 would do"),
        (
            lambda r, s, h: (r, s, r),
            "120 of 120 holdout rows equal a real row: more than a random split of these people gives",
        ),
        (
            lambda r, s, h: (r, s, r[:80]),
            "80 of 80 holdout rows equal a real row: more than a random split of these people gives",
        ),
        (lambda r, s, h: (r, s[:3], h), "the interval is too wide"),
        (lambda r, s, h: (r, pl.concat([s[-1:]] * 40), h), "the interval is too wide"),
    ],
    ids=["one stranger", "holdout is real", "holdout inside real", "three rows", "one distinct row"],
)
def test_odd_tables_are_told_of(change, told):
    real, synthetic, holdout = change(*tables(25, 120, copied=0.0))
    for r in divulge.membership(real, synthetic, holdout=holdout, scores=["ratio", "2-way margins"]):
        assert r.verdict == "cannot tell"
        assert any(told in note for note in r.notes)


def test_columns_that_cannot_be_compared_are_told():
    real, synthetic, holdout = tables(26, 30)
    constant = [t.select(a=pl.lit("x")) for t in (real, synthetic, holdout)]
    with pytest.raises(SettingError, match="no column to compare: all are constant"):
        divulge.membership(*constant[:2], holdout=constant[2])
    with pytest.raises(SettingError, match="columns: none given"):
        divulge.membership(real, synthetic, holdout=holdout, columns=[])


@pytest.mark.parametrize("unit", [None, "home"])
def test_a_tree_of_its_sample_is_that_of_all_rows_with_a_weight_of_0_outside(unit, monkeypatch):
    from sklearn.tree import DecisionTreeClassifier

    monkeypatch.setattr(classifier_score, "_SAMPLE", 25)
    monkeypatch.setattr(classifier_score, "TREES", 4)
    rng = np.random.default_rng(2)
    people, synthetic = rng.integers(0, 9, (60, 3)).astype(np.float32), rng.integers(0, 9, (50, 3)).astype(np.float32)
    of_unit = np.arange(60) // (2 if unit else 1)
    seeds = classifier_score._seeds(60, np.random.default_rng(7))
    assert seeds == np.random.default_rng(7).integers(2**31, size=4).tolist()
    found = list(classifier_score._trees(people, of_unit, lambda p: synthetic[p], 50, seeds))
    n_units = int(of_unit.max()) + 1
    for (outside, share), seed in zip(found, seeds, strict=True):
        draw = np.random.default_rng(seed)
        units = np.bincount(draw.integers(0, n_units, min(n_units, 25)), minlength=n_units)[of_unit]
        rows = np.bincount(draw.integers(0, 50, 25), minlength=50)
        weight = np.concatenate([units / units.sum(), rows / rows.sum()]) * units.sum()
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
        tree.fit(np.vstack([people, synthetic]), np.repeat([0.0, 1.0], [60, 50]), sample_weight=weight)
        value = tree.tree_.value[tree.tree_.apply(people[units == 0]), 0]
        assert outside.tolist() == np.flatnonzero(units == 0).tolist()
        assert share.tobytes() == (value[:, 1] / value.sum(axis=1)).tobytes()


def test_rows_that_trees_see_are_read_from_a_file_once_and_in_order(tmp_path, monkeypatch):
    """One tree after the other would read the file again for each where it does not fit into memory."""
    draw = np.random.default_rng(4)
    people, synthetic = (pl.DataFrame({c: draw.integers(0, 40, n) for c in "abc"}) for n in (120, 3000))
    case = build_case(people[:60], synthetic, people[60:])
    monkeypatch.setattr(classifier_score, "TREES", 3)
    monkeypatch.setattr(classifier_score, "_SAMPLE", 500)
    expected, read = classifier_score.classifier_score(case, ("a", "b", "c")), []

    class Watched(NarrowRows):
        def __getitem__(self, at):
            if isinstance(at, tuple):
                read.append((at[1], at[0]))
            return super().__getitem__(at)

    usual = classifier_score.features_of
    monkeypatch.setattr(classifier_score, "features_of", lambda *of: _with(usual(*of), Watched))
    case = build_case(people[:60], synthetic, people[60:])
    case.encoded.spill = Spill(tmp_path)
    assert classifier_score.classifier_score(case, ("a", "b", "c")).tobytes() == expected.tobytes()
    assert [column for column, _ in read] == [0, 1, 2]
    assert all((np.diff(rows) > 0).all() and 500 < len(rows) <= 1500 for _, rows in read)


def _with(features, kind):
    return replace(features, synthetic=kind(features.synthetic.columns))
