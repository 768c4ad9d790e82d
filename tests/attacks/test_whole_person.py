"""Membership of whole people: a plain oracle, worked numbers, laws, the leak that rows do not show, and messy input."""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.membership.results import WHOLE
from divulge.attacks.membership.whole_people import nearest as person_nearest
from divulge.attacks.membership.whole_people import scores as person_scores
from divulge.attacks.membership.whole_people import tables as person_tables
from divulge.attacks.membership.whole_people.blind import IN_BOTH_SIDES, visible_of
from divulge.attacks.membership.whole_people.nearest import NEAR, nearest_of
from divulge.attacks.membership.whole_people.scores import Component, halves_of, hit, surprise, weight_of
from divulge.attacks.membership.whole_people.tables import people_of
from divulge.core.errors import SettingError, TableError
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Column, Schema
from divulge.kernels._native.library import at_level
from divulge.kernels.set_distances import unit_of
from divulge.measures.linked.tables import linked_tables

VARIANTS = (WHOLE, "parent", "single rows", "parent and sets", "sets of rows")
SCHEMA = RelationalSchema(
    {
        "homes": Schema((Column("home", "identifier"), *(Column(c, "categorical") for c in "ab"), *(Column(c, "numeric") for c in "xy"))),
        "people": Schema((Column("home", "identifier"), *(Column(c, "categorical") for c in "ce"), Column("z", "numeric"))),
    },
    (Relation("homes", ("home",), "people", ("home",)),),
)  # fmt: skip


def world(n, rng, first=0, fewest=1):
    """Homes of four kinds, and the people in them."""
    kind = rng.integers(0, 4, n)
    keys = np.arange(first, first + n)
    homes = pl.DataFrame(
        {"home": keys, "a": rng.integers(0, 3, n) + kind, "b": rng.integers(0, 6, n), "x": rng.normal(size=n) + kind,
         "y": rng.normal(size=n)}
    )  # fmt: skip
    own = np.repeat(np.arange(n), rng.integers(fewest, 7, n))
    people = pl.DataFrame(
        {"home": keys[own], "c": rng.integers(0, 5, len(own)) + kind[own], "e": rng.integers(0, 8, len(own)),
         "z": rng.normal(size=len(own)) + kind[own]}
    )  # fmt: skip
    return {"homes": homes, "people": people}


def of_keys(tables, keep):
    return {name: t.filter(pl.col("home").is_in(list(keep))) for name, t in tables.items()}


def joined(*sides):
    return {name: pl.concat([s[name] for s in sides]) for name in sides[0]}


def renamed(tables, by):
    return {name: t.with_columns(home=pl.col("home") + by) for name, t in tables.items()}


def leaking(n=300, copied=60, seed=0):
    """Some real homes whole, with new keys, among new ones."""
    rng = np.random.default_rng(seed)
    real, holdout, fresh = (world(n, rng, first) for first in (0, 10_000, 20_000))
    own = renamed(of_keys(real, range(copied)), 50_000)
    return real, joined(own, of_keys(fresh, range(20_000 + copied, 20_000 + n))), holdout


def found_in(real, synthetic, holdout, **more):
    return {r.variant: r for r in divulge.membership(real, synthetic, holdout=holdout, **({"schema": SCHEMA} | more))}


def people_in(real, synthetic, holdout, schema=SCHEMA, **more):
    return people_of(linked_tables(real, synthetic, holdout, schema=schema, **more))


def scores_of(results):
    return {v: np.concatenate([r.individual.real, r.individual.holdout]) for v, r in results.items()}


def same(one, other):
    return all(np.array_equal(one[v], other[v], equal_nan=True) for v in one) and one.keys() == other.keys()


# ---------------------------------------------------------------- worked numbers


