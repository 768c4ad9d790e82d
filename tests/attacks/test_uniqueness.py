"""Standing alone, and the anonymity models, against plain Python and the published fractions."""

import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import Column, Schema

cell = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from("xyz"), st.sampled_from(["u", "v", "w", None]))
table = st.lists(cell, min_size=1, max_size=14)
KEYS = ["A", "B"]
AB = {"keys": KEYS, "target": "T"}
many = settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)


def frame(cells):
    return pl.DataFrame(cells, schema=dict.fromkeys(["A", "B", "T"], pl.String), orient="row")


def tables(real, synthetic, holdout):
    return {"real": frame(real), "synthetic": frame(synthetic), "holdout": frame(holdout)}


def near(found, expected):
    assert found == pytest.approx(float(expected), abs=1e-12)


def of_class(rows):
    """Counts of the targets in each class of equal keys."""
    found = {}
    for x in rows:
        found.setdefault(x[:2], Counter())[x[2]] += 1
    return found


@many
@given(real=table, synthetic=table, holdout=table)
def test_uniques_count_as_plain_python_does(real, synthetic, holdout):
    o, s = Counter(x[:2] for x in real), Counter(x[:2] for x in synthetic)
    everybody = Counter(x[:2] for x in real + holdout)
    found = {r.variant: r for r in divulge.replicated_uniques(**tables(real, synthetic, holdout), keys=KEYS)}
    once = {k for k, n in s.items() if n == 1}
    n, h = len(real), len(holdout)
    near(found["UiO"].real.rate, F(sum(o[x[:2]] == 1 for x in real), n))
    near(found["UiS"].value.synthetic, F(len(once), len(synthetic)))
    near(found["UiOiS"].real.rate, F(sum(o[x[:2]] == 1 and x[:2] in s for x in real), n))
    near(found["repU"].real.rate, F(sum(o[x[:2]] == 1 and x[:2] in once for x in real), n))
    assert found["repU"].individual.real.tolist() == [float(o[x[:2]] == 1 and x[:2] in once) for x in real]
    for variant in ("repU", "UiO", "UiOiS", "UiS"):  # counts of one table
        one = found[variant]
        assert (one.holdout, one.difference, one.risk, one.verdict) == (None, None, None, None)
    # alone among everybody who is asked, member or not
    members, strangers = ([float(everybody[x[:2]] == 1 and x[:2] in once) for x in t] for t in (real, holdout))
    pooled = found["repU pooled"]
    assert (pooled.real.hits, pooled.real.n) == (sum(members), n)
    assert (pooled.holdout.hits, pooled.holdout.n) == (sum(strangers), h)
    assert (pooled.individual.real.tolist(), pooled.individual.holdout.tolist()) == (members, strangers)
    near(pooled.difference.value, F(int(sum(members)), n) - F(int(sum(strangers)), h))
    assert pooled.verdict in ("excess found", "none found", "cannot tell")


def test_without_strangers_uniques_are_counted_only():
    real = frame([("a", "x", "u"), ("b", "x", "u")])
    found = {r.variant: r for r in divulge.replicated_uniques(real, real, keys=KEYS)}
    assert {v: r.verdict for v, r in found.items()} == {"repU": "no holdout", "UiO": None, "UiOiS": None, "UiS": None}
    assert found["repU"].real.rate == 1


def test_uniques_that_are_copied_are_found():
    real, holdout = (pl.DataFrame({"k": np.arange(200) + start}) for start in (0, 200))
    schema = Schema((Column("k", "categorical"),))
    found = {
        r.variant: r for r in divulge.replicated_uniques(real, real[:30], holdout=holdout, keys=["k"], schema=schema)
    }["repU pooled"]
    assert (found.real.hits, found.holdout.hits, found.verdict) == (30, 0, "excess found")


@many
@given(real=table, synthetic=table, holdout=table)
def test_class_sizes_count_as_plain_python_does(real, synthetic, holdout):
    found = divulge.k_anonymity(**tables(real, synthetic, holdout), keys=KEYS)
    for role, rows in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        sizes = Counter(x[:2] for x in rows)
        assert getattr(found.value, role) == min(sizes.values())
        expected = [sum(sizes[x[:2]] <= k for x in rows) / len(rows) for k in found.curves["class size"]]
        assert found.curves[role] == pytest.approx(expected)
    alone = sum(n == 1 for n in Counter(x[:2] for x in real).values())
    near(found.context["real records alone on their key"], F(alone, len(real)))
    assert found.context["classes in real"] == len({x[:2] for x in real})
    assert found.context["classes in synthetic"] == len({x[:2] for x in synthetic})


def recursive(counts, c):
    """Largest l with r_1 < c (r_l + ... + r_m); 0 without any."""
    r = sorted(counts.values(), reverse=True)
    return max((level for level in range(1, len(r) + 1) if r[0] < c * sum(r[level - 1 :])), default=0)


DIVERSITY = {
    "distinct": len,
    "entropy": lambda counts: math.exp(
        -sum(n / counts.total() * math.log(n / counts.total()) for n in counts.values())
    ),
    "recursive": lambda counts: recursive(counts, 1.5),
}


@pytest.mark.parametrize("kind", DIVERSITY)
@many
@given(real=table, synthetic=table, holdout=table)
def test_diversity_counts_as_plain_python_does(kind, real, synthetic, holdout):
    found = divulge.l_diversity(**tables(real, synthetic, holdout), kind=kind, c=1.5, **AB)
    for role, rows in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        diversity = {k: DIVERSITY[kind](counts) for k, counts in of_class(rows).items()}
        near(getattr(found.value, role), min(diversity.values()))
        expected = [
            sum(diversity[x[:2]] <= y + 1e-9 for x in rows) / len(rows) for y in found.curves["diversity at most"]
        ]
        assert found.curves[role] == pytest.approx(expected)


