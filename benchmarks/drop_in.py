"""divulge.sdmetrics beside SDMetrics 0.32.0 in one run: the same numbers, and how long both take.

    python benchmarks/drop_in.py                          time and memory on simulated tables, and the quirks
    python benchmarks/drop_in.py --data DIR               also cases on real tables (see TABLES for the files)
    python benchmarks/drop_in.py --parts real --quick     some parts: speed, quirks, real; --quick: fewer rows
    python benchmarks/drop_in.py --data DIR --json docs/sdmetrics.json

About a quarter of an hour. Each pair runs in a process of its own: SDMetrics once and in full, whose peak memory is
read then; after it divulge, one call and the median of more, on the same frames. The peak memory of divulge is that of
another process that does nothing else. Times are processor time over all threads. A part that is not run keeps what
the JSON file holds.

The file is not called sdmetrics.py: Python would then import it in place of the package.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cap import N_CORES, environment, load, peak_mb  # isort: skip

PARTS = ("speed", "quirks", "real")
PAGE = Path(__file__).parents[1] / "docs"
SEED = 7
QUICK = 8
"""--quick divides the rows of a simulated table by this."""


# ---------------------------------------------------------------- calling both


@dataclass(frozen=True)
class Call:
    """One call of a metric."""

    metric: str
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    call: str = "compute"


def theirs(call: Call) -> Any:
    """Return what SDMetrics says after numpy was seeded."""
    from sdmetrics import single_table

    metric = getattr(single_table, call.metric)
    np.random.seed(SEED)  # noqa: NPY002 # it draws from the global state
    if call.metric == "DCRBaselineProtection":
        metric._seed = SEED
    named = {k: classes(single_table, v) for k, v in call.kwargs.items()}
    return getattr(metric, call.call)(*call.args, **named)


def ours(call: Call) -> Any:
    """Return what divulge says with the same seed."""
    from divulge.sdmetrics import single_table

    named = {k: classes(single_table, v) for k, v in call.kwargs.items()}
    return getattr(getattr(single_table, call.metric), call.call)(*call.args, **named, seed=SEED)


def classes(package: Any, value: Any) -> Any:
    """Return the attackers of a package for their names."""
    if not (isinstance(value, dict) and "attackers" in value):
        return value
    places = [package]
    if package.__name__.startswith("sdmetrics"):
        from sdmetrics.single_table.privacy import cap, categorical_sklearn

        places = [cap, categorical_sklearn]
    return {"attackers": [next(getattr(p, n) for p in places if hasattr(p, n)) for n in value["attackers"]]}


def flat(value: Any) -> list[float]:
    """Return the numbers of a score or a breakdown, in order of their names."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in flat(value[key])]
    return [float(value)]


def difference(a: Any, b: Any) -> float:
    """Return the largest difference of two scores or breakdowns: 0 for nan beside nan, infinite beside a number."""
    pairs = list(zip(flat(a), flat(b), strict=True))
    gaps = [0.0 if math.isnan(x) and math.isnan(y) else abs(x - y) for x, y in pairs]
    return max(math.inf if math.isnan(g) else g for g in gaps)


def score(value: Any) -> float | None:
    number = float(value["score"] if isinstance(value, dict) else value)
    return None if math.isnan(number) else number


def clocked(function: Callable[[Call], Any], call: Call) -> tuple[Any, float, float]:
    """Return the answer, seconds of processor time over all threads, and of wall clock."""
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    value = function(call)
    return value, time.process_time() - used, time.perf_counter() - began


def beside(make: Callable[[], Call], repeats: int) -> dict[str, Any]:
    """Return the numbers and times of both: SDMetrics first and once, so that the peak memory is its own."""
    import sdmetrics.single_table  # noqa: F401 # imports are not timed

    call = make()
    value, cpu, wall = clocked(theirs, call)
    peak = peak_mb()
    import divulge.sdmetrics.single_table  # noqa: F401

    mine, first_cpu, first_wall = clocked(ours, make())
    runs = [clocked(ours, make())[1:] for _ in range(repeats)]
    median = [statistics.median(x) for x in zip(*runs, strict=True)]
    return {
        "sdmetrics": score(value), "divulge": score(mine), "difference": difference(value, mine),
        "sdmetrics_cpu": cpu, "sdmetrics_wall": wall, "cpu": median[0], "wall": median[1],
        "first_cpu": first_cpu, "first_wall": first_wall, "ratio": cpu / max(median[0], 1e-9),
        "sdmetrics_peak_mb": peak,
    }  # fmt: skip


