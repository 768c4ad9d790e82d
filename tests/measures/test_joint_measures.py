"""Measures of whole rows: values by hand, plain oracles, laws, and the defects that each is there to see."""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score

import divulge
from divulge.case.case import build_case
from divulge.case.features import features_of
from divulge.kernels.neighbours.gower import Rows, Ruler
from divulge.measures import density_coverage as density_module
from divulge.measures import detection as detection_module
from divulge.measures import energy_distance as energy_module
from divulge.measures import holdout_likelihood as likelihood_module
from divulge.measures import ml_efficacy as learning_module
from divulge.measures import pmse as pmse_module
from divulge.measures import regression_overlap as overlap_module
from divulge.measures._exchanged import Moves, exchanged, moves_of
from divulge.measures._learners import lesson_of
from divulge.measures._permutation import permuted_p
from divulge.measures._refits import fold_auc, folds_of, refitted
from divulge.measures._rows import indicators, labelled, relabelled, table_rows
from divulge.measures.density_coverage import coverage_null, nearest_of_all, neighbourhoods
from divulge.measures.energy_distance import energy, row_distances
from divulge.measures.pmse import propensity, table_pmse
from divulge.measures.regression_overlap import expected_overlap, interval_overlap

JOINT = ("detection", "pmse", "energy_distance", "density_coverage")
LEARNING = ("ml_efficacy", "holdout_likelihood", "regression_overlap")


@pytest.fixture(autouse=True)
def _fewer_permutations(monkeypatch):
    """For the time: p-values end at 0.005."""
    for module in (
        detection_module, density_module, energy_module, likelihood_module, learning_module, overlap_module, pmse_module,
    ):  # fmt: skip
        monkeypatch.setattr(module, "_DRAWS", 199)


def people(seed, n=600):
    rng = np.random.default_rng(seed)
    job = np.minimum(rng.geometric(0.35, n), 8)
    age = rng.gamma(9, 4.5, n)
    pay = age * 90 * rng.lognormal(0, 0.3, n) * (1 + job / 4)
    sex = rng.choice(["f", "m"], n)
    rich = np.where((pay > 5000) != (rng.random(n) < 0.05), "yes", "no")
    return pl.DataFrame(
        {
            "age": age.round(1), "pay": [None if u < 0.1 else v for u, v in zip(rng.random(n), pay.round(), strict=True)],
            "job": [f"j{v}" for v in job], "sex": sex, "rich": rich,
        }
    )  # fmt: skip


def independent(table):
    rng = np.random.default_rng(2)
    return table.select(table[c].gather(rng.permutation(table.height)) for c in table.columns)


DEFECTS = {
    "copy": lambda t, real: real,
    "independent": lambda t, real: independent(t),
    "older": lambda t, real: t.with_columns(pl.col("age") + 4),
    "one row for 10%": lambda t, real: pl.concat([t[: int(0.9 * t.height)], t[[0] * (t.height - int(0.9 * t.height))]]),
    "women": lambda t, real: pl.concat(
        [t.filter(sex="m"), t.filter(sex="f").with_columns(pl.col("rich").shuffle(seed=3))]
    ),
}
SEEN = {  # section 6.4 of the study of fidelity: which measure sees which defect
    "detection": {"copy": "closer than a fresh sample", "independent": "differs", "older": "differs"},
    "pmse": {"copy": "closer than a fresh sample", "older": "differs", "one row for 10%": "differs"},
    "energy_distance": {"copy": "closer than a fresh sample", "independent": "differs", "one row for 10%": "differs"},
    "density_coverage": {"copy": "closer than a fresh sample", "independent": "differs"},
    "subgroups": {"copy": "closer than a fresh sample", "women": "differs"},
    "ml_efficacy": {"independent": "differs", "women": "differs"},
    "holdout_likelihood": {"independent": "differs"},
    "regression_overlap": {"copy": "closer than a fresh sample", "independent": "differs"},
}


