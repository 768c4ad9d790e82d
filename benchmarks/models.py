"""The models of inference of two source trees on the same tables: CPU time, and what they find about members.

    python benchmarks/models.py --old TREE --table NAME=REAL,SYNTHETIC,HOLDOUT [--table ...]
        [--docs benchmarks/README.md]

A table `NAME=REAL,SYNTHETIC,HOLDOUT,0.3` has 30% of its synthetic rows replaced by copies of real rows. Every column is
a target, and all others are known; `--targets a,b` names fewer, where a table has them. Each job is a process of its
own, reading of files and loading of libraries included. The advantage is the mean over targets and people of the
model's score, members minus strangers, with its 95% interval; people are the sample. Trees take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from cap import put_between_marks

MARK = "models"
JOB = """
import json, sys
import numpy as np, polars as pl
import divulge
files, share, wanted = json.loads(sys.argv[1])
read = lambda f: pl.read_parquet(f) if f.endswith("parquet") else pl.read_csv(f, infer_schema_length=None)
real, synthetic, holdout = map(read, files)
rng = np.random.default_rng(1)
fresh = synthetic.filter(pl.Series(rng.random(len(synthetic)) >= share))
copies = real[rng.choice(len(real), len(synthetic) - len(fresh))].select(fresh.columns)
synthetic = pl.concat([fresh, copies], how="vertical_relaxed")
target = [t for t in wanted if t in real.columns] or None
found = divulge.inference(real, synthetic, holdout=holdout, target=target, ways=["model"])
score = [np.mean([getattr(r.individual, role) for r in found], axis=0) for role in ("real", "holdout")]
half = 1.96 * sum(s.var() / len(s) for s in score) ** 0.5
who = "model trained on strangers, about members"
print(json.dumps({
    "rows": [len(real), len(synthetic), len(holdout)], "targets": len(found), "half": half,
    "members": score[0].mean(), "strangers": score[1].mean(), "reference": np.mean([r.context[who] for r in found]),
}))
"""


def of_job(tree: Path, table: tuple[list[str], float], targets: list[str]) -> dict[str, Any]:
    """Return what the program prints, and the CPU seconds of its process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", JOB, json.dumps([*table, targets])],
        env=dict(os.environ) | {"PYTHONPATH": str(tree / "src")}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout.splitlines()[-1]) | {"cpu": cpu}


def line(name: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    def found(one: dict[str, Any]) -> str:
        gap = one["members"] - one["strangers"]
        return f"{gap:+.4f} ({gap - one['half']:+.4f} to {gap + one['half']:+.4f})"

    rows = " + ".join(f"{n:,}" for n in new["rows"])
    cells = [name, rows, new["targets"], f"{old['cpu']:.1f}", f"{new['cpu']:.1f}", found(old), found(new)]
    cells += [f"{one[key]:.3f}" for key in ("strangers", "reference") for one in (old, new)]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="source tree to compare with")
    parser.add_argument("--table", action="append", required=True, help="NAME=REAL,SYNTHETIC,HOLDOUT[,SHARE OF COPIES]")
    parser.add_argument("--targets", default="", help="columns that are targets, where a table has them")
    parser.add_argument("--docs", help=f"page whose table between the marks of {MARK!r} is replaced")
    given = parser.parse_args()
    targets = [t for t in given.targets.split(",") if t]
    out = [
        "| table | rows | targets | CPU s, old | new | advantage, old | new "
        "| strangers, old | new | reference, old | new |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in given.table:
        name, _, files = one.partition("=")
        parts = files.split(",")
        table = (parts[:3], float(parts[3]) if len(parts) > 3 else 0.0)
        out.append(line(name, *(of_job(t, table, targets) for t in (Path(given.old), Path(__file__).parents[1]))))
        print(out[-1], flush=True)
    if given.docs:
        put_between_marks(Path(given.docs), "\n".join(out), MARK)


if __name__ == "__main__":
    main()
