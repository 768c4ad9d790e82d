"""Quirks of SDMetrics 0.32.0 as code, and the tables of `sdmetrics.md`, which imports this.

Each quirk is a call that the released package and `divulge.sdmetrics` answer alike. The page is made without
SDMetrics: it asks divulge and stops when a number moves. `benchmarks/drop_in.py --parts quirks` asks both.
"""

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from cap_paper_page import markdown_table

__all__ = ["QUIRKS", "both", "cases", "in_short", "measured", "quirks", "ran", "run_on", "side_by_side", "speed"]

NAN = float("nan")
K_T = {"key_fields": ["k"], "sensitive_fields": ["t"]}


class MovedError(Exception):
    """A number and what the page says about it no longer fit."""


class Metrics:
    """The classes of one package, called alike: `seed` is divulge's argument and SDMetrics' global state."""

    def __init__(self, package):
        self.package = package
        self.seeded = package.__name__.startswith("divulge")

    def __call__(self, metric, *args, call="compute", seed=0, **kwargs):
        """Return what the metric gives, or the name of the error's class."""
        if self.seeded:
            kwargs["seed"] = seed
        else:
            np.random.seed(seed)  # noqa: NPY002 # SDMetrics draws from the global state
            if metric == "DCRBaselineProtection":
                getattr(self.package, metric)._seed = seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return getattr(getattr(self.package, metric), call)(*args, **kwargs)
            except Exception as error:
                return type(error).__name__


@dataclass(frozen=True)
class Quirk:
    """What SDMetrics does, with numbers, and what mends it."""

    metrics: str
    says: str
    run: Callable
    gives: tuple
    mend: str


# ---------------------------------------------------------------- tables


def frame(**columns):
    """Return a pandas frame; lists become columns of objects in every release of pandas, arrays keep their dtype."""
    return pd.DataFrame({k: pd.Series(v, dtype=object) if isinstance(v, list) else v for k, v in columns.items()})


def levels(seed, n, **n_levels):
    """Return independent columns of text, all levels equally likely."""
    rng = np.random.default_rng(seed)
    return frame(**{name: [f"v{i}" for i in rng.integers(0, k, n)] for name, k in n_levels.items()})


def normal(seed, n, k=4):
    """Return k independent columns of normal numbers."""
    x = np.random.default_rng(seed).normal(size=(n, k))
    return pd.DataFrame({f"x{j}": x[:, j] for j in range(k)})


def numeric(table):
    return {"columns": {name: {"sdtype": "numerical"} for name in table.columns}}


def categorical(table):
    return {"columns": {name: {"sdtype": "categorical"} for name in table.columns}}


def ahead(table, source, rows):
    """Return a table whose first rows are those of another one."""
    return pd.concat([source[:rows], table[rows:]], ignore_index=True)


def with_outlier(table):
    out = table.copy()
    out.loc[0] = 100.0
    return out


def skewed(seed, n):
    """Return a key that tells nothing, and a target that is "no" in 95 of 100 rows."""
    rng = np.random.default_rng(seed)
    return frame(k=[f"v{i}" for i in rng.integers(0, 5, n)], t=["yes" if u < 0.05 else "no" for u in rng.random(n)])


def heavy(seed, n=400):
    x = np.random.default_rng(seed).standard_t(1.5, size=(n, 4))
    return pd.DataFrame({f"x{j}": x[:, j] for j in range(4)})


def incomes(seed, n=1000):
    """Return a key that tells nothing and log-normal incomes."""
    rng = np.random.default_rng(seed)
    return frame(k=[f"v{i}" for i in rng.integers(0, 5, n)], income=rng.lognormal(10, 0.5, n))


def with_a_rich_one(table):
    out = table.copy()
    out.loc[0, "income"] = 1e8
    return out


# ---------------------------------------------------------------- quirks


def caps(m, real, synthetic, **fields):
    fields = fields or K_T
    names = ("CategoricalCAP", "CategoricalZeroCAP", "CategoricalGeneralizedCAP")
    return tuple(m(name, real, synthetic, **fields) for name in names)


def no_match(m):
    return caps(m, frame(k=["a", "a"], t=["x", "y"]), frame(k=["b", "b"], t=["x", "y"]))[:2]


