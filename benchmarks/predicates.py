"""How long it takes to count the rows that meet predicates, beside pandas.query and polars on the same rows.

    python benchmarks/predicates.py                               a simulated table of a million rows (3 minutes)
    python benchmarks/predicates.py --adult DIR                   a Gaussian copula of Adult instead
    python benchmarks/predicates.py --rows 100000 --sample 20     smaller
    python benchmarks/predicates.py --docs docs/speed.md          also refresh the table of that page

Predicates are made as singling out makes them, from rows of a synthetic table of 100,000 rows: a category is equal
to that of the row; a number is at least the row's where that is above the median, otherwise at most it. They are
counted in a real table of a million rows. pandas and polars count a sample of them (their time per predicate is the
same for all), and their counts must be ours. pandas.query and polars get texts, and then categories.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cap import N_CORES, environment, load, measured, peak_mb, put_between_marks, row, seconds  # isort: skip
from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions, Matches

Table = dict[str, np.ndarray]
"""`numbers` float64 (n, p) and `codes` int32 (n, c)."""

LEVELS = (9, 16, 7, 15, 6, 5, 2, 41, 2)
SKEWS = (1.8, 1.0, 1.3, 0.4, 1.0, 2.5, 0.6, 3.0, 1.6)
N_CLASSES = 12
N_SYNTHETIC = 100_000
MOST = 64


# ---------------------------------------------------------------- tables


def census(n: int, seed: int) -> Table:
    """Return six numbers and nine categories, about as skewed as those of Adult; hidden classes tie them together."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    share = fixed.dirichlet(np.ones(N_CLASSES))
    of_row = rng.choice(N_CLASSES, n, p=share)
    codes = np.empty((n, len(LEVELS)), dtype=np.int32)
    for j, (n_levels, skew) in enumerate(zip(LEVELS, SKEWS, strict=True)):
        frequent = np.arange(1, n_levels + 1.0) ** -skew
        by_class = frequent * fixed.gamma(1.0, size=(N_CLASSES, n_levels))
        edges = np.cumsum(by_class / by_class.sum(axis=1, keepdims=True), axis=1)
        u = rng.random(n)
        for k in range(N_CLASSES):
            some = of_row == k
            codes[some, j] = np.minimum(np.searchsorted(edges[k], u[some]), n_levels - 1)
    centre = fixed.normal(size=(N_CLASSES, 6))[of_row]
    z = centre + rng.normal(size=(n, 6))
    numbers = np.stack(
        [
            np.clip(np.round(39 + 11 * z[:, 0]), 17, 90),
            np.round(np.exp(12 + 0.4 * z[:, 1])),
            np.clip(np.round(10 + 2 * z[:, 2]), 1, 16),
            np.where(z[:, 3] > 1.9, 100 * np.round(np.exp(1.5 + z[:, 3])), 0),
            np.where(z[:, 4] > 2.2, 10 * np.round(150 + 20 * z[:, 4]), 0),
            np.clip(np.round(40 + 9 * z[:, 5]), 1, 99),
        ],
        axis=1,
    )
    numbers[rng.random(n) < 0.01, 5] = np.nan
    return {"numbers": numbers, "codes": codes}


def ranks(tables: list[Table]) -> list[np.ndarray]:
    """Return int32 ranks over all tables, numbers first; 0 is missing."""
    parts = np.cumsum([len(t["codes"]) for t in tables])[:-1]
    columns = []
    for j in range(tables[0]["numbers"].shape[1]):
        values = np.concatenate([t["numbers"][:, j] for t in tables])
        known = np.unique(values[~np.isnan(values)])
        columns.append(np.where(np.isnan(values), 0, np.searchsorted(known, values) + 1).astype(np.int32))
    columns += [np.concatenate([t["codes"][:, j] for t in tables]) + 1 for j in range(len(LEVELS))]
    return np.split(np.stack(columns, axis=1), parts)


# ---------------------------------------------------------------- predicates


def made_from(codes: np.ndarray, n_numbers: int, m: int, k: int, rng: np.random.Generator) -> Predicates:
    """Return m predicates of k columns, each made from a row."""
    column = np.argsort(rng.random((m, codes.shape[1])), axis=1)[:, :k].astype(np.int32)
    value = codes[rng.integers(0, len(codes), m)[:, None], column]
    median = np.median(codes, axis=0)[column]
    upper, lower = (column < n_numbers) & (value > median), (column < n_numbers) & (value <= median) & (value > 0)
    low = np.where(lower, 1, value).astype(np.int32)
    high = np.where(upper, 2**31 - 1, value).astype(np.int32)
    return Predicates(column, low, high, np.full(m, k))


def that_single_out(
    table: Conjunctions, codes: np.ndarray, n_numbers: int, m: int, k: int, rng: np.random.Generator
) -> tuple[Predicates, int]:
    """Return m predicates that one row of the table meets, and how many were tried."""
    found: list[Predicates] = []
    tries = 0
    while sum(map(len, found)) < m:
        candidates = made_from(codes, n_numbers, 200_000, k, rng)
        found.append(candidates.take(table.count(candidates) == 1))
        tries += len(candidates)
    return Predicates.concatenate(found).take(slice(0, m)), tries


