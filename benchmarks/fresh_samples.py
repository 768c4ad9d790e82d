"""What SDMetrics' score and divulge's verdicts say of a perfect generator and of planted defects, on Adult.

    python benchmarks/fresh_samples.py DIR --out runs.jsonl                  sizes 100, 1,000 and 10,000; 200 repeats
    python benchmarks/fresh_samples.py DIR --out runs.jsonl --seconds 50     a part; the next call goes on
    python benchmarks/fresh_samples.py --out runs.jsonl --docs docs/fidelity-noise.md    the tables, without a run
    python benchmarks/fresh_samples.py DIR --out runs.jsonl --peer 1         SDMetrics' own score of the first repeat

DIR has `train.parquet` and `control.parquet`, the Adult census table in two parts; each repeat draws disjoint samples
of n rows from both together. The second sample is what a perfect generator gives. A defect is planted into it. The
score is that of the quality report of `divulge.sdmetrics`; `--peer` runs SDMetrics itself, where it is installed
(divulge is not needed), and the tables say how far the two are apart. The verdicts are those of the counted measures of
`divulge.fidelity` (no models), corrected over all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SIZES = (100, 1_000, 10_000)
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hr_per_week")
KEYS = {"age": "age", "sex": "sex", "income": "income"}
COUNTED = (
    "column_shapes",
    "column_pairs",
    "correlations",
    "missing_patterns",
    "tails",
    "coverage",
    "validity",
    "column_rules",
)


# ---------------------------------------------------------------- planted defects


def fresh(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return other


def copy(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return real


def independent(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return other.select(pl.Series(c, other[c].gather(rng.permutation(len(other)))) for c in other.columns)


def rare_gone(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Categories of less than 2% become the commonest one."""
    out = []
    for name in texts(other):
        counts = other[name].value_counts(sort=True)
        rare = counts.filter(pl.col("count") < 0.02 * len(other))[name].to_list()
        out.append(pl.when(pl.col(name).is_in(rare)).then(pl.lit(counts[name][0])).otherwise(pl.col(name)).alias(name))
    return other.with_columns(out)


