"""Do tables on which no single score tells members apart leak to somebody who knows members? Other draws, and placebos.

    python benchmarks/quiet_tables.py --data DIR [--seeds 10] [--docs docs/membership.md]

DIR holds the folders hepatitis and adult. For each quiet table of `membership.py`:

- *as published*, with several seeds: the seed decides folds, trees, subsets of columns and permutations;
- *smaller*: random 231 members against random 231 strangers, as a measure for the next line;
- *strangers only*: one half of the holdout in the place of the members, the other half as strangers. None of them was
  trained on, so that p-values are uniform whatever the table is;
- *labels at random*: all of real and holdout dealt anew into members and strangers of the published numbers. What a
  table tells about members is then in both parts alike, so that p-values are uniform;
- *trained on everybody*: tables of trees and of a copula fitted to real and holdout together, attacked with the
  published split. They know members and strangers alike: small p-values would mean that the split is not random.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from audit_generators import copula, trees
from membership import PUBLISHED, published

QUIET = tuple(PUBLISHED)[9:]
KNOWN = "known members"


def asked(real: pl.DataFrame, synthetic: pl.DataFrame, holdout: pl.DataFrame, seed: int) -> dict[str, float]:
    """Return the smallest adjusted p-value of the nine scores, p and AUC of known members, p of the blind check."""
    import divulge

    found = divulge.membership(real, synthetic, holdout=holdout, known_members=True, seed=seed)
    return {
        "nine": min(r.p_adjusted for r in found if r.variant != KNOWN),
        "known": found[-1].p_value,
        "auc": found[-1].context["AUC"],
        "blind": found[0].context["p-value without the synthetic table"],
    }


def designs(data: Path, name: str, seeds: int) -> Iterator[tuple[str, int, tuple[pl.DataFrame, ...]]]:
    """Yield what is asked, its number, and the three tables."""
    real, synthetic, holdout = published(data, name)
    for seed in range(seeds if len(real) < 2_000 else min(seeds, 3)):
        yield "as published", seed, (real, synthetic, holdout)
    if len(real) > 2_000:
        return
    half = len(holdout) // 2
    for seed in range(2 * seeds):
        rng = np.random.default_rng(seed)
        some = real[rng.permutation(len(real))[:half]], holdout[rng.permutation(len(holdout))[:half]]
        yield "smaller", seed, (some[0], synthetic, some[1])
        order = rng.permutation(len(holdout))
        yield "strangers only", seed, (holdout[order[:half]], synthetic, holdout[order[half:]])
        pool = pl.concat([real, holdout])[rng.permutation(len(real) + len(holdout))]
        yield "labels at random", seed, (pool[: len(real)], synthetic, pool[len(real) :])


def everybody(data: Path, seeds: int) -> Iterator[tuple[str, str, int, tuple[pl.DataFrame, ...]]]:
    """Yield tables trained on real and holdout of hepatitis together, with the published split."""
    real, _, holdout = published(data, QUIET[0])
    pool = pl.concat([real, holdout]).to_pandas()
    for name, make in (("hepatitis, trees", trees), ("hepatitis, copula", copula)):
        for seed in range(5 * seeds):
            made = pl.from_pandas(make(pool, seed)[: len(real)])
            yield name, "trained on everybody", seed, (real, made, holdout)


def table(rows: list[dict[str, Any]]) -> str:
    """Return a line for each table and design: how the p-values spread."""
    head = ("table", "asked", "times", "known members: p, median (range)", "at most .05", "mean AUC",
            "nine scores: p, median", "at most .05")  # fmt: skip
    out = [f"| {' | '.join(head)} |", "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |"]
    for name, how in dict.fromkeys((r["table"], r["how"]) for r in rows):
        mine = [r for r in rows if (r["table"], r["how"]) == (name, how)]
        known, nine = (np.array([r[key] for r in mine]) for key in ("known", "nine"))
        out.append(
            f"| {name} | {how} | {len(mine)} | {np.median(known):.3f} ({known.min():.3f} to {known.max():.3f}) | "
            f"{(known <= 0.05).mean():.2f} | {np.mean([r['auc'] for r in mine]):.3f} | {np.median(nine):.3f} | "
            f"{(nine <= 0.05).mean():.2f} |"
        )
    return "\n".join(out)


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--tables", default="", help="parts of the names of tables, separated by commas; all if left out"
    )
    parser.add_argument("--json", type=Path, help="JSON lines: what is there is kept, what is new is added")
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    wanted = [n for n in QUIET if any(part in n for part in chosen.tables.split(","))]
    plan = [(name, *one) for name in wanted for one in designs(chosen.data, name, chosen.seeds)]
    plan += list(everybody(chosen.data, chosen.seeds))
    rows = [json.loads(line) for line in chosen.json.read_text().splitlines()] if _there(chosen.json) else []
    done = {(r["table"], r["how"], r["seed"]) for r in rows}
    for name, how, seed, tables in plan:
        if (name, how, seed) in done:
            continue
        began = time.process_time()
        rows.append({"table": name, "how": how, "seed": seed, **asked(*tables, seed)})
        rows[-1]["cpu"] = round(time.process_time() - began, 2)
        if chosen.json:
            with chosen.json.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))
    if chosen.docs:
        from cap import put_between_marks

        put_between_marks(chosen.docs, table(rows), "quiet tables")


def _there(path: Path | None) -> bool:
    return path is not None and path.exists()


if __name__ == "__main__":
    main()
