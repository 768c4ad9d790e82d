"""What releasing several synthetic tables of one training set adds, and what two releases tell about who left.

    python benchmarks/several_tables.py --data DIR            AUC with 1, 3 and 10 tables; leavers against stayers

DIR holds the folder adult with train and control. The trees are sequential: each column is predicted by scikit-learn's
tree from those before it, and a donor is drawn from the leaf. SMOTE-NC is that of imbalanced-learn (`pip install
imbalanced-learn`; no dependency of divulge), every person being of the minority class; it is left out where that is not
installed.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

SCORES = ("ratio", "3-way margins", "mean of both")
NUMBERS = (1, 3, 10)
PEOPLE = 400
LEAVE = 20


def smote(train: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows between a row and one of its five nearest: numbers interpolated, categories of either of both."""
    far = np.zeros((len(train), len(train)))
    for c in train:
        x = train[c].to_numpy()
        numeric = pd.api.types.is_numeric_dtype(train[c])
        far += np.abs(x[:, None] - x) / max(1, np.ptp(x)) if numeric else x[:, None] != x
    np.fill_diagonal(far, np.inf)
    near = np.argsort(far, axis=1, kind="stable")[:, :5]
    one = rng.integers(0, len(train), rows)
    other = near[one, rng.integers(0, 5, rows)]
    share = rng.random(rows)
    out = {}
    for c in train:
        a, b = train[c].to_numpy()[one], train[c].to_numpy()[other]
        numeric = pd.api.types.is_numeric_dtype(train[c])
        out[c] = a + share * (b - a) if numeric else np.where(rng.random(rows) < 0.5, a, b)
    return pd.DataFrame(out)


def smote_nc(train: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of imbalanced-learn's SMOTE-NC, whose categories are the commonest of five neighbours."""
    from imblearn.over_sampling import SMOTENC

    categories = [not pd.api.types.is_numeric_dtype(train[c]) for c in train]
    others = train.iloc[np.resize(np.arange(len(train)), len(train) + rows)]
    both = pd.concat([train, others], ignore_index=True)
    label = np.r_[np.ones(len(train)), np.zeros(len(others))]
    made, _ = SMOTENC(categories, random_state=int(rng.integers(2**31))).fit_resample(both, label)
    return made.iloc[len(both) :].reset_index(drop=True)


def trees(train: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of sequential trees with leaves of at least five rows, categories first."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    numeric = {c: pd.api.types.is_numeric_dtype(train[c]) for c in train}
    coded = pd.DataFrame({c: train[c] if numeric[c] else pd.factorize(train[c])[0] for c in train})
    done: list[str] = []
    out = pd.DataFrame(index=range(rows))
    donor = pd.DataFrame(index=range(rows))
    for c in sorted(train, key=lambda c: numeric[c]):
        if not done:
            taken = rng.integers(0, len(train), rows)
        else:
            make = DecisionTreeRegressor if numeric[c] else DecisionTreeClassifier
            tree = make(min_samples_leaf=5, random_state=int(rng.integers(2**31)))
            tree.fit(coded[done].to_numpy(), coded[c].to_numpy())
            home, seat = (tree.apply(x[done].to_numpy()) for x in (coded, donor))
            order = np.argsort(home, kind="stable")
            first, last = (np.searchsorted(home[order], seat, side=side) for side in ("left", "right"))
            taken = order[first + (rng.random(rows) * (last - first)).astype(int)]
        donor[c], out[c] = coded[c].to_numpy()[taken], train[c].to_numpy()[taken]
        done.append(c)
    return out[list(train)]


GENERATORS = {"SMOTE": smote, "sequential trees": trees, "SMOTE-NC": smote_nc}


def sample(data: Path, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return members and strangers of Adult, without missing values."""
    folder = data / "adult"
    both = pl.concat([pl.read_parquet(folder / f"{n}.parquet") for n in ("train", "control")]).to_pandas()
    drawn = both.iloc[rng.choice(len(both), 2 * PEOPLE, replace=False)].reset_index(drop=True)
    drawn = drawn.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else c.astype(object).fillna("?"))
    return drawn[:PEOPLE].reset_index(drop=True), drawn[PEOPLE:].reset_index(drop=True)


def areas(members: pd.DataFrame, strangers: pd.DataFrame, tables: list[pd.DataFrame]) -> list[float]:
    """Return the AUC of each score."""
    import divulge
    from divulge.stats.roc import auc, mid_ranks

    found = divulge.membership(members, tables, holdout=strangers, scores=["ratio", "3-way margins"])
    ranks = [mid_ranks(np.r_[r.individual.real, r.individual.holdout]) for r in found]
    mean, n = np.mean(ranks, axis=0), len(members)
    return [*(float(r.context["AUC"]) for r in found), auc(mean[:n], mean[n:]).value]


def together(data: Path, runs: int) -> None:
    """Print the AUC of each score with 1, 3 and 10 tables."""
    print("| generator | score | " + " | ".join(f"{k} tables" for k in NUMBERS) + " | se |")
    for name, make in GENERATORS.items():
        found = np.zeros((runs, len(NUMBERS), len(SCORES)))
        for run in range(runs):
            rng = np.random.default_rng(run)
            members, strangers = sample(data, rng)
            tables = [make(members, PEOPLE, rng) for _ in range(max(NUMBERS))]
            found[run] = [areas(members, strangers, tables[:k]) for k in NUMBERS]
        error = found.std(axis=0, ddof=1).max() / np.sqrt(runs)
        for j, score in enumerate(SCORES):
            print(f"| {name} | {score} | {' | '.join(f'{x:.3f}' for x in found.mean(axis=0)[:, j])} | {error:.3f} |")


def left(data: Path, runs: int) -> None:
    """Print the AUC of leavers against stayers by each score."""
    import divulge

    for name, make in GENERATORS.items():
        found: list[dict[str, Any]] = []
        for run in range(runs):
            rng = np.random.default_rng(run)
            before = sample(data, rng)[0]
            after = before[LEAVE:]
            tables = make(before, len(before), rng), make(after, len(after), rng)
            named = [t.assign(person=t.index) for t in (before, after)]
            result = divulge.changes(named[0], tables[0], named[1], tables[1], unit="person")
            found.append({r.variant: r.context["AUC"] for r in result.left})
        means = pd.DataFrame(found)
        errors = means.std() / np.sqrt(runs)
        print(f"{name}: " + ", ".join(f"{c} {means[c].mean():.3f} (se {errors[c]:.3f})" for c in means))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    parser.add_argument("--runs", type=int, default=6)
    chosen = parser.parse_args()
    if importlib.util.find_spec("imblearn") is None:
        del GENERATORS["SMOTE-NC"]
    together(chosen.data, chosen.runs)
    left(chosen.data, chosen.runs)


if __name__ == "__main__":
    main()
