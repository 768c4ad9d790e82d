"""The goals for tables beyond one memory, S1 to S15: which are met, missed, or were not run.

    python benchmarks/scale.py --goals                    from the runs in benchmarks/scale.json
    python benchmarks/scale.py --goals --run S3,S4,S12    makes these runs first, each in processes of its own

Runs of `scale.py` at the size of a goal judge it; runs of other sizes do not. S2 and S13 are judged by the tests that
hold them (eight and five minutes), S14 by `spark.py` (Java is needed), S15 by the table of `benchmarks/plan.py` in its
page. For the others the list says which command tells.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
Found = dict[str, dict[str, Any]]
LARGE = 100_000_000


class Part(NamedTuple):
    """One number of a goal."""

    what: str
    value: float
    most: float

    def __str__(self) -> str:
        return f"{self.what} {self.value:,.3g} (at most {self.most:,.3g})"


class Goal(NamedTuple):
    """A goal, and how it is judged."""

    what: str
    parts: Callable[[Found], Iterator[Part]]
    """Yields its numbers, as far as they were measured; it is judged once all `n_parts` are there."""
    n_parts: int
    command: str = ""
    """What measures it where `--run` does not."""


def _ratio(found: Found, one: str, other: str, key: str = "cpu") -> Iterator[float]:
    """Yield the ratio of a number of two runs, where both ended."""
    if key in found.get(one, {}) and key in found.get(other, {}):
        yield found[one][key] / found[other][key]


def _cells(found: Found) -> Iterator[Part]:
    cells = f"cells duckdb {LARGE}"
    yield from (Part("times the CPU of the group-by", r, 2.5) for r in _ratio(found, cells, f"group-by duckdb {LARGE}"))
    for what, most in (("cells", 1000), ("cells-8", 2200)):
        if "mb" in (one := found.get(f"{what} duckdb {LARGE}", {})):
            yield Part(f"MB of {what}", one["mb"], most)


def _run(name: str, **most: float) -> Callable[[Found], Iterator[Part]]:
    """Return the numbers of a run, each with its limit."""

    def parts(found: Found) -> Iterator[Part]:
        yield from (Part(key.replace("_", " "), found[name][key], limit) for key, limit in most.items()
                    if key in found.get(name, {}))  # fmt: skip

    return parts


def _in_page(found: Found) -> Iterator[Part]:
    """Yield the share of the runs whose memory and CPU seconds the plan told within a factor of 2."""
    text = (ROOT / "docs/how-to/large-tables.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.partition("<!-- plan -->")[2].splitlines()]
    times = [(float(r[3]), float(r[7])) for r in rows if len(r) == 9 and re.fullmatch(r"[\d.]+", r[3])]
    if times:
        off = sum(not all(0.5 <= t <= 2 for t in one) for one in times) / len(times)
        yield Part(f"share of {len(times)} runs told wrong by more than a factor of 2", off, 0.2)


def _sampled(found: Found) -> Iterator[Part]:
    """Yield the numbers of the sampled run; of its memory its own, as the system takes pages of mapped files back."""
    if "wall" in (one := found.get(f"people duckdb {LARGE}", {})):
        yield Part("wall s", one["wall"], 3600)
        if one.get("own_mb") is not None:
            yield Part("MB of its own, without pages of mapped files", one["own_mb"], 8000)
        yield Part("attacks left out for want of memory", len(one.get("no room", ())), 0)


GOALS = {
    "S1": Goal("cells of 225M rows in DuckDB", _cells, 3, "scale.py --what group-by, cells, cells-8 --rows 100000000"),
    "S2": Goal("the same bytes on every engine", _run("S2", tests_failed=0), 1),
    "S3": Goal("blocks cost little, and bits are equal",
               _run("S3", times_of_8_blocks=1.3, times_of_32_blocks=2, unequal=0), 3),
    "S4": Goal("an index in files", _run("S4", times_in_memory=1.1, seconds_to_open=0.1), 2),
    "S5": Goal("memory of a search by blocks", _run("S5", times_two_blocks_and_64_bytes_a_query=1), 1),
    "S6": Goal("one walk for 15 targets", _run("S6", share_of_15_searches=0.25, unequal=0), 2),
    "S7": Goal("CAP way of inference", _run("S7"), 1, "two_trees.py (the way before is in an older commit)"),
    "S8": Goal("assess on Adult", _run("S8"), 1, "two_trees.py OLD src --adult DIR"),
    "S9": Goal("1M + 1M without models in memory", _run("whole memory 1000000", wall=600, mb=6000), 2,
               "scale.py --what whole --memory-rows 1000000 --rows 0"),
    "S10": Goal("100M + 100M + 25M, people sampled", _sampled, 3, "scale.py --what people --rows 100000000"),
    "S10, quality": Goal("quality report of 100M + 100M", _run(f"quality duckdb {LARGE}", wall=1200, mb=8000), 2,
                        "scale.py --what quality --rows 100000000 --memory-rows 0 --engines duckdb"),
    "S10, compare": Goal("two candidates of 100M beside 100M + 25M, people sampled",
                         _run(f"compare duckdb {LARGE}", wall=6000), 1,
                         "scale.py --what compare --rows 100000000"),
    "S11": Goal("max-T of 300 tests of 1.25M people", _run("S11", cpu=30, mb=200, unequal=0), 3),
    "S12": Goal("first demo, first search", _run("S12", wall_of_demo=2, first_search_beyond_the_second=0.1), 2),
    "S13": Goal("intervals of a sample", _run("S13", tests_failed=0), 1),
    "S14": Goal("Spark beside one process",
                _run("S14", seconds_beyond_by_folder=2, seconds_beyond_by_blocks=8, unequal=0), 3),
    "S15": Goal("the plan within a factor of 2", _in_page, 1, "plan.py"),
}  # fmt: skip


def judged(found: Found) -> list[tuple[str, str, str]]:
    """Return name, verdict and numbers of each goal."""
    out = []
    for name, goal in GOALS.items():
        parts = list(goal.parts(found))
        missed = [p for p in parts if p.value > p.most]
        verdict = "missed" if missed else "met" if len(parts) >= goal.n_parts else "not run"
        by = goal.command or f"scale.py --goals --run {name}"
        told = "; ".join(map(str, parts)) + (f"{'; ' if parts else ''}{by}" if verdict == "not run" else "")
        out.append((name, verdict, f"{goal.what}: {told}"))
    return out


def told(found: Found) -> str:
    """Return the goals as a table in Markdown, and how many are met."""
    rows = judged(found)
    lines = ["| goal | | what |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]
    count = {verdict: sum(row[1] == verdict for row in rows) for verdict in ("met", "missed", "not run")}
    return "\n".join([*lines, "", ", ".join(f"{n} {verdict}" for verdict, n in count.items()) + "."])


# ---------------------------------------------------------------- runs


def tests(*arguments: str) -> dict[str, Any]:
    """Return how many of some tests failed, and how many passed; that none passed is a failure."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    last = (done.stdout.splitlines() or [""])[-1]
    number = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|errors?)\b", last)}
    failed = sum(n for word, n in number.items() if word != "passed")
    wrong = done.returncode != 0 or not number.get("passed")
    return {"tests_failed": failed or int(wrong), "tests_passed": number.get("passed", 0)}