def verdicts(name, other, **settings):
    real, holdout = people(1), people(3)
    options = {"targets": ["pay", "rich"]} if name in ("ml_efficacy", "regression_overlap") else {}
    options |= {"groups": ["sex"]} if name == "subgroups" else {}
    found = getattr(divulge, name)(real, other, holdout=holdout, **options, **settings)
    return {f.verdict for f in found}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_each_measure_sees_its_defects_and_not_a_fresh_sample(name):
    fresh, real = people(12), people(1)
    assert not {"differs", "closer than a fresh sample", "not measured"} & verdicts(name, fresh)
    for defect, verdict in SEEN[name].items():
        assert verdict in verdicts(name, DEFECTS[defect](fresh, real)), defect


@pytest.mark.slow
def test_margins_alone_do_not_tell_that_columns_are_independent():
    real, other = people(1), independent(people(11))
    boosting, logistic = divulge.detection(real, other)
    assert boosting.value > 0.7 > 0.55 > logistic.value
    assert divulge.pmse(real, other)[0].verdict != "differs"


@pytest.mark.slow
def test_the_column_that_tells_is_named_first():
    real, other = people(1), DEFECTS["older"](people(11), None)
    assert divulge.detection(real, other)[0].context["column_1"] == "age"


def numbers(found):
    return [
        (
            f.measure,
            f.variant,
            f.target,
            f.verdict,
            *(v if v is None else round(v, 9) for v in (f.value, f.p_value, f.high)),
        )
        for f in found
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_order_and_names_change_nothing(name):
    real, other, holdout = people(1, 300), people(2, 250), people(3, 200)
    options = {"targets": ["rich"]} if name in ("ml_efficacy", "regression_overlap") else {}
    measure = getattr(divulge, name)
    before = numbers(measure(real, other, holdout=holdout, **options))
    rng = np.random.default_rng(0)

    def turned(table):
        renamed = table.with_columns(("x" + pl.col("job").str.reverse()).alias("job"))
        return renamed.select(reversed(table.columns))[rng.permutation(table.height)]

    assert numbers(measure(turned(real), turned(other), holdout=turned(holdout), **options)) == before
    assert numbers(measure(real, other, holdout=holdout, seed=1, **options)) != before or name == "regression_overlap"


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_results_hold_no_value_of_the_tables(name):
    tables = [people(i, 300).with_columns(("secret" + pl.col("job")).alias("job")) for i in (1, 2, 3)]
    found = getattr(divulge, name)(*tables[:2], holdout=tables[2])
    assert found
    assert all("secret" not in str(f.to_dict()) for f in found)


@pytest.mark.parametrize("name", [*JOINT, *LEARNING])
def test_few_rows_and_no_columns_are_a_reason(name):
    few, constant = people(1, 10), pl.DataFrame({"a": [1] * 50})
    for table in (few, constant):
        found = getattr(divulge, name)(table, table, holdout=table)
        assert {f.verdict for f in found} == {"not measured"}
        assert all(f.notes for f in found)


@pytest.mark.parametrize("name", ["ml_efficacy", "holdout_likelihood"])
def test_learning_needs_a_holdout(name):
    [found] = getattr(divulge, name)(people(1, 100), people(2, 100))
    assert found.notes[0] == "there is no holdout, and it needs one"


# ---------------------------------------------------------------- detection


def rows_of(real, other, unit=None):
    case = build_case(real, other, unit=unit)
    names = case.schema.usable()
    tables = [table_rows(case, names, role, 10**6, "x") for role in ("real", "synthetic")]
    return labelled(tables[0], tables[1], np.random.default_rng(0))


def test_the_auc_is_that_of_rows_of_one_fold():
    rng = np.random.default_rng(0)
    is_real, score, fold = rng.random(60) < 0.5, rng.integers(0, 9, 60) / 9.0, rng.integers(0, 3, 60)
    areas = [roc_auc_score(is_real[fold == f], score[fold == f]) for f in range(3)]
    pairs = [is_real[fold == f].sum() * (~is_real[fold == f]).sum() for f in range(3)]
    found = fold_auc(is_real, score, fold, np.arange(60))
    assert found.auc.value == pytest.approx(np.average(areas, weights=pairs), abs=1e-12)
    twice = fold_auc(*(np.tile(v, 2) for v in (is_real, score, fold)), np.tile(np.arange(60), 2))
    assert twice.error == pytest.approx(found.error)  # a row written twice is one person


@pytest.mark.parametrize("n_features", [4, 80])
def test_a_linear_model_is_fitted_again_to_each_labelling(n_features):
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    x, labels, fold = rng.normal(size=(90, n_features)), (rng.random((90, 3)) < 0.5) * 1.0, np.arange(90) % 3
    found = refitted(x, labels, fold, np.arange(90))
    expected = np.zeros(3)
    for d in range(3):
        for f in range(3):
            score = Ridge(alpha=30.0).fit(x[fold != f], labels[fold != f, d]).predict(x[fold == f])
            y = labels[fold == f, d] > 0
            expected[d] += (score[y].mean() - score[~y].mean()) / score.std() / 3
    assert [found.distance, *found.null] == pytest.approx(expected)


def test_equal_rows_and_units_are_in_one_fold():
    twins = rows_of(people(1, 60), people(1, 60))
    fold = folds_of(twins, np.random.default_rng(0), together=True)
    assert len(set(zip(map(tuple, twins.x), fold, strict=True))) == 60
    fold = folds_of(twins, np.random.default_rng(0), together=False)
    assert len(set(zip(map(tuple, twins.x), fold, strict=True))) > 80
    table = pl.DataFrame({"a": [1, 2, 3, 4] * 30, "b": ["x", "y"] * 60})
    homes = table.with_columns(p=pl.Series([f"p{i // 3}" for i in range(120)]))
    rows = rows_of(homes, homes, unit="p")
    for together in (True, False):
        fold = folds_of(rows, np.random.default_rng(0), together=together)
        assert len(set(zip(rows.unit, fold, strict=True))) == len(set(rows.unit)) == 80
    labels = relabelled(rows, 20, np.random.default_rng(0))
    assert len({(u, *row) for u, row in zip(rows.unit, labels, strict=True)}) == 80
    assert set(labels.sum(axis=0)) == {120.0}


def test_the_order_of_rows_says_nothing_about_the_table():
    table = pl.DataFrame({"a": [1, 2] * 200})
    rows = rows_of(table, table)
    first = rows.is_real[: len(rows) // 2 : 1]
    assert 0.4 < first.mean() < 0.6
    assert np.abs(np.diff(rows.is_real[:400].astype(int))).mean() == pytest.approx(0.5, abs=0.1)


def test_p_values_by_hand():
    null = np.array([[1.0, 2.0, 3.0], [30.0, 20.0, 10.0]])
    first, second = permuted_p([3.0, 0.0], null)
    assert (first.p, first.p_low) == (2 / 4, 1.0)
    assert (second.p, second.p_low) == (1.0, 1 / 4)
    assert first.p_adjusted >= first.p


# ---------------------------------------------------------------- pMSE, energy


def test_pmse_by_hand():
    """R = a a b, S = a b b: all 20 relabelings have a mean of 1/20; the formula for large tables says 1/24."""
    assert table_pmse([2, 1], [1, 2]) == pytest.approx((1 / 36, 1 / 24, 1 / 48))
    values = np.array([0, 0, 1, 0, 1, 1])[:, None] * 1.0
    labels = np.array([[float(i in chosen) for chosen in combinations(range(6), 3)] for i in range(6)])
    truth = np.array([0.0, 0, 0, 1, 1, 1])[:, None]
    found = propensity(values, np.hstack([truth, labels]))
    assert found.pmse == pytest.approx(1 / 36, rel=0.07)  # the small penalty of the regression
    assert found.ratio == pytest.approx(20 / 36, rel=0.1)
    assert found.p.p == 1.0


@pytest.mark.parametrize("n", [30, 400])
def test_regressions_of_permuted_labels_are_those_fitted_one_by_one(n):
    """Of 30 rows the labels are told apart nearly, and each is fitted for itself."""
    rng = np.random.default_rng(6)
    x = (rng.random((n, 12)) < 0.3) * 1.0
    labels = (rng.random((n, 4)) < 0.5) * 1.0
    found = pmse_module._logistics(x, labels)
    assert found == pytest.approx([pmse_module._logistic(x, labels[:, d]) for d in range(4)], rel=1e-3)


def test_distances_of_rows_are_those_of_their_indicators():
    case = build_case(people(1, 40), people(2, 40))
    names = tuple(sorted(case.schema.usable()))
    features = features_of(case, names)
    points = features.indicators(features.people)
    assert row_distances(*features.apart(features.people)) == pytest.approx(cdist(points, points), abs=1e-12)


def test_energy_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    points, is_real = rng.normal(size=(30, 2)), np.arange(30) < 12
    labels = np.column_stack([is_real, rng.permutation(is_real)]) * 1.0
    d = cdist(points, points)
    expected = 2 * d[:12, 12:].mean() - d[:12, :12].mean() - d[12:, 12:].mean()
    assert energy(d, labels).distance == pytest.approx(expected)


def test_indicators_leave_out_the_commonest_level():
    x = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [-2.0, 0.0]])
    found = indicators(np.vstack([x, x[:1]]), [False, False])
    assert found.shape == (5, 3 + 1)
    assert found.sum(axis=1).tolist() == [0, 1, 2, 1, 0]


