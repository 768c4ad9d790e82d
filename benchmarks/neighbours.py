"""How long exact nearest neighbours take, beside SDMetrics, Anonymeter, scikit-learn and FAISS on the same rows.

    python benchmarks/neighbours.py --adult DIR --docs docs/speed-neighbours.md    all parts (about 20 minutes)
    python benchmarks/neighbours.py --parts 4,7 --quick                            some parts without peers; no file

The distance is Gower's in all of them: |a - b| / range for numbers, 0 or 1 for categories. scikit-learn and FAISS
get it as the L1 distance of scaled numbers and halved one-hot columns. Peers are quadratic: they run on 2,000
(SDMetrics) or 10,000 rows a side and are scaled to the pairs of the larger task by their time per pair; part 3
scales nothing. `--adult DIR` holds train.parquet and control.parquet of the Adult census table: a Gaussian copula
fitted to it makes tables of any size, and part 3 needs it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cap import N_CORES, environment, load, measured, peak_mb, put_between_marks, row, seconds  # isort: skip

Table = dict[str, np.ndarray]
"""`numbers` float64 (n, p) and `codes` int32 (n, c)."""

ADULT_NUMBERS = ["age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hr_per_week"]
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
WIDTHS = (5, 10, 15, 20, 30, 50)


# ---------------------------------------------------------------- tables


def factors(n: int, p: int, c: int, seed: int, rank: int = 4, load: float = 0.9) -> Table:
    """Return columns that share a few factors: numbers of four natures, categories of 2 to 40 skewed levels."""
    from scipy.special import ndtr

    d = p + c
    fixed, rng = np.random.default_rng(12_345 + d), np.random.default_rng(seed)
    weight = fixed.normal(size=(d, rank))
    weight *= load / np.linalg.norm(weight, axis=1, keepdims=True)
    natures, levels = fixed.integers(0, 4, p), fixed.choice([2, 2, 3, 4, 5, 7, 9, 15, 40], c)
    out = {"numbers": np.empty((n, p)), "codes": np.empty((n, c), np.int32)}
    for a in range(0, n, 100_000):
        b = min(n, a + 100_000)
        noise = np.sqrt(1 - load**2) * rng.normal(size=(b - a, d))
        u = ndtr(rng.normal(size=(b - a, rank)) @ weight.T + noise)
        for j in range(p):
            x = u[:, j]
            out["numbers"][a:b, j] = (
                100 * x,
                np.minimum(-np.log1p(-x * (1 - 1e-9)), 12),
                np.floor(60 * x),
                np.where(x < 0.6, 0, np.round(5000 * (x - 0.6))),
            )[natures[j]]
        for j in range(c):
            share = np.cumsum(1 / np.arange(1, levels[j] + 1))
            out["codes"][a:b, j] = np.searchsorted(share[:-1] / share[-1], u[:, p + j])
    return out


def uniform(n: int, p: int, c: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    return {"numbers": rng.random((n, p)), "codes": rng.integers(0, 6, (n, c)).astype(np.int32)}


def lognormal(n: int, sigma: float, seed: int) -> Table:
    """Return six lognormal columns and nine categories: with sigma 5 a few rows make the whole range."""
    rng = np.random.default_rng(seed)
    return {"numbers": np.exp(sigma * rng.normal(size=(n, 6))), "codes": rng.integers(0, 4, (n, 9)).astype(np.int32)}


def adult_copula(folder: str, n: int, seed: int) -> Table:
    """Return rows with the margins and rank correlations of Adult."""
    import polars as pl
    from scipy.stats import norm, rankdata

    real = pl.read_parquet(Path(folder) / "train.parquet")
    named = [c for c in real.columns if c not in ADULT_NUMBERS]
    numbers = real[ADULT_NUMBERS].to_numpy().astype(float)
    codes = np.stack([real[c].cast(pl.String).cast(pl.Categorical).to_physical().to_numpy() for c in named], axis=1)
    fit, rng = np.random.default_rng(0), np.random.default_rng(seed)
    scores, ladders = [], []
    jitter = 1e-9 * fit.random(numbers.shape)
    scores += list((rankdata(numbers + jitter, axis=0).T - 0.5) / len(numbers))
    for j in range(codes.shape[1]):
        count = np.bincount(codes[:, j])
        order = np.argsort(-count)
        edges = np.append(0, np.cumsum(count[order])) / len(codes)
        place = np.argsort(order)[codes[:, j]]
        scores.append(edges[place] + fit.random(len(codes)) * (edges[place + 1] - edges[place]))
        ladders.append((order, edges))
    correlation = np.corrcoef(norm.ppf(np.clip(scores, 1e-6, 1 - 1e-6)))
    root = np.linalg.cholesky(correlation + 1e-6 * np.eye(len(scores)))
    u = norm.cdf(rng.normal(size=(n, len(scores))) @ root.T)
    p = numbers.shape[1]
    out = {"numbers": np.empty((n, p)), "codes": np.empty((n, len(named)), np.int32)}
    for j in range(p):
        known = np.sort(numbers[:, j])
        place = np.minimum((u[:, j] * len(known)).astype(int), len(known) - 1)
        out["numbers"][:, j] = known[place]
        if ADULT_NUMBERS[j] == "fnlwgt":
            grid = (np.arange(len(known)) + 0.5) / len(known)
            out["numbers"][:, j] = np.round(np.interp(u[:, j], grid, known))
    for j, (order, edges) in enumerate(ladders):
        out["codes"][:, j] = order[np.minimum(np.searchsorted(edges[1:], u[:, p + j], side="right"), len(order) - 1)]
    return out


def workload(name: str, n: int, adult: str | None) -> tuple[Table, Table]:
    """Return reference rows and queries, n each."""
    make: dict[str, Callable[[int], Table]] = {
        "15 columns": lambda seed: adult_copula(adult, n, seed) if adult else factors(n, 6, 9, seed),
        "20 columns": lambda seed: factors(n, 10, 10, seed),
        "50 columns": lambda seed: factors(n, 25, 25, seed, rank=5),
        "20 columns, independent": lambda seed: uniform(n, 10, 10, seed),
        "20 numbers, independent": lambda seed: uniform(n, 20, 0, seed),
        "lognormal, sigma 1": lambda seed: lognormal(n, 1.0, seed),
        "lognormal, sigma 5": lambda seed: lognormal(n, 5.0, seed),
    }
    return make[name](1), make[name](2)


def frame(table: Table, kind: str) -> Any:
    """Return the table as polars or pandas, categories as text."""
    numbers = {f"n{j:02}": table["numbers"][:, j] for j in range(table["numbers"].shape[1])}
    texts = np.array([f"v{i:03d}" for i in range(int(table["codes"].max(initial=0)) + 1)], dtype=object)
    words = {f"c{j:02}": texts[table["codes"][:, j]] for j in range(table["codes"].shape[1])}
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(numbers | {k: pl.Series(v.tolist(), dtype=pl.String) for k, v in words.items()})
    import pandas as pd

    return pd.DataFrame(numbers | words)


# ---------------------------------------------------------------- divulge and the peers


def fields(reference: Table, queries: Table) -> Any:
    from divulge.kernels.neighbours.gower import Field, fit_ruler

    tables = (reference, queries)
    out = [
        Field(
            f"n{j:02}",
            tuple(t["numbers"][:, j] for t in tables),
            tuple(np.zeros(len(t["codes"]), np.int32) for t in tables),
        )
        for j in range(reference["numbers"].shape[1])
    ]
    out += [
        Field(f"c{j:02}", None, tuple(t["codes"][:, j].astype(np.int32) for t in tables))
        for j in range(reference["codes"].shape[1])
    ]
    return fit_ruler(out, [0])


def search(reference: Table, queries: Table, k: int = 1, repeats: int = 3) -> dict[str, float]:
    """Return the seconds of divulge from numbers and codes: ruler, index and search."""
    from divulge.kernels.neighbours.index import Index

    def ours() -> Any:
        ruler, (a, b) = fields(reference, queries)
        return Index(ruler, a).nearest(b, k)

    return measured(ours, repeats)


def one_hot(reference: Table, queries: Table, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    low = reference["numbers"].min(axis=0) if reference["numbers"].size else 0
    span = np.ptp(reference["numbers"], axis=0) if reference["numbers"].size else 1
    n_levels = [
        int(max(t["codes"][:, j].max() for t in (reference, queries))) + 1 for j in range(reference["codes"].shape[1])
    ]
    out = []
    for t in (reference, queries):
        parts = [(t["numbers"] - low) / span]
        parts += [0.5 * np.eye(size)[t["codes"][:, j]] for j, size in enumerate(n_levels)]
        out.append(np.ascontiguousarray(np.concatenate(parts, axis=1).astype(dtype)))
    return out[0], out[1]


def peer_sdmetrics(reference: Table, queries: Table) -> Callable[[], Any]:
    from sdmetrics.single_table.privacy.dcr_utils import calculate_dcr

    a, b = frame(reference, "pandas"), frame(queries, "pandas")
    kinds = {c: {"sdtype": "numerical" if c.startswith("n") else "categorical"} for c in a.columns}
    return lambda: calculate_dcr(b, a, {"columns": kinds})


def peer_anonymeter(reference: Table, queries: Table) -> Callable[[], Any]:
    import anonymeter.evaluators  # noqa: F401 # its neighbours cannot be imported first
    from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors

    a, b = frame(reference, "pandas"), frame(queries, "pandas")
    kinds = {"num": [c for c in a.columns if c.startswith("n")], "cat": [c for c in a.columns if c.startswith("c")]}
    return lambda: MixedTypeKNeighbors(n_neighbors=1, n_jobs=N_CORES).fit(a, ctypes=kinds).kneighbors(b)


def peer_sklearn(algorithm: str) -> Callable[[Table, Table], Callable[[], Any]]:
    def make(reference: Table, queries: Table) -> Callable[[], Any]:
        from sklearn.neighbors import NearestNeighbors

        a, b = one_hot(reference, queries, np.float64)
        search = NearestNeighbors(n_neighbors=1, algorithm=algorithm, metric="manhattan", n_jobs=N_CORES)
        return lambda: search.fit(a).kneighbors(b)

    return make


def peer_faiss(reference: Table, queries: Table) -> Callable[[], Any]:
    import faiss

    faiss.omp_set_num_threads(N_CORES)
    a, b = one_hot(reference, queries, np.float32)

    def call() -> Any:
        index = faiss.IndexFlat(a.shape[1], faiss.METRIC_L1)
        index.add(a)
        return index.search(b, 1)

    return call


PEERS: dict[str, tuple[int, Callable[[Table, Table], Callable[[], Any]]]] = {
    "SDMetrics": (2_000, peer_sdmetrics),
    "Anonymeter": (10_000, peer_anonymeter),
    "scikit-learn brute": (10_000, peer_sklearn("brute")),
    "scikit-learn ball tree": (10_000, peer_sklearn("ball_tree")),
    "FAISS flat L1": (10_000, peer_faiss),
}


def beside(
    name: str, goals: dict[str, int], options: argparse.Namespace, number: str, n: int = 100_000
) -> list[dict[str, Any]]:
    """Return a row for each peer: its time per pair, scaled to n x n, over that of divulge on n x n in the same run."""
    mine = search(*workload(name, n, options.adult))
    out = [row(number, f"{n:,} x {n:,}, {name}", "without a peer", None, mine)] if options.quick else []
    for peer, times in goals.items() if not options.quick else ():
        size, make = PEERS[peer]
        call = make(*workload(name, size, options.adult))
        theirs = measured(call, repeats=1 if size > 2_000 else 2)
        ratio = theirs["cpu"] / size**2 * n**2 / mine["cpu"]
        each = 1e9 * theirs["cpu"] / size**2
        note = f"{peer} on {size:,} x {size:,}: {theirs['cpu']:.1f} s of CPU, {each:,.1f} ns a pair"
        goal = f">= {times:,} times {peer} (CPU, scaled)" if times else f"beside {peer} (CPU, scaled)"
        out.append(
            row(number, f"{n:,} x {n:,}, {name}", goal, ratio >= times if times else None, mine, ratio=ratio, note=note)
        )
    return out


def within(first: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return a row with one goal more: the most seconds of wall clock."""
    return first | {
        "goal": f"{first['goal']}, <= {limit:g} s",
        "met": first["met"] is not False and first["wall"] <= limit,
    }


