"""How long two source trees of divulge take for the same tasks, in turn, in one run; and whether they give the same.

    git worktree add ../old 2afc604    # the last commit whose loops numba compiled; it needs `pip install numba`
    python benchmarks/two_trees.py ../old/src src --adult DIR                    about half an hour
    python benchmarks/two_trees.py ../old/src src --tasks nearest-15,predicates --rounds 5

Each measurement is a process of its own: the first call loads (or compiles), and the median of the next ones counts.
The trees take turns, and the ratio is the median over the rounds; below 1 the second tree is faster. `--adult DIR` is
that of `neighbours.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cap import LARGE_KEYS, N_CORES, as_frame, environment, large_tables, load, measured, peak_mb, seconds  # isort: skip

Call = Callable[[], list[Any]]
"""One task: returns arrays or numbers, by which the trees' results are compared."""


def nearest(name: str, n: int, k: int = 1) -> Callable[[str | None], Call]:
    def make(adult: str | None) -> Call:
        from neighbours import fields, workload

        from divulge.kernels.neighbours.index import Index

        tables = workload(name, n, adult)

        def call() -> list[np.ndarray]:
            ruler, (a, b) = fields(*tables)
            found = Index(ruler, a).nearest(b, k)
            return [found.distances, found.rows, found.n_ties]

        return call

    return make


def nearest_of_frames(adult: str | None) -> Call:
    import polars as pl

    import divulge

    if adult is None:
        raise SystemExit("frames: --adult is needed")
    a, b = (pl.read_parquet(Path(adult) / f"{t}.parquet").head(20_000).to_pandas() for t in ("train", "ctgan"))
    return lambda: list(divulge.nearest(b, a, ranges_from=a, columns=list(a.columns)))


def generalised_cap(task: str) -> Callable[[str | None], Call]:
    def make(adult: str | None) -> Call:
        import gcap

        import divulge

        _, n, columns, keys, _ = gcap.TASKS[task]
        real, synthetic = (as_frame(columns(n, seed), "polars") for seed in (1, 2))
        return lambda: [divulge.cap(real, synthetic, keys=keys, target="income", unseen="nearest").real.rate]

    return make


def plain_cap(adult: str | None) -> Call:
    import divulge

    real, synthetic = large_tables("polars", [*LARGE_KEYS, "t"])
    return lambda: [divulge.cap(real, synthetic, keys=LARGE_KEYS, target="t").real.rate]


def predicates(adult: str | None) -> Call:
    from predicates import N_SYNTHETIC, census, made_from, ranks

    from divulge.kernels.predicates.predicates import Conjunctions

    real, synthetic = census(1_000_000, 1), census(N_SYNTHETIC, 2)
    codes, others = ranks([real, synthetic])
    asked = made_from(others, real["numbers"].shape[1], 20_000, 5, np.random.default_rng(4))

    def call() -> list[np.ndarray]:
        return [Conjunctions(codes, engine="compiled").matches(asked, most=64).count]

    return call


def assessed(which: str) -> Callable[[str | None], Call]:
    """An assessment without models: of the demo, or of Adult."""

    def make(adult: str | None) -> Call:
        import polars as pl

        import divulge
        from divulge.demo import tables

        if which == "demo":
            real, synthetic, holdout = tables()
        elif adult is None:
            raise SystemExit("assess-adult: --adult is needed")
        else:
            parts = (Path(adult) / f"{t}.parquet" for t in ("train", "ctgan", "control"))
            real, synthetic, holdout = map(pl.read_parquet, parts)

        def call() -> list[Any]:
            report = divulge.assess(real, synthetic, holdout, models=False, jobs=N_CORES)
            risks = [r.risk.value for r in report.results if r.risk is not None and r.risk.value is not None]
            return [np.array(risks), np.array([r.p_value or 0.0 for r in report.results])]

        return call

    return make


def quality(adult: str | None) -> Call:
    """SDMetrics' quality report of 50,000 rows and 50 columns."""
    import pandas as pd

    from divulge.sdmetrics.reports import QualityReport

    rng = np.random.default_rng(1)
    real, synthetic = (
        pd.DataFrame(
            {f"c{i}": rng.integers(0, 9, 50_000).astype(str) if i % 2 else rng.normal(size=50_000) for i in range(50)}
        )
        for _ in range(2)
    )
    columns = {name: {"sdtype": "categorical" if i % 2 else "numerical"} for i, name in enumerate(real.columns)}

    def call() -> list[Any]:
        report = QualityReport()
        report.generate(real, synthetic, {"columns": columns}, verbose=False)
        return [report.get_score()]

    return call