def by_blocks(rows: int, queries: int) -> Found:
    """Return what blocks cost beside one tree."""
    import blocks

    one, eight, many = (blocks.measured(rows, queries, n) for n in blocks.BLOCKS)
    same = {one["sha256"], eight["sha256"], many["sha256"]}
    bound = 2 * 175 * -(-rows // 8) + 64 * queries  # bytes of a row of an index (docs/neighbours.md)
    return {
        "S3": {"times_of_8_blocks": eight["cpu"] / one["cpu"], "times_of_32_blocks": many["cpu"] / one["cpu"],
               "unequal": len(same) - 1},
        "S5": {"times_two_blocks_and_64_bytes_a_query": eight["bytes"] / bound},
    }  # fmt: skip


def _ruled(rows: int, queries: int) -> Any:
    """Return a case of tables as `scale.py` simulates them."""
    import numpy as np
    from scale import people

    from divulge.case.case import build_case
    from divulge.tables.frames import table_of

    frames = [people(n, np.random.default_rng([i, 7])) for i, n in enumerate((queries, rows))]
    return build_case(*(table_of(f, role) for f, role in zip(frames, ("real", "synthetic"), strict=True)))


def mapped(rows: int, queries: int) -> Found:
    """Return what a search in a mapped index takes beside one in memory."""
    from divulge.case.distances import distance_columns
    from divulge.kernels.neighbours.index import Index
    from divulge.kernels.neighbours.mapped_index import IndexFolder, opened_index

    case = _ruled(rows, queries)
    measured = case.encoded.measured_columns(distance_columns(case)[0])
    here, asked = Index(measured.ruler, measured.distinct("synthetic"), threads=1), measured.rows("real")
    here.nearest(asked.take(asked_first(1000)))  # it is built
    with tempfile.TemporaryDirectory() as parent:
        folder = IndexFolder(Path(parent))
        folder.write(measured.ruler, measured.rows("synthetic"))
        began = time.perf_counter()
        there = opened_index(folder.path)
        opened = time.perf_counter() - began
        taken = [[], []]
        for _ in range(3):
            for index, out in zip((here, there), taken, strict=True):
                began = time.process_time()
                index.nearest(asked, 2)
                out.append(time.process_time() - began)
        del there, index
        folder.remove()
    return {"S4": {"times_in_memory": min(taken[1]) / min(taken[0]), "seconds_to_open": opened}}


def asked_first(n: int) -> Any:
    """Return the numbers of the first rows."""
    import numpy as np

    return np.arange(n)


def walk(rows: int, queries: int) -> Found:
    """Return what one walk for all targets takes beside a search for each."""
    from divulge.attacks.inference import _from_rows as way
    from divulge.attacks.inference._target import target_values
    from divulge.case.distances import distance_columns
    from divulge.kernels.neighbours import leave_one_out

    case, taken, found = _ruled(rows, queries), [], []
    used = distance_columns(case)[0]
    secrets = [target_values(case, t, 0.05) for t in used]
    for pays in (lambda *_: True, lambda *_: False):
        leave_one_out.pays = pays
        began = time.process_time()
        found.append(way._searched(case, used, secrets, 10, False))
        taken.append(time.process_time() - began)
    names = ("nearest", "distance", "vote", "share")
    unequal = sum(
        getattr(a, n).tobytes() != getattr(b, n).tobytes() for a, b in zip(*found, strict=True) for n in names
    )
    return {"S6": {"share_of_15_searches": taken[0] / taken[1], "unequal": unequal}}


def moments() -> Found:
    """Return what `many_tests.py` tells."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/many_tests.py")], capture_output=True, text=True, check=True
    )
    cpu, mb = re.search(r"([\d.]+) CPU s .* ([\d,]+) MB beyond", done.stdout).groups()
    return {"S11": {"cpu": float(cpu), "mb": float(mb.replace(",", "")), "unequal": "the same bits" not in done.stdout}}


def beside_spark() -> Found:
    """Return what `spark.py` tells."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/spark.py")], capture_output=True, text=True, check=True
    )
    return {"S14": json.loads(done.stdout.splitlines()[-1])}


