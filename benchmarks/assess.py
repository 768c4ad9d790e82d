"""What a whole assessment costs: of Adult, beside whole jobs of other tools on the same tables, and as tables grow.

    python benchmarks/assess.py --adult DIR --peers ENV/bin/python --docs docs/speed.md     everything (half an hour)
    python benchmarks/assess.py --adult DIR --parts divulge,before --before TREE            beside an older source tree
    python benchmarks/assess.py --parts growth --rows 1000,10000,100000,1000000             up to a million rows
    python benchmarks/assess.py --adult DIR --peers ENV/bin/python --parts anonymeter --attacks 20 --json FILE
                                                                    whether the peers' programs run (minutes)

Parts: divulge, before, anonymeter, sdmetrics, mostlyai, growth. Each job is a process of its own, from start to end,
reading of files included: its processor time, wall clock and peak of memory are those that the system counts for it.
Modules are compiled beforehand, as an installer does. A job that takes longer than --limit is ended, and its time is a
lower bound. `--before` names a tree of divulge's sources, whose jobs leave out what that version does not know; where
numba compiles its loops, the first run of a new tree counts that too, and the second one is to be taken. `--peers` is a
Python with anonymeter and sdmetrics, `--qa` one with mostlyai-qa. Results are kept in the file of --json, and a later
run of some parts replaces these alone.

Anonymeter attacks 2,000 people or makes 2,000 guesses, as its users do, and SDMetrics samples where it offers to;
divulge asks about every person.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cap import N_CORES, environment, load, put_between_marks, seconds
from questions import HALVES, tables

PARTS = ("divulge", "before", "anonymeter", "sdmetrics", "mostlyai", "growth")

ASSESS = """
import inspect, json, sys
import divulge, divulge.attacks.catalogue
files, settings, jobs = json.loads(sys.argv[1])
for name in settings.pop("without", ()):
    getattr(divulge.attacks.catalogue, "CATALOGUE", {}).pop(name, None)
known = inspect.signature(divulge.assess).parameters
settings = {k: v for k, v in settings.items() if k in known}
real, synthetic, holdout = map(divulge.read, files)
report = divulge.assess(real, synthetic, holdout=holdout, jobs=jobs, **settings)
"""

SINGLING_OUT = """
from anonymeter.evaluators import SinglingOutEvaluator
for mode, columns in (("univariate", None), ("multivariate", 3)):
    more = {} if columns is None else {"n_cols": columns}
    SinglingOutEvaluator(ori=real, syn=synthetic, control=holdout, n_attacks=N, **more).evaluate(mode=mode)
"""

LINKABILITY = """
from anonymeter.evaluators import LinkabilityEvaluator
LinkabilityEvaluator(
    ori=real, syn=synthetic, control=holdout, aux_cols=HALVES, n_attacks=N, n_neighbors=10
).evaluate(n_jobs=2)
"""

INFERENCE = """
from anonymeter.evaluators import InferenceEvaluator
for secret in real.columns:
    others = [c for c in real.columns if c != secret]
    InferenceEvaluator(
        ori=real, syn=synthetic, control=holdout, aux_cols=others, secret=secret, n_attacks=N
    ).evaluate(n_jobs=2)
"""

QUALITY = """
from sdmetrics.reports.single_table import DiagnosticReport, QualityReport
for report in (QualityReport(), DiagnosticReport()):
    report.generate(real, synthetic, METADATA, verbose=False)
"""

PRIVACY = """
from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection, DisclosureProtectionEstimate
DCRBaselineProtection.compute_breakdown(real, synthetic, METADATA, None, num_rows_subsample=N)
DCROverfittingProtection.compute_breakdown(real, synthetic, holdout, METADATA, None, num_rows_subsample=N)
for secret in real.columns:
    DisclosureProtectionEstimate.compute_breakdown(
        real, synthetic, known_column_names=[c for c in real.columns if c != secret], sensitive_column_names=[secret],
        continuous_column_names=[c for c, kind in METADATA["columns"].items() if kind["sdtype"] == "numerical"],
        verbose=False,
    )
"""

QA = """
import tempfile
from mostlyai import qa
with tempfile.TemporaryDirectory() as folder:
    qa.report(syn_tgt_data=synthetic, trn_tgt_data=real, hol_tgt_data=holdout, report_path=folder + "/report.html")
