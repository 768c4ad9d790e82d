"""What a run takes, and the numbers of `divulge plan` fitted to it.

    python benchmarks/plan.py measure --out plan.json --adult DIR      each run in a process of its own: peak, seconds
    python benchmarks/plan.py fit plan.json --folder DIR               write src/divulge/run/cost/measured_cost.py
    python benchmarks/plan.py check plan.json --folder DIR --docs docs/how-to/large-tables.md    beside each run
    python benchmarks/plan.py engine scale.json --folder DIR --docs ...  runs of `scale.py --what people`

The tables are simulated, but for Adult (`--adult DIR` holds train, ctgan and control) and the demo. Runs differ in
rows, columns, kinds of columns, files and options. Peak is the largest memory of the process (`ru_maxrss`), CPU that of
all its threads; both are of the whole command. A machine that does other things makes CPU seconds larger, and peak not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from cap import put_between_marks
from scipy.optimize import nnls

ROOT = Path(__file__).parent.parent
ALONE = 0.4
"""Share of the work that no thread shortens, where no run was made on a quiet machine; as it was before."""
LEVELS = (2, 5, 9, 16, 42)
HELD = {"byte of table": 1.0, "byte of text": 1.0, "byte of scores": 1.0}
"""Bytes that a run holds for certain, of each part."""
LEAST = ("--no-models", "--no-membership", "--no-fidelity")


class Recipe(NamedTuple):
    """One run: tables and options."""

    name: str
    kind: str
    """Kinds of columns: mixed, numbers, texts, adult or demo."""
    rows: int
    """Rows of the real table, and of the synthetic one; a holdout has a quarter."""
    columns: int
    options: tuple[str, ...] = ()
    suffix: str = "parquet"
    holdout: bool = True
    command: str = "assess"


KNOWN = ("--keys", "c2,c3,c4", "--targets", "c7,n6")
RUNS = (
    Recipe("demo", "demo", 472, 10),
    Recipe("adult", "adult", 39032, 15),
    Recipe("adult, least", "adult", 39032, 15, LEAST),
    Recipe("mixed, 2k", "mixed", 2000, 15),
    Recipe("mixed, 2k, no models", "mixed", 2000, 15, ("--no-models",)),
    Recipe("mixed, 20k, least", "mixed", 20_000, 15, LEAST),
    Recipe("mixed, 20k, known", "mixed", 20_000, 15, (*KNOWN, *LEAST), "csv"),
    Recipe("mixed, 30k, people", "mixed", 30_000, 15, (*LEAST, "--people", "3000")),
    Recipe("texts, 20k, least", "texts", 20_000, 12, LEAST, "csv"),
    Recipe("numbers, 20k, least", "numbers", 20_000, 8, LEAST),
    Recipe("wide, 5k, least", "mixed", 5000, 40, LEAST),
    Recipe("few, 60k, known", "mixed", 60_000, 8, (*KNOWN, *LEAST)),
    Recipe("fidelity, 20k", "mixed", 20_000, 15, ("--no-models",), command="fidelity"),
    Recipe("fidelity, 60k", "mixed", 60_000, 15, ("--no-models",), command="fidelity"),
    Recipe("fidelity, 20k, wide", "mixed", 20_000, 40, ("--no-models",), command="fidelity"),
    Recipe("mixed, 20k, no holdout", "mixed", 20_000, 15, ("--no-models",), holdout=False),
    Recipe("mixed, 100k", "mixed", 100_000, 15),
    Recipe("mixed, 100k, least", "mixed", 100_000, 15, LEAST),
    Recipe("mixed, 100k, known", "mixed", 100_000, 15, (*KNOWN, "--no-models"), "csv"),
    Recipe("mixed, 100k, people", "mixed", 100_000, 15, ("--people", "20000", "--no-models"), "csv"),
    Recipe("texts, 100k", "texts", 100_000, 12, ("--no-models",), "csv"),
    Recipe("numbers, 100k", "numbers", 100_000, 8, ("--no-models",)),
    Recipe("wide, 30k", "mixed", 30_000, 40, ("--no-models",)),
    Recipe("wide, 100k, least", "mixed", 100_000, 40, LEAST),
    Recipe("few, 300k, known", "mixed", 300_000, 8, (*KNOWN, "--no-models")),
    Recipe("mixed, 300k, least", "mixed", 300_000, 15, LEAST),
    Recipe("mixed, 300k", "mixed", 300_000, 15),
    Recipe("mixed, 300k, people", "mixed", 300_000, 15, ("--people", "50000")),
    Recipe("fidelity, 100k", "mixed", 100_000, 15, ("--no-models",), command="fidelity"),
    Recipe("fidelity, 20k, models", "mixed", 20_000, 15, command="fidelity"),
    Recipe("fidelity, 300k", "mixed", 300_000, 15, ("--no-models",), command="fidelity"),
)


def frame(recipe: Recipe, n: int, seed: int) -> pl.DataFrame:
    """Return a simulated table: all columns depend on one hidden number."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    columns: dict[str, Any] = {}
    for j in range(recipe.columns):
        own = hidden + rng.normal(size=n)
        if recipe.kind == "texts" and j % 4 == 0:
            house, town = (rng.integers(0, most, n).astype(str) for most in (50_000, 90))
            columns[f"t{j}"] = np.char.add(np.char.add("street ", house), np.char.add(" in the town of ", town))
        elif recipe.kind == "numbers":
            columns[f"n{j}"] = own * 1000 if j % 2 else np.exp(own).round(2)
        elif j % 5 < 2:
            columns[f"n{j}"] = (40 + 10 * own).round(1 - j % 2)
        else:
            size = LEVELS[j % len(LEVELS)]
            place = np.clip(((own + 3) / 6 * size).astype(int), 0, size - 1)
            columns[f"c{j}"] = pl.Series(np.char.add("value ", np.arange(size).astype(str)))[place]
    return pl.DataFrame(columns)