def first_use() -> Found:
    """Return the wall seconds of a demo in a new process, and of its first search beyond those of the second."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "divulge", "demo", "--out", folder], capture_output=True, check=True)
        demo = time.perf_counter() - began
    case = _ruled(5000, 5000)
    from divulge.case.distances import Distances, distance_columns

    walls = []
    for _ in range(2):
        distances = Distances(case, distance_columns(case)[0])
        distances.rows("synthetic"), distances.distinct("real")
        began = time.perf_counter()
        distances.nearest("real", "synthetic")
        walls.append(time.perf_counter() - began)
        case = case.derived(case.encoded.with_schema(case.schema))
    return {"S12": {"wall_of_demo": demo, "first_search_beyond_the_second": walls[0] - walls[1]}}


RUNS: dict[str, Callable[[], Found]] = {
    "S2": lambda: {"S2": tests("tests/test_engine_law.py", "--slow")},
    "S3": lambda: by_blocks(400_000, 40_000),
    "S4": lambda: mapped(400_000, 40_000),
    "S5": lambda: by_blocks(400_000, 40_000),
    "S6": lambda: walk(150_000, 187_500),
    "S11": moments,
    "S12": first_use,
    "S13": lambda: {"S13": tests("tests/calibration/test_sample_calibration.py", "-m", "full or slow or not slow")},
    "S14": beside_spark,
}
"""What `--run` makes; a run may judge several goals."""


def made(name: str) -> Found:
    """Return what the runs of a goal take, in a process of its own; a run that fails ends with what it said last."""
    if name not in RUNS:
        raise SystemExit(f"--run {name}: no such run; there are {', '.join(RUNS)}")
    done = subprocess.run(
        [sys.executable, __file__, name], capture_output=True, text=True, check=False, cwd=ROOT / "benchmarks"
    )
    if done.returncode:
        raise SystemExit(f"--run {name}: ended with status {done.returncode}: {done.stderr[-600:]}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(RUNS[sys.argv[1]]()))