def counted_by_duckdb(adult: str | None) -> Call:
    """CAP of ten million rows a table, which DuckDB counts in their files."""
    import polars as pl

    import divulge

    folder = tempfile.TemporaryDirectory()
    paths = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        columns = {name: rng.integers(0, 12, 10**7, dtype=np.uint8) for name in ("a", "b", "c", "d", "t")}
        paths.append(Path(folder.name) / f"{seed}.parquet")
        pl.DataFrame(columns).write_parquet(paths[-1])

    def call() -> list[Any]:
        assert folder  # it lives as long as the task
        keys = {"keys": ["a", "b", "c", "d"], "target": "t"}
        return [divulge.cap(paths[0], paths[1], **keys, engine="duckdb").real.rate]

    return call


TASKS: dict[str, tuple[str, Callable[[str | None], Call]]] = {
    "first": ("nearest rows, 3,000 x 3,000, 15 columns", nearest("15 columns", 3_000)),
    "frames": ("nearest rows, 20,000 x 20,000 of Adult from pandas", nearest_of_frames),
    "nearest-15": ("nearest rows, 100,000 x 100,000, 15 columns", nearest("15 columns", 100_000)),
    "nearest-5": ("5 nearest rows, 100,000 x 100,000, 15 columns", nearest("15 columns", 100_000, 5)),
    "nearest-50": ("nearest rows, 100,000 x 100,000, 50 columns", nearest("50 columns", 100_000)),
    "unrelated": ("nearest rows, 100,000 x 100,000, 20 unrelated columns", nearest("20 columns, independent", 100_000)),
    "numbers": ("nearest rows, 100,000 x 100,000, 20 unrelated numbers", nearest("20 numbers, independent", 100_000)),
    "nearest-1M": ("nearest rows, 1M x 1M, 15 columns", nearest("15 columns", 1_000_000)),
    "cap": ("CAP, 1M + 1M rows, 5 keys, polars", plain_cap),
    "gcap-8-100k": ("generalised CAP, 100,000 + 100,000 rows, 8 keys", generalised_cap("8-100k")),
    "gcap-8": ("generalised CAP, 1M + 1M rows, 8 keys", generalised_cap("8")),
    "gcap-6": ("generalised CAP, 1M + 1M rows, 6 independent keys", generalised_cap("6-uniform")),
    "gcap-12": ("generalised CAP, 1M + 1M rows, 12 keys", generalised_cap("12")),
    "assess-demo": ("assessment of the demo, without models", assessed("demo")),
    "assess-adult": ("assessment of Adult, 39,032 + 39,040 + 9,758 rows, without models", assessed("adult")),
    "quality": ("quality report, 50,000 rows and 50 columns", quality),
    "duckdb": ("CAP, 10M + 10M rows in Parquet, by DuckDB", counted_by_duckdb),
    "predicates": ("index of 1M rows, 20,000 predicates of 5 conditions, up to 65", predicates),
}  # fmt: skip


def one(name: str, adult: str | None) -> dict[str, Any]:
    call = TASKS[name][1](adult)
    found: list[list[np.ndarray]] = []
    clocks = measured(lambda: found.append(call()), repeats=3)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in found[-1])).hexdigest()
    return {**clocks, "digest": digest, "peak_mb": peak_mb()}


def by_tree(tree: str, name: str, adult: str | None) -> dict[str, Any]:
    command = [sys.executable, __file__, tree, tree, "--one", name, *(["--adult", adult] if adult else [])]
    surroundings = os.environ | {"PYTHONPATH": str(Path(tree).resolve())}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree}, {name}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def line(what: str, rounds: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    def middle(which: int, clock: str) -> str:
        return seconds(statistics.median(pair[which][clock] for pair in rounds))

    ratios = [b["cpu"] / a["cpu"] for a, b in rounds]
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    same = "yes" if len({r["digest"] for pair in rounds for r in pair}) == 1 else "**no**"
    clocks = [f"{middle(0, c)} -> {middle(1, c)}" for c in ("cpu", "wall", "first_wall")]
    peak = " -> ".join(f"{max(pair[i]['peak_mb'] for pair in rounds):,.0f}" for i in (0, 1))
    return f"| {what} | {clocks[0]} | {ratio} | {clocks[1]} | {clocks[2]} | {peak} | {same} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs=2, help="folders that hold divulge/: the old one, the new one")
    parser.add_argument("--tasks", default=",".join(TASKS), help="such as nearest-15,gcap-8; all when left out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--adult", help="folder with train.parquet, ctgan.parquet and control.parquet")
    parser.add_argument("--one", choices=TASKS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        print(json.dumps(one(given.one, given.adult)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    before = load()
    print("| what | CPU, s | ratio of CPU | wall, s | first call, s | peak, MB | same result |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in given.tasks.split(","):
        rounds = [tuple(by_tree(tree, name, given.adult) for tree in given.trees) for _ in range(given.rounds)]
        print(line(TASKS[name][0], rounds), flush=True)
    where = environment(("numpy", "polars"))
    print(f"\n{where['date']}, {where['processor']}, Python {where['python']}; load {before} to {load()}.")


if __name__ == "__main__":
    main()
