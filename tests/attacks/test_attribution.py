"""Attribution by look-up: the tables of the CAP paper as rows, and counting in plain Python on random small tables."""

from collections import Counter
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from cap_paper_tables import O1, O2, O3, O4, S_A, S_B, S_E, S_G
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.core.errors import ColumnError, SettingError


def rows(table):
    cells = [(f"K{j}", f"T{i}") for i, row in enumerate(table, 1) for j, n in enumerate(row, 1) for _ in range(n)]
    return pl.DataFrame(cells, schema=["key", "target"], orient="row")


PAIR = {"keys": ["key"], "target": "target"}


@pytest.mark.parametrize(
    ("real", "synthetic", "expected", "printed"),
    [
        (O3, S_B, F(71962039, 234130050), 0.31),
        (O3, S_G, F(7901985863, 22641535800), 0.35),
        (O4, S_A, F(3769299739, 11859397200), 0.318),
        (O4, S_E, F(25400257, 82309500), 0.309),
        (O1, S_B, F(1, 3), 0.333),
        (O2, O2, F(1), 1),
    ],
)
@pytest.mark.parametrize("unseen", ["skip", "zero", "nearest"])
def test_mean_cap_of_the_papers_tables(real, synthetic, expected, printed, unseen):
    found = divulge.cap(rows(real), rows(synthetic), unseen=unseen, **PAIR).real.rate
    assert found == pytest.approx(float(expected), abs=1e-15)
    assert found == pytest.approx(printed, abs=0.005)


@pytest.mark.parametrize(
    ("real", "own", "baseline", "largest", "least"),
    [
        (O1, F(1, 3), F(1, 3), (F(1, 3), F(1, 3)), (F(1, 3), F(1, 9), F(1, 3))),
        (O2, F(1), F(345, 1000), (F(1), F(1)), (0, 0, 0)),
        (O3, F(6391741, 13360680), F(295442, 810000), (F(1), F(507, 900)), (0, 0, F(78 + 59, 900))),
        (O4, F(1375846471, 2822837625), F(359574, 810000), (F(197, 271), F(531, 900)), (0, 0, F(62, 900))),
    ],
)
def test_anchors_of_the_papers_tables(real, own, baseline, largest, least):
    """Largest: skip, then zero and nearest. Least: skip, zero, nearest."""
    for i, unseen in enumerate(("skip", "zero", "nearest")):
        found = divulge.cap(rows(real), rows(S_A), unseen=unseen, **PAIR)
        assert found.context["original on itself"] == pytest.approx(float(own), abs=1e-15)
        assert found.context["maximum attainable"] == pytest.approx(float(largest[i > 0]), abs=1e-15)
        assert found.context["minimum attainable"] == pytest.approx(float(least[i]), abs=1e-15)
        assert found.baseline.rate == pytest.approx(float(baseline), abs=1e-15)
        if unseen != "nearest":
            minimum = divulge.cap_minimum(rows(real), rows(S_A), unseen=unseen, **PAIR)
            assert minimum.real.rate == pytest.approx(float(least[i]))


def test_a_low_mean_hides_people():
    """As substitutes of O3 the table with the lower mean, S_b, is the more certain and right about many."""
    scores = {s: divulge.cap(rows(O3), rows(t), **PAIR).individual.real for s, t in (("b", S_B), ("g", S_G))}
    assert [int((scores["b"] > x).sum()) for x in (0.5, 0.4, 0.75)] == [171, 298, 93]
    assert [int((scores["g"] > x).sum()) for x in (0.5, 0.4, 0.75)] == [0, 220, 0]


def test_individual_caps_of_a_table():
    found = divulge.cap(rows(S_B), rows(S_B), **PAIR).individual.real
    of_cell = dict(zip(rows(S_B).rows(), found.round(4).tolist(), strict=True))
    assert [of_cell[f"K{j}", f"T{i}"] for i in (1, 2, 3) for j in (1, 2, 3)] == [
        0.0515, 0.1773, 0.0649, 0.4850, 0.5567, 0.9221, 0.4635, 0.2660, 0.0130
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("real", "synthetic", "right"), [(O4, S_A, 134), (O4, S_E, 272), (O3, S_B, 171), (O3, S_G, 269), (O4, O4, 531)]
)
def test_modal_guesses_of_the_papers_tables(real, synthetic, right):
    assert divulge.modal_guess(rows(real), rows(synthetic), **PAIR).real.hits == right