def number_and_text(m):
    t = ["x", "y", "x"]
    texts = frame(k=["1", "2", "3"], t=t)
    return caps(m, frame(k=[1, 2, 3], t=t), texts)[0], caps(m, texts, texts)[0]


def missing_by_dtype(m):
    t = ["x", "y", "y", "x"]
    floats = frame(k=np.array([1.0, NAN, NAN, 2.0]), t=t)
    texts = frame(k=["1", NAN, NAN, "2"], t=t)
    return caps(m, floats, floats)[1], caps(m, texts, texts)[1], caps(m, texts, texts)[2]


def large_integers(m):
    whole = frame(k=np.array([2**53, 2**53 + 1]), t=["x", "y"])
    beside = whole.assign(j=np.array([0.5, 0.5]))
    return caps(m, whole, whole)[0], caps(m, beside, beside, key_fields=["k", "j"], sensitive_fields=["t"])[0]


def whole_entry(m):
    table = frame(k=np.array([1, 2]), t=["x", "y"])
    plain = {"columns": {"k": {"sdtype": "numerical"}, "t": {"sdtype": "categorical"}}}
    sdv = {"columns": plain["columns"] | {"k": {"sdtype": "numerical", "computer_representation": "Int64"}}}
    floats = table.assign(k=np.array([0.1, 0.2]))
    return (
        m("CategoricalCAP", table, table, plain, **K_T),
        m("CategoricalCAP", table, table, sdv, **K_T),
        m("CategoricalCAP", floats, floats, **K_T),
    )


def fields_in_metadata(m):
    table = frame(k=["a", "b"], j=["p", "p"], t=["x", "y"])
    metadata = categorical(table) | {"key_fields": ["j"]}
    return m("CategoricalCAP", table, table, **K_T), m("CategoricalCAP", table, table, metadata, **K_T)


def uniform_baseline(m):
    real, synthetic = skewed(1, 1000), skewed(2, 1000)
    rare = pd.concat([real, frame(k=["v0", "v1"], t=["ill", "well"])], ignore_index=True)
    ask = (synthetic, ["k"], ["t"])
    return m("DisclosureProtection", real, *ask), m("DisclosureProtection", rare, *ask)


def product_of_counts(m):
    real, synthetic = (levels(seed, 1000, k=5, t=2).assign(u=lambda d: d["t"]) for seed in (1, 2))
    ask = (real, synthetic, ["k"])
    one = m("DisclosureProtection", *ask, ["t"], call="compute_breakdown")
    two = m("DisclosureProtection", *ask, ["t", "u"], call="compute_breakdown")
    return one["baseline_protection"], two["baseline_protection"], one["score"], two["score"]


def heavy_bins(m):
    real, synthetic = incomes(1), incomes(2)
    ask = {"known_column_names": ["k"], "sensitive_column_names": ["income"], "continuous_column_names": ["income"]}
    return tuple(m("DisclosureProtection", r, synthetic, **ask) for r in (real, with_a_rich_one(real)))


def lost_dates(m):
    days = pd.Series(pd.date_range("2020-01-01", periods=100, freq="D").astype("datetime64[ns]"))
    table = pd.DataFrame({"k": days, "t": days})
    gap = table.copy()
    gap.loc[0, "t"] = pd.NaT
    ask = {"known_column_names": ["k"], "sensitive_column_names": ["t"], "continuous_column_names": ["k", "t"]}
    found = (m("DisclosureProtection", d, d, **ask, call="compute_breakdown") for d in (table, gap))
    return tuple(f["baseline_protection"] for f in found)


def dates_as_categories(m):
    days = pd.Series(pd.date_range("2020-01-01", periods=4, freq="D").astype("datetime64[ns]"))
    table = pd.DataFrame({"k": days, "t": pd.Series(["x", "x", "y", "y"], dtype=object)})
    gap = table.copy()
    gap.loc[0, "k"] = pd.NaT
    return tuple(m("DisclosureProtection", d, d, ["k"], ["t"]) for d in (table, gap))


def open_ends(m):
    real = frame(x=np.array([0.0, 1, 2, 3]), t=["a", "a", "b", "b"])
    far = frame(x=np.array([-1e9, 1, 2, 1e9]), t=["a", "a", "b", "b"])
    infinite = far.assign(x=np.array([-np.inf, 1, 2, np.inf]))
    ask = {"known_column_names": ["x"], "sensitive_column_names": ["t"], "computation_method": "zero_cap"}
    ask |= {"continuous_column_names": ["x"], "num_discrete_bins": 4}
    return tuple(m("DisclosureProtection", real, s, **ask) for s in (far, infinite))