# ---------------------------------------------------------------- neighbours


def plain(points, is_real, k):
    """The four measures by their definitions, without ties."""
    d = cdist(points, points)
    np.fill_diagonal(d, np.inf)
    real, other = np.flatnonzero(is_real), np.flatnonzero(~is_real)
    ball = np.array([np.sort(d[i, real if is_real[i] else other])[k - 1] for i in range(len(points))])
    inside = d[np.ix_(real, other)] < ball[real][:, None]
    back = d[np.ix_(other, real)] < ball[other][:, None]
    return inside.sum() / (k * len(other)), inside.any(1).mean(), inside.any(0).mean(), back.any(0).mean()


def test_neighbourhoods_are_those_of_the_definitions():
    rng = np.random.default_rng(0)
    points, is_real = rng.random((60, 2)), rng.random(60) < 0.5
    ruler = Ruler(np.zeros(2), np.ones(2), np.ones(2), np.zeros(0), 2.0)
    d = np.abs(points[:, None] - points).sum(axis=2)
    lists = nearest_of_all(ruler, Rows(points, np.zeros((60, 0), dtype=np.int32)), 59)
    np.fill_diagonal(d, np.inf)
    assert (lists[:, 0] == d.argmin(axis=1)).all()
    labels = np.column_stack([is_real, rng.permutation(is_real)])
    lists = np.argsort(cdist(points, points) + np.diag(np.full(60, np.inf)), axis=1)[:, :59]
    assert tuple(neighbourhoods(lists, labels, 5).values) == pytest.approx(plain(points, is_real, 5))