def test_surprise_is_the_share_of_twins_above():
    wanted = [-math.log(p) for p in (0.875, 0.625, 0.375, 0.125)]
    assert surprise(np.arange(4.0), np.arange(4.0)).tolist() == pytest.approx(wanted)
    # laid together by their lower quartiles 10.75 and .75; at least half a twin is above
    assert surprise(np.array([10.0, 11, 12, 19]), np.arange(4.0))[-1] == pytest.approx(math.log(8))


def test_sums_and_highest_thirds_of_rows():
    """Values 3, 0, 0 and 6 of a person's equal shares, and 1 of another's; a third has no rows."""
    value, owner, share = np.array([3.0, 0, 0, 6, 1]), np.array([0, 0, 0, 0, 1]), np.array([0.25] * 4 + [1])
    sums = person_scores._summed(value, owner, 3, share)
    assert sums.tolist() == pytest.approx([(2.25 - 2) * 2, 1 - 2, 0])
    thirds = person_scores._highest_third(value, owner, 3, share)
    assert thirds.tolist() == pytest.approx([3 * (0.25 * 6 + (1 / 3 - 0.25) * 3), 1, 1])  # the median of all rows is 1


def test_weights_ask_the_lower_side_too():
    rng = np.random.default_rng(0)
    twins = rng.normal(size=(1000, 4))
    none, leak, off = rng.normal(size=1000), rng.normal(size=1000), 3 * rng.normal(size=1000)
    leak[:250] += 4
    weights = [weight_of([Component(v, twins)]) for v in (none, leak, off)]
    assert weights[0] < 0.15 and weights[1] > 0.4 and weights[2] == 0.02


# ---------------------------------------------------------------- a plain oracle


def plain_codes(own, theirs, numeric):
    """Positions of numbers among the pot, codes of categories; missing is a value of its own."""
    if not numeric:
        return [repr(v) for v in own], [repr(v) for v in theirs]
    known, unit = [v for v in own if v is not None], 1000

    def place(v):
        if v is None:
            return 6 * unit
        below, equal = sum(w < v for w in known), sum(w == v for w in known)
        return 5 * unit * (2 * below + equal) // (2 * len(known))

    return [place(v) for v in own], [place(v) for v in theirs]


def plain_distance(one, other, numeric):
    gaps = [
        min(abs(a - b), 1000) if is_number else 1000 * (a != b)
        for a, b, is_number in zip(one, other, numeric, strict=True)
    ]
    return sum(gaps) / (1000 * len(gaps))


def plain_tables(real, synthetic, holdout, name, columns, numeric):
    """Rows of the pot and of synthetic homes, as codes by home, the rows of a home once each with their shares."""
    sides = [pl.concat([real[name], holdout[name]]), synthetic[name]]
    coded, kept = [], []
    for side in sides:
        rows = {}
        for home, *row in side.select("home", *columns).rows():
            rows.setdefault(home, []).append(tuple(row))
        kept.append({h: {r: rs.count(r) / len(rs) for r in rs} for h, rs in rows.items()})
    every = [[(h, r) for h, rs in side.items() for r in rs] for side in kept]
    for c, is_number in enumerate(numeric):
        coded.append(plain_codes(*([r[c] for _, r in side] for side in every), is_number))
    return [
        {h: [(tuple(coded[c][side][i] for c in range(len(numeric))), kept[side][h][r])
             for i, (g, r) in enumerate(every[side]) if g == h] for h in kept[side]}
        for side in (0, 1)
    ]  # fmt: skip


def plain_chamfer(one, other, numeric):
    if not one or not other:
        return float(bool(one) != bool(other))
    forth = sum(s * min(plain_distance(a, b, numeric) for b, _ in other) for a, s in one)
    return (forth + sum(s * min(plain_distance(a, b, numeric) for a, _ in one) for b, s in other)) / 2


def plain_peers(value, key, classes):
    out = list(value)
    for c in range(classes):
        mine = []
        for i, k in enumerate(key):
            rank = (sum(x < k for x in key) + (sum(x == k for x in key) + 1) / 2) / len(key)
            if min(int(rank * classes - 1e-9), classes - 1) == c:
                mine.append(i)
        if len(mine) > 3:
            middle = float(np.median([value[i] for i in mine]))
            for i in mine:
                out[i] = value[i] - middle
    return out