def one_category(m):
    table = frame(k=["a", "b"], t=["x", "x"])
    other = table.assign(u=[1, 2])
    ask = (["k"], ["t"])
    return m("DisclosureProtection", table, table, *ask), m("DisclosureProtection", table, other, *ask)


FOUR = [f"k{i}" for i in range(4)]
FOUR_LEVELS = dict.fromkeys(FOUR, 10) | {"t": 10}


def estimate_drops(m):
    real = levels(1, 1200, k=300, t=3)
    ask = {"known_column_names": ["k"], "sensitive_column_names": ["t"], "computation_method": "zero_cap"}
    few = {"num_rows_subsample": 7, "num_iterations": 2, "verbose": False}
    name = "DisclosureProtectionEstimate"
    asked = m(name, real, real, **ask, **few)
    return asked, m(name, real, real, **ask, **few, call="compute_breakdown")["score"]


def estimate_of_a_copy(m):
    real = levels(1, 5000, **FOUR_LEVELS)
    exact = m("DisclosureProtection", real, real, FOUR, ["t"], "zero_cap")
    few = {"num_rows_subsample": 500, "num_iterations": 3, "verbose": False}
    name = "DisclosureProtectionEstimate"
    found = m(name, real, real, FOUR, ["t"], "zero_cap", **few, call="compute_breakdown")
    return exact, found["score"]


def estimate_of_nothing(m):
    real, synthetic = levels(1, 1000, k=300, t=2), levels(2, 1000, k=300, t=2)
    ask = {"known_column_names": ["k"], "sensitive_column_names": ["t"], "verbose": False}
    few = {"num_rows_subsample": 25, "num_iterations": 10, "call": "compute_breakdown"}
    return (m("DisclosureProtectionEstimate", real, synthetic, **ask, **few, seed=3)["score"],)


def overfitting(m, *tables, **more):
    metadata = more.pop("metadata", None) or numeric(tables[0])
    return m("DCROverfittingProtection", *tables, metadata, None, **more)


def two_rulers(m):
    real, synthetic, holdout = (normal(seed, 300) for seed in (1, 2, 3))
    return (
        overfitting(m, real, synthetic, holdout),
        overfitting(m, with_outlier(real), synthetic, holdout),
        overfitting(m, real, synthetic, with_outlier(holdout)),
    )


def ties(m):
    three = {"a": 4, "b": 4, "c": 4}
    real, synthetic, holdout = (levels(seed, 500, **three) for seed in (1, 2, 3))
    found = (real, ahead(synthetic, real, 50), synthetic)
    return tuple(overfitting(m, real, s, holdout, metadata=categorical(real)) for s in found)


def sizes(m):
    real, synthetic, holdout = (normal(seed, 400) for seed in (1, 2, 3))
    return tuple(overfitting(m, real, synthetic, holdout[:n]) for n in (400, 200, 100))


def subsample(m):
    real, holdout = normal(1, 600), normal(3, 600)
    few = {"num_rows_subsample": 60, "num_iterations": 3}
    return overfitting(m, real, real, holdout), overfitting(m, real, real, holdout, **few, seed=1)


def which_columns(m):
    people = [normal(seed, 300, 1) for seed in (1, 2, 3)]
    answers = [levels(seed, 300, o=5, p=5, q=5, r=5, s=5) for seed in (1, 1, 3)]  # the synthetic ones are copied
    tables = [a.assign(**b) for a, b in zip(people, answers, strict=True)]
    kinds = {n: {"sdtype": "ordinal"} for n in answers[0]}, {n: {"sdtype": "categorical"} for n in answers[0]}
    scale, category = ({"columns": numeric(people[0])["columns"] | kind} for kind in kinds)
    ids = [t.assign(id=np.arange(300) + start) for t, start in zip(people, (0, 0, 300), strict=True)]
    keyed = numeric(ids[0]) | {"primary_key": "id"}
    return (
        overfitting(m, *tables, metadata=scale),
        overfitting(m, *tables, metadata=category),
        overfitting(m, *ids, metadata=keyed),
    )