def older(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return other.with_columns(pl.col("age") + 2)


def clipped(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return other.with_columns(
        pl.col(c).clip(pl.col(c).quantile(0.05, "lower"), pl.col(c).quantile(0.95, "higher")) for c in numbers(other)
    )


def repeated(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    rows = np.arange(len(other))
    rows[rng.permutation(len(other))[: len(other) // 10]] = int(rng.integers(len(other)))
    return other[rows]


def cells(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """30% of the cells are drawn again from the column."""
    out = []
    for name in other.columns:
        drawn = rng.random(len(other)) < 0.3
        rows = np.where(drawn, rng.integers(0, len(other), len(other)), np.arange(len(other)))
        out.append(other[name].gather(rows))
    return pl.DataFrame(out)


def women(real: pl.DataFrame, other: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Income is shuffled among women."""
    rows = np.arange(len(other))
    own = np.flatnonzero((other["sex"] == "Female").to_numpy())
    rows[own] = rng.permutation(own)
    return other.with_columns(income=other["income"].gather(rows))


DEFECTS = {
    "a fresh sample": fresh, "the real table": copy, "columns independent": independent,
    "categories under 2% gone": rare_gone, "everybody 2 years older": older, "numbers clipped to 5 to 95%": clipped,
    "one row is a tenth of the table": repeated, "30% of cells redrawn": cells, "income shuffled among women": women,
}  # fmt: skip


def numbers(table: pl.DataFrame) -> list[str]:
    return [c for c in table.columns if table[c].dtype.is_numeric()]


def texts(table: pl.DataFrame) -> list[str]:
    return [c for c in table.columns if not table[c].dtype.is_numeric()]


# ---------------------------------------------------------------- one repeat


def samples(people: pl.DataFrame, n: int, number: int, defect: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the real and the synthetic table of one repeat."""
    rng = np.random.default_rng([number, n, 61])
    rows = rng.permutation(len(people))[: 2 * n]
    real, other = people[rows[:n]], people[rows[n:]]
    return real, DEFECTS[defect](real, other, rng)


def repeat(people: pl.DataFrame, n: int, number: int, defect: str) -> dict[str, Any]:
    """Return score and verdicts of one repeat."""
    real, other = samples(people, n, number, defect)
    return {"n": n, "repeat": number, "defect": defect, "score": score(real, other), **verdicts(real, other, number)}


def score(real: pl.DataFrame, other: pl.DataFrame, *, peer: bool = False) -> float:
    """Return the overall score of the quality report as released, or of SDMetrics itself."""
    if peer:
        from sdmetrics.reports import QualityReport
    else:
        from divulge.sdmetrics.reports import QualityReport

    kinds = {c: {"sdtype": "numerical" if c in numbers(real) else "categorical"} for c in real.columns}
    report = QualityReport()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sides = [{"t": t.to_pandas() if peer else t} for t in (real, other)]
        report.generate(*sides, {"tables": {"t": {"columns": kinds}}}, verbose=False)
    return float(report.get_score())


def verdicts(real: pl.DataFrame, other: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Return the verdict of each counted measure, and of all."""
    import divulge

    found = divulge.fidelity(real, other, measures=COUNTED, seed=seed)
    heads = {r.measure: r for r in found.headlines()}
    told = {r.verdict for r in heads.values()}
    verdict = next((v for v in ("differs", "closer than a fresh sample", "cannot tell") if v in told), "")
    pairs = heads["column_pairs"]
    return {
        "verdict": verdict or "like a fresh sample",
        "differs": [m for m, r in heads.items() if r.verdict == "differs"],
        "closer": [m for m, r in heads.items() if r.verdict == "closer than a fresh sample"],
        "ruler": pairs.ruler,
        "fresh_pairs": pairs.fresh_sample.mean if pairs.fresh_sample else None,
        "pairs": pairs.value,
    }


# ---------------------------------------------------------------- tables


def table(runs: list[dict[str, Any]], n: int) -> list[str]:
    """Return the Markdown table of one size."""
    names = ("columns", "pairs", "correlations", "missing", "tails", "coverage", "validity", "rules")
    lines = [
        "| synthetic table | SDMetrics' score (sd) | divulge: differs | closer | ruler of pairs | "
        + " | ".join(names) + " | repeats |",
        "|" + " --- |" * (len(names) + 6),
    ]  # fmt: skip
    for defect in DEFECTS:
        own = [r for r in runs if r["n"] == n and r["defect"] == defect]
        if not own:
            continue
        scores = np.array([r["score"] for r in own])
        share = [sum(m in r["differs"] for r in own) / len(own) for m in COUNTED]
        lines.append(
            f"| {defect} | {scores.mean():.3f} ({scores.std(ddof=1) if len(own) > 1 else math.nan:.3f}) | "
            f"{_share(own, lambda r: r['differs'])} | {_share(own, lambda r: r['closer'])} | "
            f"{np.mean([r['ruler'] for r in own]):.2f} | " + " | ".join(_percent(s) for s in share) + f" | {len(own)} |"
        )
    return lines


def _share(runs: list[dict[str, Any]], what: Any) -> str:
    return f"**{_percent(sum(bool(what(r)) for r in runs) / len(runs))}**"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.095 or share == 0 else f"{share:.1%}"


def page(runs: list[dict[str, Any]]) -> str:
    """Return the tables of all sizes."""
    parts = []
    for n in sorted({r["n"] for r in runs}):
        parts += [f"**{n:,} real and {n:,} synthetic rows**", "", *table(runs, n), ""]
    cpu = sum(r["cpu"] for r in runs)
    apart = [abs(r["peer"] - r["score"]) for r in runs if "peer" in r]
    beside = f" SDMetrics' own score of {len(apart)} of them is within {max(apart):.0e}." if apart else ""
    return "\n".join([*parts, f"{len(runs):,} runs, {cpu:,.0f} CPU s in all.{beside}"])


def read(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a file, with the score of SDMetrics itself where it is there."""
    runs: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        run = json.loads(line)
        runs.setdefault((run["n"], run["repeat"], run["defect"]), {}).update(run)
    return [run for run in runs.values() if "score" in run]


def _into(path: Path, text: str) -> None:
    before, _, rest = path.read_text(encoding="utf-8").partition("<!-- fresh samples -->")
    after = rest.partition("<!-- /fresh samples -->")[2]
    path.write_text(f"{before}<!-- fresh samples -->\n\n{text}\n\n<!-- /fresh samples -->{after}", encoding="utf-8")


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--peer", type=int, default=0, help="repeats to score by SDMetrics itself, and nothing else")
    options = parser.parse_args()
    runs = read(options.out)
    if options.peer:
        people = pl.concat([pl.read_parquet(options.data / f"{part}.parquet") for part in ("train", "control")])
        with options.out.open("a", encoding="utf-8") as out:
            for n in map(int, options.sizes.split(",")):
                for i, defect in ((i, d) for i in range(options.peer) for d in DEFECTS):
                    found = score(*samples(people, n, i, defect), peer=True)
                    out.write(json.dumps({"n": n, "repeat": i, "defect": defect, "peer": found}) + "\n")
        return
    if options.data:
        people = pl.concat([pl.read_parquet(options.data / f"{part}.parquet") for part in ("train", "control")])
        done = {(r["n"], r["repeat"], r["defect"]) for r in runs}
        todo = [(n, i, d) for i in range(options.repeats) for n in map(int, options.sizes.split(",")) for d in DEFECTS]
        with options.out.open("a", encoding="utf-8") as out:
            for key in (k for k in todo if k not in done):
                if time.process_time() > options.seconds:
                    break
                began = time.process_time()
                runs.append(repeat(people, *key) | {"cpu": round(time.process_time() - began, 3)})
                out.write(json.dumps(runs[-1]) + "\n")
    print(page(runs))
    if options.docs:
        _into(options.docs, page(runs))


if __name__ == "__main__":
    main()