# ---------------------------------------------------------------- simulated tables


def text(codes: Any, prefix: str = "v") -> Any:
    import pandas as pd

    levels = np.array([f"{prefix}{i}" for i in range(codes.max() + 1)], dtype=object)
    return pd.Series(levels[codes], dtype=object)


def categories(n: int, seed: int) -> Any:
    """Return five columns of ten categories as text."""
    import pandas as pd

    codes = np.random.default_rng(seed).integers(0, 10, (n, 5))
    return pd.DataFrame({f"c{j}": text(codes[:, j]) for j in range(5)})


def mixed(n: int, seed: int) -> Any:
    """Return four columns of floats, one of integers, three of categories, one of booleans, one of dates; no gaps."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    place = rng.random(n)
    noise = rng.normal(size=(n, 4))
    columns = {f"x{j}": place * (j + 1) + noise[:, j] for j in range(4)}
    columns["n"] = (50 * place + 20 * rng.random(n)).astype(np.int64)
    columns |= {f"c{j}": text(((place + rng.random(n)) * (3 + j)).astype(int)) for j in range(3)}
    columns["b"] = place < rng.random(n)
    days = (3000 * place + 500 * rng.random(n)).astype(np.int64)
    columns["d"] = pd.Series(np.datetime64("2012-01-01", "ns") + days.astype("timedelta64[D]"))
    return pd.DataFrame(columns)


def numbers(n: int, seed: int) -> Any:
    return mixed(n, seed)[["x0", "x1", "x2"]]


def meta(table: Any) -> dict[str, Any]:
    kinds = {"i": "numerical", "f": "numerical", "O": "categorical", "b": "boolean", "M": "datetime"}
    return {"columns": {name: {"sdtype": kinds[table[name].dtype.kind]} for name in table.columns}}


FIELDS = {"key_fields": ["c0", "c1", "c2", "c3"], "sensitive_fields": ["c4"]}
GUESS = {"key_fields": ["c0", "c1"], "sensitive_fields": ["c2"]}
NUMBERS = {"key_fields": ["x0", "x1"], "sensitive_fields": ["x2"]}
KNOWN = (["c0", "c1", "c2", "c3"], ["c4"])


def cap_call(metric: str, n: int) -> Call:
    return Call(metric, (categories(n, 1), categories(n, 2)), FIELDS)


def disclosure_call(metric: str, n: int, make: Callable[[int, int], Any] = categories, **more: Any) -> Call:
    known = KNOWN if make is categories else (["x0", "x1", "x2", "c0"], ["c2"])
    return Call(metric, (make(n, 1), make(n, 2), *known), more)


def overfitting_call(n: int, make: Callable[[int, int], Any]) -> Call:
    return Call("DCROverfittingProtection", (make(n, 1), make(n, 2), make(n, 3), meta(make(5, 1)), None))


def baseline_call(n: int, make: Callable[[int, int], Any]) -> Call:
    return Call("DCRBaselineProtection", (make(n, 1), make(n, 2), meta(make(5, 1)), None))


def new_rows_call(n: int) -> Call:
    return Call("NewRowSynthesis", (mixed(n, 1), mixed(n, 2), meta(mixed(5, 1))))


def attacker_call(metric: str, n: int, make: Callable[[int, int], Any], fields: dict, **more: Any) -> Call:
    return Call(metric, (make(n, 1), make(n, 2)), fields | more)


CONTINUOUS = {"continuous_column_names": ["x0", "x1", "x2"]}
VOTERS = {"model_kwargs": {"attackers": ["CAPAttacker", "CategoricalNBAttacker", "CategoricalKNNAttacker"]}}
# name: what it is, rows, the goal as a ratio of processor time, and the call for a number of rows
SPEED: dict[str, tuple[str, int, int | None, Callable[[int], Call]]] = {
    "cap": ("4 keys of 10 categories", 20_000, 500, lambda n: cap_call("CategoricalCAP", n)),
    "zero": ("4 keys of 10 categories", 20_000, 500, lambda n: cap_call("CategoricalZeroCAP", n)),
    "nearest": ("4 keys of 10 categories", 5_000, 1000, lambda n: cap_call("CategoricalGeneralizedCAP", n)),
    "disclosure": ("4 keys of 10 categories", 5_000, None, lambda n: disclosure_call("DisclosureProtection", n)),
    "disclosure-20k": ("4 keys of 10 categories", 20_000, None, lambda n: disclosure_call("DisclosureProtection", n)),
    "disclosure-mixed": (
        "3 continuous keys and a category", 5_000, None,
        lambda n: disclosure_call("DisclosureProtection", n, mixed, **CONTINUOUS),
    ),
    "estimate": (
        "4 keys of 10 categories, default samples", 5_000, None,
        lambda n: disclosure_call("DisclosureProtectionEstimate", n, verbose=False),
    ),
    "overfitting": ("5 columns of 10 categories", 5_000, 1000, lambda n: overfitting_call(n, categories)),
    "overfitting-mixed": ("10 columns of all kinds", 5_000, 1000, lambda n: overfitting_call(n, mixed)),
    "baseline": ("5 columns of 10 categories", 5_000, 1000, lambda n: baseline_call(n, categories)),
    "baseline-mixed": ("10 columns of all kinds", 5_000, 1000, lambda n: baseline_call(n, mixed)),
    "new-rows": ("10 columns of all kinds", 5_000, None, new_rows_call),
    "knn": ("2 keys", 1_500, None, lambda n: attacker_call("CategoricalKNN", n, mixed_text, GUESS)),
    "nb": ("2 keys", 4_000, None, lambda n: attacker_call("CategoricalNB", n, mixed_text, GUESS)),
    "rf": ("2 keys", 800, None, lambda n: attacker_call("CategoricalRF", n, mixed_text, GUESS)),
    "svm": ("2 keys", 2_000, None, lambda n: attacker_call("CategoricalSVM", n, mixed_text, GUESS)),
    "ensemble": (
        "2 keys; CAP, NB and KNN vote", 1_500, None,
        lambda n: attacker_call("CategoricalEnsemble", n, mixed_text, GUESS, **VOTERS),
    ),
    "lr": ("2 keys", 2_000, None, lambda n: attacker_call("NumericalLR", n, numbers, NUMBERS)),
    "mlp": ("2 keys", 2_000, None, lambda n: attacker_call("NumericalMLP", n, numbers, NUMBERS)),
    "svr": ("2 keys", 2_000, None, lambda n: attacker_call("NumericalSVR", n, numbers, NUMBERS)),
    "radius": ("2 keys", 150, None, lambda n: attacker_call("NumericalRadiusNearestNeighbor", n, numbers, NUMBERS)),
}  # fmt: skip


def mixed_text(n: int, seed: int) -> Any:
    return mixed(n, seed)[["c0", "c1", "c2"]]


def rows_of(name: str, quick: bool) -> int:
    return SPEED[name][1] // (QUICK if quick else 1)


def one_pair(name: str, quick: bool) -> dict[str, Any]:
    """Return a line of the speed table, but for divulge's memory."""
    what, _, goal, make = SPEED[name]
    n = rows_of(name, quick)
    found = beside(lambda: make(n), repeats=5)
    return {"metric": make(2).metric, "what": what, "rows": n, "goal": goal, **found}