# ---------------------------------------------------------------- peers


def frame_of(table: Table, kind: str) -> Any:
    columns: dict[str, Any] = {f"n{j}": column for j, column in enumerate(table["numbers"].T)}
    texts = {
        f"c{j}": np.array([f"v{c:02d}" for c in range(max(LEVELS))], dtype=object)[column]
        for j, column in enumerate(table["codes"].T)
    }
    if kind.startswith("pandas"):
        import pandas as pd

        frame = pd.DataFrame(columns | texts)
        return frame.astype(dict.fromkeys(texts, "category")) if kind.endswith("categories") else frame
    import polars as pl

    polars_frame = pl.DataFrame(columns | texts).with_columns(pl.col("^n.*$").fill_nan(None))
    return (
        polars_frame.with_columns(pl.col("^c.*$").cast(pl.Categorical)) if kind.endswith("categories") else polars_frame
    )


def conditions(predicates: Predicates, i: int, values: list[np.ndarray]) -> list[tuple[str, str, Any]]:
    """Return the conditions of one predicate as (column, operator, value)."""
    out: list[tuple[str, str, Any]] = []
    n_numbers = len(values)
    for j, low, high in zip(predicates.column[i], predicates.low[i], predicates.high[i], strict=True):
        if j >= n_numbers:
            out.append((f"c{j - n_numbers}", "==", f"v{low - 1:02d}"))
        elif high == 0:
            out.append((f"n{j}", "missing", None))
        elif low == 1:
            out.append((f"n{j}", "<=", values[j][high - 1]))
        else:
            out.append((f"n{j}", ">=", values[j][low - 1]))
    return out


def by_pandas(frame: Any, asked: list[tuple[str, str, Any]]) -> int:
    words = [f"{c}.isna()" if op == "missing" else f"{c} {op} {value!r}" for c, op, value in asked]
    return len(frame.query(" & ".join(words).replace("np.float64", ""), engine="python"))


def by_polars(frame: Any, asked: list[tuple[str, str, Any]]) -> int:
    import polars as pl

    tests = {"==": pl.Expr.eq, "<=": pl.Expr.le, ">=": pl.Expr.ge}
    met = [pl.col(c).is_null() if op == "missing" else tests[op](pl.col(c), pl.lit(v)) for c, op, v in asked]
    return int(frame.lazy().filter(*met).select(pl.len()).collect().item())


PEERS: dict[str, tuple[Callable[..., int], float | None]] = {
    "pandas.query, texts": (by_pandas, 300),
    "pandas.query, categories": (by_pandas, None),
    "polars, texts": (by_polars, 15),
    "polars, categories": (by_polars, 15),
}


# ---------------------------------------------------------------- the run


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rng = np.random.default_rng(4)
    if options.adult:
        from neighbours import adult_copula

        real, synthetic = (adult_copula(options.adult, n, seed) for n, seed in ((options.rows, 1), (N_SYNTHETIC, 2)))
    else:
        real, synthetic = census(options.rows, 1), census(N_SYNTHETIC, 2)
    n_numbers, size = real["numbers"].shape[1], f"{options.rows:,} rows"
    rows = []

    def timed(what: str, goal: str, limit: float | None, m: int, ours: dict[str, float], **more: Any) -> None:
        note = f"{1e6 * ours['wall'] / m:,.2f} us a predicate" if m else ""
        note = "; ".join(x for x in (note, more.pop("note", "")) if x)
        met = None if limit is None else ours["wall"] <= limit
        rows.append(row("13", what, goal, met, ours, note=note, load=load(), **more))

    kept: list[Any] = [None, None]

    def code() -> None:
        kept[0] = ranks([real, synthetic])

    timed(f"rank coding of {size} and {N_SYNTHETIC:,}", "", None, 0, measured(code, repeats=1))
    real_codes, synthetic_codes = kept[0]
    values = [
        np.unique(x[~np.isnan(x)])
        for x in (np.concatenate([real["numbers"][:, j], synthetic["numbers"][:, j]]) for j in range(n_numbers))
    ]
    nobody = made_from(synthetic_codes, n_numbers, 1, 2, rng)
    Conjunctions(synthetic_codes[:2000], engine="compiled").count(nobody)  # compiles, or loads

    def index(which: int, codes: np.ndarray) -> None:
        kept[which] = Conjunctions(codes, engine="compiled")
        kept[which].count(nobody)

    ours = measured(lambda: index(0, real_codes), repeats=3)
    table = kept[0]
    timed(
        f"index of {size}", "", None, 0, ours, peak_mb=peak_mb(), note=f"{table.n_bytes / options.rows:.0f} bytes a row"
    )
    timed(
        f"index of {N_SYNTHETIC:,} synthetic rows", "", None, 0, measured(lambda: index(1, synthetic_codes), repeats=3)
    )
    synthetic_table = kept[1]
    for k in (1, 2, 3, 4, 5):
        random = made_from(synthetic_codes, n_numbers, 20_000, k, rng)
        goal, limit = ("<= 0.5 s", 0.5) if k == 5 else ("", None)
        what = f"20,000 random predicates of {k} conditions, {size}, up to "
        timed(what + "2", goal, limit, 20_000, measured(lambda p=random: table.count(p, most=1)))
        if k in (3, 5):
            timed(what + f"{MOST + 1}", goal, limit, 20_000, measured(lambda p=random: table.matches(p, most=MOST)))
    for k in (3, 5):
        began, used = time.perf_counter(), time.process_time()
        chosen, tries = that_single_out(synthetic_table, synthetic_codes, n_numbers, options.guesses, k, rng)
        clocks = {"wall": time.perf_counter() - began, "cpu": time.process_time() - used, "repeats": 1}
        many = made_from(synthetic_codes, n_numbers, 200_000, k, rng)
        timed(
            f"{tries:,} predicates of {k} conditions made by numpy, and the {len(chosen):,} among them that single out",
            "",
            None,
            tries,
            clocks | {"first_wall": clocks["wall"]},
        )
        timed(
            f"200,000 candidates of {k} conditions, {N_SYNTHETIC:,} synthetic rows, up to 2", "", None, 200_000,
            measured(lambda p=many: synthetic_table.count(p)),
        )  # fmt: skip
        timed(
            f"{len(chosen):,} that single out, {k} conditions, {size}, up to 2", "", None, len(chosen),
            measured(lambda p=chosen: table.count(p)),
        )  # fmt: skip
        answers: list[Matches] = []
        ours = measured(lambda p=chosen, a=answers: a.append(table.matches(p, most=MOST)))
        timed(f"the same, rows listed up to {MOST}", "", None, len(chosen), ours, peak_mb=peak_mb())
        rows.extend(beside_peers(real, chosen, answers[0].count, ours, k, values, options))
    return rows