def test_the_mean_coverage_of_a_fresh_sample():
    assert coverage_null(1000, 1000) == pytest.approx(0.968984140038212, abs=1e-15)
    rng = np.random.default_rng(0)
    lists = np.argsort(cdist(*[rng.random((60, 3))] * 2) + np.diag(np.full(60, np.inf)), axis=1)[:, :59]
    labels = np.column_stack([rng.permutation(60) < 30 for _ in range(400)])
    null = neighbourhoods(lists, labels, 5).null
    assert null[1].mean() == pytest.approx(coverage_null(30, 30), abs=4 * null[1].std() / 20)
    assert null[0].mean() == pytest.approx(1, abs=4 * null[0].std() / 20 + 0.02)


def test_an_infinite_target_counts_as_the_largest_number():
    """Ranks count infinite numbers, so that the numbers of all other rows would be those of their neighbours."""
    values = [-np.inf, 1.0, 2.0, 3.0, np.inf] * 8
    case = build_case(*[pl.DataFrame({"y": values, "a": ["u", "v"] * 20})] * 2)
    rows = table_rows(case, ("a", "y"), "real", 100, "x")
    lesson = lesson_of(case, rows, "y")
    low, one, two, three, high = lesson.of_place.tolist()
    assert low == one < two < three == high
    assert lesson.outcome(rows).shape == (40, 1)


