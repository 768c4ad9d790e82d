"""What divulge.fidelity says of real releases, beside the score of SDMetrics' quality report as released.

    python benchmarks/fidelity_of_releases.py ctgan:train.parquet:ctgan.parquet:control.parquet --missing '?'
    python benchmarks/fidelity_of_releases.py NAME:REAL:SYNTHETIC[:HOLDOUT] ... --rows 10000 --docs PAGE --mark releases

Each argument is a line of the table. Of larger tables the first `--rows` rows of a seeded order are taken. The verdicts
are those of the counted measures and of detection, corrected over all of them; the ruler of the holdout stands beside.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MEASURES = (
    "column_shapes", "column_pairs", "correlations", "missing_patterns", "tails", "coverage", "validity",
    "column_rules", "detection",
)  # fmt: skip
HEAD = (
    "release", "rows", "SDMetrics' score", "a fresh sample's score", "columns", "pairs", "ruler of pairs (holdout)",
    "tails", "coverage", "validity", "rules", "AUC", "CPU s",
)  # fmt: skip
SHORT = {"closer than a fresh sample": "**closer**", "differs": "**differs**", "like a fresh sample": "like fresh"}


def table_of(path: str, rows: int) -> pl.DataFrame:
    """Return at most so many rows of a file, in a seeded order."""
    table = pl.read_parquet(path) if path.endswith(".parquet") else pl.read_csv(path, infer_schema_length=None)
    return table[np.random.default_rng(0).permutation(len(table))[:rows]]


def score(real: pl.DataFrame, other: pl.DataFrame) -> float:
    """Return the overall score of the quality report as released."""
    from divulge.sdmetrics.reports import QualityReport

    numbers = {c: real[c].dtype.is_numeric() and real[c].n_unique() > 2 for c in real.columns}
    kinds = {c: {"sdtype": "numerical" if number else "categorical"} for c, number in numbers.items()}
    texts = [c for c, number in numbers.items() if not number]
    real, other = (t.with_columns(pl.col(texts).cast(pl.String)) for t in (real, other))
    report = QualityReport()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.generate({"t": real}, {"t": other}, {"tables": {"t": {"columns": kinds}}}, verbose=False)
    return float(report.get_score())


def line(given: str, rows: int, missing: list[str]) -> list[str]:
    """Return the cells of one release."""
    import divulge

    name, *paths = given.split(":")
    tables = [table_of(path, rows) for path in paths]
    shared = [c for c in tables[0].columns if all(c in t.columns for t in tables)]
    tables = [t.select(shared) for t in tables]
    began = time.process_time()
    holdout = tables[2] if len(tables) > 2 else None
    found = divulge.fidelity(tables[0], tables[1], holdout=holdout, measures=MEASURES, missing=missing)
    seconds = time.process_time() - began
    heads = {r.measure: r for r in found.headlines()}
    auc, pairs = heads["detection"], heads["column_pairs"]
    beside = f" ({pairs.holdout.ruler:.2f})" if pairs.holdout is not None and pairs.holdout.ruler else ""
    strangers = f"{score(tables[0], holdout):.3f} ({len(holdout):,} rows)" if holdout is not None else ""
    return [
        name, f"{len(tables[0]):,} + {len(tables[1]):,}", f"{score(tables[0], tables[1]):.3f}", strangers,
        _said(heads["column_shapes"]), _said(pairs), "" if pairs.ruler is None else f"{pairs.ruler:.2f}{beside}",
        *(_said(heads[m]) for m in ("tails", "coverage", "validity", "column_rules")),
        "" if auc.value is None else f"{auc.value:.3f}, {SHORT.get(auc.verdict, auc.verdict)}", f"{seconds:.1f}",
    ]  # fmt: skip


def _said(result: Any) -> str:
    parts = result.context
    told = SHORT.get(result.verdict, result.verdict)
    many = parts.get({"differs": "differ", "closer than a fresh sample": "closer"}.get(result.verdict, ""))
    return f"{told} ({many} of {parts['compared']})" if many else told


def _into(page: Path, mark: str, text: str) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {mark} -->")
    after = rest.partition(f"<!-- /{mark} -->")[2]
    page.write_text(f"{before}<!-- {mark} -->\n\n{text}\n\n<!-- /{mark} -->{after}", encoding="utf-8")


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="+", metavar="NAME:REAL:SYNTHETIC[:HOLDOUT]")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--missing", default="")
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--mark", default="releases")
    options = parser.parse_args()
    lines = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    for given in options.releases:
        missing = [m for m in options.missing.split(",") if m]
        lines.append("| " + " | ".join(line(given, options.rows, missing)) + " |")
        print(lines[-1], flush=True)
    if options.docs:
        _into(options.docs, options.mark, "\n".join(lines))


if __name__ == "__main__":
    main()