def alone(name: str, quick: bool) -> dict[str, Any]:
    """Return the peak memory of a process in which divulge alone ran."""
    ours(SPEED[name][3](rows_of(name, quick)))
    return {"peak_mb": peak_mb()}


# ---------------------------------------------------------------- real tables


@dataclass
class Real:
    """Tables of one population: what the synthesizer saw, what it made, and others; and the metadata."""

    train: Any
    synthetic: Any
    holdout: Any
    metadata: dict[str, Any]
    keys: list[str]
    """Categories."""
    target: str
    continuous: list[str]
    """Numbers, for the disclosure metrics and the numerical attackers."""


def read(data: Path, name: str, **more: Any) -> Any:
    import pandas as pd

    table = pd.read_csv(data / name, **more) if name.endswith(".csv") else pd.read_parquet(data / name)
    for column in table.columns:  # SDMetrics stumbles over missing values of nullable dtypes
        if pd.api.types.is_extension_array_dtype(table[column].dtype):
            numeric = pd.api.types.is_numeric_dtype(table[column].dtype)
            table[column] = table[column].to_numpy(float, na_value=np.nan) if numeric else as_objects(table[column])
    return table


def as_objects(column: Any) -> Any:
    plain = column.astype(object)
    return plain.where(plain.notna(), None)