@pytest.mark.parametrize("unseen", ["skip", "zero", "nearest"])
def test_a_tie_among_the_commonest_targets_is_a_guess_among_them(unseen):
    found = divulge.modal_guess(rows([[2, 1], [1, 1], [1, 1]]), rows([[3, 1], [3, 1], [1, 1]]), unseen=unseen, **PAIR)
    assert found.real.hits == pytest.approx(3 / 2 + 3 / 3)  # two targets of K1 tie, and all three of K2


def test_naming_the_commonest_value_beats_two_synthetic_tables():
    assert divulge.modal_guess(rows(O4), rows(S_A), **PAIR).baseline.rate == pytest.approx(467 / 900)


def test_smokers_of_the_papers_introduction():
    real = rows([[20], [30]])
    synthetic = rows([[8, 7], [25, 60]])
    found = divulge.cap(real, synthetic, **PAIR).individual.real
    assert sorted(set(found.tolist())) == pytest.approx([8 / 33, 25 / 33])
    assert sorted(set(divulge.cap(real, real, **PAIR).individual.real.tolist())) == pytest.approx([0.4, 0.6])


def test_an_independent_target_still_scores_its_skew():
    """A 90/10 target that no key tells: CAP is 0.82, the excess 0, however the table was made."""
    table = pl.DataFrame({"key": ["a"] * 50 + ["b"] * 50, "target": (["x"] * 9 + ["y"]) * 10})
    found = divulge.cap(table, table, holdout=table, **PAIR)
    assert found.real.rate == pytest.approx(0.82)
    assert found.baseline.rate == pytest.approx(0.82)
    assert found.difference.value == 0


# ---------------------------------------------------------------- plain Python on random tables

cell = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("xyz"), st.sampled_from(["u", "v", "w", None]))
table = st.lists(cell, min_size=1, max_size=14)
NAMES = ["A", "B", "T"]
AB = {"keys": ["A", "B"], "target": "T"}
many = settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)


