"""How long generalised CAP takes on large tables: prints a Markdown table and writes JSON.

    python benchmarks/gcap.py                   all tasks
    python benchmarks/gcap.py --parts 8,12      some of them

Times are those of `divulge.cap(real, synthetic, keys=..., target=..., unseen="nearest")` on polars frames, coding of
the columns included. Each task runs in a process of its own, so that its peak memory is its own; two cores at most.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cap import (
    CENSUS,
    N_CORES,
    Columns,
    as_frame,
    census,
    environment,
    load,
    markdown,
    measured,
    peak_mb,
    put_between_marks,
    row,
    uniform,
)

REPEATS = 2  # the first loads or compiles
EIGHT = [name for name in CENSUS if name not in ("age", "income")]
# More columns of the same kind, which make nearly every key of a million distinct.
MORE = {"hours": (70, 1.2), "gain": (120, 2.2), "loss": (90, 2.4)}
SIX = [f"k{i}" for i in range(6)]


def levels_of_factors(levels: dict[str, tuple[int, float]], n: int, seed: int, n_factors: int = 3) -> Columns:
    """Return columns cut from a few common factors; level k is 1 / (k + 1) ** skew as frequent as level 0."""
    loadings = np.random.default_rng(0).normal(size=(n_factors, len(levels)))
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(n, n_factors)) @ loadings + rng.normal(size=(n, len(levels)))
    columns = {}
    for j, (name, (n_levels, skew)) in enumerate(levels.items()):
        share = np.cumsum(np.arange(1, n_levels + 1) ** -skew)
        edges = np.quantile(score[:, j], share[:-1] / share[-1])
        columns[name] = np.searchsorted(edges, score[:, j]).astype(np.int64)
    return columns


def eight(n: int, seed: int) -> Columns:
    return {name: codes for name, codes in census(n, seed).items() if name != "age"}


def twelve(n: int, seed: int) -> Columns:
    return levels_of_factors(CENSUS | MORE, n, seed)


def six_uniform(n: int, seed: int) -> Columns:
    return uniform(dict.fromkeys(SIX, 20) | {"income": 10}, n, seed)


def six_dependent(n: int, seed: int) -> Columns:
    return levels_of_factors(dict.fromkeys(SIX, (20, 0.0)) | {"income": (10, 0.5)}, n, seed)


def many_targets(n: int, seed: int) -> Columns:
    return eight(n, seed) | {"income": np.random.default_rng(seed + 10).integers(0, 5_000, n)}


# what, rows a side, tables, keys, most seconds
TASKS: dict[str, tuple[str, int, Callable[[int, int], Columns], list[str], float | None]] = {
    "8-100k": ("8 keys, census-like", 100_000, eight, EIGHT, 0.5),
    "8": ("8 keys, census-like", 1_000_000, eight, EIGHT, 3.0),
    "12": ("12 keys, census-like", 1_000_000, twelve, ["age", *EIGHT, *MORE], 15.0),
    "6-uniform": ("6 independent keys of 20 levels", 1_000_000, six_uniform, SIX, 15.0),
    "6-copula": ("6 dependent keys of 20 levels", 1_000_000, six_dependent, SIX, 15.0),
    "targets": ("8 keys, census-like, 5,000 targets", 1_000_000, many_targets, EIGHT, None),
}


def run(name: str) -> list[dict[str, Any]]:
    """Return the rows of a task: CAP, which has a goal, and the modal guess, which merges the votes of all groups."""
    import divulge

    what, n, columns, keys, seconds = TASKS[name]
    real, synthetic = (as_frame(columns(n, seed), "polars") for seed in (1, 2))
    loaded = peak_mb()
    rows = []
    for attack in (divulge.cap, divulge.modal_guess):
        answers = []

        def call(attack: Any = attack, answers: list[Any] = answers) -> None:
            answers.append(attack(real, synthetic, keys=keys, target="income", unseen="nearest"))

        ours = measured(call, repeats=REPEATS)
        result = answers[0]
        goal = seconds if attack is divulge.cap else None
        note = f"{loaded:.0f} MB after loading"
        if attack is divulge.cap:
            share = result.context["share of records whose key is in the synthetic table"]
            note += f"; {share:.0%} of real records have a synthetic row with their key"
        rows.append(
            row(
                name, f"{attack.__name__}, {n:,} + {n:,} rows, {what}", f"<= {goal:g} s" if goal else "",
                ours["wall"] <= goal if goal else None, ours, peak_mb=peak_mb(), note=note,
            )
        )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="", help="such as 8,12; all when left out")
    parser.add_argument("--json", default="benchmarks/gcap.json", help="where to write the figures")
    parser.add_argument("--docs", help="page whose table of generalised CAP is replaced")
    parser.add_argument("--one", choices=TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run(options.one)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    rows = []
    for name in options.parts.split(",") if options.parts else TASKS:
        print(f"task {name} ...", file=sys.stderr)
        before = load()
        done = subprocess.run([sys.executable, __file__, "--one", name], check=True, capture_output=True, text=True)
        rows += [r | {"load": before} for r in json.loads(done.stdout.splitlines()[-1])]
    report = {"environment": environment(), "rows": rows}
    Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    print(table)
    if options.docs:
        put_between_marks(Path(options.docs), table, "gcap")


if __name__ == "__main__":
    main()