def plain_hit(others, who, synthetic, owner, half, classes):
    """Component and twin for one halving, from all distances of each person (or row) to other people."""
    k = min(NEAR, len(others[0]))
    ordered = [sorted(zip(d, w, strict=True)) for d, w in zip(others, who, strict=True)]
    nearest = [d for o in ordered for d, _ in o[:1]] + list(synthetic)
    floor = min(d for d in nearest if d > 1e-7) / 2

    def ratio(a, b):
        return math.log(max(a, floor)) - math.log(max(b, floor))

    fifth = [o[4][0] for o in ordered]
    value = plain_peers([ratio(f, s) for f, s in zip(fifth, synthetic, strict=True)], fifth, classes)
    own, other = [], []
    for o, mine in zip(ordered, owner, strict=True):
        far = o[k - 1][0]
        inside = [d for d, w in o if half[w] == half[mine]]
        outside = [d for d, w in o if half[w] != half[mine]]
        own.append(min(far, inside[2]) if len(inside) > 2 else far)
        other.append(min(far, outside[0]) if outside else far)
    return value, plain_peers([ratio(a, b) for a, b in zip(own, other, strict=True)], own, classes)


@pytest.mark.parametrize("seed", range(3))
def test_distances_and_components_equal_double_loops(seed):
    rng = np.random.default_rng(seed)
    real, holdout, synthetic = world(14, rng, fewest=0), world(10, rng, 100, fewest=0), world(12, rng, 200, fewest=0)
    synthetic = joined(renamed(of_keys(real, [0, 3]), 500), synthetic)
    real["people"] = pl.concat([real["people"], real["people"][:4]])  # some rows twice
    real["homes"] = real["homes"].with_columns(y=pl.when(pl.col("home") < 3).then(None).otherwise("y"))
    people = people_in(real, synthetic, holdout)
    numbers = ((False, False, True, True), (False, False, True))
    above = plain_tables(real, synthetic, holdout, "homes", ("a", "b", "x", "y"), numbers[0])
    below = plain_tables(real, synthetic, holdout, "people", ("c", "e", "z"), numbers[1])
    homes = [(real["homes"]["home"].to_list() + holdout["homes"]["home"].to_list())[i] for i in people.asked]
    copies = synthetic["homes"]["home"].to_list()
    counts = dict(pl.concat([t["people"]["home"] for t in (real, holdout, synthetic)]).value_counts().iter_rows())
    least = min(counts[h] for h in homes if h in counts)

    def length(home):
        return math.log(counts.get(home, 0.5 * least) / least)

    def between(g, h, side, parts):
        gap = plain_chamfer(below[0].get(g, []), below[side].get(h, []), numbers[1]) + 0.2 * abs(length(g) - length(h))
        row = plain_distance(above[0][g][0][0], above[side][h][0][0], numbers[0])
        return {"parent": row, "whole": row + gap, "sets": gap}[parts]

    half = halves_of(24, np.random.default_rng(seed), 1)
    near = nearest_of(people)
    for group in ("parent", "whole", "sets"):
        others = [[between(g, h, 0, group) for h in homes if h != g] for g in homes]
        who = [[j for j, h in enumerate(homes) if h != g] for g in homes]
        nearest = [min(between(g, h, 1, group) for h in copies) for g in homes]
        np.testing.assert_allclose(near[group][0].synthetic, nearest, rtol=0, atol=1e-9)
        np.testing.assert_allclose(near[group][0].others, np.sort(others, axis=1), rtol=0, atol=1e-9)
        value, twin = plain_hit(others, who, nearest, range(24), half[:, 0], 20)
        found = hit(near[group][0], half)
        np.testing.assert_allclose(found.value, value, rtol=0, atol=1e-7)
        np.testing.assert_allclose(found.twins[:, 0], twin, rtol=0, atol=1e-7)
    rows = near["rows"][0]
    others, who, nearest = [], [], []
    for i, home in enumerate(homes):
        mine = below[0].get(home, [])
        assert (rows.owner == i).sum() == len(mine)
        for a, _ in mine:
            others.append(
                [
                    min(plain_distance(a, b, numbers[1]) for b, _ in below[0][h])
                    for h in homes
                    if h != home and h in below[0]
                ]
            )
            who.append([j for j, h in enumerate(homes) if h != home and h in below[0]])
            nearest.append(min(plain_distance(a, b, numbers[1]) for rs in below[1].values() for b, _ in rs))
    key = lambda v: np.sort(np.column_stack([rows.owner, v]).round(9), axis=0)  # noqa: E731 # rows of a home in any order
    np.testing.assert_allclose(key(rows.synthetic), key(np.array(nearest)), rtol=0, atol=1e-9)
    value, twin = plain_hit(others, who, nearest, rows.owner, half[:, 0], 40)
    found = hit(rows, half, 40)
    np.testing.assert_allclose(np.sort(found.value), np.sort(value), rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.sort(found.twins[:, 0]), np.sort(twin), rtol=0, atol=1e-7)


