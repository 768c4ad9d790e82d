"""How long singling out, linkability and inference take, beside Anonymeter 1.1.0 on the same tables.

    python benchmarks/questions.py --adult DIR                  everything (15 minutes)
    python benchmarks/questions.py --parts singling             some parts: singling, linkability, inference, million
    python benchmarks/questions.py --adult DIR --docs docs/speed.md

Without --adult simulated tables of the same size stand in for Adult. Anonymeter attacks 2,000 people, or makes 2,000
guesses, as its users do; divulge asks about every person. Anonymeter runs once, in full, for every figure here; the
inference of 15 targets is the sum of 15 runs. Each part runs in a process of its own, so that its peak memory is its
own. Of a million rows one target of each kind is asked about, as all fifteen take half an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cap import N_CORES, environment, load, measured, peak_mb, put_between_marks, row, seconds  # isort: skip

PARTS = ("singling", "linkability", "inference", "model", "million")
HALVES = (
    ["type_employer", "education", "hr_per_week", "capital_loss", "capital_gain"],
    ["race", "sex", "fnlwgt", "age", "country"],
)
QUICK_WAYS = ["nearest record", "CAP", "k-vote"]
N_ATTACKS = 2000


def tables(options: argparse.Namespace, n: int | None = None) -> tuple[Any, Any, Any]:
    """Return real, synthetic and holdout as pandas frames."""
    import pandas as pd

    if options.adult and n is None:
        names = ("train", "ctgan", "control")
        return tuple(pd.read_parquet(Path(options.adult) / f"{name}.parquet") for name in names)
    from predicates import census

    sizes = (39_032, 39_040, 9_758) if n is None else (n, n, n // 4)
    return tuple(as_pandas(census(size, seed)) for seed, size in enumerate(sizes, 1))


def as_pandas(table: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    numbers = {f"n{j}": table["numbers"][:, j] for j in range(table["numbers"].shape[1])}
    texts = {
        f"c{j}": pd.Categorical.from_codes(codes, [f"v{i:02d}" for i in range(codes.max() + 1)])
        for j, codes in enumerate(table["codes"].T)
    }
    return pd.DataFrame(numbers | texts)


def halves(frame: Any) -> tuple[list[str], list[str]]:
    names = list(frame.columns)
    return HALVES if "fnlwgt" in names else (names[::2], names[1::2])


def beside(what: str, goal: str, times: float | None, ours: Callable[[], Any], theirs: Callable[[], Any] | None) -> Any:
    """Return the row of a comparison: Anonymeter once, divulge three times."""
    before = load()
    mine = measured(ours, repeats=3)
    if theirs is None:
        return row("4", what, goal, None, mine, load=before, peak_mb=peak_mb(), note="")
    peer = measured(theirs, repeats=1)
    ratio = peer["wall"] / mine["wall"]
    note = (
        f"Anonymeter: {peer['wall']:.1f} s, {peer['cpu']:.1f} s of CPU ({peer['cpu'] / mine['cpu']:,.0f} times by CPU)"
    )
    met = None if times is None else ratio >= times
    return row("4", what, goal, met, mine, ratio=ratio, load=before, peak_mb=peak_mb(), note=note)


def singling(options: argparse.Namespace) -> list[dict[str, Any]]:
    """2,000 guesses of 3 and of 5 columns."""
    from anonymeter.evaluators import SinglingOutEvaluator

    import divulge

    real, synthetic, holdout = tables(options)
    rows = []
    for k in (3, 5):

        def ours(k: int = k) -> Any:
            return divulge.singling_out(real, synthetic, holdout=holdout, n_columns=k, guesses=N_ATTACKS)

        def theirs(k: int = k) -> Any:
            return SinglingOutEvaluator(
                ori=real, syn=synthetic, control=holdout, n_attacks=N_ATTACKS, n_cols=k
            ).evaluate(mode="multivariate")

        what = f"singling out, 2,000 guesses of {k} columns"
        rows.append(beside(what, ">= 100 times Anonymeter", 100, ours, theirs))
    everything = lambda: divulge.singling_out(real, synthetic, holdout=holdout)  # noqa: E731 # named as what it is
    rows.append(beside("singling out, univariate and 1 to 5 columns, 2,000 guesses each", "", None, everything, None))
    return rows


def linkability(options: argparse.Namespace) -> list[dict[str, Any]]:
    """k = 1 to 10 on one pair of halves."""
    from anonymeter.evaluators import LinkabilityEvaluator

    import divulge

    real, synthetic, holdout = tables(options)
    pair = halves(real)

    def ours() -> Any:
        return divulge.linkability(real, synthetic, holdout=holdout, columns=pair)

    def theirs() -> Any:
        evaluator = LinkabilityEvaluator(
            ori=real, syn=synthetic, control=holdout, aux_cols=pair, n_attacks=N_ATTACKS, n_neighbors=10
        )
        return evaluator.evaluate(n_jobs=N_CORES)

    people = len(real) + len(holdout)
    what = f"linkability, k = 1 to 10, all {people:,} people (Anonymeter: 2,000 members and 2,000 strangers)"
    return [beside(what, "", None, ours, theirs)]


def inference(options: argparse.Namespace) -> list[dict[str, Any]]:
    """All targets, three ways."""
    from anonymeter.evaluators import InferenceEvaluator

    import divulge

    real, synthetic, holdout = tables(options)
    names = list(real.columns)

    def ours() -> Any:
        return divulge.inference(real, synthetic, holdout=holdout, ways=QUICK_WAYS)

    def theirs() -> Any:
        for secret in names:
            evaluator = InferenceEvaluator(
                ori=real, syn=synthetic, control=holdout, aux_cols=[c for c in names if c != secret], secret=secret,
                n_attacks=N_ATTACKS,
            )  # fmt: skip
            evaluator.evaluate(n_jobs=N_CORES)

    people = len(real) + len(holdout)
    what = f"inference of {len(names)} targets by nearest record, CAP and k-vote, all {people:,} people"
    found = beside(what + " (Anonymeter: nearest record, 4,000)", "", None, ours, theirs)
    both = lambda: (ours(), divulge.linkability(real, synthetic, holdout=holdout, columns=halves(real)))  # noqa: E731
    mine = measured(both, repeats=3)
    return [
        found,
        row("4", "linkability and inference together", "< 20 s", mine["wall"] < 20, mine, load=load(), note="",
            peak_mb=peak_mb()),
    ]  # fmt: skip


def model(options: argparse.Namespace) -> list[dict[str, Any]]:
    """All targets by a model, with the model of the reference."""
    import divulge

    real, synthetic, holdout = tables(options)
    ours = lambda: divulge.inference(real, synthetic, holdout=holdout, ways=["model"])  # noqa: E731
    mine = measured(ours, repeats=1)
    what = f"inference of {real.shape[1]} targets by a model, and by one trained on strangers"
    return [row("4", what, "", None, mine, load=load(), peak_mb=peak_mb(), note="")]


def million(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A million members, a million synthetic rows, 250,000 strangers."""
    import divulge

    real, synthetic, holdout = tables(options, options.rows)
    rows = []

    def asked_about(target: str, ways: list[str]) -> Any:
        return divulge.inference(real, synthetic, holdout=holdout, target=target, ways=ways)

    asked: dict[str, Callable[[], Any]] = {
        "singling out, univariate and 1 to 5 columns": lambda: divulge.singling_out(real, synthetic, holdout=holdout),
        "linkability, k = 1 to 10": lambda: divulge.linkability(real, synthetic, holdout=holdout, columns=halves(real)),
        "inference of one categorical target by nearest record and k-vote": lambda: asked_about("c8", QUICK_WAYS[::2]),
        "inference of one numeric target by nearest record and k-vote": lambda: asked_about("n0", QUICK_WAYS[::2]),
        "inference of one categorical target by CAP": lambda: asked_about("c8", ["CAP"]),
    }
    for what, call in asked.items():
        before, mine = load(), measured(call, repeats=1)
        note = f"{len(real):,} members, {len(synthetic):,} synthetic rows, {len(holdout):,} strangers"
        n_targets = 15 if what.startswith("inference") else 1  # each takes as long
        met = peak_mb() < 4096 and n_targets * mine["wall"] < 900
        rows.append(row("4", what, "minutes, < 4 GB", met, mine, load=before, peak_mb=peak_mb(), note=note))
    return rows


