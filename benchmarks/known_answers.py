"""What each measure sees: `divulge assess` on four synthetic tables whose leak is known.

    python benchmarks/known_answers.py --adult DIR --draws 20 --out known_answers.md     (8 minutes)

`--adult DIR` holds train.parquet and control.parquet of the Adult census table; both are put together. Each draw
takes n people as real, n as holdout and n others, all different rows of the census, and makes four tables:

    fresh             the n others: nothing can leak
    all copied        the n real rows
    tenth copied      fresh, a tenth of its rows replaced by copies of random real people
    unusual copied    fresh, one in a hundred replaced by copies of the most unusual real people (highest V_k)

Each is assessed as `divulge assess` does it, the search for key sets included (`--search off` leaves it out). A cell
says in how many draws which verdict was given, and the medians over the draws of risk and its simultaneous limits;
for a measure without a verdict the median of its value.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import divulge
from divulge.core.result import Result, number

TABLES = ("fresh", "all copied", "tenth copied", "unusual copied")


def people(folder: Path) -> pl.DataFrame:
    """Return everybody in the census table."""
    return pl.concat([pl.read_parquet(folder / f"{name}.parquet") for name in ("train", "control")])


def drawn(everybody: pl.DataFrame, n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:
    """Return real, holdout and the four synthetic tables."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(everybody))[: 3 * n]
    real, holdout, others = (everybody[rows[i * n : (i + 1) * n]] for i in range(3))
    outliers, _ = divulge.exposure(real, others, holdout=holdout)
    unusual = np.argsort(-outliers.individual.real, kind="stable")
    tables = {
        "fresh": others,
        "all copied": real,
        "tenth copied": with_copies(others, real, rng.permutation(n)[: n // 10]),
        "unusual copied": with_copies(others, real, unusual[: n // 100]),
    }
    return real, holdout, tables


def with_copies(others: pl.DataFrame, real: pl.DataFrame, who: Sequence[int]) -> pl.DataFrame:
    """Return the table with its first rows replaced by copies of real people."""
    return pl.concat([real[np.asarray(who)], others[len(who) :]])


# ---------------------------------------------------------------- one line a measure

Cell = tuple[str, tuple[float, ...]]
"""A verdict, or what the numbers are; and the numbers."""


def cells(results: Sequence[Result]) -> Iterator[tuple[tuple[str, str], Cell]]:
    """Yield each measure and what it says; results of many key or column sets are one line."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for r in results:
        variant = "column sets" if r.variant.startswith("near on") else r.variant
        groups.setdefault((r.attack, variant), []).append(r)
    for name, found in groups.items():
        if all(r.risk is not None and r.verdict is not None for r in found):
            yield name, judged(found)
        elif name[0] in DISTANCES and len(found) == 1 and found[0].value is not None:
            yield name, plain(found[0])


DISTANCES = ("dcr", "nndr", "identical_match_share", "epsilon_identifiability", "nnaa", "dcr_baseline", "exposure")


def judged(found: Sequence[Result]) -> Cell:
    """Return the verdict over all, and risk and simultaneous limits of the clearest."""
    verdicts = [r.verdict for r in found]
    if "excess found" in verdicts:
        verdict = "excess found"
    else:
        verdict = "none found" if set(verdicts) == {"none found"} else "cannot tell"
    worst = max(found, key=lambda r: -math.inf if r.risk.low_simultaneous is None else r.risk.low_simultaneous)
    ends = (worst.risk.value, worst.risk.low_simultaneous, worst.risk.high_simultaneous)
    return verdict, tuple(math.nan if x is None else x for x in ends)


def plain(result: Result) -> Cell:
    """Return the number of a measure without a verdict, and the same number of the holdout."""
    own = result.value.real if result.value.synthetic is None else result.value.synthetic
    return "holdout", tuple(math.nan if x is None else x for x in (own, result.value.holdout))


def flagged(report: divulge.Report, real: pl.DataFrame, synthetic: pl.DataFrame) -> Cell:
    """Return how many people are flagged whose row stands in the synthetic table, how many these are, and others."""
    named = np.zeros(len(real), dtype=bool)
    named[report.records().filter("flagged")["row"].to_numpy()] = True
    rows = set(synthetic.rows())
    copied = np.array([r in rows for r in real.rows()])
    return "flagged", (float((named & copied).sum()), float(copied.sum()), float((named & ~copied).sum()))


# ---------------------------------------------------------------- tables of the page


LAST = ("copied people flagged by `exposure`", "verdict over all")
Told = dict[tuple[str, str], dict[str, list[Cell]]]


def markdown(told: Told) -> str:
    """Return the table: a line a measure, a column a synthetic table."""
    out = [f"| measure | {' | '.join(TABLES)} |", "| --- |" + " --- |" * len(TABLES)]
    attacks = list(dict.fromkeys(attack for attack, _ in told if attack not in LAST)) + list(LAST)
    for (attack, variant), by in sorted(told.items(), key=lambda line: attacks.index(line[0][0])):
        name = attack if attack in LAST else f"`{attack}`" + (f" {variant}" if variant else "")
        out.append(f"| {name} | " + " | ".join(summary(by.get(t, [])) for t in TABLES) + " |")
    return "\n".join(out)


def summary(entries: Sequence[Cell]) -> str:
    """Return the verdicts by number of draws and the medians of the numbers."""
    if not entries:
        return "not tested"
    kinds = Counter(kind for kind, _ in entries)
    middle = [float(np.median([numbers[i] for _, numbers in entries])) for i in range(len(entries[0][1]))]
    if "flagged" in kinds:
        most = max(numbers[2] for _, numbers in entries)
        return f"{middle[0]:g} of {middle[1]:g}, and {middle[2]:g} others (at most {most:g})"
    if "holdout" in kinds:
        return f"{middle[0]:.3g}; holdout {middle[1]:.3g}"
    verdicts = ", ".join(f"{kind.removeprefix('excess ')} {kinds[kind]}" for kind in VERDICTS if kinds[kind])
    if not middle:
        return verdicts
    text = f"{verdicts}: {number(middle[0])} ({number(middle[1])} to {number(middle[2])})"
    return f"**{text}**" if 2 * kinds["excess found"] > len(entries) else text


VERDICTS = ("excess found", "none found", "cannot tell")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path, required=True, metavar="DIR")
    parser.add_argument("--n", type=int, default=2000, help="people a table (default 2000)")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--search", choices=("default", "off"), default="default")
    parser.add_argument("--out", type=Path, metavar="FILE.md")
    asked = parser.parse_args()
    everybody = people(asked.adult)
    told: Told = {}
    for seed in range(asked.seed, asked.seed + asked.draws):
        real, holdout, tables = drawn(everybody, asked.n, seed)
        for name, synthetic in tables.items():
            began = time.perf_counter()
            report = divulge.assess(real, synthetic, holdout=holdout, search=asked.search)
            assert not report.failed, report.failed
            here = dict(cells(report.results))
            here[LAST[0], ""] = flagged(report, real, synthetic)
            here[LAST[1], ""] = (report.verdict, ())
            for measure, cell in here.items():
                told.setdefault(measure, {}).setdefault(name, []).append(cell)
            found = sorted(m[0] for m, (kind, _) in here.items() if kind == "excess found")
            print(f"draw {seed}, {name}: {time.perf_counter() - began:.0f} s; {found}", flush=True)
    text = markdown(told)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