def test_bags_are_cosines_of_weighted_cells():
    rng = np.random.default_rng(3)
    real, holdout, synthetic = world(14, rng), world(10, rng, 100), world(12, rng, 200)
    people = people_in(real, synthetic, holdout)
    rows = people.below[0]
    cells = {}
    for side, persons in ((0, rows.pot), (1, rows.synthetic)):
        for i, (person, share) in enumerate(zip(persons.owner.tolist(), persons.share.tolist(), strict=True)):
            code = [int(x) for x in persons.codes[i]]
            cell = [*code[:2], code[2] * 10 // (5 * unit_of(3))]
            for columns in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
                bag = cells.setdefault((side, person), {})
                token = columns, tuple(cell[c] for c in columns)
                bag[token] = bag.get(token, 0) + share
    has = [t for (side, _), bag in cells.items() if side == 0 for t in bag]
    weight = {t: math.log(25 / (has.count(t) + 0.5)) for t in set(has)}
    bags = {k: {t: math.sqrt(v) * weight[t] for t, v in bag.items() if t in weight} for k, bag in cells.items()}

    def away(a, b):
        dot = sum(v * b.get(t, 0) for t, v in a.items())
        return 1 - dot / math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))

    wanted = [[away(bags[0, i], bags[side, j]) for side, n in ((0, 24), (1, 12)) for j in range(n)] for i in range(24)]
    ((_, _, own, theirs),) = person_nearest._bags(rows)
    np.testing.assert_allclose(np.hstack([own, theirs]), wanted, rtol=0, atol=2e-3)
    assert own.diagonal().tolist() == [0.0] * 24


def test_densities_are_sums_of_kernels():
    rng = np.random.default_rng(4)
    people = people_in(world(14, rng), world(12, rng, 200), world(10, rng, 100))
    near = nearest_of(people)["parent"][0]
    half = halves_of(24, rng, 2)
    found = person_nearest.densities_of(people.parent, near, half)
    numeric, rows = (False, False, True, True), people.parent.pot.codes.astype(int).tolist()
    width = float(np.median(near.others[:, 0])) / 2
    for i in range(24):
        kernel = [0 if j == i else math.exp(-plain_distance(rows[i], rows[j], numeric) / width) for j in range(24)]
        assert found.people[i] == pytest.approx(sum(kernel), abs=1e-9)
        assert found.halves[i] == pytest.approx(
            [sum(k for k, h in zip(kernel, half[:, j], strict=True) if h) for j in (0, 1)], abs=1e-9
        )


# ---------------------------------------------------------------- what it finds


