"""How long divulge takes, beside SDMetrics in the same run: prints a Markdown table and writes JSON.

    python benchmarks/cap.py                        all parts, simulated tables
    python benchmarks/cap.py --adult DIR            Adult instead (train, ctgan, control .parquet in DIR)
    python benchmarks/cap.py --parts c,d --quick    some parts, without SDMetrics (minutes)
    python benchmarks/cap.py --docs docs/speed.md   also refresh the table of that page

Each part runs in a process of its own, so that its peak memory is its own. Two cores at most are used.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

N_CORES = 2
REPEATS = 5
ADULT_KEYS = ["age", "type_employer", "education", "marital", "occupation", "race", "sex"]
LARGE_LEVELS = {"k0": 10, "k1": 50, "k2": 100, "k3": 5, "k4": 4, "j0": 8, "j1": 20, "j2": 40, "j3": 12, "j4": 6}
LARGE_KEYS, OTHER_KEYS = [f"k{i}" for i in range(5)], [f"j{i}" for i in range(5)]
# Levels of a census table, and how fast they thin out: level k is 1 / (k + 1) ** skew as frequent as level 0.
CENSUS = {
    "age": (73, 0.3), "work": (9, 1.8), "school": (16, 1.0), "marital": (7, 1.3), "job": (15, 0.4),
    "relation": (6, 1.0), "race": (5, 2.5), "sex": (2, 1.0), "country": (42, 3.0), "income": (2, 1.6),
}  # fmt: skip

Columns = dict[str, np.ndarray]


# ---------------------------------------------------------------- measuring


def measured(call: Callable[[], Any], repeats: int = REPEATS) -> dict[str, float]:
    """Return seconds of wall clock and of processor time (all threads): the first call, then the median."""
    wall, cpu = [], []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    warm = slice(1, None) if repeats > 1 else slice(None)
    return {
        "first_wall": wall[0],
        "wall": statistics.median(wall[warm]),
        "cpu": statistics.median(cpu[warm]),
        "repeats": repeats,
    }


def of_children(command: list[str], repeats: int) -> dict[str, float]:
    """Return the median seconds of a command, from start to end of its process."""
    wall, cpu = [], []
    for _ in range(repeats):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    median = statistics.median
    return {"first_wall": wall[0], "wall": median(wall), "cpu": median(cpu), "repeats": repeats}


def row(part: str, what: str, goal: str, met: bool | None, seconds: dict[str, float], **more: Any) -> dict[str, Any]:
    return {"part": part, "what": what, "goal": goal, "met": met, **seconds, **more}


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


# ---------------------------------------------------------------- tables


def census(n: int, seed: int, n_factors: int = 3) -> Columns:
    """Return columns about as skewed and as dependent as those of Adult: levels cut from a few common factors."""
    loadings = np.random.default_rng(0).normal(size=(n_factors, len(CENSUS)))
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(n, n_factors)) @ loadings + rng.normal(size=(n, len(CENSUS)))
    columns = {}
    for j, (name, (n_levels, skew)) in enumerate(CENSUS.items()):
        share = np.cumsum(np.arange(1, n_levels + 1) ** -skew)
        edges = np.quantile(score[:, j], share[:-1] / share[-1])
        columns[name] = np.searchsorted(edges, score[:, j]).astype(np.int64)
    return columns


def uniform(levels: dict[str, int], n: int, seed: int) -> Columns:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(0, n_levels, n) for name, n_levels in levels.items()}


def as_frame(columns: Columns, kind: str) -> Any:
    """Return codes as a frame of text columns, one text a level, as a reader of files would give them."""
    if kind == "polars":
        import polars as pl

        texts = {name: pl.Series([f"v{i:03d}" for i in range(codes.max() + 1)]) for name, codes in columns.items()}
        return pl.DataFrame({name: texts[name].gather(codes) for name, codes in columns.items()})
    import pandas as pd

    out = {}
    for name, codes in columns.items():
        levels = np.array([f"v{i:03d}" for i in range(codes.max() + 1)], dtype=object)
        out[name] = pd.Categorical.from_codes(codes, levels) if kind == "pandas categorical" else levels[codes]
    return pd.DataFrame(out)


def categories(frame: Any) -> Any:
    """Return a schema that keeps each value apart, as SDMetrics does."""
    from divulge.core.schema import Column, Schema

    return Schema(tuple(Column(str(name), "categorical") for name in frame.columns))


def adult_or_census(adult: str | None) -> tuple[Any, Any, list[str], str]:
    """Return real, synthetic, seven keys and the name of the tables."""
    import pandas as pd

    if adult:
        columns = [*ADULT_KEYS, "income"]
        tables = [pd.read_parquet(Path(adult) / f"{name}.parquet", columns=columns) for name in ("train", "ctgan")]
        return *tables, ADULT_KEYS, "Adult"
    keys = [k for k in CENSUS if k not in ("relation", "country", "income")]
    tables = [as_frame(census(39_000, seed), "pandas object")[[*keys, "income"]] for seed in (1, 2)]
    return *tables, keys, "census-like table"


# ---------------------------------------------------------------- parts


def beside_sdmetrics(
    options: argparse.Namespace, part: str, what: str, times: int, ours: Callable[[], Any], theirs: Callable[[], Any]
) -> dict[str, Any]:
    """Return the row of a comparison; SDMetrics runs once and in full."""
    mine = measured(ours)
    goal = f">= {times:,} times SDMetrics (CPU)"
    if options.quick:
        return row(part, what, goal, None, mine, note="SDMetrics was left out")
    peer = measured(theirs, repeats=1)
    ratio = peer["cpu"] / mine["cpu"]
    note = f"SDMetrics, in full and once: {peer['wall']:.1f} s, {peer['cpu']:.1f} s of CPU"
    return row(part, what, goal, ratio >= times, mine, ratio=ratio, sdmetrics=peer, note=note)


def part_a(options: argparse.Namespace) -> list[dict[str, Any]]:
    """CAP against SDMetrics."""
    from sdmetrics.single_table import CategoricalCAP

    import divulge

    real, synthetic, keys, name = adult_or_census(options.adult)
    what = f"CAP, {name}, {len(real):,} + {len(synthetic):,} rows, 7 keys, from pandas"
    schema = categories(real)

    def ours() -> Any:
        return divulge.cap(real, synthetic, keys=keys, target="income", schema=schema)

    def theirs() -> Any:
        return CategoricalCAP.compute(real, synthetic, key_fields=keys, sensitive_fields=["income"])

    return [beside_sdmetrics(options, "a", what, 500, ours, theirs)]


def part_b(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Generalised CAP against SDMetrics, which visits each pair of a real row and a synthetic key."""
    from sdmetrics.single_table import CategoricalGeneralizedCAP

    import divulge

    keys = [f"k{i}" for i in range(5)]
    levels = dict.fromkeys([*keys, "t"], 10)
    real, synthetic = (as_frame(uniform(levels, 10_000, seed), "pandas object") for seed in (1, 2))
    schema = categories(real)
    what = "generalised CAP, 10,000 + 10,000 rows, 5 keys of 10 levels, from pandas"

    def ours() -> Any:
        return divulge.cap(real, synthetic, keys=keys, target="t", unseen="nearest", schema=schema)

    def theirs() -> Any:
        return CategoricalGeneralizedCAP.compute(real, synthetic, key_fields=keys, sensitive_fields=["t"])

    return [beside_sdmetrics(options, "b", what, 1000, ours, theirs)]