def constant_reference(m):
    real, holdout = frame(x=np.zeros(50)), frame(x=np.r_[np.zeros(49), 1.0])
    synthetic = frame(x=np.full(50, 0.001))
    return overfitting(m, real, synthetic, holdout), overfitting(m, holdout, synthetic, real)


def rounding(m):
    far = [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    one, other = (
        pd.DataFrame([row, *far], columns=list("xyz"), dtype=float) for row in ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    )
    synthetic = pd.DataFrame(np.zeros((20, 3)), columns=list("xyz"))
    return overfitting(m, one, synthetic, other), overfitting(m, other, synthetic, one)


def infinite(m):
    real, synthetic, holdout = (normal(seed, 300, 2) for seed in (1, 2, 3))
    odd = real.copy()
    odd.loc[0, "x0"] = np.inf
    return overfitting(m, real, synthetic, holdout), overfitting(m, odd, synthetic, holdout)


def first_table(m):
    real, synthetic, holdout = (normal(seed, 300) for seed in (1, 2, 3))
    metadata = {"tables": {"people": numeric(real), "homes": numeric(real)}, "relationships": []}
    people = {"people": real, "homes": synthetic}, {"people": synthetic, "homes": synthetic}, holdout
    return tuple(m("DCROverfittingProtection", *people, metadata, name) for name in ("people", "homes"))


def baseline(m, real, synthetic, metadata=None, **more):
    return m("DCRBaselineProtection", real, synthetic, metadata or numeric(real), None, **more)


def clustering(m):
    return baseline(m, normal(1, 400), normal(2, 400)), baseline(m, heavy(1), heavy(2))


def median(m):
    real, synthetic = normal(1, 400), normal(2, 400)
    return tuple(baseline(m, real, ahead(synthetic, real, rows)) for rows in (0, 180, 201))


def coarse_baseline(m):
    real, synthetic = levels(1, 400, a=4, b=4), levels(2, 400, a=4, b=4)
    return (baseline(m, real, synthetic, categorical(real)),)


def baseline_subsample(m):
    real = normal(1, 600)
    few = {"num_rows_subsample": 60, "num_iterations": 3}
    return baseline(m, real, real), baseline(m, real, real, **few, seed=1)


def half_a_year(m):
    real = pd.DataFrame({"d": pd.Series(pd.to_datetime(["2020-01-01"])).astype("datetime64[ns]")})
    near, far = (real.assign(d=real["d"] + pd.Timedelta(days=d)) for d in (150, 200))
    metadata = {"columns": {"d": {"sdtype": "datetime"}}}
    found = [m("NewRowSynthesis", real.copy(), s, metadata) for s in (near, far)]
    zero, small = frame(x=np.array([0.0])), frame(x=np.array([1e-9]))
    return *found, m("NewRowSynthesis", small, zero)


def other_columns(m):
    real = frame(id=np.arange(1, 51), c=["p", "q"] * 25)
    synthetic = frame(id=np.arange(1001, 1051), c=["p", "q"] * 25)
    entries = {"id": {"sdtype": "numerical"}, "c": {"sdtype": "categorical"}}
    keyed = {"columns": entries, "primary_key": "id"}
    return m("NewRowSynthesis", real, synthetic, {"columns": entries}), m("NewRowSynthesis", real, synthetic, keyed)


def by_chance(m):
    return tuple(m("NewRowSynthesis", levels(1, 300, **c), levels(2, 300, **c)) for c in ({"a": 4, "b": 4},))


def missing_secret(m):
    k = np.random.default_rng(1).integers(0, 3, 200)
    gaps = np.random.default_rng(2).random(200) < 0.5
    t = [None if gap else f"t{i}" for i, gap in zip(k, gaps, strict=True)]
    told = ["none" if v is None else v for v in t]
    keys = [f"v{i}" for i in k]
    return tuple(m("CategoricalNB", d, d, **K_T) for d in (frame(k=keys, t=t), frame(k=keys, t=told)))


def unseen_key(m):
    real = frame(k=[f"v{i % 6}" for i in range(100)], t=["x"] * 100)
    everywhere = real.assign(t=pd.Series(["y"] + ["x"] * 99, dtype=object))
    few = everywhere.assign(k=pd.Series([f"v{i % 3}" for i in range(100)], dtype=object))
    return m("CategoricalNB", real, everywhere, **K_T), m("CategoricalNB", real, few, **K_T)


def constant_guess(m):
    return (m("CategoricalNB", skewed(1, 400), skewed(2, 400), **K_T),)


def returned(m):
    table = frame(k=["a", "b"], t=["x", "y"])
    return (type(m("CategoricalEnsemble", table, table, **K_T)).__name__,)


def wrong_mean(m):
    line = frame(x=np.arange(1.0, 9), t=np.array([4.0, 6, 9, 10, 11, 12, 14, 16]))
    fields = {"key_fields": ["x"], "sensitive_fields": ["t"]}
    return m("NumericalRadiusNearestNeighbor", line, line, **fields), m("NumericalLR", line, line, **fields)


def open_scale(m):
    real, synthetic = normal(1, 60, 2), normal(2, 60, 2) + 1e6
    score = m("NumericalLR", real, synthetic, key_fields=["x0"], sensitive_fields=["x1"])
    return score, m.package.NumericalLR.normalize(score)


SOUND = '`mode="sound"`'
INFERENCE = "`divulge.inference`"
QUIRKS = [
    Quirk(
        "CategoricalCAP, ZeroCAP", "Real rows whose keys no synthetic row has are left out, or count as not guessed. "
        "Where none is matched CategoricalCAP gives {0} and ZeroCAP {1}: nobody was attacked. "
        "So does an empty synthetic table.",
        no_match, (NAN, 1.0), f"{SOUND} says how many rows were attacked (`n`)",
    ),
    Quirk(
        "CAP trio, DisclosureProtection", 'The number 1 and the text "1" are different values, without a word: a '
        "copy with numbers on one side scores {0}, with texts on both sides {1}.", number_and_text, (NAN, 0.0), SOUND,
    ),
    Quirk(
        "CAP trio", "Whether missing equals missing depends on the dtype. Of a copy, half of whose keys are missing, "
        "ZeroCAP gives {0} if the column holds floats and {1} if it holds texts; GeneralizedCAP of texts {2}.",
        missing_by_dtype, (0.5, 0.0, 0.25), SOUND,
    ),
    Quirk(
        "CAP trio", "Rows are taken as arrays of one dtype, so that whole numbers above 2^53 become equal beside a "
        "column of floats: the score of a copy moves from {0} to {1}.", large_integers, (0.0, 0.5), SOUND,
    ),
    Quirk(
        "CAP trio, attackers", "The whole metadata entry is compared. A numeric key gives {0}; with the "
        '`"computer_representation"` that SDV writes {1}. Without metadata floats pass as categories: {2}. '
        "Ordinals, dates and unsigned numbers are refused.",
        whole_entry, (0.0, "TypeError", 0.0), SOUND,
    ),
    Quirk(
        "CAP trio, attackers", '`"key_fields"` and `"sensitive_fields"` in the metadata override the arguments: '
        "{0} becomes {1}.", fields_in_metadata, (0.0, 0.5), "leave them out of the metadata",
    ),
    Quirk(
        "DisclosureProtection", "The baseline is a uniform guess over the values of the real column. A target that is "
        '"no" in 95% of rows, independent of all, scores {0}, and {1} after two people with rare values came in.',
        uniform_baseline, (0.1597, 0.1089), SOUND,
    ),
    Quirk(
        "DisclosureProtection", "With several targets the baseline multiplies their counts, whether combinations occur "
        "or not. The same target named under two columns moves it from {0} to {1}, and the score from {2} to {3}.",
        product_of_counts, (0.5, 0.75, 1, 0.6711), SOUND,
    ),
    Quirk(
        "DisclosureProtection", "Continuous columns are cut into bins of equal width over the real range. One rich "
        "person puts all others into one bin, and the score moves from {0} to {1}.",
        heavy_bins, (0.7688, 0.002), f"{SOUND}: bins of equal count",
    ),
    Quirk(
        "DisclosureProtection", "A missing date in a continuous column becomes the least whole number, so that all "
        "others share a bin: the baseline of 100 dates falls from {0} to {1}.", lost_dates, (0.9, 0.5), SOUND,
    ),
    Quirk(
        "DisclosureProtection", "A date that is not continuous gives {0}; with one missing value each instant is a "
        "category and the score is {1}.", dates_as_categories, ("TypeError", 0.0), SOUND,
    ),
    Quirk(
        "DisclosureProtection", "Synthetic values outside the real range go to the end bins, but a negative infinity "
        "becomes missing: {0} becomes {1} (zero_cap).", open_ends, (0.0, 0.5), SOUND,
    ),
    Quirk(
        "DisclosureProtection", "One sensitive value gives {0}. A column that only one table has gives {1}, even if no "
        "argument names it.", one_category, (NAN, "ValueError"), "drop the column first",
    ),
    Quirk(
        "DisclosureProtectionEstimate", "`compute` never reads `num_rows_subsample` and `num_iterations`: it draws "
        "1,000 rows ten times and gives {0}, where `compute_breakdown` gives {1} for 7 rows drawn twice.",
        estimate_drops, (0.7749, 1), "DisclosureProtection, which needs no sample",
    ),
    Quirk(
        "DisclosureProtectionEstimate", "The published table is sampled too, which thins its classes. A copy of 5,000 "
        "rows scores {0} exactly and {1} by the estimate (zero_cap, 500 rows, three times). Above 10,000 rows "
        "a warning proposes the estimate.",
        estimate_of_a_copy, (0.1984, 1), f"{SOUND}: all rows are counted",
    ),
    Quirk(
        "DisclosureProtectionEstimate", "One sample without a match makes everything {0}.",
        estimate_of_nothing, (NAN,), SOUND,
    ),
    Quirk(
        "DCROverfittingProtection", "Distances to the two tables are measured with two rulers, the range of each. "
        "Unrelated normal tables score {0}; with one outlier in the training table {1}, in the validation table {2}.",
        two_rulers, (0.9667, 0.0, 1.0), f"{SOUND}: one ruler",
    ),
    Quirk(
        "DCROverfittingProtection", "Ties count for the validation table. On three columns of four values a copy "
        "scores {0}, 10% copies {1}, no copies {2}.", ties, (1.0, 1.0, 1.0), f"{SOUND}: ties count half",
    ),
    Quirk(
        "DCROverfittingProtection", "A smaller validation table is farther away. Unrelated tables score {0} with one "
        "as large as the training table, {1} with half and {2} with a quarter of it; a warning comes below half.",
        sizes, (0.83, 0.465, 0.175), f"{SOUND}: compared with the share of people",
    ),
    Quirk(
        "DCROverfittingProtection", "With a subsample all three tables are sampled, so that copies lose their "
        "originals: a copy scores {0}, with 60 of 600 rows drawn three times {1}.",
        subsample, (0.0, 0.8333), f"{SOUND}: all rows are counted",
    ),
    Quirk(
        "both DCR metrics", "Columns of sdtype `ordinal` are not compared: copied answers on a scale score {0}, {1} if "
        "declared categorical. Numeric primary keys are compared: ids that count from 0 in both tables move "
        "the score of unrelated people to {2}.", which_columns, (1.0, 0.0667, 0.0133),
        f"{SOUND} compares ordinals and leaves the primary key out",
    ),
    Quirk(
        "both DCR metrics", "Against a constant column every other value is as far as can be, whatever the step. 50 "
        "rows at 0.001 score {0} if the training table is constant 0 and the validation table holds one 1, and {1} "
        "the other way round.", constant_reference, (1.0, 0.0), f"{SOUND}: one ruler",
    ),
    Quirk(
        "both DCR metrics", "Distances are sums of floats, and 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1. Rows that "
        "are equally far but in another order of columns score {0} and, with the tables exchanged, {1}.",
        rounding, (1.0, 0.0), "nothing here: the sound mode adds floats too",
    ),
    Quirk(
        "both DCR metrics", "One infinity in the training table empties its column of all distance: unrelated "
        "tables move from {0} to {1}.", infinite, (0.94, 0.02), SOUND,
    ),
    Quirk(
        "both DCR metrics", "Of a dictionary of tables the first is compared, whichever `table_name` says: {0} for "
        "`people`, {1} for `homes`, whose two tables are the same.", first_table, (0.9667, 0.9667), "pass one table",
    ),
    Quirk(
        "DCRBaselineProtection", "The random table fills the box between the extremes, so the score tells how "
        "clustered people are. Unrelated normal tables score {0}, unrelated heavy-tailed ones {1}.",
        clustering, (0.4174, 0.0277), "DCROverfittingProtection, sound; `divulge.dcr`",
    ),
    Quirk(
        "DCRBaselineProtection", "It compares medians, which do not see a minority. Without copies {0}, with 45% "
        "copies {1}, with 50.25% {2}.", median, (0.4174, 0.2471, 0.0), "`divulge.copies`, `divulge.dcr`",
    ),
    Quirk(
        "DCRBaselineProtection", "On coarse columns the random rows equal real ones and the score is {0}.",
        coarse_baseline, (NAN,), "`divulge.dcr`",
    ),
    Quirk(
        "DCRBaselineProtection", "With a subsample copies lose their originals here too: {0} becomes {1}. The random "
        "table is drawn once, for all iterations, and for all columns, also those that are not compared.",
        baseline_subsample, (0.0, 0.4049), "leave the subsample out: there is no waiting",
    ),
    Quirk(
        "NewRowSynthesis", "The tolerance is a share of the synthetic number, and dates are counted from 1970. A date "
        "150 days away is no new row ({0}), one 200 days away is ({1}). 0 beside 0.000000001 is new ({2}).",
        half_a_year, (0.0, 1.0, 1.0), f"{SOUND}: equal rows",
    ),
    Quirk(
        "NewRowSynthesis", "Primary keys, alternate keys, ids and columns with `pii` are not compared, and ordinals "
        "are, the other way round than in the DCR metrics. New ids alone score {0}; as the primary key {1}.",
        other_columns, (1.0, 0.0), "declare keys as `id`",
    ),
    Quirk(
        "NewRowSynthesis", "Rows equal somebody by chance: independent tables of two columns of four values score {0}.",
        by_chance, (0.0,), f"{SOUND}: compared with strangers",
    ),
    Quirk(
        "attackers", "A missing secret is never guessed. Where the key tells the secret, half of which is missing, "
        "CategoricalNB gives {0}; {1} once missing has a name.", missing_secret, (0.82, 0.475), INFERENCE,
    ),
    Quirk(
        "attackers", "A key that the synthetic table has not counts as not guessed: the score moves from {0} to {1} if "
        "half of the keys are gone, though every secret is the same.", unseen_key, (0.0, 0.49), INFERENCE,
    ),
    Quirk(
        "attackers", "There is no baseline. Who always says \"no\" is right about 95% of people, and independent "
        "tables score {0}.", constant_guess, (0.045,), INFERENCE,
    ),
    Quirk(
        "CategoricalEnsemble", "Without attackers in `model_kwargs` it returns {0} instead of raising it.",
        returned, ("ValueError",), "check the type",
    ),
    Quirk(
        "NumericalRadiusNearestNeighbor", "The secrets of all rows are added and divided by the number of neighbours. "
        "Eight points near a line score {0}, where a line scores {1} (0 is a right guess). "
        "Without a neighbour the guess is 0.",
        wrong_mean, (0.3099, 0.0025), INFERENCE,
    ),
    Quirk(
        "numerical attackers", "The loss of one column is at most 1, but the bounds are 0 and infinity, so that "
        "`normalize` never passes 0.63: guesses that are off by a million score {0}, normalized {1}.",
        open_scale, (0.3221, 0.2754), INFERENCE,
    ),
]  # fmt: skip


def run_on(package):
    """Return the numbers of each quirk from a package, in the order of QUIRKS."""
    metrics = Metrics(package)
    return [tuple(map(plain, quirk.run(metrics))) for quirk in QUIRKS]


def plain(value):
    return value if isinstance(value, str) else float(value)


def agree(found, stated, digits=4):
    """Return whether two answers are the same text, both nan, or equal to so many digits."""
    if isinstance(found, str) or isinstance(stated, str):
        return found == stated
    return (math.isnan(found) and math.isnan(stated)) or abs(found - stated) < 0.51 * 10**-digits


def shown(value):
    if isinstance(value, str):
        return f"a {value}" if value.endswith("Error") else value
    return "nan" if math.isnan(value) else f"{value:.4f}".rstrip("0").rstrip(".")


def quirks(package):
    """Return the list of quirks with the numbers of a package; raise when one is not what the page states."""
    lines = []
    for i, (quirk, found) in enumerate(zip(QUIRKS, run_on(package), strict=True), 1):
        if not all(map(agree, found, quirk.gives)):
            raise MovedError(f"Q{i}, {quirk.run.__name__}: {found}, the page states {quirk.gives}")
        said = quirk.says.format(*map(shown, quirk.gives))
        lines.append(f"- **Q{i}** ({quirk.metrics}). {said} *Mended by:* {quirk.mend}.")
    return "\n".join(lines)


# ---------------------------------------------------------------- released and sound


def both(package, what, metric, *args, released=None, sound=None, verdict=None, validation=None, **kwargs):
    """Return a line: the released score and the sound one with its interval.

    Raise when one of the two is not what the page states.
    """
    kwargs |= {} if validation is None else {"real_validation_data": validation}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(package, metric).compute_both(*args, **kwargs)
    old, new = found["compatible"]["score"], found["sound"]
    stated = zip((old, new["score"]), (released, sound), strict=True)
    if not all(agree(x, y, 3) for x, y in stated) or new.get("verdict") != verdict:
        raise MovedError(f"{what}: {old:.4f}, {new['score']:.4f}, {new.get('verdict')}")
    return (
        what,
        f"{old:.3f}",
        f"{new['score']:.3f}",
        f"{new['low']:.3f} to {new['high']:.3f}",
        f"{new['n']:,}",
        verdict or "",
    )


def side_by_side(*rows):
    return markdown_table(("tables", "released", "sound", "95% interval", "n", "verdict"), rows)


# ---------------------------------------------------------------- figures of the benchmark


def measured():
    """Return what `benchmarks/drop_in.py` wrote."""
    return json.loads(Path(__file__).with_name("sdmetrics.json").read_text(encoding="utf-8"))


def value(number):
    return "nan" if number is None else f"{number:.6f}"


def gap(number):
    return "0" if number == 0 else f"{number:.0e}"


def seconds(number):
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}" if number >= 0.1 else f"{number:.4f}"


