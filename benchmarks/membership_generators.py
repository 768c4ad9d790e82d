"""Membership scores on generators that are known, beside what the lab measured: columns drawn independently to SMOTE.

    python benchmarks/membership_generators.py --data DIR [--runs 8] [--docs docs/membership.md]

DIR holds the folder adult with train and control. Each run draws 1,000 members and 1,000 strangers; the synthetic
table has 1,000 rows. Mean AUC over the runs, and whether it is below the lab's by more than two standard errors of the
difference.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from audit_generators import bayes_net, copula, margins
from several_tables import sample, smote, trees

PEOPLE = 1_000
KNOWN = "known members"
SCORES = ("ratio", "hit", "dpi", "classifier", "3-way margins", "mean rank", KNOWN)


def _seeded(make: Callable[[pd.DataFrame, int], pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    return lambda train, rows, rng: make(train, int(rng.integers(2**31)))


GENERATORS = {
    "columns drawn independently": _seeded(margins),
    "Bayes tree": _seeded(bayes_net),
    "Gaussian copula": _seeded(copula),
    "sequential trees": trees,
    "SMOTE": smote,
}
LAB = {
    "columns drawn independently": (0.504, 0.510, 0.510, 0.526, 0.535, 0.546),
    "Bayes tree": (0.518, 0.528, 0.530, 0.505, 0.551, 0.565),
    "Gaussian copula": (0.506, 0.518, 0.515, 0.536, 0.537, 0.545),
    "sequential trees": (0.653, 0.665, 0.607, 0.703, 0.645, 0.732),
    "SMOTE": (0.787, 0.775, 0.612, 0.665, 0.642, 0.804),
}
"""The lab's AUC of each score but "mean rank", which averages other scores there; 4 samples of its own, error .006."""
LAB_ERROR = 0.006


def areas(
    drawn: Callable[[np.random.Generator], tuple[pd.DataFrame, pd.DataFrame]],
    name: str,
    run: int,
    scores: Sequence[str] = SCORES,
) -> list[float]:
    """Return the AUC of each score on one sample; `drawn` gives members and strangers."""
    import divulge

    rng = np.random.default_rng(run)
    members, strangers = drawn(rng)
    made = GENERATORS[name](members, len(members), rng)
    found = divulge.membership(
        members, made, holdout=strangers, scores=[s for s in scores if s != KNOWN], known_members=KNOWN in scores,
        seed=run,
    )  # fmt: skip
    area = {r.variant: float(r.context["AUC"]) for r in found}
    return [area[score] for score in scores]


def adult(data: Path) -> Callable[[np.random.Generator], tuple[pd.DataFrame, pd.DataFrame]]:
    """Return what draws members and strangers of Adult."""
    return lambda rng: sample(data, rng, PEOPLE)


def too_low(found: np.ndarray, expected: Sequence[float], error: float, errors: float = 2.0) -> list[bool]:
    """Return whether the mean of each column is below what is expected by more standard errors of the difference."""
    own = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    return (found.mean(axis=0) < np.asarray(expected) - errors * np.hypot(own, error)).tolist()


def table(found: dict[str, list[list[float]]]) -> str:
    """Return the means, the lab's number behind each, bold where ours is lower beyond two standard errors."""
    out = [f"| generator | {' | '.join(SCORES)} | runs |", "| --- |" + " ---: |" * (len(SCORES) + 1)]
    for name, rows in found.items():
        values = np.array(rows)
        mean, compared = values.mean(axis=0), [s for s in SCORES if s != "mean rank"]
        lab = dict(zip(compared, LAB[name], strict=True))
        low = too_low(values[:, [SCORES.index(s) for s in compared]], LAB[name], LAB_ERROR)
        below = dict(zip(compared, low, strict=True))
        cells = []
        for score, m in zip(SCORES, mean, strict=True):
            cell = f"**{m:.3f}**" if below.get(score) else f"{m:.3f}"
            cells.append(f"{cell} ({lab[score]:.3f})" if score in lab else cell)
        out.append(f"| {name} | {' | '.join(cells)} | {len(values)} |")
    return "\n".join(out)


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--json", type=Path, help="also write the AUC of each run")
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    chosen = parser.parse_args()
    found = {name: [areas(adult(chosen.data), name, run) for run in range(chosen.runs)] for name in GENERATORS}
    print(table(found))
    if chosen.json:
        chosen.json.write_text(json.dumps(found) + "\n")
    if chosen.docs:
        from cap import put_between_marks

        put_between_marks(chosen.docs, table(found), "membership generators")


if __name__ == "__main__":
    main()