def entries(table: Any, **kinds: str) -> dict[str, Any]:
    """Return metadata by dtype, but for the columns named."""
    found = meta(table)
    for name, kind in kinds.items():
        found["columns"][name] = {"sdtype": kind}
    return found


def some(table: Any, n: int) -> Any:
    return table.sample(n=min(n, len(table)), random_state=1).reset_index(drop=True)


def parts(table: Any, n_parts: int, n: int) -> list[Any]:
    """Return disjoint random parts of n rows."""
    drawn = some(table, n_parts * n)
    return [drawn[i * n : (i + 1) * n].reset_index(drop=True) for i in range(n_parts)]


def adult(data: Path) -> Real:
    train, synthetic, holdout = (some(read(data, f"adult/{f}.parquet"), 1500) for f in ("train", "ctgan", "control"))
    keys = ["education", "race", "sex", "country", "marital"]
    return Real(train, synthetic, holdout, entries(train), keys, "income", ["age", "hr_per_week", "education_num"])


def census2k(data: Path) -> Real:
    train, holdout = (some(read(data, f"census2k/{f}.parquet"), 800) for f in ("train", "holdout"))
    synthetic = some(read(data, "census2k/syn_flip30.parquet"), 800)  # the same rows, each cell redrawn at 30%
    keys = ["workclass", "education", "race", "sex"]
    metadata = entries(train, education_num="categorical")
    return Real(train, synthetic, holdout, metadata, keys, "income", ["age", "hours_per_week", "fnlwgt"])


def hepatitis(data: Path) -> Real:
    train, holdout = (some(read(data, f"hepatitis/{f}.csv"), 600) for f in ("train", "holdout"))
    synthetic = some(read(data, "hepatitis/h_hepatitis_synthpop_1_syn.parquet"), 600)
    keys = ["Gender", "Fever", "Headache", "Jaundice"]
    metadata = entries(train, **dict.fromkeys([*keys, "Baselinehistological staging"], "categorical"))
    return Real(train, synthetic, holdout, metadata, keys, "Baselinehistological staging", ["Age", "BMI", "HGB"])


def acs(data: Path) -> Real:
    train, holdout = parts(read(data, "acs/tx2019.csv", dtype=object), 2, 700)
    synthetic = some(read(data, "acs/tx2019_syndiffix_0.parquet"), 700)  # all text
    keys = ["SEX", "MSP", "HISP", "EDU"]
    for t in (train, synthetic, holdout):
        for name in ("AGEP", "PWGTP", "WGTP"):
            t[name] = t[name].astype(float)
    return Real(train, synthetic, holdout, entries(train), keys, "PINCP_DECILE", ["AGEP", "PWGTP", "WGTP"])


def sd2011(data: Path) -> Real:
    names = ["sex", "age", "placesize", "region", "edu", "income", "marital", "ls", "depress", "smoke", "height", "bmi"]
    # other people stand in for a synthetic table
    train, synthetic, holdout = parts(read(data, "sd2011/sd2011.parquet")[names], 3, 1000)
    return Real(
        train, synthetic, holdout, entries(train), ["sex", "region", "placesize", "edu"], "ls", ["age", "height", "bmi"]
    )


