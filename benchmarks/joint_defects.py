"""What the measures of whole rows and models say of planted defects, on Adult: one sample, 1,000 rows of each table.

    python benchmarks/joint_defects.py DIR --out runs.jsonl --seconds 50              a part; the next call goes on
    python benchmarks/joint_defects.py --out runs.jsonl --docs docs/fidelity-measures.md   the table, without a run

DIR has `train.parquet` and `control.parquet`; the defects are those of `fresh_samples.py`, and an age in other units.
The holdout is a third sample of the same people. A number is bold where the verdict of the measure alone, corrected
within it, is "differs" or "closer than a fresh sample"; of an AUC the latter are twins: equal rows in both tables.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from cap import put_between_marks
from fresh_samples import DEFECTS, samples

MARK = "joint defects"
LARGER = "age times 1,000"
MEASURES = ("detection", "pmse", "energy_distance", "density_coverage", "holdout_likelihood")
COLUMNS = (
    ("AUC of boosting", "detection", "gradient boosting"), ("of logistic", "detection", "logistic regression"),
    ("pMSE ratio", "pmse", ""), ("energy ratio", "energy_distance", ""), ("coverage", "density_coverage", "coverage"),
    ("recall", "density_coverage", "recall"), ("likelihood gap", "holdout_likelihood", ""),
)  # fmt: skip
FOUND = ("differs", "closer than a fresh sample")
ROWS = 1_000


def tables(people: pl.DataFrame, defect: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return real, synthetic and holdout rows."""
    real, other = samples(people, ROWS, 0, "a fresh sample" if defect == LARGER else defect)
    if defect == LARGER:
        other = other.with_columns(pl.col("age") * 1_000)
    rows = np.random.default_rng([0, ROWS, 61]).permutation(len(people))[2 * ROWS : 3 * ROWS]
    return real, other, people[rows]


def measured(people: pl.DataFrame, defect: str) -> dict[str, Any]:
    """Return the number and the verdict of each measure, and the AUC with equal rows apart."""
    import divulge

    real, other, holdout = tables(people, defect)
    found: dict[str, Any] = {"defect": defect}
    for name in MEASURES:
        for r in getattr(divulge, name)(real, other, holdout=holdout):
            found[f"{name}/{r.variant}"] = [r.value, r.verdict]
            if r.variant == "gradient boosting":
                found["apart"] = r.context["auc_equal_rows_apart"]
    return found


def table(runs: list[dict[str, Any]]) -> str:
    """Return the table of all defects."""
    out = [f"| synthetic table | {' | '.join(c[0] for c in COLUMNS)} |", "| --- |" + " --- |" * len(COLUMNS)]
    for run in runs:
        cells = []
        for title, measure, variant in COLUMNS:
            value, verdict = run[f"{measure}/{variant}"]
            if measure == "detection" and verdict == FOUND[1]:
                twins = f"twins {run['apart']:.2f}" if variant == "gradient boosting" else "twins"
                cells.append(f"{value:.2f}, **{twins}**")
            else:
                text = f"{value:.1f}" if "ratio" in title else f"{value:.2f}"
                cells.append(f"**{text}**" if verdict in FOUND else text)
        out.append(f"| {run['defect']} | {' | '.join(cells)} |")
    return "\n".join(out)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    kept = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else ()
    runs = {r["defect"]: r for r in map(json.loads, kept)}
    if options.data:
        people = pl.concat([pl.read_parquet(options.data / f"{part}.parquet") for part in ("train", "control")])
        with options.out.open("a", encoding="utf-8") as out:
            for defect in (d for d in (*DEFECTS, LARGER) if d not in runs):
                if time.process_time() > options.seconds:
                    break
                runs[defect] = measured(people, defect)
                out.write(json.dumps(runs[defect]) + "\n")
    shown = table([runs[d] for d in (*DEFECTS, LARGER) if d in runs])
    print(shown)
    if options.docs:
        put_between_marks(options.docs, shown, MARK)


if __name__ == "__main__":
    main()
