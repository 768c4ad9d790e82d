"""What nearest neighbours cost where the reference comes in blocks of rows, beside one tree over all of them.

    python benchmarks/blocks.py --docs docs/neighbours.md

Tables are those of `scale.py` (fifteen columns, like Adult), encoded as the attacks encode them. Each run is a process
of its own, which prepares one reference table and asks for the nearest row of each query: one `Index`, or a
`BlockIndex` with its files in a temporary folder. CPU seconds are those from the encoded tables on. All ways must give
the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from cap import put_between_marks
from scale import people

BLOCKS = (1, 8, 32)
"""Numbers of blocks; 1 stands for one tree in memory."""
QUERY_ROWS = 500_000
"""Queries of a block, as in `divulge.nearest`."""


def run(n_rows: int, n_queries: int, n_blocks: int) -> dict[str, Any]:
    """Return what one way of searching takes in this process, and a hash of what it found."""
    import numpy as np

    from divulge.case.case import build_case
    from divulge.case.distances import distance_columns
    from divulge.kernels.neighbours.block_index import BlockIndex
    from divulge.kernels.neighbours.index import Index
    from divulge.tables.frames import table_of

    frames = [people(n, np.random.default_rng([i, 7])) for i, n in enumerate((n_rows, n_queries))]
    case = build_case(*(table_of(f, role) for f, role in zip(frames, ("real", "synthetic"), strict=True)))
    measured = case.encoded.measured_columns(distance_columns(case)[0])
    del frames
    with tempfile.TemporaryDirectory() as folder:
        began = resource.getrusage(resource.RUSAGE_SELF)
        more = Held()
        if n_blocks == 1:
            found = Index(measured.ruler, measured.distinct("real")).nearest(measured.distinct("synthetic"))
        else:
            index = BlockIndex(
                measured.ruler, measured.source("real"), Path(folder), block_rows=-(-n_rows // n_blocks),
                query_rows=QUERY_ROWS
            )  # fmt: skip
            found = index.nearest(measured.source("synthetic"))
        ended = resource.getrusage(resource.RUSAGE_SELF)
        most = more.most()
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (found.distances, found.rows, found.n_ties))).hexdigest()
    cpu = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return {"cpu": cpu, "sha256": digest, "bytes": most}


class Held:
    """Looks now and then at how much memory of its own this process holds beyond what it has; files do not count."""

    def __init__(self) -> None:
        self._before, self._most, self._done = _own_memory(), 0, False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._done:
            self._most = max(self._most, _own_memory() - self._before)
            time.sleep(0.01)

    def most(self) -> int:
        """Return the most bytes that were seen."""
        self._done = True
        self._thread.join()
        return self._most


def _own_memory() -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition("RssAnon:")[2].split()[0]) * 1024


def measured(n_rows: int, n_queries: int, n_blocks: int) -> dict[str, Any]:
    """Return what one run takes, in a process of its own."""
    asked = json.dumps([n_rows, n_queries, n_blocks])
    made = subprocess.run(
        [sys.executable, __file__, "--one", asked], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    return json.loads(made.stdout.splitlines()[-1])


def table(found: dict[tuple[int, int], list[dict[str, Any]]], n_queries: int) -> str:
    """Return the runs as a table in Markdown; of several runs the least CPU time counts."""
    head = ("reference rows", "queries", "blocks", "CPU s", "times one tree", "same bytes")
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for (rows, blocks), runs in found.items():
        one = found[rows, 1]
        cpu, least = min(r["cpu"] for r in runs), min(r["cpu"] for r in one)
        same = {r["sha256"] for r in runs} == {one[0]["sha256"]}
        lines.append(
            f"| {rows:,} | {n_queries:,} | {'one tree' if blocks == 1 else blocks} | {cpu:.2f} | {cpu / least:.2f} | "
            f"{'yes' if same else 'NO'} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure in turn, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: [int(n) for n in text.split(",")], default=[300_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(*json.loads(given.one))))
        return
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for rows in given.rows:
        for _ in range(given.repeats):
            for blocks in BLOCKS:  # in turn: others work on this machine, too
                found.setdefault((rows, blocks), []).append(measured(rows, given.queries, blocks))
    load = os.getloadavg()[0]
    told = f"{table(found, given.queries)}\n\n{os.cpu_count()} cores; load {load:.1f} at the end."
    print(told)
    if given.docs:
        put_between_marks(given.docs, told, "blocks")


if __name__ == "__main__":
    main()