def test_whole_copies_are_found_and_ranked_first():
    found = found_in(*leaking())
    assert tuple(found) == VARIANTS
    assert all(r.verdict == "excess found" for r in found.values())
    whole = found[WHOLE]
    assert 0.56 < whole.context["AUC"] < 0.66 and whole.p_adjusted == 0.0005
    assert whole.context["members among the highest 10% of people"] > 0.95
    assert set(np.argsort(-whole.individual.real)[:50].tolist()) <= set(range(60))
    assert {"AUC, lower limit", "TPR at FPR 1%", "TPR at FPR 10%", "members among the highest 5% of people"} <= set(
        whole.context
    )


@pytest.mark.parametrize("copied", ["homes", "people"])
def test_a_copy_of_one_table_is_seen_by_its_part(copied):
    rng = np.random.default_rng(1)
    real, holdout, fresh = (world(300, rng, first) for first in (0, 10_000, 20_000))
    other = "people" if copied == "homes" else "homes"
    own = of_keys(real, range(60))[copied].with_columns(home=pl.col("home") + 20_000)
    rest = fresh[copied].filter(pl.col("home") >= 20_060)
    found = found_in(real, {copied: pl.concat([own, rest]), other: fresh[other]}, holdout)
    seen = {v for v, r in found.items() if r.verdict == "excess found"}
    assert WHOLE in seen and {"homes": "parent", "people": "sets of rows"}[copied] in seen
    assert ("parent" in seen) == (copied == "homes")


def common_rows(rng, n, first=0):
    """Users of eight rows each, of 120 kinds that everybody has; of a user nothing else is known but a group."""
    user = np.repeat(np.arange(first, first + n), 8)
    users = pl.DataFrame({"user_id": np.arange(first, first + n), "group": rng.integers(0, 3, n).astype(str)})
    rows = {"user_id": user, "item": rng.integers(0, 40, len(user)).astype(str), "times": rng.integers(1, 4, len(user))}
    return {"users": users, "orders": pl.DataFrame(rows)}


def test_whole_histories_of_common_rows_are_found():
    """Rows of 60 of 300 users stand whole under new users, each row is common: single tables see nothing of it."""
    rng = np.random.default_rng(2)
    real, holdout, fresh = (common_rows(rng, 300, first) for first in (0, 10_000, 20_000))
    orders = pl.concat([real["orders"][:480].with_columns(pl.col("user_id") + 20_000), fresh["orders"][480:]])
    synthetic = {"users": fresh["users"], "orders": orders}
    found = {r.variant: r for r in divulge.membership(real, synthetic, holdout=holdout)}
    assert [v for v, r in found.items() if r.verdict == "excess found"] == [WHOLE, "parent and sets", "sets of rows"]
    assert found["sets of rows"].context["members among the highest 10% of people"] > 0.95
    alone = divulge.membership(real["orders"], orders, holdout=holdout["orders"], unit="user_id", scores="mean rank")
    assert alone[0].verdict != "excess found"


def test_nothing_is_found_where_nothing_leaks():
    rng = np.random.default_rng(6)
    found = found_in(*(world(300, rng, first) for first in (0, 20_000, 10_000)))
    assert all(r.p_adjusted > 0.05 and r.verdict in ("cannot tell", "none found") for r in found.values())


def test_grandchildren_and_several_tables_count():
    rng = np.random.default_rng(8)
    sides = []
    for first in (0, 10_000, 20_000):
        homes = world(200, rng, first)
        ids = np.arange(len(homes["people"])) + 10 * first
        homes["people"] = homes["people"].with_columns(person=pl.Series(ids))
        of = rng.integers(0, len(ids), 600)
        homes["visits"] = pl.DataFrame(
            {"person": ids[of], "why": rng.integers(0, 30, 600).astype(str), "cost": rng.normal(size=600)}
        )
        homes["shops"] = pl.DataFrame({"shop": ["a", "b"], "size": [1.5, 2.5]})
        sides.append(homes)
    real, holdout, synthetic = sides
    pairs = (("homes", "home", "people"), ("people", "person", "visits"))
    tables = {n: divulge.infer_schema(t) for n, t in real.items()}
    schema = RelationalSchema(tables, tuple(Relation(p, (k,), c, (k,)) for p, k, c in pairs))
    assert [len(rows.pot.codes) for rows in people_in(real, synthetic, holdout, schema).below][1] <= 1200
    copied = {**real, "shops": synthetic["shops"]}
    found = found_in(real, copied, holdout, schema=schema)
    assert found[WHOLE].settings["tables"] == ["people", "visits"]
    assert found[WHOLE].verdict == "excess found"
    assert any("'shops'" in note and "belong to nobody" in note for note in found[WHOLE].notes)