# ---------------------------------------------------------------- overlap


def test_overlap_by_hand():
    assert interval_overlap((0, 1), (0, 1)) == 1
    assert interval_overlap((0, 4), (1, 2)) == pytest.approx((1 / 4 + 1) / 2)
    assert interval_overlap((0, 1), (3, 4)) == -2
    # of two estimates with one error s the difference has mean 2 s / sqrt(pi)
    assert expected_overlap(1, 1) == pytest.approx(1 - 2 / math.sqrt(math.pi) / (2 * 1.959964), abs=1e-3)
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 4000), rng.normal(0, 3, 4000)
    drawn = [interval_overlap((x - 1.96, x + 1.96), (y - 5.88, y + 5.88)) for x, y in zip(a, b, strict=True)]
    assert expected_overlap(1, 3) == pytest.approx(np.mean(drawn), abs=4 * np.std(drawn) / math.sqrt(4000))


def test_the_range_of_a_mean_overlap_is_that_of_coefficients_that_depend_on_each_other():
    """Two coefficients with the errors of one: the more alike they move, the wider the range of their mean."""
    rng, errors = np.random.default_rng(3), [np.array([1.0, 2.0]), np.array([1.5, 2.0])]
    widths = []
    for rho in (-0.9, 0.0, 0.9):
        one, other = (np.outer(e, e) * np.array([[1, rho], [rho, 1]]) for e in errors)
        found = overlap_module._fresh_range(one + other, errors, 0.95, np.random.default_rng(0))
        estimates = [rng.multivariate_normal([0, 0], v, 2000) for v in (one, other)]
        z = 1.959964

        def overlap(x, y, z=z):
            intervals = ((a - z * s, a + z * s, b - z * t, b + z * t) for a, b, s, t in zip(x, y, *errors, strict=True))
            return np.mean([interval_overlap(i[:2], i[2:]) for i in intervals])

        drawn = np.array([overlap(x, y) for x, y in zip(*estimates, strict=True)])
        for limit, share in zip(found, (0.025, 0.975), strict=True):
            # the errors of a share of 2,000 draws and of 10,000
            assert abs(np.mean(drawn <= limit) - share) < 4 * math.sqrt(0.025 * 0.975 * (1 / 2000 + 1 / 10_000))
        widths.append(found[1] - found[0])
    assert widths[1] > 1.02 * widths[0] or widths[2] > 1.02 * widths[1]


@pytest.mark.parametrize("linear", [True, False])
def test_what_a_person_moves_is_how_a_coefficient_changes_with_the_weight_of_the_row(linear):
    rng = np.random.default_rng(2)
    x = np.column_stack([np.ones(40), rng.normal(size=40)])
    y = x[:, 1] + rng.normal(size=40)
    y = y if linear else (y > 0) * 1.0

    def fitted(weights):
        slopes = np.zeros(2)
        for _ in range(30):  # Newton
            p = x @ slopes if linear else 1 / (1 + np.exp(-x @ slopes))
            bent = weights * (1 if linear else p * (1 - p))
            slopes += np.linalg.solve((x.T * bent) @ x, x.T @ (weights * (y - p)))
        return slopes

    found = moves_of(x, y, fitted(np.ones(40)), np.arange(40), 40, linear=linear).of.ravel()
    step = 1e-5 * np.eye(40)[:6]
    changes = np.array([fitted(1 + s)[1] - fitted(1 - s)[1] for s in step])
    assert changes / changes[0] == pytest.approx(found[:6] / found[0], rel=1e-4)
    assert (found**2).sum() == pytest.approx(1)