def frame(cells):
    return pl.DataFrame(cells, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def distance(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


def guessers(key, synthetic, unseen):
    """Targets of the synthetic rows that answer for a key; None when the record is skipped."""
    same = [t for a, b, t in synthetic if (a, b) == key]
    if same or unseen == "zero":
        return same
    if unseen == "skip":
        return None
    least = min(distance(key, (a, b)) for a, b, _ in synthetic)
    return [t for a, b, t in synthetic if distance(key, (a, b)) == least]


def plain_cap(record, synthetic, unseen):
    votes = guessers(record[:2], synthetic, unseen)
    if votes is None:
        return None
    return F(votes.count(record[2]), len(votes)) if votes else F(0)


def plain_modal(record, synthetic, unseen):
    votes = guessers(record[:2], synthetic, unseen)
    if votes is None:
        return None
    counts = Counter(votes)
    best = [t for t, n in counts.items() if n == max(counts.values())]
    return F(1, len(best)) if record[2] in best else F(0)


def mean(scores):
    scores = [s for s in scores if s is not None]
    return sum(scores, F(0)) / len(scores) if scores else None


def near(found, expected):
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.first(2)
@pytest.mark.parametrize("unseen", ["skip", "zero", "nearest"])
@pytest.mark.parametrize(("attack", "plain"), [(divulge.cap, plain_cap), (divulge.modal_guess, plain_modal)])
@many
@given(real=table, synthetic=table, holdout=table)
def test_cap_and_modal_guess_count_as_plain_python_does(attack, plain, unseen, real, synthetic, holdout):
    found = attack(frame(real), frame(synthetic), holdout=frame(holdout), unseen=unseen, **AB)
    members, strangers = ([plain(x, synthetic, unseen) for x in t] for t in (real, holdout))
    near(found.real.rate, mean(members))
    near(found.holdout.rate, mean(strangers))
    for scores, expected in ((found.individual.real, members), (found.individual.holdout, strangers)):
        np.testing.assert_allclose(scores, [np.nan if s is None else float(s) for s in expected], rtol=0, atol=1e-15)
    if None not in (mean(members), mean(strangers)):
        excess = mean(members) - mean(strangers)
        near(found.difference.value, excess)
        near(found.risk.value, excess / (1 - mean(strangers)) if mean(strangers) < 1 else None)


@pytest.mark.slow
@pytest.mark.parametrize("attack", [divulge.cap, divulge.modal_guess])
def test_nearest_rows_are_the_same_however_they_are_found(attack, monkeypatch):
    rng = np.random.default_rng(0)
    real, synthetic, holdout = (
        pl.DataFrame({name: rng.integers(0, 6, 400).astype(str) for name in ("a", "b", "c", "d", "t")})
        for _ in range(3)
    )
    ask = {"holdout": holdout, "unseen": "nearest", "keys": ["a", "b", "c", "d"], "target": "t"}
    plain = attack(real, synthetic, **ask)
    monkeypatch.setattr("divulge.kernels.counts.hamming._FEW", 0.0)
    monkeypatch.setattr("divulge.kernels.counts.hamming.by_pairs", None)
    monkeypatch.setattr("divulge.kernels.counts.hamming._PAIR_COLUMN", 1.0)
    found = attack(real, synthetic, **ask)
    assert found.individual.real.tolist() == plain.individual.real.tolist()
    assert found.individual.holdout.tolist() == plain.individual.holdout.tolist()
    assert found.real == plain.real


@many
@given(real=table, synthetic=table, holdout=table)
def test_anchors_count_as_plain_python_does(real, synthetic, holdout):
    tables = {"real": frame(real), "synthetic": frame(synthetic), "holdout": frame(holdout)}
    n, targets = len(real), Counter(t for _, _, t in real)
    prior = sum(F(k * k, n * n) for k in targets.values())
    found = divulge.cap(**tables, **AB)
    near(found.baseline.rate, prior)
    near(found.context["original on itself"], mean([plain_cap(x, real, "zero") for x in real]))
    near(found.context["baseline: commonest value"], F(max(targets.values()), n))
    near(found.context["baseline: uniform"], F(1, len(targets)))
    keys = {x[:2] for x in synthetic}
    near(found.context["share of records whose key is in the synthetic table"], F(sum(x[:2] in keys for x in real), n))
    near(divulge.weap(**tables, **AB).value.synthetic, mean([plain_cap(x, synthetic, "zero") for x in synthetic]))
    dcap = divulge.dcap(**tables, unseen="zero", **AB)
    near(dcap.value.real, mean([plain_cap(x, synthetic, "zero") for x in real]) - prior)
    near(dcap.value.holdout, mean([plain_cap(x, synthetic, "zero") for x in holdout]) - prior)
    guessed = {r.variant: r.real.rate for r in divulge.baseline_cap(**tables, **AB)}
    near(guessed["uniform"], F(1, len(targets)))
    near(guessed["marginal"], prior)
    near(guessed["modal"], F(max(targets.values()), n))


@pytest.mark.slow
@many
@given(real=table, synthetic=table, holdout=table)
def test_least_and_largest_cap_bound_every_table(real, synthetic, holdout):
    """Theorems 2 and 3 over the keys and targets of real and synthetic; any such synthetic table lies between."""
    targets = {x[2] for x in real + synthetic}
    count, of_key = Counter(real), Counter(x[:2] for x in real)
    every_key = {x[:2] for x in real + synthetic}
    n = len(real)
    least = {
        "zero": min(F(count[*k, t], n) for k in every_key for t in targets),
        "skip": min(F(count[*k, t], of_key[k]) for k in of_key for t in targets),
        "nearest": F(sum(min(count[*k, t] for t in targets) for k in of_key), n),
    }
    on_commonest = F(sum(max(count[*k, t] for t in targets) for k in of_key), n)
    largest = {
        "zero": on_commonest,
        "skip": max(F(count[*k, t], of_key[k]) for k in of_key for t in targets),
        "nearest": on_commonest,
    }
    tables = {"real": frame(real), "synthetic": frame(synthetic), "holdout": frame(holdout)}
    for unseen in ("zero", "skip", "nearest"):
        found = divulge.cap(**tables, unseen=unseen, **AB)
        near(found.context["minimum attainable"], least[unseen])
        near(found.context["maximum attainable"], largest[unseen])
        if found.real.rate is not None:
            assert least[unseen] - 1e-12 <= found.real.rate <= largest[unseen] + 1e-12
        if unseen == "nearest":
            continue
        minimum = divulge.cap_minimum(**tables, unseen=unseen, **AB)
        near(minimum.real.rate, least[unseen])
        assert minimum.table.height == len(synthetic)
        near(divulge.cap(frame(real), minimum.table, unseen=unseen, **AB).real.rate, least[unseen])


@pytest.mark.parametrize("unseen", ["skip", "zero", "nearest"])
def test_what_only_strangers_have_is_no_cell(unseen):
    real = pl.DataFrame({"k": ["a"] * 3 + ["b"], "t": ["x", "x", "y", "x"]})
    holdout = pl.DataFrame({"k": ["a", "z"], "t": ["q", "x"]})
    alone, together = (
        divulge.cap(real, real, holdout=h, unseen=unseen, keys=["k"], target="t") for h in (None, holdout)
    )
    assert alone.context == together.context


@pytest.mark.first(1)
@pytest.mark.parametrize("tau", [1.0, 0.5, 0.7])
@many
@given(real=table, synthetic=table, holdout=table)
def test_tcap_counts_as_plain_python_does(tau, real, synthetic, holdout):
    limit = F(str(tau))
    count, of_key = Counter(synthetic), Counter(x[:2] for x in synthetic)
    certain = {x for x, k in count.items() if F(k, of_key[x[:2]]) >= limit}
    disclosive = {x[:2] for x in certain}
    found = {r.variant: r for r in divulge.tcap(frame(real), frame(synthetic), holdout=frame(holdout), tau=tau, **AB)}
    for role, people in (("real", real), ("holdout", holdout)):
        hit = sum(x in certain for x in people)
        among = {
            "a": sum(x[:2] in of_key for x in people),
            "b": sum(x[:2] in disclosive for x in people),
            "d": len(people),
        }
        for variant, n in among.items():
            near(getattr(found[variant], role).rate, F(hit, n) if n else None)
            assert getattr(found[variant], role).n == n
        own, own_key = Counter(people), Counter(x[:2] for x in people)
        shares = [F(own[x], own_key[x[:2]]) for x in synthetic if x in certain and own_key[x[:2]]]
        near(getattr(found["c"], role).rate, mean(shares))


def test_nothing_disclosive_is_nothing_to_attack():
    real = pl.DataFrame({"k": ["a", "a"], "t": ["x", "y"]})
    found = {r.variant: r for r in divulge.tcap(real, real, holdout=real, keys=["k"], target="t")}
    assert (found["b"].real.n, found["b"].real.rate) == (0, None)
    assert found["b"].risk.value is None
    assert found["b"].verdict == "cannot tell"


def test_a_share_of_exactly_tau_counts():
    """0.56 times 25 is 14.000000000000002 in floats."""
    table = pl.DataFrame({"k": ["a"] * 25, "t": ["x"] * 14 + ["y"] * 11})
    assert [r.real.hits for r in divulge.tcap(table, table, keys=["k"], target="t", tau=0.56, variants=["d"])] == [14]


def test_a_model_of_the_strangers_predicts_what_the_key_tells():
    rng = np.random.default_rng(0)
    key = rng.integers(0, 4, (2, 400))
    real, holdout = (pl.DataFrame({"k": k, "t": k // 2}) for k in key)
    found = {r.variant: r.real.rate for r in divulge.baseline_cap(real, real, holdout=holdout, keys=["k"], target="t")}
    assert found["model"] == 1
    assert found["modal"] < 0.6


def test_without_strangers_there_is_no_verdict_on_leaks():
    found = divulge.cap(rows(O3), rows(S_B), **PAIR)
    assert (found.verdict, found.difference, found.risk) == ("no holdout", None, None)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"keys": ["key"], "target": "key"}, SettingError),
        ({"keys": [], "target": "target"}, SettingError),
        ({"keys": ["key", "key"], "target": "target"}, SettingError),
        ({"keys": ["kye"], "target": "target"}, ColumnError),
        ({"keys": ["key"], "target": "target", "unseen": "none"}, SettingError),
    ],
)
def test_wrong_settings_are_told(wrong, error):
    with pytest.raises(error, match="hint:"):
        divulge.cap(rows(O3), rows(S_B), **wrong)


@pytest.mark.parametrize("tau", [0, 1.01, -1])
def test_tau_is_a_share(tau):
    with pytest.raises(SettingError, match="tau"):
        divulge.tcap(rows(O3), rows(S_B), tau=tau, **PAIR)