# ---------------------------------------------------------------- laws


def test_order_of_rows_and_columns_and_keys_change_no_digit():
    real, synthetic, holdout = leaking(120, 20)
    before = found_in(real, synthetic, holdout)
    rng = np.random.default_rng(0)

    def changed(tables):
        keys = tables["homes"]["home"].to_list()
        new = dict(zip(keys, (rng.permutation(len(keys)) + 7).tolist(), strict=True))
        out = {n: t.with_columns(home=pl.col("home").replace_strict(new)) for n, t in reversed(tables.items())}
        out["people"] = out["people"].sample(fraction=1, shuffle=True, seed=1)
        return {n: t.select(reversed(t.columns)) for n, t in out.items()}

    assert same(scores_of(before), scores_of(found_in(changed(real), changed(synthetic), changed(holdout))))
    order = np.random.default_rng(1).permutation(120)
    mixed = [{**t, "homes": t["homes"][order]} for t in (real, synthetic, holdout)]
    after = found_in(*mixed)
    for v, r in before.items():
        assert np.array_equal(r.individual.real[order], after[v].individual.real)
        assert r.context == after[v].context and r.p_adjusted == after[v].p_adjusted


def test_blocks_levels_and_threads_change_no_digit(monkeypatch):
    tables = leaking(80, 12)
    before = scores_of(found_in(*tables))
    with at_level("none"):
        assert same(before, scores_of(found_in(*tables)))
    monkeypatch.setattr(person_nearest, "_BLOCK", 17)
    assert same(before, scores_of(found_in(*tables)))


def test_members_and_strangers_exchanged():
    real, synthetic, holdout = leaking(120, 20)
    one, other = found_in(real, synthetic, holdout), found_in(holdout, synthetic, real)
    for v, r in one.items():
        assert np.array_equal(r.individual.real, other[v].individual.holdout)
        assert r.context["AUC"] == pytest.approx(1 - other[v].context["AUC"], abs=1e-12)


def test_every_row_twice_changes_no_digit():
    tables = leaking(120, 20)
    tables[0]["people"] = tables[0]["people"].filter(pl.col("home") != 5)  # and somebody without rows
    twice = [{**t, "people": pl.concat([t["people"], t["people"]])} for t in tables]
    thrice = [{**t, "people": pl.concat([t["people"]] * 3)} for t in tables]
    before = found_in(*tables)
    for more in (twice, thrice):
        after = found_in(*more)
        assert same(scores_of(before), scores_of(after))
        assert all(r.context == after[v].context and r.risk == after[v].risk for v, r in before.items())


def test_ids_that_start_again_in_each_file_change_nothing():
    real, synthetic, holdout = leaking(120, 20)
    again = renamed(holdout, -10_000)
    assert same(scores_of(found_in(real, synthetic, holdout)), scores_of(found_in(real, synthetic, again)))


# ---------------------------------------------------------------- limits and messy input