def beside_peers(
    real: Table,
    chosen: Predicates,
    count: np.ndarray,
    ours: dict[str, float],
    k: int,
    values: list[np.ndarray],
    options: argparse.Namespace,
) -> list[dict[str, Any]]:
    out = []
    for kind, (peer, goal) in PEERS.items():
        frame = frame_of(real, kind)
        asked = [conditions(chosen, i, values) for i in range(min(options.sample, len(chosen)))]
        peer(frame, asked[0])
        before, began, used = load(), time.perf_counter(), time.process_time()
        theirs = [min(peer(frame, a), MOST + 1) for a in asked]
        wall, cpu = time.perf_counter() - began, time.process_time() - used
        if theirs != count[: len(asked)].tolist():
            raise AssertionError(f"{kind} counts otherwise")
        scale = len(chosen) / len(asked)
        ratio, by_cpu = wall * scale / ours["wall"], cpu * scale / ours["cpu"]
        note = (
            f"{1e6 * wall / len(asked):,.0f} us a predicate, {len(asked)} timed, counts equal; "
            f"{by_cpu:,.0f} times by CPU time"
        )
        met = None if goal is None else min(ratio, by_cpu) >= goal
        clocks = {"first_wall": wall * scale, "wall": wall * scale, "cpu": cpu * scale, "repeats": 1}
        what = f"{kind}: the same {len(chosen):,} predicates of {k} conditions"
        goal_text = "" if goal is None else f">= {goal:.0f} times"
        out.append(row("13", what, goal_text, met, clocks, ratio=ratio, note=note, load=before))
    return out


def markdown(report: dict[str, Any]) -> str:
    lines = [
        "| what | goal | met | wall, s | CPU, s | times the peer | peak, MB | how |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in report["rows"]:
        met = {True: "yes", False: "**no**", None: "-"}[r["met"]]
        ratio, peak = (f"{r[k]:,.0f}" if k in r else "" for k in ("ratio", "peak_mb"))
        clocks = [seconds(r[k]) for k in ("wall", "cpu")]
        lines.append("| " + " | ".join([r["what"], r["goal"], met, *clocks, ratio, peak, r["note"]]) + " |")
    where = report["environment"]
    packages = ", ".join(f"{k} {v}" for k, v in where["packages"].items())
    loads = sorted({r["load"] for r in report["rows"]})
    ran = (
        f"Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python {where['python']}, "
        f"{packages}; load {loads[0]} to {loads[-1]}."
    )
    return "\n".join([*lines, "", ran])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="folder with train.parquet of the Adult census table")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the real table")
    parser.add_argument("--guesses", type=int, default=2_000, help="predicates that single out")
    parser.add_argument("--sample", type=int, default=40, help="predicates that the peers count")
    parser.add_argument("--json", help="where to write the figures")
    parser.add_argument("--docs", help="page whose table is replaced")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    rows = run(options)
    report = {
        "environment": environment(("divulge", "pandas", "polars", "numpy")),
        "rows": rows,
    }
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    print(table)
    if options.docs:
        put_between_marks(Path(options.docs), table, "predicates")


if __name__ == "__main__":
    main()
