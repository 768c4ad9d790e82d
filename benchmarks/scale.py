"""Time and memory of a run in which an engine counts the tables, beside the same run in memory.

    python benchmarks/scale.py --folder DIR --docs docs/speed.md
    python benchmarks/scale.py --goals              which goals its runs meet (`scale_goals.py`)

Tables are simulated: fifteen columns with the names, the numbers of values and some of the dependence of Adult (ages,
hours and capital gains of many values; a weight of twenty thousand), as real : synthetic : holdout = 4 : 4 : 1, and one
synthetic row in a hundred is a copy of a real one. They are written to DIR as folders of Parquet files of a million
rows, once.

`people` is an assessment that asks --people members and strangers, by the codes of all rows in files below --folder,
with everything that a run makes beside fidelity and models; its JSON has the time and memory at the beginning of each
part. `compare` compares two candidates so; the second, `synthetic-b`, has three copies in a hundred rows, and is
written for this alone. `group-by` is DuckDB's alone, of the real table by the keys and target of `cap`; `search` is
that for key sets, each column a target; `fidelity` are the measures that fit no model; `whole` is an assessment in
memory of everything but models, everybody asked.

`quality` is SDMetrics' quality report of real and synthetic table, with what a fresh sample scores.

`cells` is the contingency table of the five keys and target of `cap` over all three tables, with DuckDB's memory
limited to 4 GB; `cells-8` is that of eight keys with 2 GB, and `group-by-8` the bare group-by of the real table by
these.

Each run is a process of its own; its CPU seconds and its largest resident memory are those that the system tells. Pages
of mapped files are among this memory; its own memory is what Linux calls RssAnon, looked at every .2 seconds. In
memory the same attacks are made as by an engine, since the others would take most of the time; the preconditions that
need rows and the records of people, which an engine leaves out, are part of the run in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from cap import put_between_marks

STEP = 1_000_000
NAMES = ("real", "synthetic", "holdout")
SECOND = "synthetic-b"
"""The second candidate of `compare`."""
KEYS = ["age", "sex", "race", "education", "marital-status"]
MORE_KEYS = [*KEYS, "hours-per-week", "relationship", "workclass"]
LIMITS = {"cells": 4, "cells-8": 2, "group-by-8": 2}
"""GB that DuckDB may take."""
TARGETS = ["income", "occupation", "capital-gain"]
WHAT = ("group-by", "cap", "cells", "group-by-8", "cells-8", "search", "quality", "fidelity", "assess", "people",
        "compare", "whole")  # fmt: skip
_N_VALUES = {"workclass": 9, "education": 16, "marital-status": 7, "occupation": 15, "relationship": 6, "race": 5,
             "native-country": 42}  # fmt: skip


def people(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return n people; each column depends on those before it."""
    age = np.clip(rng.gamma(6, 6.5, n).astype(np.int64), 17, 90)
    sex = rng.random(n) < 0.67
    codes = {}
    drive = (age - 17) / 73 + 0.3 * sex
    for column, n_values in _N_VALUES.items():
        # a common value, others the rarer the higher their number, and people alike in age and sex alike here too
        noise = rng.beta(1.2, 5, n)
        codes[column] = np.minimum(
            (n_values * (0.7 * noise + 0.3 * drive * rng.random(n))).astype(np.int64), n_values - 1
        )
        drive = 0.7 * drive + 0.3 * codes[column] / n_values
    rich = rng.random(n) < 1 / (1 + np.exp(3 - 3 * drive))
    gain = np.where(rng.random(n) < 0.08 + 0.1 * rich, (rng.gamma(1.2, 6000, n) // 100) * 100, 0).astype(np.int64)
    loss = np.where(rng.random(n) < 0.05, (rng.normal(1900, 300, n) // 10) * 10, 0).astype(np.int64)
    hours = np.clip(np.where(rng.random(n) < 0.5, 40, rng.normal(40, 12, n)), 1, 99).astype(np.int64)
    data = {"age": age, "fnlwgt": 12_000 + 10 * rng.integers(0, 20_000, n)}
    frame = pl.DataFrame(data | {"education-num": codes["education"] + 1, "capital-gain": gain, "capital-loss": loss})
    texts = {c: pl.Series(c, [f"{c} {i}" for i in range(k)]).gather(codes[c]) for c, k in _N_VALUES.items()}
    return frame.with_columns(
        *texts.values(), pl.Series("sex", sex).replace_strict({True: "Male", False: "Female"}, return_dtype=pl.String),
        pl.Series("hours-per-week", hours),
        pl.Series("income", rich).replace_strict({True: ">50K", False: "<=50K"}, return_dtype=pl.String),
    )  # fmt: skip


def simulated(folder: Path, rows: int, what: str = "") -> list[Path]:
    """Return the folders of the three tables, and of the second synthetic one where candidates are compared.

    They are written if they are not there.
    """
    home = folder / f"{rows}"
    for seed, (name, n) in enumerate(zip(NAMES, (rows, rows, rows // 4), strict=True)):
        written(home, name, n, seed, percent=1 if name == "synthetic" else 0)
    if what != "compare":
        return [home / name for name in NAMES]
    written(home, SECOND, rows, len(NAMES), percent=3)
    return [home / name for name in (*NAMES, SECOND)]


def written(home: Path, name: str, n: int, seed: int, percent: int) -> None:
    """Write a table as files of a million rows, of which some percent are the first of the real ones."""
    (home / name).mkdir(parents=True, exist_ok=True)
    for part in range(-(-n // STEP)):
        file = home / name / f"part-{part:04}.parquet"
        if file.exists():
            continue
        some = min(STEP, n - part * STEP)
        frame = people(some, np.random.default_rng([seed, part]))
        if n_copied := some * percent // 100:
            real = people(some, np.random.default_rng([0, part])).head(n_copied)
            frame = pl.concat([real, frame.slice(n_copied)])
        frame.write_parquet(home / "unfinished")
        (home / "unfinished").rename(file)


def attacked(engine: str, paths: list[str]) -> dict[str, Any]:
    """Return what `divulge.cap` alone takes in this process, and the risk that it finds."""
    import divulge

    began = time.perf_counter()
    asked = {"keys": KEYS, "target": "occupation", "unseen": "zero", "engine": engine}
    found = divulge.cap(paths[0], paths[1], holdout=paths[2], **asked)
    return taken(began) | {"risk": found.risk.value}


def measured_fidelity(engine: str, paths: list[str]) -> dict[str, Any]:
    """Return what the counted measures of fidelity take in this process, and how many results they have."""
    import divulge

    began = time.perf_counter()
    found = divulge.fidelity(paths[0], paths[1], holdout=paths[2], models=False, engine=engine)
    return taken(began) | {"results": len(found.results)}


def scored(engine: str, paths: list[str]) -> dict[str, Any]:
    """Return what the quality report takes in this process, and its score."""
    from divulge.sdmetrics.reports import QualityReport

    began = time.perf_counter()
    report = QualityReport()
    report.generate_in(engine, paths[0], paths[1])
    fresh = report.get_fresh_sample()
    return taken(began) | {"score": report.get_score(), "fresh": fresh[""].mean}


def searched(engine: str, paths: list[str]) -> dict[str, Any]:
    """Return what the search for key sets alone takes in this process, every column a target, and how many it keeps."""
    from divulge.attacks.key_sets import ranked_key_sets
    from divulge.case.case import build_case

    began = time.perf_counter()
    case = build_case(*paths, engine=engine)
    found = ranked_key_sets(case, case.schema.usable())[0]
    return taken(began) | {"sets": len(found)}


def bare(engine: str, paths: list[str], keys: list[str] = KEYS) -> dict[str, Any]:
    """Return what DuckDB takes for the group-by of the real table alone, by some keys and the target of `attacked`."""
    import duckdb

    began = time.perf_counter()
    if len(keys) > len(KEYS):
        duckdb.sql(f"set memory_limit='{LIMITS['group-by-8']}GB'")
    columns = ", ".join(f'"{c}"' for c in [*keys, "occupation"])
    found = duckdb.sql(f"select {columns}, count(*) as n from '{paths[0]}/*.parquet' group by all").arrow()
    return taken(began) | {"cells": found.read_all().num_rows}


def asked(engine: str, paths: list[str], targets: list[str], n_people: int) -> dict[str, Any]:
    """Return what an assessment takes that asks so many people, and what it did not make for want of memory."""
    import divulge

    began, parts, spill = time.perf_counter(), {}, Path(paths[0]).parent / "spill"
    spill.mkdir(exist_ok=True)

    def heard(what: str, done: int, total: int) -> None:
        parts.setdefault(what.partition(":")[0], taken(began))

    report = divulge.assess(
        paths[0], paths[1], holdout=paths[2], keys=KEYS, targets=targets, engine=engine, models=False, fidelity=False,
        people=n_people, spill=spill, progress=heard,
    )  # fmt: skip
    data = report.assessment
    left_out = [o.attack for o in data.not_run if "fit into memory" in o.why]
    found = {"results": len(report.results), "failed": len(report.failed), "no room": left_out}
    return taken(began) | found | {"people": n_people, "verdict": data.verdict.verdict, "parts": parts}


def compared(engine: str, paths: list[str], targets: list[str], n_people: int) -> dict[str, Any]:
    """Return what a comparison of two candidates takes that asks so many people through both, and its order."""
    import divulge

    began, parts, spill = time.perf_counter(), {}, Path(paths[0]).parent / "spill"
    spill.mkdir(exist_ok=True)

    def heard(what: str, done: int, total: int) -> None:
        label, _, step = what.partition(": ")
        parts.setdefault(f"{label}: {step.partition(':')[0]}" if step else what, taken(began))

    report = divulge.compare(
        paths[0], {"synthetic": paths[1], SECOND: paths[3]}, holdout=paths[2], keys=KEYS, targets=targets,
        engine=engine, people=n_people, spill=spill, progress=heard,
    )  # fmt: skip
    ranked = [a.attack for a in report.comparison.attacks]
    told = {"order": report.order, "ranked": ranked, "failed": len(report.failed)}
    return taken(began) | told | {"front": report.comparison.front is not None, "parts": parts}


def whole(engine: str, paths: list[str]) -> dict[str, Any]:
    """Return what an assessment without models takes, with a search for key sets and each column a target."""
    import divulge

    began = time.perf_counter()
    report = divulge.assess(paths[0], paths[1], holdout=paths[2], models=False, people="all", engine=engine)
    return taken(began) | {"results": len(report.results), "verdict": report.assessment.verdict.verdict}


def cells(engine: str, paths: list[str], keys: list[str]) -> dict[str, Any]:
    """Return what the contingency table of some keys over the three tables takes, and how many cells it has."""
    from divulge.case.case import build_case
    from divulge.tables import engines

    settled = engines.settled

    def limited(base):
        settled(base).execute(f"set memory_limit='{LIMITS['cells' if keys == KEYS else 'cells-8']}GB'")
        return base

    engines.settled = limited
    began = time.perf_counter()
    case = build_case(*paths, engine=engine, asked=[*keys, "occupation"])
    found = case.contingency(keys, "occupation")
    return taken(began) | {"cells": len(found.key), "rows": found.n_o + found.n_s + found.n_c}


class OwnMemory:
    """The largest memory of this process that is no page of a file, in MB; None where the system does not tell."""

    most: float | None = None

    def watch(self) -> None:
        """Look at it every .2 seconds from now on, until the process ends."""
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while (now := own_mb()) is not None:
            self.most = max(self.most or 0.0, now)
            time.sleep(0.2)


def own_mb(status: Path = Path("/proc/self/status")) -> float | None:
    """Return the own memory of this process in MB; None where the system does not tell."""
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon")), None)


OWN = OwnMemory()


def taken(began: float) -> dict[str, Any]:
    """Return CPU seconds, wall seconds and the largest memory in MB of this process, resident and its own."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = {"cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - began}
    return seconds | {"mb": used.ru_maxrss / 1024, "own_mb": OWN.most}


def run(engine: str, paths: list[str], targets: list[str], what: str, n_people: int) -> dict[str, Any]:
    """Return what an assessment, or `divulge.cap` alone, takes in this process."""
    if what in ("people", "compare"):
        return (asked if what == "people" else compared)(engine, paths, targets, n_people)
    alone = {"whole": whole, "cap": attacked, "fidelity": measured_fidelity, "search": searched, "group-by": bare,
             "quality": scored}  # fmt: skip
    alone["group-by-8"] = lambda engine, paths: bare(engine, paths, MORE_KEYS)
    alone["cells"] = lambda engine, paths: cells(engine, paths, KEYS)
    alone["cells-8"] = lambda engine, paths: cells(engine, paths, MORE_KEYS)
    if what in alone:
        return alone[what](engine, paths)
    import divulge
    from divulge.run import assess
    from divulge.run.engines import engine_plan as part
    from divulge.run.planning.plan import plan_of

    if engine == "memory":  # the same attacks

        def plan(case, attacker, options):
            made = plan_of(case, attacker, options)
            part.restrict_to_counts(made, options)
            return made

        assess.plan_of = plan
    began = time.perf_counter()
    report = divulge.assess(
        paths[0], paths[1], holdout=paths[2], keys=KEYS, targets=targets, engine=engine, models=False, membership=False,
        fidelity=False, people="all" if engine == "memory" else "none",
    )  # fmt: skip
    found = {"results": len(report.results), "failed": len(report.failed)}
    return taken(began) | found | {"verdict": report.assessment.verdict.verdict}


def measured(engine: str, rows: int, folder: Path, targets: list[str], what: str, n_people: int) -> dict[str, Any]:
    """Return what one run takes, in a process of its own."""
    paths = [str(p) for p in simulated(folder, rows, what)]
    given = json.dumps([engine, paths, targets, what, n_people])
    made = subprocess.run(
        [sys.executable, __file__, "--one", given], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    if made.returncode:
        return {"exit": made.returncode, "said": made.stderr[-300:]}
    return json.loads(made.stdout.splitlines()[-1])


def table(found: dict[str, dict[str, Any]]) -> str:
    """Return the runs as a table in Markdown."""
    head = ("what", "engine", "real + synthetic + holdout rows", "CPU s", "wall s", "largest memory, MB", "its own, MB")
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    runs = {name: one for name, one in found.items() if name.split()[0] in WHAT}
    for name, one in sorted(runs.items(), key=lambda item: (WHAT.index(item[0].split()[0]), int(item[0].split()[2]))):
        what, engine, n = name.split()
        rows = int(n)
        told = f"| {what} | {engine} | {rows:,} + {rows:,} + {rows // 4:,} "
        if "exit" in one:
            lines.append(f"{told}| ended with status {one['exit']} | | | |")
        else:
            own = "" if one.get("own_mb") is None else f"{one['own_mb']:,.0f}"
            lines.append(f"{told}| {one['cpu']:.1f} | {one['wall']:.0f} | {one['mb']:,.0f} | {own} |")
    return "\n".join([*lines, *goal(runs)])


def goal(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return a sentence on the CPU time and memory of `cap` beside those of a bare group-by of its real table."""
    told = []
    for rows in sorted({int(name.split()[2]) for name in found}):
        for what, bare_one, goals in (("cells", "group-by", "2.5, 1,000"), ("cells-8", "group-by-8", "none, 2,200")):
            plain, whole = (found.get(f"{name} duckdb {rows}", {"exit": 1}) for name in (bare_one, what))
            if "exit" not in plain and "exit" not in whole:
                told += [
                    "",
                    f"At {rows:,} real rows `{what}` of all three tables takes {whole['cpu'] / plain['cpu']:.1f} times "
                    f"the CPU of `{bare_one}`, which is of the real table alone, and {whole['mb']:,.0f} MB (goals at "
                    f"100,000,000 rows: {goals}).",
                ]
        plain, whole = (found.get(f"{what} duckdb {rows}", {"exit": 1}) for what in ("group-by", "cap"))
        if "exit" not in plain and "exit" not in whole:
            told += [
                "",
                f"At {rows:,} real rows `cap` on all three tables in DuckDB takes {whole['cpu'] / plain['cpu']:.1f} "
                "times the CPU of a bare group-by of its real table (goal: 2.5, at 100,000,000 rows) and "
                f"{whole['mb']:,.0f} MB (goal: 1,000).",
            ]
    return told


def of_page(page: Path) -> dict[str, dict[str, Any]]:
    """Return the runs that the table of a page has."""
    text = page.read_text(encoding="utf-8").partition("<!-- scale -->")[2].partition("<!-- /scale -->")[0]
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) in (6, 7) and cells[0] in WHAT and cells[3][:1].isdigit():
            rows = cells[2].split(" ")[0].replace(",", "")
            told = [float(cell.replace(",", "")) if cell else None for cell in cells[3:]]
            found[f"{cells[0]} {cells[1]} {rows}"] = dict(zip(("cpu", "wall", "mb", "own_mb"), told, strict=False))
    return found


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("scale-tables"), help="where the tables are written")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory-rows", type=int, default=1_000_000, help="0 leaves memory out")
    parser.add_argument("--targets", type=lambda text: text.split(","), default=TARGETS)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["duckdb", "polars"])
    parser.add_argument("--what", choices=WHAT, default="assess")
    parser.add_argument("--people", type=int, default=1_000_000, help="asked with --what people or compare")
    own = Path(__file__).with_name("scale.json")
    parser.add_argument("--json", type=Path, default=own, help="runs in it are kept; by default beside this file")
    parser.add_argument("--docs", type=Path, help="page whose table is replaced; its runs are kept")
    parser.add_argument("--goals", action="store_true", help="say which goals the runs in --json meet")
    parser.add_argument("--run", type=lambda text: text.split(","), default=[], help="with --goals: make these first")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        OWN.watch()
        print(json.dumps(run(*json.loads(given.one))))
        return
    if given.goals:
        import scale_goals

        found = json.loads(given.json.read_text()) if given.json.exists() else {}
        for name in given.run:
            found |= scale_goals.made(name)
            given.json.write_text(json.dumps(found, indent=1))
        print(scale_goals.told(found))
        return
    sizes = [n for n in sorted({given.memory_rows, given.rows}) if n]
    runs = [("memory", given.memory_rows)] if given.memory_rows else []
    runs += [(engine, rows) for rows in sizes for engine in given.engines]
    found = of_page(given.docs) if given.docs else {}
    found |= json.loads(given.json.read_text()) if given.json.exists() else {}
    for engine, rows in runs:
        found[f"{given.what} {engine} {rows}"] = measured(
            engine, rows, given.folder, given.targets, given.what, given.people
        )
        given.json.write_text(json.dumps(found, indent=1))
    print(table(found))
    if given.docs:
        put_between_marks(given.docs, table(found), "scale")


if __name__ == "__main__":
    main()