def markdown(report: dict[str, Any]) -> str:
    lines = [
        "| what | goal | met | wall, s | CPU, s | times Anonymeter | peak, MB | how |",
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
        f"{report['tables']}. Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python "
        f"{where['python']}, {packages}; load {loads[0]} to {loads[-1]}."
    )
    return "\n".join([*lines, "", ran])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="folder with train, ctgan and control.parquet")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the part million")
    parser.add_argument("--json", help="where to write the figures")
    parser.add_argument("--docs", help="page whose table is replaced")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    if options.alone:
        Path(options.alone).write_text(json.dumps(globals()[options.parts](options)))
        return
    rows = []
    for part in options.parts.split(","):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "rows.json"
            command = [sys.executable, __file__, "--parts", part, "--alone", str(out), "--rows", str(options.rows)]
            subprocess.run([*command, *(["--adult", options.adult] if options.adult else [])], check=True)
            rows += json.loads(out.read_text())
        print(f"{part}: done at {time.strftime('%H:%M:%S')}", file=sys.stderr)
    report = {
        "environment": environment(("divulge", "anonymeter", "pandas", "polars", "numpy", "scikit-learn")),
        "tables": "Adult (39,032 members, 39,040 synthetic rows of CTGAN, 9,758 strangers)" if options.adult else
        "Simulated tables of Adult's size",
        "rows": rows,
    }  # fmt: skip
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    print(table)
    if options.docs:
        put_between_marks(Path(options.docs), table, "questions")


if __name__ == "__main__":
    main()
