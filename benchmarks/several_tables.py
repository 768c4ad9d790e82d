"""What releasing several synthetic tables of one training set adds, and what two releases tell about who left.

    python benchmarks/several_tables.py --data DIR            AUC with 1, 3 and 10 tables; leavers against stayers
    ... --docs docs/how-to/releases.md --docs docs/membership.md     also put the table into the pages

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


LAB = {
    ("SMOTE", "ratio"): (0.794, 0.926, 0.983),
    ("SMOTE", "3-way margins"): (0.712, 0.765, 0.799),
    ("SMOTE", "mean of both"): (0.768, 0.868, 0.925),
    ("sequential trees", "ratio"): (0.643, 0.739, 0.829),
    ("sequential trees", "3-way margins"): (0.664, 0.768, 0.793),
    ("sequential trees", "mean of both"): (0.680, 0.796, 0.837),
}
"""The lab's AUC of the same design; 3 samples of its own, error .012."""


def sample(data: Path, rng: np.random.Generator, people: int = PEOPLE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return members and strangers of Adult, without missing values."""
    folder = data / "adult"
    both = pl.concat([pl.read_parquet(folder / f"{n}.parquet") for n in ("train", "control")]).to_pandas()
    drawn = both.iloc[rng.choice(len(both), 2 * people, replace=False)].reset_index(drop=True)
    drawn = drawn.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else c.astype(object).fillna("?"))
    return drawn[:people].reset_index(drop=True), drawn[people:].reset_index(drop=True)


def areas(members: pd.DataFrame, strangers: pd.DataFrame, tables: list[pd.DataFrame]) -> list[float]:
    """Return the AUC of each score."""
    import divulge
    from divulge.stats.roc import auc, mid_ranks

    found = divulge.membership(members, tables, holdout=strangers, scores=["ratio", "3-way margins"])
    ranks = [mid_ranks(np.r_[r.individual.real, r.individual.holdout]) for r in found]
    mean, n = np.mean(ranks, axis=0), len(members)
    return [*(float(r.context["AUC"]) for r in found), auc(mean[:n], mean[n:]).value]


def together(data: Path, runs: int) -> str:
    """Return the AUC of each score with 1, 3 and 10 tables as Markdown, the lab's number behind each."""
    numbers = " | ".join(f"{k} table{'s' * (k > 1)}" for k in NUMBERS)
    out = [f"| generator | score | {numbers} | standard error |", "| --- | --- |" + " ---: |" * (len(NUMBERS) + 1)]
    for name, make in GENERATORS.items():
        found = np.zeros((runs, len(NUMBERS), len(SCORES)))
        for run in range(runs):
            rng = np.random.default_rng(run)
            members, strangers = sample(data, rng)
            tables = [make(members, PEOPLE, rng) for _ in range(max(NUMBERS))]
            found[run] = [areas(members, strangers, tables[:k]) for k in NUMBERS]
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1).max(axis=0) / np.sqrt(runs)
        for j, score in enumerate(SCORES):
            lab = LAB.get((name, score))
            cells = [f"{x:.3f}" if lab is None else f"{x:.3f} ({lab[i]:.3f})" for i, x in enumerate(mean[:, j])]
            out.append(f"| {name} | {score} | {' | '.join(cells)} | {error[j]:.3f} |")
    return "\n".join(out)


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


def put_down(page: Path, table: str) -> None:
    """Put the table, or its lines of the score "ratio", between the marks of a page."""
    from cap import put_between_marks

    ratio = "\n".join(line for i, line in enumerate(table.splitlines()) if i < 2 or "| ratio |" in line)
    for mark, text in (("several tables", table), ("several tables, ratio", ratio)):
        if f"<!-- {mark} -->" in page.read_text():
            put_between_marks(page, text, mark)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--docs", type=Path, action="append", default=[], help="page whose table is replaced")
    chosen = parser.parse_args()
    if importlib.util.find_spec("imblearn") is None:
        del GENERATORS["SMOTE-NC"]
    found = together(chosen.data, chosen.runs)
    print(found, flush=True)
    for page in chosen.docs:
        put_down(page, found)
    left(chosen.data, chosen.runs)


if __name__ == "__main__":
    main()