def penguins(data: Path) -> Real:
    train, holdout = (read(data, f"penguins/{f}.csv") for f in ("train", "holdout"))
    numbers_ = ["culmen_length_mm", "culmen_depth_mm", "flipper_length_mm"]
    return Real(train, read(data, "penguins/bn.csv"), holdout, entries(train), ["species", "island"], "sex", numbers_)


def placements(data: Path) -> Real:
    real, synthetic = read(data, "placements/real.csv"), read(data, "placements/synthetic.csv")
    metadata = json.loads((data / "placements/metadata.json").read_text())
    shared = [c for c in real.columns if c in synthetic.columns]
    (table,) = metadata["tables"].values()
    table["columns"] = {name: table["columns"][name] for name in shared}
    train, holdout = parts(real[shared], 2, 107)
    keys = ["gender", "high_spec", "degree_type", "work_experience"]
    numbers_ = ["second_perc", "high_perc", "mba_perc"]
    return Real(train, synthetic[shared], holdout, metadata, keys, "placed", numbers_)


def breast_cancer(data: Path) -> Real:
    names = ("train", "synthpop", "holdout")
    train, synthetic, holdout = (some(read(data, f"breast_cancer/{f}.csv"), 1200) for f in names)
    keys = ["Race", "Marital Status", "T Stage ", "N Stage"]
    return Real(train, synthetic, holdout, entries(train), keys, "Status", ["Age", "Tumor Size", "Survival Months"])


def baseball(data: Path) -> Real:
    names = ("train", "synthetic", "holdout")
    train, synthetic, holdout = (some(read(data, f"baseball/{f}.parquet"), 700) for f in names)
    return Real(train, synthetic, holdout, entries(train), ["country", "bats"], "throws", ["height", "weight"])


def bank(data: Path) -> Real:
    train, holdout = parts(read(data, "alc/BankChurnersNoId_original.parquet").iloc[:, :20], 2, 700)
    synthetic = some(read(data, "alc/BankChurnersNoId_weak.parquet").iloc[:, :20], 1400)  # the same rows, cells swapped
    keys = ["Gender", "Education_Level", "Marital_Status", "Income_Category"]
    numbers_ = ["Customer_Age", "Credit_Limit", "Total_Trans_Ct"]
    return Real(train, synthetic, holdout, entries(train), keys, "Attrition_Flag", numbers_)


TABLES: dict[str, Callable[[Path], Real]] = {
    "adult": adult, "census2k": census2k, "hepatitis": hepatitis, "acs": acs, "sd2011": sd2011, "penguins": penguins,
    "placements": placements, "breast_cancer": breast_cancer, "baseball": baseball, "bank": bank,
}  # fmt: skip
COMPLETE_NUMBERS = ("adult", "census2k", "hepatitis", "acs", "penguins", "placements", "breast_cancer", "bank")
LEARNERS = {
    "adult": ("CategoricalNB", "CategoricalKNN"), "census2k": ("CategoricalSVM", "CategoricalEnsemble"),
    "hepatitis": ("CategoricalRF", "CategoricalNB"), "acs": ("CategoricalNB", "CategoricalSVM"),
    "sd2011": ("CategoricalNB", "CategoricalRF"), "penguins": ("CategoricalKNN", "CategoricalSVM"),
    "placements": ("CategoricalRF", "CategoricalEnsemble"), "breast_cancer": ("CategoricalKNN", "CategoricalRF"),
    "baseball": ("CategoricalNB",), "bank": ("CategoricalSVM", "CategoricalKNN"),
}  # fmt: skip
REGRESSIONS = {
    "adult": ("NumericalLR",), "census2k": ("NumericalMLP",), "hepatitis": ("NumericalSVR",), "acs": ("NumericalLR",),
    "penguins": ("NumericalRadiusNearestNeighbor", "NumericalSVR"), "placements": ("NumericalMLP", "NumericalSVR"),
    "breast_cancer": ("NumericalLR",), "bank": ("NumericalRadiusNearestNeighbor", "NumericalMLP"),
}  # fmt: skip