def test_heavy_people_are_capped_and_told(monkeypatch):
    real, synthetic, holdout = leaking(60, 10)
    rng = np.random.default_rng(0)
    many = 600
    own = {
        "home": np.zeros(many, dtype=np.int64),
        "c": rng.integers(0, 8, many),
        "e": rng.integers(0, 8, many),
        "z": rng.normal(size=many),
    }
    real["people"] = pl.concat([real["people"], pl.DataFrame(own)])
    found = found_in(real, synthetic, holdout)[WHOLE]
    assert any(note.startswith("1 of 120 people have more than 40 different rows in 'people'") for note in found.notes)
    people = people_in(real, synthetic, holdout)
    assert np.diff(people.below[0].pot.start).max() == 40
    monkeypatch.setattr(person_tables, "_WORK", 1e6)
    assert np.diff(people_in(real, synthetic, holdout).below[0].pot.start).max() < 40


def test_a_sample_of_people_is_asked_where_they_are_too_many(monkeypatch):
    monkeypatch.setattr(person_tables, "_PAIRS_OF_PEOPLE", 200 * 400.0)
    found = found_in(*leaking(200, 150))[WHOLE]
    asked = [int((~np.isnan(s)).sum()) for s in (found.individual.real, found.individual.holdout)]
    assert sum(asked) == 200 and min(asked) > 70
    assert "a random sample of people was asked, 200 of 400, as all pairs of people would take too long" in found.notes
    assert found.verdict == "excess found" and found.real.n == asked[0]


def test_people_who_stand_on_both_sides_hold_the_verdict_back():
    real, synthetic, holdout = leaking()
    holdout = joined(renamed(of_keys(real, range(30)), 10_000), of_keys(holdout, range(10_030, 10_300)))
    found = found_in(real, synthetic, holdout)
    assert {r.verdict for r in found.values()} == {"cannot tell"}
    assert any("30 of 300 people of the holdout equal a real person with all rows" in n for n in found[WHOLE].notes)
    assert IN_BOTH_SIDES.count("{") == 3
    people = people_in(real, synthetic, holdout)
    assert visible_of(people, 0.05) == pytest.approx((0.05 / 0.1 - 0.05) / 0.95)


def test_lengths_that_differ_hold_the_verdict_back():
    real, synthetic, holdout = leaking()
    holdout["people"] = holdout["people"].group_by("home", maintain_order=True).head(2)
    assert {r.verdict for r in found_in(real, synthetic, holdout).values()} == {"cannot tell"}


def test_no_holdout():
    real, synthetic, _ = leaking(30, 5)
    (found,) = divulge.membership(real, synthetic)
    assert (found.variant, found.verdict) == (WHOLE, "no holdout")


def messy():
    real, synthetic, holdout = leaking(60, 10)
    people = real["people"]
    yield "a person without rows", ({**real, "people": people.filter(pl.col("home") > 3)}, synthetic, holdout)
    heavy = people.with_columns(home=pl.when(pl.int_range(pl.len()) % 2 == 0).then(1).otherwise("home"))
    yield "one person with half of all rows", ({**real, "people": heavy}, synthetic, holdout)
    empty = [
        {n: t.with_columns(**{c: None}) for n, t in s.items() for c in ["x" if n == "homes" else "z"]}
        for s in (real, synthetic, holdout)
    ]
    yield "columns all missing", tuple(empty)
    lost = people.with_columns(home=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("home"))
    yield "missing keys", ({**real, "people": lost}, synthetic, holdout)
    orphans = people.with_columns(home=pl.when(pl.int_range(pl.len()) % 5 == 0).then(999_999).otherwise("home"))
    yield "orphans", ({**real, "people": orphans}, synthetic, holdout)
    yield "empty synthetic tables", (real, {n: t[:0] for n, t in synthetic.items()}, holdout)
    yield "synthetic people without rows", (real, {**synthetic, "people": synthetic["people"][:0]}, holdout)
    yield "nobody has rows", tuple({**t, "people": t["people"][:0]} for t in (real, synthetic, holdout))
    ten = [of_keys(t, t["homes"]["home"].to_list()[:5]) for t in (real, synthetic, holdout)]
    yield "ten people", tuple(ten)
    one = [of_keys(t, t["homes"]["home"].to_list()[:1]) for t in (real, synthetic, holdout)]
    yield "two people", tuple(one)
    yield "an empty holdout", (real, synthetic, {n: t[:0] for n, t in holdout.items()})
    alike = [{**t, "homes": t["homes"].with_columns(a=0, b=0, x=0.0, y=0.0)} for t in (real, synthetic, holdout)]
    yield "nothing but a key of the people", tuple(alike)