def cases(report):
    """Return every case on real tables as a table; raise when two scores differ."""
    rows = []
    for r in report["real"]["rows"]:
        if "failed" in r or r["difference"] >= 1e-9:
            raise MovedError(f"{r['table']}, {r['metric']}, {r['what']}: not the same number")
        rows.append((
            r["table"], r["metric"], r["what"], value(r["sdmetrics"]), value(r["divulge"]), gap(r["difference"]),
            seconds(r["sdmetrics_cpu"]), seconds(r["cpu"]), f"{r['ratio']:,.0f}",
        ))  # fmt: skip
    head = ("table", "metric", "case", "SDMetrics", "divulge", "difference", "SDMetrics, s", "divulge, s", "times")
    return markdown_table(head, rows)


def in_short(report):
    """Return a line a metric: cases, tables, largest difference, and how many times faster."""
    found = {}
    for r in report["real"]["rows"]:
        found.setdefault(r["metric"], []).append(r)
    rows = [
        (
            metric, len(lines), len({r["table"] for r in lines}), gap(max(r["difference"] for r in lines)),
            f"{min(r['ratio'] for r in lines):,.0f} to {max(r['ratio'] for r in lines):,.0f}",
        )
        for metric, lines in found.items()
    ]  # fmt: skip
    return markdown_table(("metric", "cases", "tables", "largest difference", "times SDMetrics"), rows)


def speed(report):
    """Return the table of times and memory on simulated tables."""
    rows = []
    for r in report["speed"]["rows"]:
        if r["difference"] >= 1e-9:
            raise MovedError(f"{r['metric']}, {r['what']}: not the same number")
        times = f"{r['ratio']:,.0f}"
        if r["goal"] is not None:
            times += f" (goal {r['goal']:,})" if r["ratio"] >= r["goal"] else f" (**below {r['goal']:,}**)"
        rows.append((
            f"{r['metric']}, {r['what']}", f"{r['rows']:,}", seconds(r["sdmetrics_cpu"]), seconds(r["cpu"]),
            seconds(r["first_cpu"]), times, f"{r['sdmetrics_peak_mb']:.0f}", f"{r['peak_mb']:.0f}",
        ))  # fmt: skip
    head = ("metric and columns", "rows", "SDMetrics, s", "divulge, s", "first call, s", "times")
    return markdown_table((*head, "SDMetrics, MB", "divulge, MB"), rows)


def ran(part):
    """Return where and when a part of the benchmark ran."""
    where = part["environment"]
    packages = ", ".join(f"{k} {v}" for k, v in where["packages"].items())
    return (
        f"Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python {where['python']}, {packages}."
    )