def test_exchanges_are_those_of_all_ways_to_choose_the_persons():
    """Three and three persons of 1 and 2 rows: the p-values of 9,999 draws are those of the 20 ways."""
    rng = np.random.default_rng(4)
    of, rows = rng.normal(size=(6, 2)), np.array([1.0, 2, 1, 2, 1, 1])
    of -= of.mean(axis=0)
    ways = [np.isin(np.arange(6), chosen) for chosen in combinations(range(6), 3)]
    far = np.array([(((of[w].sum(0) / rows[w].sum()) - of[~w].sum(0) / rows[~w].sum()) ** 2).sum() for w in ways])
    [found] = exchanged([Moves(of, rows)], 3, 9999, np.random.default_rng(0))
    assert found.p == pytest.approx(np.mean(far >= far[0] - 1e-9), abs=0.02)
    assert found.p_low == pytest.approx(np.mean(far <= far[0] + 1e-9), abs=0.02)


@pytest.mark.slow
def test_a_fresh_sample_has_a_mean_overlap_in_the_range():
    rng = np.random.default_rng(5)
    inside = []
    for _ in range(60):
        x = rng.normal(size=(600, 4)) @ np.linalg.cholesky(0.8 + 0.2 * np.eye(4)).T  # coefficients that depend
        rows = pl.DataFrame(x, schema=list("abcd")).with_columns(y=pl.Series(x.sum(axis=1) + rng.normal(size=600)))
        found = overlap_module.regression_overlap(rows[:300], rows[300:], targets=["y"])[0]
        inside.append(found.fresh_sample.low <= found.value <= found.fresh_sample.high)
    assert abs(np.mean(inside) - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 60)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["energy_distance", "pmse"])
def test_a_holdout_of_other_people_is_seen_by_joint_measures(name):
    rng = np.random.default_rng(3)

    def people(shift):
        return pl.DataFrame({"x": rng.normal(size=150) + shift, "y": rng.normal(size=150) - shift})

    real, fresh, alike, others = people(0), people(0), people(0), people(1)
    [found] = getattr(divulge, name)(real, fresh, holdout=alike)
    assert found.holdout.n == 150
    assert found.holdout.fresh_sample.low < found.holdout.value < found.holdout.fresh_sample.high
    [found] = getattr(divulge, name)(real, fresh, holdout=others)
    assert found.holdout.p_adjusted <= 0.005
    told = divulge.fidelity(real, fresh, holdout=others, measures=[name])
    assert told.warnings[0].startswith(f"the holdout is no fresh sample of the real table ({name.replace('_', ' ')})")


def test_people_who_are_in_real_and_holdout_are_told():
    rng = np.random.default_rng(4)
    real, fresh, others = (pl.DataFrame(rng.normal(size=(60, 2)), schema=["x", "y"]) for _ in range(3))
    some = pl.concat([others.head(40), real.head(20)])
    told = [divulge.fidelity(real, fresh, holdout=h, measures=["column_shapes"]).warnings for h in (others, some)]
    assert told[0] == ()
    assert told[1] == (
        "20 of 60 holdout rows equal a real row: more than a random split of these people gives; remove people who are "
        "in both",
    )


@pytest.mark.parametrize("scale", [2.0**1020, 2.0**-1060])
def test_numbers_at_the_ends_of_the_range_of_floats_are_learned_as_others_are(scale):
    rng = np.random.default_rng(5)
    number = rng.integers(-15, 16, (3, 80)).astype(float)  # so that both ends hold them exactly
    number[2, 0] = math.inf
    taught = []
    for factor in (1.0, scale):
        tables = [pl.DataFrame({"x": n + i, "y": n * factor}) for i, n in enumerate(number)]
        case = build_case(tables[0], tables[1], holdout=tables[2])
        taught.append(lesson_of(case, table_rows(case, ("x", "y"), "real", 99, "test"), "y").of_place)
    assert np.isfinite(taught[1]).all()
    assert taught[1].tolist() == taught[0].tolist()
