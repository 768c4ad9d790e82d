"""The attacker who learns: worked cases, what must change no digit, and who is trained on whom."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

from divulge.attacks.inference import _forest as learnt
from divulge.attacks.inference._forest import _cells_of, _folds, _Room, model_answers, reference_answers
from divulge.attacks.inference._target import target_values
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

KINDS = Schema((Column("x", "numeric"), Column("k", "categorical"), Column("t", "categorical")))


def ask(real, synthetic, holdout=None, *, target="t", known=None, reference=False, **options):
    case = build_case(real, synthetic, holdout, **options)
    secret = target_values(case, target)
    known = [c for c in case.columns if c not in (target, case.unit)] if known is None else known
    return (reference_answers if reference else model_answers)(case, known, secret)


def table(rng, n, told=1.0):
    """A number, a category with holes, and a secret that both tell together with probability `told`."""
    x, k = np.round(rng.normal(size=n), 2), rng.integers(0, 4, n)
    t = np.where(rng.random(n) < told, (x > 0) * 2 + (k > 1), rng.integers(0, 4, n))
    return pl.DataFrame(
        {"x": x, "k": [None if v == 3 else "abc"[v] for v in k], "t": ["stuv"[v] for v in t]},
        schema_overrides={"k": pl.String},
    )


def tables(seed=0, sizes=(300, 400, 200), told=0.7):
    rng = np.random.default_rng(seed)
    return tuple(table(rng, n, told) for n in sizes)


def test_a_secret_that_the_others_tell_is_learnt():
    found = ask(*tables(told=1.0))
    assert found.right.shape == found.sure.shape == (500,)
    assert found.right.mean() > 0.97
    assert found.sure[found.right == 1].mean() > 0.9


def test_an_independent_synthetic_table_gives_the_commonest_value():
    rng = np.random.default_rng(1)
    real, synthetic, _ = tables(told=1.0)
    synthetic = synthetic.with_columns(t=pl.Series(np.where(rng.random(400) < 0.9, "s", "t")))
    found = ask(real, synthetic)
    assert found.right.mean() == pytest.approx((real["t"] == "s").mean(), abs=0.03)


def test_confidence_is_how_often_it_is_right():
    found = ask(*tables(2, (4000, 4000, 10), told=0.6))
    assert found.right.mean() == pytest.approx(0.7, abs=0.04)
    assert found.sure.mean() == pytest.approx(0.7, abs=0.03)


def test_one_value_is_the_answer_to_all():
    real, synthetic, _ = tables()
    found = ask(real, synthetic.with_columns(t=pl.lit("u")))
    np.testing.assert_array_equal(found.right, (real["t"] == "u").to_numpy())
    assert set(found.sure) == {1.0}


def test_equally_likely_answers_share_the_hit():
    """Nothing is known, two values are equally common and a third is rarer."""
    real = pl.DataFrame({"k": ["a"] * 4, "t": ["s", "t", "u", None]})
    synthetic = pl.DataFrame({"k": ["a"] * 5, "t": ["s", "t", "s", "t", "u"]})
    for known in (["k"], []):
        found = ask(real, synthetic, known=known)
        assert found.right.tolist() == [0.5, 0.5, 0, 0]
        assert found.sure.tolist() == [0.4] * 4


def test_missing_is_a_value_to_guess():
    rng = np.random.default_rng(3)
    k = rng.integers(0, 2, 400)
    people = pl.DataFrame({"k": k, "t": [None if v else "s" for v in k]}, schema_overrides={"t": pl.String})
    assert ask(people[:200], people[200:]).right.mean() == 1


def test_a_missing_key_is_known_to_be_missing():
    people = pl.DataFrame({"k": ["a", None, "b"] * 100, "t": ["s", "t", "s"] * 100})
    assert ask(people[:150], people[150:]).right.mean() == 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_tables_have_answers(n):
    real, synthetic, holdout = tables(4, (n, n, n))
    found = ask(real, synthetic, holdout)
    assert found.right.shape == (2 * n,)
    assert np.isfinite(found.right).all()
    assert np.isfinite(found.sure).all()
    assert ask(real, synthetic, holdout, reference=True) is None


@pytest.mark.parametrize("drop", ["x", "k"])
def test_categories_alone_and_numbers_alone(drop):
    real, synthetic, _ = tables(told=1.0)
    assert ask(real.drop(drop), synthetic.drop(drop)).right.mean() == pytest.approx(0.5, abs=0.1)


# ---------------------------------------------------------------- numbers as secrets


def test_a_number_is_right_within_the_tolerance():
    """The number is a function of the key, off by less than the tolerance: cells and their medians find it."""
    rng = np.random.default_rng(5)
    k = rng.integers(0, 5, 2000)
    people = pl.DataFrame({"k": [f"k{v}" for v in k], "t": k * 10.0 + rng.normal(scale=0.2, size=2000)})
    found = ask(people[:1000], people[1000:])
    assert found.right.mean() == 1
    assert found.sure.mean() > 0.95


def test_a_guess_is_right_as_the_secret_says():
    rng = np.random.default_rng(6)
    people = pl.DataFrame({"k": rng.integers(0, 3, 600), "t": rng.gamma(2, 9, 600)})
    case = build_case(people[:300], people[300:])
    secret = target_values(case, "t")
    found = model_answers(case, [], secret)
    truth = secret.numbers[secret.people]
    np.testing.assert_array_equal(found.right, np.abs(truth - _constant_guess(secret)) <= secret.tolerance * (1 + 1e-9))


def _constant_guess(secret):
    """Of the medians of cells, laid by hand, the one that most synthetic rows are near."""
    values = np.sort(secret.numbers[secret.synthetic])
    cell = np.floor((values - values[15]) / (2 * secret.tolerance) + 1e-9)
    inside = [values[cell == c] for c in np.unique(cell)]
    medians = [v[(len(v) - 1) // 2] for v in inside]
    return max(medians, key=lambda m: np.sum(np.abs(values - m) <= secret.tolerance * (1 + 1e-9)))


def test_cells_are_twice_the_tolerance_wide_and_open_at_the_ends():
    values = np.concatenate([np.linspace(0, 10, 101), [-1000.0, 1000.0, 5.0]])
    cells = _cells_of(values, 0.5)
    assert cells.min() == 0
    assert cells.max() == learnt._CELLS_BELOW + learnt._CELLS_ABOVE
    inside = (cells > 0) & (cells < cells.max())
    for c in set(cells[inside]):
        assert np.ptp(values[cells == c]) < 1


def test_a_number_without_spread_must_be_met():
    """The 5% and the 95% quantile are both 0: no tolerance, and the values are classes."""
    real = pl.DataFrame({"k": ["a"] * 97 + ["b"] * 3, "t": [0.0] * 97 + [7.5] * 3})
    found = ask(real, pl.concat([real] * 40))
    assert found.right.tolist() == [1.0] * 100


def test_values_that_are_no_number_are_guessed_as_they_are():
    rng = np.random.default_rng(8)
    k = rng.integers(0, 3, 600)
    t = [["none", "", str(20 + i % 50)][v] for i, v in enumerate(k)]
    people = pl.DataFrame({"k": k, "t": t})
    schema = Schema((Column("t", "numeric"), Column("k", "categorical")))
    found = ask(people[:300], people[300:], schema=schema)
    assert found.right[(k < 2)[:300]].mean() == 1


def test_the_rarest_values_are_never_guessed(monkeypatch):
    monkeypatch.setattr(learnt, "MOST_CLASSES", 2)
    people = pl.DataFrame({"k": list("aaabbbccdd") * 30, "t": list("sssttuuuvv") * 30})
    found = ask(people, people)
    assert found.right[people["t"].is_in(["t", "v"]).to_numpy()].max() == 0
    assert found.right[(people["k"] == "a").to_numpy()].min() == 1
    assert found.sure[(people["k"] == "d").to_numpy()].max() < 0.2
    assert "2 rarest values are never guessed" in found.what


def test_of_many_rows_some_are_drawn(monkeypatch):
    monkeypatch.setattr(learnt, "MOST_ROWS", 100)
    real, synthetic, _ = tables()
    found = ask(real, synthetic)
    assert "100 of its 400 rows" in found.what
    order = np.random.default_rng(0).permutation(400)
    np.testing.assert_array_equal(found.sure, ask(real, synthetic[order]).sure)


def test_categories_are_ranked_by_frequency():
    people = pl.DataFrame({"k": list("aaaabbbccd") * 30, "t": list("sssstttssu") * 30})
    case = build_case(people, people)
    room = _Room(case, ["k"], target_values(case, "t"), 1)
    found = learnt._feature(room, "k", case.codes("k", binned=False)[1])
    assert dict(zip(case.pooled("k").levels.to_list(), found[1:].tolist(), strict=True)) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "d": 3,
    }
    assert ask(people, people).right.mean() == 1


def test_what_is_missing_or_unknown_is_below_every_rank():
    synthetic = pl.DataFrame({"k": ["a", "a", "b", None], "x": [1.0, 2.0, 4.0, None], "t": list("stst")})
    real = pl.DataFrame({"k": ["c", "a", None], "x": [3.0, 0.5, None], "t": list("sts")})
    case = build_case(real, synthetic, schema=KINDS)
    room = _Room(case, ["k", "x"], target_values(case, "t"), 1)
    found = learnt._features(room, np.arange(4), shared=False)
    assert found.names == ("k", "x")
    assert found.trained.tolist() == [[0, 0], [0, 1], [1, 2], [-1, -1]]
    assert found.people.tolist() == [[-1, 1.5], [0, -0.5], [-1, -1]]


def test_small_leaves_remember_rows_and_those_of_the_reference_do_not():
    rng = np.random.default_rng(3)
    x, y = rng.random((500, 6)).astype(np.float32), rng.integers(0, 2, 500)
    known = [learnt._grown(x, y, 0, remembers=r)(x)[np.arange(500), y].mean() for r in (True, False)]
    assert known[0] > 0.8 > known[1]


def test_the_seed_of_the_run_is_that_of_the_trees():
    rng = np.random.default_rng(4)
    table = pl.DataFrame({"x": rng.random(300), "t": rng.choice(list("st"), 300)})
    first, again, other = (
        learnt.model_answers(case, ["x"], target_values(case, "t")).sure
        for case in (build_case(table, table, seed=seed) for seed in (0, 0, 1))
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


# ---------------------------------------------------------------- what changes no digit


def same(one, other, order=slice(None)):
    np.testing.assert_array_equal(one.right[order], other.right)
    np.testing.assert_array_equal(one.sure[order], other.sure)


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("target", ["t", "x"])
@pytest.mark.parametrize("reference", [False, True])
def test_the_order_of_rows_and_columns_changes_nothing(target, reference):
    given = tables(9)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(t)) for t in given]
    moved = [t[o].select("t", "k", "x") for t, o in zip(given, orders, strict=True)]
    people = np.concatenate([orders[0], 300 + orders[2]])
    one, other = (ask(*t, target=target, reference=reference, schema=KINDS) for t in (given, moved))
    same(one, other, people)


@pytest.mark.first(1)
@pytest.mark.parametrize("target", ["t", "x"])
@pytest.mark.parametrize("reference", [False, True])
def test_units_of_numbers_and_names_of_categories_change_nothing(target, reference):
    given = tables(10)
    names = {"a": "z", "b": "y", "c": "w", "s": "q", "t": "p", "u": "o", "v": "n"}
    other = [t.with_columns(pl.col("k", "t").replace(names), x=pl.col("x") * 1.7 + 33) for t in given]
    same(*(ask(*t, target=target, reference=reference, schema=KINDS) for t in (given, other)))


def test_categories_are_numbered_without_their_names():
    real, synthetic, _ = tables(10)
    names = {"a": "z", "b": "y", "c": "w"}
    ranks = []
    for change in ({}, names):
        frames = [t.with_columns(pl.col("k").replace(change)) for t in (real, synthetic)]
        case = build_case(*frames, schema=KINDS)
        levels = case.pooled("k").levels.to_list()
        rank = _Room(case, ["x", "k"], target_values(case, "t"), 1).rank("k", np.arange(1, 4, dtype=np.int32))
        ranks.append({k: rank[levels.index(change.get(k, k))] for k in names})
    assert ranks[0] == ranks[1]


@pytest.mark.slow
def test_threads_change_nothing():
    given = tables(11, (2000, 2000, 10))
    found = []
    for n in (1, 2, 5):
        with threadpool_limits(n):
            found.append(ask(*given))
    same(found[0], found[1])
    same(found[0], found[2])


def test_what_is_said_of_a_person_depends_on_no_other_person():
    real, synthetic, holdout = tables(17)
    case = build_case(real, synthetic, holdout)
    other = build_case(real[:100], synthetic, holdout)
    one, two = (model_answers(c, ["x", "k"], target_values(c, "t")) for c in (case, other))
    np.testing.assert_array_equal(one.sure[:100], two.sure[:100])
    np.testing.assert_array_equal(one.right[300:], two.right[100:])


# ---------------------------------------------------------------- what one knows without the release


def test_nobody_is_asked_of_a_model_that_has_seen_him(monkeypatch):
    rng = np.random.default_rng(12)
    x = rng.permutation(300).astype(float)
    t = rng.integers(0, 2, 300)
    people = pl.DataFrame({"x": x, "t": np.where(t, "s", "t")})
    holdout = people[100:]
    case = build_case(people[:100], people[:100], holdout)
    secret = target_values(case, "t")
    trained = []
    learn = learnt._learn

    def watched(room, rows, **how):
        trained.append((room.which, rows))
        return learn(room, rows, **how)

    monkeypatch.setattr(learnt, "_learn", watched)
    found = reference_answers(case, ["x"], secret)
    assert [w for w, _ in trained] == [2]
    assert sorted(trained[0][1].tolist()) == list(range(200))
    assert not found.sure[100:].any()
    assert found.sure[:100].all()
    trained.clear()
    alone = build_case(holdout, people[:100])
    reference_answers(alone, ["x"], target_values(alone, "t"))
    folds = _folds(alone, _Room(alone, ["x"], target_values(alone, "t"), 0), None)
    assert sorted(np.bincount(folds)) == [40] * 5
    assert [w for w, _ in trained] == [0] * 5
    for f, (_, rows) in enumerate(trained):
        assert sorted(rows) == sorted(np.flatnonzero(folds != f))


@pytest.mark.slow
def test_without_a_holdout_others_of_the_real_table_teach():
    real, synthetic, _ = tables(13, told=1.0)
    found = ask(real, synthetic.with_columns(t=pl.lit("u")), reference=True)
    assert found.right.mean() > 0.9
    assert "other members" in found.what


def test_the_reference_never_sees_the_synthetic_table():
    real, synthetic, holdout = tables(14, told=1.0)
    found = ask(real, synthetic.with_columns(t=pl.Series(synthetic["t"].shuffle(0))), holdout, reference=True)
    assert found.right[:300].mean() > 0.9
    assert "strangers" in found.what


def test_units_are_kept_together():
    rng = np.random.default_rng(15)
    home = rng.integers(0, 40, 300)
    people = tables(15)[0].with_columns(home=pl.Series([f"h{h}" for h in home]))
    case = build_case(people, people, unit="home")
    room = _Room(case, ["x", "k"], target_values(case, "t"), 0)
    folds = _folds(case, room, case.units("real"))
    assert all(len(set(folds[home == h])) == 1 for h in range(40))
    assert len(set(folds)) == 5


def test_equal_records_get_equal_answers():
    people = pl.DataFrame({"k": list("ab") * 30, "t": list("stssss") * 10})
    found = ask(people, people, reference=True)
    assert len(set(zip(people["k"], people["t"], found.right.tolist(), found.sure.tolist(), strict=True))) == 3
    assert found.right.mean() == pytest.approx(5 / 6, abs=0.05)


@pytest.mark.parametrize(("n", "is_enough"), [(19, False), (20, True)])
def test_too_few_to_learn_from(n, is_enough):
    real, synthetic, holdout = tables(16, (30, 30, n))
    assert (ask(real, synthetic, holdout, reference=True) is not None) == is_enough


@pytest.mark.slow
def test_forests_in_several_threads_give_the_bits_of_one_and_no_warning():
    """Fitting changes the warnings of the process: two fits at a time warn, and may leave all warnings ignored."""
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 4)).astype(np.float32), rng.integers(0, 5, 400)
    x[::7, 1] = np.nan
    plain = ExtraTreesClassifier(40, min_samples_leaf=2, max_features=None, random_state=3).fit(x, y)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: learnt._grown(x, y, 3, remembers=True)(x), range(12)))
    assert warnings.filters == before
    assert all(np.array_equal(f, plain.predict_proba(x)) for f in found)