@pytest.mark.parametrize(("case", "tables"), list(messy()), ids=lambda x: x if isinstance(x, str) else "")
def test_messy_input_has_a_result(case, tables):
    if any(not len(t) for side in tables for t in side.values()):
        with pytest.raises(TableError, match=r"no rows\. hint: pass a table with rows"):
            found_in(*tables)
        return
    found = found_in(*tables)
    assert found[WHOLE].verdict in ("excess found", "cannot tell", "none found", "deficit found")
    assert all(np.isfinite(s[~np.isnan(s)]).all() for s in scores_of(found).values())
    if case in ("missing keys", "orphans"):
        assert any("belong to nobody: their key is missing or names no row of 'homes'" in n for n in found[WHOLE].notes)
    if case in ("ten people", "two people"):
        assert found[WHOLE].verdict == "cannot tell"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"unit": "shops"}, "unit: no table 'shops'; there are 'homes', 'people'"),
        ({"unit": "people"}, "unit: no table has rows of the people of 'people'"),
        ({"schema": RelationalSchema(SCHEMA.tables)}, "which table has one row for each person"),
        ({"scores": ["hit"]}, "scores: this is a setting of one table"),
        ({"known_members": True}, "known_members: this is a setting of one table"),
        ({"columns": ["a"]}, "columns: this is a setting of one table"),
        ({"ignore": ["a"]}, "ignore: this is a setting of one table"),
        ({"engine": "duckdb"}, "engine: duckdb counts rows where they are"),
    ],
)
def test_a_setting_that_does_not_fit_is_a_sentence(change, told):
    with pytest.raises(SettingError, match=r"hint: ") as error:
        found_in(*leaking(30, 5), **change)
    assert told in str(error.value)


def test_a_key_that_repeats_is_a_sentence():
    real, synthetic, holdout = leaking(30, 5)
    real["homes"] = pl.concat([real["homes"], real["homes"][:5]])
    with pytest.raises(SettingError, match="each person has one row there"):
        found_in(real, synthetic, holdout)


def test_people_whom_rows_link_count_together():
    real, synthetic, holdout = leaking(100, 20)
    one = [Relation("homes", ("home",), "friends", (c,)) for c in ("one", "other")]
    friends = Schema((Column("one", "identifier"), Column("other", "identifier"), Column("how", "categorical")))
    schema = RelationalSchema({**SCHEMA.tables, "friends": friends}, (*SCHEMA.relations, *one))

    def linked(tables, n):
        first = int(tables["homes"]["home"].min())
        pairs = {"one": [first, first + 2], "other": [first + 1, first + 3], "how": ["a", "b"]}
        return {**tables, "friends": pl.DataFrame(pairs)}

    found = found_in(linked(real, 2), linked(synthetic, 2), linked(holdout, 2), schema=schema)[WHOLE]
    assert (found.real.n, found.holdout.n, len(found.individual.real)) == (98, 98, 100)
    assert any("'friends' link count together" in note for note in found.notes)
    assert any("table 'friends', as its rows lead to 'homes' in 2 ways" in note for note in found.notes)
    assert found.verdict == "excess found"


def test_one_table_beside_dictionaries_is_a_sentence():
    real, synthetic, holdout = leaking(30, 5)
    for tables in ((real["homes"], synthetic, holdout), (real, [synthetic, synthetic], holdout)):
        with pytest.raises(SettingError, match="this is one table, and another side is a dictionary"):
            found_in(*tables)
    with pytest.raises(SettingError):
        divulge.membership(real["homes"], synthetic["homes"], holdout=holdout["homes"], schema=SCHEMA)