def cases(name: str, r: Real) -> Iterator[tuple[str, Call]]:
    """Yield the cases of one table: what is asked, in words, and the call."""
    import pandas as pd

    pair = (r.train, r.synthetic)
    three = (*pair, r.holdout, r.metadata, None)
    fields = {"key_fields": r.keys, "sensitive_fields": [r.target]}
    few = {"num_rows_subsample": 100, "num_iterations": 3}
    for metric in ("CategoricalCAP", "CategoricalZeroCAP", "CategoricalGeneralizedCAP"):
        yield f"{len(r.keys)} keys", Call(metric, pair, fields)
    two = {"key_fields": r.keys[1:], "sensitive_fields": [r.target, r.keys[0]]}
    yield "two targets at once", Call("CategoricalZeroCAP", pair, two)
    cut = {"continuous_column_names": r.continuous}
    known = ([*r.keys[:2], r.continuous[0]], [r.target])
    ask = {"call": "compute_breakdown"}
    yield "a continuous key", Call("DisclosureProtection", (*pair, *known), cut, **ask)
    secret = (r.keys, [r.continuous[1]], "generalized_cap")
    yield "a continuous target, generalized_cap", Call("DisclosureProtection", (*pair, *secret), cut, **ask)
    sampled = {"verbose": False, **few}
    yield "100 rows, 3 times", Call("DisclosureProtectionEstimate", (*pair, *known, "zero_cap"), cut | sampled, **ask)
    yield "all columns", Call("DCROverfittingProtection", three, {}, **ask)
    yield "50 rows, 3 times", Call("DCROverfittingProtection", three, few | {"num_rows_subsample": 50}, **ask)
    yield "all columns", Call("DCRBaselineProtection", (*pair, r.metadata, None), {}, **ask)
    yield "100 rows, 3 times", Call("DCRBaselineProtection", (*pair, r.metadata, None), few, **ask)
    part = (r.train, some(r.synthetic, 250), r.metadata)
    yield "all columns", Call("NewRowSynthesis", part, {}, **ask)
    narrow = [r.target, *r.keys, r.continuous[0]]
    small = (r.train[narrow], some(r.synthetic, 250)[narrow], entries(r.train[narrow]))
    yield "six columns, tolerance 0.05", Call("NewRowSynthesis", small, {"numerical_match_tolerance": 0.05}, **ask)
    for metric in LEARNERS[name]:
        voters = VOTERS if metric == "CategoricalEnsemble" else {}
        head = (r.train[[*r.keys, r.target]].iloc[:250], r.synthetic[[*r.keys, r.target]])
        yield "250 people", Call(metric, head, fields | voters)
    for metric in REGRESSIONS.get(name, ()):
        n = 60 if metric == "NumericalRadiusNearestNeighbor" else 250
        head = (r.train[r.continuous].iloc[:n], pd.DataFrame(r.synthetic[r.continuous]).iloc[:n])
        yield f"{n} people", Call(metric, head, {"key_fields": r.continuous[1:], "sensitive_fields": r.continuous[:1]})


def copied(call: Call) -> Call:
    """Return a call with frames of its own: NewRowSynthesis writes into those that it gets."""
    return Call(call.metric, tuple(a.copy() if hasattr(a, "dtypes") else a for a in call.args), call.kwargs, call.call)


def real_cases(data: Path, name: str, quick: bool) -> list[dict[str, Any]]:
    """Return the lines of one table; both packages in this process, one after the other."""
    rows = []
    for i, (what, call) in enumerate(cases(name, TABLES[name](data))):
        if quick and i % 4:
            continue
        line = {"table": name, "rows": len(call.args[0]), "metric": call.metric, "what": what}
        try:
            found = beside(lambda call=call: copied(call), repeats=3)
        except Exception as error:
            found = {"failed": type(error).__name__}
            print(f"{name}, {call.metric}, {what}: {error!r}", file=sys.stderr)
        found.pop("sdmetrics_peak_mb", None)
        rows.append(line | found)
    return rows


# ---------------------------------------------------------------- quirks