def large_tables(kind: str, names: list[str]) -> tuple[Any, Any]:
    levels = {name: (LARGE_LEVELS | {"t": 10})[name] for name in names}
    return as_frame(uniform(levels, 1_000_000, 1), kind), as_frame(uniform(levels, 1_000_000, 2), kind)


def part_c(options: argparse.Namespace, kind: str) -> list[dict[str, Any]]:
    """CAP on a million rows a side, encoding included."""
    import divulge
    import divulge.attacks.attribution.cap

    real, synthetic = large_tables(kind, [*LARGE_KEYS, "t"])
    loaded = peak_mb()
    ours = measured(lambda: divulge.cap(real, synthetic, keys=LARGE_KEYS, target="t"))
    peak = peak_mb()
    what = f"CAP, 1M + 1M rows, 5 keys, {kind}, after loading"
    met = ours["wall"] < 1 and peak < 1024
    return [row("c", what, "< 1 s, < 1 GB", met, ours, peak_mb=peak, note=f"{loaded:.0f} MB after loading")]


def part_d(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One more key set, when the tables are coded."""
    from divulge.attacks.attribution.scores import cap_scores
    from divulge.case.case import build_case

    case = build_case(*large_tables("polars", [*LARGE_KEYS, *OTHER_KEYS, "t"]))

    def one_more(keys: list[str]) -> None:
        case._counted.clear()
        cap_scores(case.contingency(keys, "t"), "skip")

    one_more(LARGE_KEYS)
    for name in OTHER_KEYS:
        case.codes(name)
    ours = measured(lambda: one_more(OTHER_KEYS), repeats=7)
    what = "one more key set on 1M + 1M rows, 5 other keys"
    return [row("d", what, "< 0.1 s", ours["wall"] < 0.1, ours, peak_mb=peak_mb())]


def part_e(options: argparse.Namespace) -> list[dict[str, Any]]:
    """How long one waits before anything happens."""
    script = str(Path(sys.executable).with_name("divulge"))
    help_, import_ = of_children([script, "--help"], 15), of_children([sys.executable, "-c", "import divulge"], 15)
    bare = of_children([sys.executable, "-c", "pass"], 15)["wall"]
    return [
        row("e", "`divulge --help`, whole process", "< 0.15 s", help_["wall"] < 0.15, help_),
        row(
            "e", "`import divulge`, whole process", "< 0.2 s", import_["wall"] < 0.2, import_,
            note=f"{bare:.3f} s of it is Python itself",
        ),
    ]  # fmt: skip


def part_f(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The command line on all of Adult: every column a target, the default search, the report as HTML."""
    if not options.adult:
        return []
    files = [str(Path(options.adult) / f"{name}.parquet") for name in ("train", "ctgan", "control")]
    script = str(Path(sys.executable).with_name("divulge"))
    with tempfile.TemporaryDirectory() as folder:
        command = [script, "assess", *files[:2], "--holdout", files[2], "--out", folder, "--quiet"]
        try:
            of_children(command, 1)  # fills the cache of compiled loops
            ours = of_children(command, 3)
        except subprocess.CalledProcessError as error:
            failed = {"first_wall": float("nan"), "wall": float("nan"), "cpu": float("nan"), "repeats": 0}
            return [row("f", "`divulge assess` on Adult", "< 10 s", None, failed, note=f"exit {error.returncode}")]
        html = list(Path(folder).rglob("*.html"))
        size = f"report of {html[0].stat().st_size / 1e6:.1f} MB" if html else "no HTML was written"
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    what = "`divulge assess` on Adult, 15 targets, default search, HTML; whole process"
    return [row("f", what, "< 10 s", ours["wall"] < 10, ours, peak_mb=peak, note=size)]


def part_g(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Generalised CAP on a larger table, coding included and not."""
    import divulge
    from divulge.attacks.attribution.scores import cap_scores
    from divulge.case.case import build_case

    keys = [k for k in CENSUS if k not in ("age", "income")]
    real, synthetic = (as_frame(census(100_000, seed), "polars") for seed in (1, 2))
    ask = {"keys": keys, "target": "income", "unseen": "nearest"}
    result = divulge.cap(real, synthetic, **ask)
    share = result.context["share of records whose key is in the synthetic table"]
    ours = measured(lambda: divulge.cap(real, synthetic, **ask))
    case = build_case(real, synthetic)
    table = case.contingency(keys, "income")
    scores = measured(lambda: cap_scores(table, "nearest"))
    n_keys = int((table.s_key > 0).sum())
    what = "generalised CAP, 100,000 + 100,000 rows, 8 keys, census-like"
    note = f"{n_keys:,} synthetic keys; {share:.0%} of real records have theirs among them"
    return [
        row("g", what + ", from polars", "<= 0.5 s", ours["wall"] <= 0.5, ours, note=note),
        row("g", what + ", once coded and counted", "<= 0.5 s", scores["wall"] <= 0.5, scores),
    ]


PARTS: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]]]] = {
    "a": part_a,
    "b": part_b,
    "c-polars": lambda options: part_c(options, "polars"),
    "c-categorical": lambda options: part_c(options, "pandas categorical"),
    "c-object": lambda options: part_c(options, "pandas object"),
    "d": part_d,
    "e": part_e,
    "f": part_f,
    "g": part_g,
}


# ---------------------------------------------------------------- running and writing


def environment(
    names: tuple[str, ...] = ("divulge", "sdmetrics", "numpy", "pandas", "polars"),
) -> dict[str, Any]:
    packages = {}
    for name in names:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        names = [x for x in Path("/proc/cpuinfo").read_text().splitlines() if x.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "processor": cpu,
        "cores": N_CORES,
        "packages": packages,
    }


def load() -> float:
    return round(os.getloadavg()[0], 2)


def in_process_of_its_own(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    command = [sys.executable, __file__, "--one", name, *(["--adult", options.adult] if options.adult else [])]
    command += ["--quick"] if options.quick else []
    before = load()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"part {name} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return []
    return [r | {"load": before} for r in json.loads(done.stdout.splitlines()[-1])]


def seconds(value: float) -> str:
    return "-" if value != value else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def markdown(report: dict[str, Any]) -> str:
    """Return the table of a run, with a line on where it ran and one a row on how a peer was scaled."""
    where = report["environment"]
    lines = [
        "| part | what | goal | met | wall, s | first call, s | CPU, s | times SDMetrics | peak, MB | load before |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    notes = []
    for r in report["rows"]:
        met = {True: "yes", False: "**no**", None: "-"}[r["met"]]
        ratio, peak = (f"{r[k]:,.0f}" if k in r else "" for k in ("ratio", "peak_mb"))
        clocks = [seconds(r[k]) for k in ("wall", "first_wall", "cpu")]
        lines.append(
            "| " + " | ".join([r["part"], r["what"], r["goal"], met, *clocks, ratio, peak, str(r["load"])]) + " |"
        )
        if r.get("note"):
            notes.append(f"- {r['part']}, {r['what']}: {r['note']}.")
    packages = ", ".join(f"{k} {v}" for k, v in where["packages"].items())
    ran = f"Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python {where['python']}, "
    return "\n".join([*lines, "", ran + packages + ".", "", *notes])


def put_between_marks(page: Path, table: str, mark: str = "benchmark") -> None:
    text = page.read_text()
    before, _, rest = text.partition(f"<!-- {mark} -->")
    _, _, after = rest.partition(f"<!-- /{mark} -->")
    page.write_text(f"{before}<!-- {mark} -->\n\n{table}\n\n<!-- /{mark} -->{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="folder with train.parquet, ctgan.parquet and control.parquet")
    parser.add_argument("--parts", default="", help="such as a,c-polars,e; all when left out, c means every c-")
    parser.add_argument("--quick", action="store_true", help="leave SDMetrics out, which takes minutes")
    parser.add_argument("--json", default="benchmarks/cap.json", help="where to write the figures")
    parser.add_argument("--docs", help="page whose table is replaced")
    parser.add_argument("--one", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(PARTS[options.one](options)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    asked = options.parts.split(",") if options.parts else list(PARTS)
    chosen = [p for p in PARTS if p in asked or p.partition("-")[0] in asked]
    rows = []
    for name in chosen:
        print(f"part {name} ...", file=sys.stderr)
        rows += in_process_of_its_own(name, options)
    report = {"environment": environment(), "rows": rows}
    Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    print(table)
    if options.docs:
        put_between_marks(Path(options.docs), table)


if __name__ == "__main__":
    main()