# ---------------------------------------------------------------- parts: the goals


def part_1(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A hundred thousand rows a side, from arrays and from frames."""
    import divulge

    tables = workload("15 columns", 100_000, options.adult)
    out = [search(*tables, repeats=5)]
    what = "100,000 x 100,000, 15 columns, "
    rows = [row("1", what + "from codes", "<= 0.5 s", out[0]["wall"] <= 0.5, out[0])]
    for kind in ("polars", "pandas"):
        a, b = (frame(t, kind) for t in tables)
        ours = measured(lambda a=a, b=b: divulge.nearest(b, a, ranges_from=a))
        rows.append(row("1", what + f"from {kind} frames of text", "<= 0.8 s", ours["wall"] <= 0.8, ours))
    return rows


def part_2(options: argparse.Namespace) -> list[dict[str, Any]]:
    goals = {
        "SDMetrics": 20_000,
        "Anonymeter": 2_000,
        "scikit-learn brute": 1_000,
        "scikit-learn ball tree": 0,
        "FAISS flat L1": 150,
    }
    return beside("15 columns", goals, options, "2")


def part_3(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Twenty thousand rows of Adult a side, from frames, against scikit-learn in full (wall clock)."""
    if not options.adult:
        return []
    import polars as pl
    from sklearn.neighbors import NearestNeighbors

    import divulge

    a, b = (pl.read_parquet(Path(options.adult) / f"{t}.parquet").head(20_000).to_pandas() for t in ("train", "ctgan"))
    ours = measured(lambda: divulge.nearest(b, a, ranges_from=a, columns=list(a.columns)))
    what = "20,000 x 20,000 rows of Adult from pandas, wall clock"
    if options.quick:
        return [row("3", what, "a 200th of scikit-learn brute (wall)", None, ours)]

    def theirs() -> Any:
        import pandas as pd

        numbers = a[ADULT_NUMBERS].to_numpy(float)
        low, span = numbers.min(axis=0), np.ptp(numbers, axis=0)
        both = pd.get_dummies(pd.concat([a, b]).drop(columns=ADULT_NUMBERS).astype(str)).to_numpy(float) * 0.5
        x, y = (
            np.hstack([(t[ADULT_NUMBERS].to_numpy(float) - low) / span, d])
            for t, d in zip((a, b), np.split(both, [len(a)]), strict=True)
        )
        return (
            NearestNeighbors(n_neighbors=1, algorithm="brute", metric="manhattan", n_jobs=N_CORES).fit(x).kneighbors(y)
        )

    peer = measured(theirs, repeats=1)
    note = f"scikit-learn, in full and once: {peer['wall']:.1f} s wall, {peer['cpu']:.1f} s of CPU"
    ratio = peer["wall"] / ours["wall"]
    return [
        row(
            "3",
            what,
            ">= 200 times scikit-learn brute (wall)",
            ratio >= 200,
            ours,
            ratio=ratio,
            note=note,
        )
    ]


def part_4(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A million rows a side, and what the index weighs."""
    from divulge.kernels.neighbours.index import Index

    rows = []
    for name, goal in (("15 columns", 6), ("20 columns", 12)):
        tables = workload(name, 1_000_000, options.adult)
        loaded = peak_mb()
        ours = search(*tables, repeats=2)
        peak = peak_mb()
        ruler, (a, _) = fields(*tables)
        tree = Index(ruler, a)._compiled_index("compiled").built()
        weight = sum(getattr(x, "nbytes", 0) for x in tree) / 1_000_000
        note = f"index {weight:.0f} bytes a row (goal 120); {loaded:.0f} MB before"
        met = ours["wall"] <= goal and weight <= 120
        rows.append(row("4", f"1M x 1M, {name}", f"<= {goal} s", met, ours, peak_mb=peak, note=note))
        del tables
    return rows


def part_6(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = beside("20 columns, independent", {"FAISS flat L1": 15, "scikit-learn brute": 60}, options, "6")
    rows[0] = within(rows[0], 3)
    return rows + beside("20 numbers, independent", {"FAISS flat L1": 7}, options, "6")


def part_7(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = beside("50 columns", {"FAISS flat L1": 40, "scikit-learn brute": 300, "SDMetrics": 5_000}, options, "7")
    rows[0] = within(rows[0], 4)
    return rows


def part_8(options: argparse.Namespace) -> list[dict[str, Any]]:
    one, five = (search(*workload(f"lognormal, sigma {s}", 100_000, None)) for s in (1, 5))
    ratio = five["cpu"] / one["cpu"]
    note = f"{ratio:.2f} times the CPU of sigma 1 ({one['cpu']:.2f} s)"
    return [
        row("8", "100,000 x 100,000, lognormal numbers, sigma 5", "<= 3 times sigma 1", ratio <= 3, five, note=note)
    ]


def part_9(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for name in ("15 columns", "20 columns"):
        tables = workload(name, 100_000, options.adult)
        one, five = search(*tables), search(*tables, k=5)
        ratio = five["cpu"] / one["cpu"]
        rows.append(
            row(
                "9",
                f"5 nearest, 100,000 x 100,000, {name}",
                "<= 3.5 times 1 nearest",
                ratio <= 3.5,
                five,
                note=f"{ratio:.2f} times the CPU of 1 nearest",
            )
        )
    return rows


_START = """
import time; began = time.perf_counter()
import numpy as np
import sys; sys.path.insert(0, {here!r})
from neighbours import fields, factors
from divulge.kernels.neighbours.index import Index
ruler, (a, b) = fields(factors(3000, 6, 9, 1), factors(3000, 6, 9, 2))
began = time.perf_counter()
Index(ruler, a).nearest(b)
print(time.perf_counter() - began)
"""


def part_10(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The first search of a process on 3,000 x 3,000 rows: nothing is compiled and no cache is kept."""
    code = _START.format(here=str(Path(__file__).parent))
    took = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(4)
    ]
    first = {"first_wall": took[0], "wall": sorted(took)[1], "cpu": float("nan"), "repeats": 4}
    return [row("10", "first search of a process", "<= 0.1 s", first["wall"] <= 0.1, first)]


def part_growth(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Goal 5, and the curves of the documentation: cost as rows and columns grow."""
    rows, cost = [], {}
    for name in ("15 columns", "20 columns"):
        for n in SIZES:
            ours = search(*workload(name, n, options.adult), repeats=2)
            cost[name, n] = 1e6 * ours["cpu"] / n
            rows.append(
                row("5", f"{n:,} x {n:,}, {name}", "", None, ours, curve="rows", x=n, y=cost[name, n], line=name)
            )
        ratio = cost[name, 1_000_000] / cost[name, 100_000]
        rows[-1] |= {
            "goal": "cost of a query <= 2 times that at 100,000",
            "met": ratio <= 2,
            "note": f"{cost[name, 1_000_000]:.1f} us of CPU a query, {ratio:.2f} times that at 100,000",
        }
    for name, make in (
        ("shared factors", lambda d, seed: factors(100_000, d // 2, d - d // 2, seed)),
        ("independent", lambda d, seed: uniform(100_000, d // 2, d - d // 2, seed)),
    ):
        for d in WIDTHS:
            ours = search(make(d, 1), make(d, 2), repeats=2)
            rows.append(
                row(
                    "5",
                    f"100,000 x 100,000, {d} columns, {name}",
                    "",
                    None,
                    ours,
                    curve="columns",
                    x=d,
                    y=10 * ours["cpu"],
                    line=name,
                )
            )
    return rows


PARTS: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]]]] = {
    "1": part_1, "2": part_2, "3": part_3, "4": part_4, "5": part_growth, "6": part_6, "7": part_7, "8": part_8,
    "9": part_9, "10": part_10,
}  # fmt: skip


# ---------------------------------------------------------------- running and writing


def in_process_of_its_own(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    command = [sys.executable, __file__, "--one", name, *(["--adult", options.adult] if options.adult else [])]
    command += ["--quick"] if options.quick else []
    before, began = load(), time.monotonic()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"part {name} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return []
    print(f"part {name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return [r | {"load": before} for r in json.loads(done.stdout.splitlines()[-1])]


def markdown(report: dict[str, Any]) -> str:
    lines = [
        "| goal | what | asked | met | wall, s | CPU, s | times the peer | peak, MB | how |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in report["rows"]:
        if not r["goal"]:
            continue  # a point of a curve
        met = {True: "yes", False: "**no**", None: "-"}[r["met"]]
        ratio, peak = (f"{r[k]:,.0f}" if k in r else "" for k in ("ratio", "peak_mb"))
        clocks = [seconds(r[k]) for k in ("wall", "cpu")]
        lines.append(
            "| " + " | ".join([r["part"], r["what"], r["goal"], met, *clocks, ratio, peak, r.get("note", "")]) + " |"
        )
    where = report["environment"]
    packages = ", ".join(f"{k} {v}" for k, v in where["packages"].items())
    loads = sorted({r["load"] for r in report["rows"]})
    ran = (
        f"Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python {where['python']}, "
        f"{packages}; load before the parts {loads[0]} to {loads[-1]}."
    )
    return "\n".join([*lines, "", ran])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="folder with train.parquet, ctgan.parquet and control.parquet")
    parser.add_argument("--parts", default="", help="such as 1,4; all when left out")
    parser.add_argument("--quick", action="store_true", help="leave the peers out, and write no file")
    parser.add_argument("--json", default="docs/neighbours.json", help="where to write the figures")
    parser.add_argument("--docs", help="page whose table is replaced")
    parser.add_argument("--one", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(PARTS[options.one](options)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    chosen = [p for p in PARTS if not options.parts or p in options.parts.split(",")]
    target = Path(options.json)
    known = json.loads(target.read_text())["rows"] if options.parts and not options.quick and target.exists() else []
    rows = [r for r in known if r["part"] not in chosen]
    for name in chosen:
        rows += in_process_of_its_own(name, options)
    rows.sort(key=lambda r: int(r["part"]))
    report = {
        "environment": environment(("divulge", "sdmetrics", "anonymeter", "scikit-learn", "faiss-cpu", "numpy")),
        "rows": rows,
    }
    table = markdown(report)
    print(table)
    if options.quick:
        return
    target.write_text(json.dumps(report, indent=1) + "\n")
    if options.docs:
        put_between_marks(Path(options.docs), table)


if __name__ == "__main__":
    main()