"""

PEER = """
import sys, warnings
import pandas as pd
warnings.simplefilter("ignore")
real, synthetic, holdout = (pd.read_parquet(f) for f in FILES)
METADATA = {"columns": {c: {"sdtype": "numerical" if real[c].dtype.kind in "if" else "categorical"} for c in real}}
"""

COMPILED = "import divulge, divulge.attacks.catalogue; divulge.assess"
BARE = {"fidelity": False, "membership": False, "without": ["linear_reconstruction"]}
"""What 0.1.0 had at commit 6ec54b6, so that both can be compared."""
JOBS: dict[str, tuple[str, str, dict[str, Any] | str]] = {
    "bare": ("divulge", "divulge, the attacks of commit 6ec54b6, no models, no membership, no fidelity",
             BARE | {"models": False}),
    "models": ("divulge", "the same, with models", BARE | {"models": True}),
    "whole": ("divulge", "divulge, all that a plain `divulge assess` does", {}),
    "singling out": ("anonymeter", "Anonymeter, singling out by one and by three columns, 2,000 guesses each",
                     SINGLING_OUT),
    "linkability": ("anonymeter", "Anonymeter, linkability of one pair of halves, 2,000 members and strangers",
                    LINKABILITY),
    "inference": ("anonymeter", "Anonymeter, inference of 15 targets, 2,000 members and strangers", INFERENCE),
    "quality": ("sdmetrics", "SDMetrics, quality and diagnostic report", QUALITY),
    "privacy": ("sdmetrics", "SDMetrics, DCR baseline and overfitting protection (2,000 rows), disclosure protection "
                "of 15 targets (its estimate)", PRIVACY),
    "qa": ("mostlyai", "mostlyai-qa, its report: accuracy, similarity of embeddings, distances to the closest record",
           QA),
}  # fmt: skip


# ---------------------------------------------------------------- one job


def surroundings(source: Path | None) -> dict[str, str]:
    """Return the environment of a job; what Python compiles is kept, as it is where a package was installed."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
    return env if source is None else env | {"PYTHONPATH": str(source)}


def of_job(python: str, program: str, arguments: list[str], limit: float, source: Path | None) -> dict[str, Any]:
    """Return what the system counts for a process: seconds of processor and clock, peak in MB, and whether it ended."""
    env = surroundings(source)
    before, began = load(), time.perf_counter()
    child = subprocess.Popen(
        [python, "-c", program, *arguments], env=env, stdout=subprocess.DEVNULL, start_new_session=True
    )
    ended = True
    while True:
        done, status, used = os.wait4(child.pid, os.WNOHANG)
        if done:
            break
        if time.perf_counter() - began > limit:
            ended = False
            os.killpg(child.pid, signal.SIGKILL)
            _, status, used = os.wait4(child.pid, 0)
            break
        time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    if ended and child.returncode:
        raise SystemExit(f"a job failed with status {child.returncode}:\n{program}")
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "wall": time.perf_counter() - began,
        "mb": used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "ended": ended,
        "load": before,
    }


def of_divulge(files: list[str], settings: Any, options: argparse.Namespace, part: str = "divulge") -> Any:
    tree, python = Path(__file__).parents[1], sys.executable
    if part == "before":
        tree, python = Path(options.before), options.before_python or python
    subprocess.run([python, "-c", COMPILED], check=True, env=surroundings(tree / "src"))
    return of_job(python, ASSESS, [json.dumps([files, settings, options.jobs])], options.limit, tree / "src")


def of_peer(files: list[str], program: str, options: argparse.Namespace) -> Any:
    head = f"FILES, N, HALVES = {files!r}, {options.attacks}, {HALVES!r}\n"
    return of_job(options.qa if program == QA else options.peers, head + PEER + program, [], options.limit, None)


# ---------------------------------------------------------------- the parts


def adult(options: argparse.Namespace, part: str) -> Iterator[dict[str, Any]]:
    """Yield the jobs of one part on Adult, each measured once."""
    files = [str(Path(options.adult).resolve() / f"{name}.parquet") for name in ("train", "ctgan", "control")]
    for name, (whose, what, how) in JOBS.items():
        if whose == ("divulge" if part == "before" else part) and (part != "before" or name != "whole"):
            found = of_peer(files, how, options) if isinstance(how, str) else of_divulge(files, how, options, part)
            what = what.replace("2,000", f"{options.attacks:,}")
            what += f", at {commit(options.before)}" if part == "before" else ""
            print(f"{part}, {name}: {found['cpu']:.1f} CPU s, {found['wall']:.1f} s", file=sys.stderr)
            yield {"part": part, "job": name, "what": what, **found}