def quirk_lines() -> list[dict[str, Any]]:
    """Return what both say about the quirks of the page."""
    sys.path.insert(0, str(PAGE))
    import sdmetrics.single_table
    import sdmetrics_page as page

    import divulge.sdmetrics.single_table

    lines = []
    both = [page.run_on(package) for package in (sdmetrics.single_table, divulge.sdmetrics.single_table)]
    for i, (quirk, a, b) in enumerate(zip(page.QUIRKS, *both, strict=True), 1):
        same = all(page.agree(x, y, 9) for x, y in zip(a, b, strict=True))
        stated = all(page.agree(x, y) for x, y in zip(a, quirk.gives, strict=True))
        lines.append({"quirk": f"Q{i}", "same": same, "as_stated": stated})
        if not (same and stated):
            print(f"Q{i}: SDMetrics {a}, divulge {b}, the page {quirk.gives}", file=sys.stderr)
    return lines


# ---------------------------------------------------------------- running and printing


def in_process_of_its_own(part: str, name: str, options: argparse.Namespace) -> Any:
    command = [sys.executable, "-W", "ignore", __file__, "--one", f"{part}:{name}"]
    command += ["--data", options.data] if options.data else []
    command += ["--quick"] if options.quick else []
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if "it/s" not in line]  # no progress bars
    print("".join(f"  {line}\n" for line in told[-8:]), end="", file=sys.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def one(part: str, name: str, options: argparse.Namespace) -> Any:
    if part == "speed":
        return one_pair(name, options.quick)
    if part == "alone":
        return alone(name, options.quick)
    return quirk_lines() if part == "quirks" else real_cases(Path(options.data), name, options.quick)


def run_speed(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for name in SPEED:
        before = load()
        found = in_process_of_its_own("speed", name, options)
        mine = in_process_of_its_own("alone", name, options)
        if found and mine:
            found |= mine | {"load": before}
            rows.append(found)
            print(speed_line(found), flush=True)
    return rows


def run_real(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for name in TABLES:
        found = in_process_of_its_own("real", name, options) or []
        rows += found
        for row in found:
            print(real_line(row), flush=True)
    return rows


def speed_line(r: dict[str, Any]) -> str:
    met = "-" if r["goal"] is None else "yes" if r["ratio"] >= r["goal"] else "NO"
    less = "yes" if r["peak_mb"] <= r["sdmetrics_peak_mb"] else "NO"
    return (
        f"{r['metric']:32} {r['rows']:6,} SDMetrics {r['sdmetrics_cpu']:8.2f} s  ours {r['cpu']:8.4f} s (first "
        f"{r['first_cpu']:.3f})  {r['ratio']:9,.0f} times (goal {met})  difference {r['difference']:.1e}  memory "
        f"{r['peak_mb']:.0f} of {r['sdmetrics_peak_mb']:.0f} MB ({less})"
    )


def real_line(r: dict[str, Any]) -> str:
    start = f"{r['table']:14} {r['metric']:32} {r['what']:40}"
    if "failed" in r:
        return f"{start} FAILED {r['failed']}"
    values = [f"{math.nan if r[k] is None else r[k]:.6f}" for k in ("sdmetrics", "divulge")]
    times = f"{r['sdmetrics_cpu']:8.2f} s {r['ratio']:8,.0f} times"
    return f"{start} {values[0]:>9} {values[1]:>9} {r['difference']:.1e} {times}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the real tables, one folder each; part real needs it")
    parser.add_argument("--parts", default=",".join(PARTS), help="speed, quirks, real")
    parser.add_argument("--quick", action="store_true", help="fewer rows and cases, to see that it runs")
    parser.add_argument("--json", default="benchmarks/drop_in.json", help="where to write the figures")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(one(*options.one.split(":"), options)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    path, asked = Path(options.json), options.parts.split(",")
    report = json.loads(path.read_text()) if path.exists() else {}
    where = environment(("divulge", "sdmetrics", "numpy", "pandas", "scikit-learn"))
    runs: dict[str, Callable[[], Any]] = {
        "speed": lambda: run_speed(options),
        "quirks": lambda: in_process_of_its_own("quirks", "all", options),
        "real": lambda: run_real(options),
    }
    for part in PARTS:
        if part in asked and (part != "real" or options.data):
            print(f"part {part} ...", file=sys.stderr)
            report[part] = {"environment": where, "quick": options.quick, "rows": runs[part]()}
    path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