def test_entropy_of_two_thirds_and_one_third():
    real = pl.DataFrame({"k": ["a"] * 3, "t": ["x", "x", "y"]})
    found = divulge.l_diversity(real, real, keys=["k"], target="t", kind="entropy")
    assert found.value.real == pytest.approx(1.889882, abs=5e-7)


@pytest.mark.parametrize(("c", "expected"), [(0.6, 0), (1.0, 1), (1.66, 1), (1.67, 2), (5.0, 2), (5.01, 3)])
def test_recursive_diversity_by_hand(c, expected):
    """Counts 5, 2, 1: l = 1 needs 5 < 8c, l = 2 needs 5 < 3c, l = 3 needs 5 < c."""
    real = pl.DataFrame({"k": ["a"] * 8, "t": list("xxxxxyyz")})
    assert divulge.l_diversity(real, real, keys=["k"], target="t", kind="recursive", c=c).value.real == expected


def equal_distance(counts, overall):
    n, total = counts.total(), overall.total()
    return sum(abs(F(counts[t], n) - F(overall[t], total)) for t in overall) / 2


def ordered_distance(counts, overall):
    n, total = counts.total(), overall.total()
    at, far = F(0), F(0)
    for t in sorted(overall):
        at += F(counts[t], n) - F(overall[t], total)
        far += abs(at)
    return far / (len(overall) - 1) if len(overall) > 1 else F(0)


@many
@given(real=table, synthetic=table, holdout=table)
def test_closeness_counts_as_plain_python_does(real, synthetic, holdout):
    found = divulge.t_closeness(**tables(real, synthetic, holdout), **AB)
    for role, rows in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        overall = Counter(x[2] for x in rows)
        distance = {k: equal_distance(counts, overall) for k, counts in of_class(rows).items()}
        near(getattr(found.value, role), max(distance.values()))
        expected = [
            sum(distance[x[:2]] <= y + 1e-9 for x in rows) / len(rows) for y in found.curves["distance at most"]
        ]
        assert found.curves[role] == pytest.approx(expected)


number = st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([3, 5, 9, 10]))
numbers = st.lists(number, min_size=2, max_size=14).filter(lambda rows: len({x[2] for x in rows}) > 1)


@many
@given(real=numbers, synthetic=numbers, holdout=numbers)
def test_ordered_closeness_counts_as_plain_python_does(real, synthetic, holdout):
    named = {"real": real, "synthetic": synthetic, "holdout": holdout}
    frames = {r: pl.DataFrame(t, schema=["A", "B", "T"], orient="row") for r, t in named.items()}
    found = divulge.t_closeness(**frames, kind="ordered", **AB)
    for role, rows in named.items():
        overall = Counter(x[2] for x in rows)
        near(getattr(found.value, role), max(ordered_distance(c, overall) for c in of_class(rows).values()))


def test_only_values_in_order_have_an_ordered_distance():
    with pytest.raises(ColumnError, match="ordered"):
        divulge.t_closeness(frame([("a", "x", "u")]), frame([("a", "x", "v")]), kind="ordered", **AB)


@many
@given(real=table, synthetic=table, holdout=table)
def test_presence_counts_as_plain_python_does(real, synthetic, holdout):
    o, s, c = (Counter(x[:2] for x in t) for t in (real, synthetic, holdout))
    everybody = o + c
    given_tables = tables(real, synthetic, holdout)
    with_holdout = divulge.delta_presence(**given_tables, keys=KEYS)
    with_population = divulge.delta_presence(
        given_tables["real"], given_tables["synthetic"], population=frame([*real, *holdout]), keys=KEYS
    )
    share = {k: F(o[k], n) for k, n in everybody.items()}
    guess = {k: min(F(1), F(len(real), len(synthetic)) * s[k] / n) for k, n in everybody.items()}
    for found in (with_holdout, with_population):
        near(found.value.real, max(share.values()))
        near(found.value.synthetic, max(guess.values()))
        near(found.context["smallest presence"], min(share.values()))
        near(found.context["mean presence"], F(len(real), len(real) + len(holdout)))
        near(found.real.rate, F(sum(share[x[:2]] == 1 for x in real), len(real)))


def test_a_population_that_lacks_real_people_is_told():
    real, population = pl.DataFrame({"k": ["a", "b", "b"]}), pl.DataFrame({"k": ["a", "b", "a"]})
    found = divulge.delta_presence(real, real, population=population, keys=["k"])
    assert any("lacks real records" in n for n in found.notes)
    assert found.value.real == 1


def test_presence_needs_a_population():
    with pytest.raises(SettingError, match="population"):
        divulge.delta_presence(frame([("a", "x", "u")]), frame([("a", "x", "u")]), keys=KEYS)


def test_the_constant_of_recursive_diversity_is_positive():
    with pytest.raises(SettingError, match="c:"):
        divulge.l_diversity(frame([("a", "x", "u")]), frame([("a", "x", "u")]), kind="recursive", c=0, **AB)


@pytest.mark.parametrize("attack", [divulge.delta_presence, divulge.reidentification])
def test_a_population_without_a_key_is_named_as_that(attack):
    real = pl.DataFrame({"k": ["a", "b"], "j": [1, 2]})
    with pytest.raises(ColumnError, match="population: no column 'k'; there are 'j'"):
        attack(real, real, keys=["k"], population=real.select("j"))