def commit(tree: str) -> str:
    told = subprocess.run(
        ["git", "-C", tree, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


def growth(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the cost of an assessment of simulated tables of several sizes, without and with models."""
    for n in map(int, options.rows.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder) / f"{name}.parquet") for name in ("real", "synthetic", "holdout")]
            for frame, file in zip(tables(argparse.Namespace(adult=None), n), files, strict=True):
                frame.to_parquet(file)
            for name in ("bare", "models"):
                found = of_divulge(files, JOBS[name][2], options)
                line = "with models" if name == "models" else "without models"
                told = {"part": "growth", "curve": "rows", "line": line, "x": n, "y": found["cpu"]}
                print(f"{n:,} rows, {line}: {found['cpu']:.1f} CPU s, {found['mb']:,.0f} MB", file=sys.stderr)
                if found["ended"]:
                    yield told | found


# ---------------------------------------------------------------- writing


def markdown(report: dict[str, Any]) -> str:
    """Return the table of the jobs on Adult, the table of growth, and where it ran."""
    jobs = [r for r in report["rows"] if r["part"] != "growth"]
    own = {r["job"]: r["cpu"] for r in jobs if r["part"] == "divulge" and r["ended"]}
    lines = []
    if jobs:
        lines += [
            "Adult (39,032 members, 39,040 synthetic rows of CTGAN, 9,758 strangers, 15 targets), each job once.", "",
            "| what | CPU s | wall, s | peak, MB | CPU, times divulge's whole run (an older version: the same job) |",
            "| --- " * 5 + "|",
        ]  # fmt: skip
    for r in jobs:
        beside = own.get(r["job"] if r["part"] == "before" else "whole", 0.0)
        more, ratio = "" if r["ended"] else "more than ", f"{r['cpu'] / beside:.2f}" if beside else ""
        ratio = more + ratio if ratio else ""
        cells = [r["what"], more + seconds(r["cpu"]), more + seconds(r["wall"]), f"{more}{r['mb']:,.0f}", ratio]
        lines.append("| " + " | ".join(cells) + " |")
    grown = [r for r in report["rows"] if r["part"] == "growth"]
    if grown:
        lines += [
            "", "Simulated tables of 15 columns, so many real and synthetic rows and a quarter of strangers.", "",
            "| rows | models | CPU s | wall, s | peak, MB |", "| --- " * 5 + "|",
        ]  # fmt: skip
    for r in grown:
        cells = [f"{r['x']:,}", r["line"], seconds(r["cpu"]), seconds(r["wall"]), f"{r['mb']:,.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    where = report["environment"]
    packages = ", ".join(f"{k} {v}" for k, v in where["packages"].items())
    loads = sorted(r["load"] for r in report["rows"])
    ran = (
        f"Run on {where['date']}, {where['cores']} cores of {where['processor']}, Python {where['python']}, {packages}"
        f", divulge with `jobs={where['jobs']}`"
    )
    busy = " Other work shared the cores: seconds are more than on a quiet machine." if loads[-1] > 2 * N_CORES else ""
    return "\n".join([*lines, "", f"{ran}; load {loads[0]} to {loads[-1]}.{busy}"])


def versions(options: argparse.Namespace) -> dict[str, Any]:
    """Return where it ran, with the packages of the peers' Python."""
    out = environment(("divulge", "pandas", "polars", "numpy", "scikit-learn")) | {"jobs": options.jobs}
    for python, names in ((options.peers, ("anonymeter", "sdmetrics")), (options.qa, ("mostlyai-qa",))):
        if python:
            asked = f"from importlib.metadata import version as v; print(*map(v, {names}))"
            told = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.split()
            out["packages"] |= dict(zip(names, told, strict=True))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", help="folder with train, ctgan and control.parquet")
    parser.add_argument("--parts", default="divulge,growth", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--before", help="an older source tree of divulge")
    parser.add_argument("--before-python", help="a Python with what that tree needs")
    parser.add_argument("--peers", help="a Python with anonymeter and sdmetrics")
    parser.add_argument("--qa", help="a Python with mostlyai-qa")
    parser.add_argument("--rows", default="1000,10000,100000", help="rows of real and synthetic in the part growth")
    parser.add_argument("--attacks", type=int, default=2000, help="of Anonymeter, and rows that SDMetrics samples")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a job is ended")
    parser.add_argument("--jobs", type=int, default=2, help="threads of divulge, of both trees")
    parser.add_argument("--json", default="docs/assess.json", help="where the figures are kept")
    parser.add_argument("--docs", help="page whose table is replaced")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CORES])
    parts = [p for p in options.parts.split(",") if p]
    kept = json.loads(Path(options.json).read_text()) if Path(options.json).exists() else {"rows": []}
    rows = [r for r in kept["rows"] if r["part"] not in parts]
    before, now = kept.get("environment", {}), versions(options)
    where = before | now | {"packages": before.get("packages", {}) | now["packages"]}  # those of parts that are kept
    for part in parts:
        for row in growth(options) if part == "growth" else adult(options, part):
            rows = sorted([*rows, row], key=lambda r: PARTS.index(r["part"]))
            # written after each job, so that an interrupt loses none
            Path(options.json).write_text(json.dumps(kept | {"environment": where, "rows": rows}, indent=1) + "\n")
    table = markdown(kept | {"environment": where, "rows": rows})
    print(table)
    if options.docs:
        put_between_marks(Path(options.docs), table, "assess")


if __name__ == "__main__":
    main()