def tables(recipe: Recipe, folder: Path, adult: Path | None) -> list[Path] | None:
    """Return the files of real, synthetic and holdout; [] for the demo, None where Adult is not there."""
    if recipe.kind == "demo":
        return []
    if recipe.kind == "adult":
        return None if adult is None else [adult / f"{name}.parquet" for name in ("train", "ctgan", "control")]
    sizes = [recipe.rows, recipe.rows, recipe.rows // 4][: 3 if recipe.holdout else 2]
    out = []
    for seed, n in enumerate(sizes):
        path = folder / f"{recipe.rows}-{recipe.columns}-{recipe.kind}-{seed}.{recipe.suffix}"
        if not path.exists():
            table = frame(recipe, n, seed)
            table.write_csv(path) if recipe.suffix == "csv" else table.write_parquet(path)
        out.append(path)
    return out


def arguments(recipe: Recipe, files: list[Path]) -> list[str]:
    """Return the tables and options of a command line."""
    if not files:
        return list(recipe.options)
    held = ["--holdout", str(files[2])] if len(files) > 2 else []
    return [str(files[0]), str(files[1]), *held, *recipe.options]


def measured(recipe: Recipe, files: list[Path], folder: Path) -> dict[str, Any]:
    """Return what one run took."""
    command = "demo" if not files else recipe.command
    out = [] if command == "fidelity" else ["--out", str(folder / "report")]
    given = [sys.executable, "-m", "divulge", command, *arguments(recipe, files), *out, "--quiet"]
    began, load = time.perf_counter(), os.getloadavg()[0]
    child = subprocess.Popen(given, stdout=subprocess.DEVNULL, cwd=folder)
    largest = 0
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        largest = max(largest, _address_space(child.pid))
        time.sleep(0.05)
    wall = time.perf_counter() - began
    return {
        "name": recipe.name, "recipe": recipe._asdict(), "status": os.waitstatus_to_exitcode(status),
        "peak": used.ru_maxrss * 1024, "address_space": largest, "cpu": used.ru_utime + used.ru_stime, "wall": wall,
        "load": load, "cores": os.cpu_count(),
    }  # fmt: skip


def _address_space(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmPeak")), 0)


def measure(options: argparse.Namespace) -> None:
    """Make the runs and write what each took; runs that the file has are not made again."""
    out = Path(options.out)
    done = json.loads(out.read_text()) if out.exists() else []
    folder = Path(options.folder or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    for recipe in RUNS:
        wanted = options.only is None or recipe.name in options.only.split(";")
        if any(d["name"] == recipe.name for d in done) or not wanted:
            continue
        files = tables(recipe, folder, options.adult)
        if files is None:
            continue
        done.append(measured(recipe, files, folder))
        out.write_text(json.dumps(done, indent=1))
        print(json.dumps({k: v for k, v in done[-1].items() if k != "recipe"}), flush=True)


def work(recipe: Recipe, files: list[Path]) -> Any:
    """Return the work of a run, as `divulge plan` sees it."""
    from divulge.cli.assess import assess, demo
    from divulge.cli.fidelity import fidelity
    from divulge.run.forecasting.forecast import prepared, sizes_of
    from divulge.run.forecasting.memory_check import work_of_fidelity
    from divulge.run.planning.options import Attacker, Reading, RunOptions

    command = demo if not files else fidelity if recipe.command == "fidelity" else assess
    given = command.make_context("benchmark", arguments(recipe, files)).params
    given_tables = [*files, None][:3]
    if recipe.command == "fidelity":
        sizes = sizes_of(given_tables, ())
        return work_of_fidelity(sizes, Reading(), models=given["models"])
    names = ("search", "models", "membership", "fidelity", "fidelity_models", "people")
    options = RunOptions(**{name: given[name] for name in names})
    if not files:
        from divulge.demo import tables as of_demo

        sizes, known = sizes_of(of_demo(), ()), Attacker(["age", "educ", "TVnews"], ["vote", "PID", "income"])
    else:
        sizes = sizes_of(given_tables, ())
        known = Attacker(given["keys"] or None, given["targets"] or None)
    case, _, whole = prepared(sizes, known, Reading(), options)
    if options.sample is None:
        return whole
    of = [case.n_people(role) for role in ("real", "holdout")]
    return whole.of_people(sum(min(n, options.sample) for n in of) / sum(of))


class Runs(NamedTuple):
    """Measured runs, and the parts of their work."""

    done: list[dict[str, Any]]
    works: list[Any]

    @classmethod
    def read(cls, options: argparse.Namespace) -> Runs:
        """Return the runs of the files that the options name."""
        done = [d for path in options.measured for d in json.loads(Path(path).read_text())]
        recipes = [Recipe(**d["recipe"]) for d in done]
        return cls(done, [work(r, tables(r, Path(options.folder), options.adult) or []) for r in recipes])

    def numbers(self, name: str, but: int = -1) -> dict[str, float]:
        """Return the numbers of memory ("BYTES") or time ("SECONDS"): least squares of relative errors, none negative.

        A run can be left out. The numbers of memory are raised until no run took more than they give.
        """
        from divulge.run.cost.expected_cost import bytes_parts, seconds_parts

        parts, key = (bytes_parts, "peak") if name == "BYTES" else (seconds_parts, "cpu")
        names = list({n: None for w in self.works for n in parts(w)})
        kept = [i for i in range(len(self.done)) if i != but]
        x = np.array([[float(parts(self.works[i]).get(n, 0)) for n in names] for i in kept])
        y = np.array([self.done[i][key] for i in kept])
        held = np.array([HELD.get(n, 0.0) * (name == "BYTES") for n in names])
        scaled = x / y[:, None]
        size = np.maximum(scaled.max(axis=0), 1e-300)
        each = held + nnls(scaled / size, 1 - scaled @ held)[0] / size
        if name == "BYTES":
            each = each * max(1.0, (y / (x @ each)).max())
        return {n: float(f"{v:.3g}") for n, v in zip(names, each, strict=True) if v}


def fit(options: argparse.Namespace) -> None:
    """Write the numbers of the cost."""
    runs = Runs.read(options)
    quiet = [d["wall"] / d["cpu"] for d in runs.done if d["cpu"] > 20 and d["load"] < 1.5]
    alone = float(np.clip(2 * np.median(quiet) - 1, 0, 1)) if quiet else ALONE
    space = max(d["address_space"] - d["peak"] for d in runs.done)
    text = '"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""\n\n'
    text += "from __future__ import annotations\n\n"
    for name, told in (("BYTES", "Bytes of memory"), ("SECONDS", "CPU seconds")):
        each = {n: f"{v:.3g}".replace("e+", "e") for n, v in runs.numbers(name).items()}
        entries = "".join(f'    "{n}": {v},\n' for n, v in each.items())
        text += f'{name} = {{\n{entries}}}\n"""{told} of each part."""\n\n'
    text += f'ALONE = {alone:.2g}\n"""Share of the work that no further thread shortens."""\n\n'
    text += f"ADDRESS_SPACE = {float(f'{space:.2g}'):.0f}\n"
    text += '"""Bytes of address space that a process has mapped and never uses."""\n'
    (ROOT / "src/divulge/run/cost/measured_cost.py").write_text(text)


def check(options: argparse.Namespace) -> None:
    """Print the plan of each run beside the run: with the numbers of the package, and with those of all other runs."""
    from divulge.run.cost.expected_cost import bytes_parts, expected_bytes, expected_seconds, seconds_parts

    runs = Runs.read(options)
    heads = ("run", "MB", "plan, MB", "times", "left out of the fit")
    lines = [f"| {' | '.join((*heads, 'CPU s', 'plan, CPU s', *heads[3:]))} |", "| --- " * 9 + "|"]
    for i, (d, w) in enumerate(zip(runs.done, runs.works, strict=True)):
        others = [_sum(parts(w), runs.numbers(name, but=i))
                  for name, parts in (("BYTES", bytes_parts), ("SECONDS", seconds_parts))]  # fmt: skip
        size, seconds = expected_bytes(w), expected_seconds(w, 1)
        lines.append(
            f"| {d['name']} | {d['peak'] / 1e6:,.0f} | {size / 1e6:,.0f} | {size / d['peak']:.2f} "
            f"| {others[0] / d['peak']:.2f} | {d['cpu']:.1f} | {seconds:.1f} | {seconds / d['cpu']:.2f} "
            f"| {others[1] / d['cpu']:.2f} |"
        )
    loads = [d["load"] for d in runs.done]
    lines += ["", f"{len(runs.done)} runs on {runs.done[0]['cores']} cores; load {min(loads):.1f} to {max(loads):.1f} "
              "when they began: where others work, CPU seconds are more."]  # fmt: skip
    print("\n".join(lines))
    if options.docs:
        page = Path(options.docs)
        head, _, rest = page.read_text().partition("<!-- plan -->\n")
        page.write_text(
            f"{head}<!-- plan -->\n" + "\n".join(lines) + "\n<!-- /plan -->" + rest.partition("<!-- /plan -->")[2]
        )


def engine(options: argparse.Namespace) -> None:
    """Print the plan of each run by an engine beside the run; the folder is that of `scale.py`."""
    heads = (
        "rows",
        "asked of each",
        "CPU s",
        "plan",
        "times",
        "wall s",
        "plan",
        "times",
        "own memory, MB",
        "plan",
        "times",
    )
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for path in options.measured:
        for name, one in json.loads(Path(path).read_text()).items():
            what, by, rows = name.split()
            if what == "people" and "wall" in one:
                lines.append(f"| {int(rows):,} | {_beside(one, by, Path(options.folder) / rows)} |")
    print("\n".join(lines))
    if options.docs:
        put_between_marks(Path(options.docs), "\n".join(lines), "engine plan")


def _beside(one: dict[str, Any], engine: str, folder: Path) -> str:
    """Return the cells of a run: whom it asked, its seconds and memory, and its plan beside them."""
    from scale import KEYS, NAMES, TARGETS

    import divulge

    real, synthetic, holdout = (folder / name for name in NAMES)
    asked = one.get("people", 10**6)
    alone, told = (
        divulge.plan(
            real, synthetic, holdout=holdout, keys=KEYS, targets=TARGETS, engine=engine, models=False, fidelity=False,
            people=asked, jobs=jobs,
        )
        for jobs in (1, 2)
    )  # fmt: skip
    pairs = ((one["cpu"], alone.seconds), (one["wall"], told.seconds), (one.get("own_mb"), told.needed / 2**20))
    beside = (f"{n:,.0f} | {plan:,.0f} | {plan / n:.2f}" if n else f"| {plan:,.0f} | " for n, plan in pairs)
    return " | ".join([f"{asked:,}", *beside])


def _sum(parts: dict[str, float], each: dict[str, float]) -> float:
    return sum(each.get(name, 0.0) * part for name, part in parts.items())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("measure")
    step.add_argument("--out", default="plan.json")
    step.add_argument("--adult", type=Path)
    step.add_argument("--folder", help="where tables are written; kept for the next steps")
    step.add_argument("--only", help="names of runs, with semicolons between")
    step.set_defaults(do=measure)
    for name, do in (("fit", fit), ("check", check), ("engine", engine)):
        step = steps.add_parser(name)
        step.add_argument("measured", nargs="+")
        step.add_argument("--docs", help="page that the table is written to")
        step.add_argument("--adult", type=Path)
        step.add_argument("--folder", required=True, help="where the tables of the runs are")
        step.set_defaults(do=do)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
