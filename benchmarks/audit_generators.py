"""Generators to audit: trees, a Gaussian copula, Bayes nets, SMOTE, private ones, a known leak, and some that fail.

    python benchmarks/audit_generators.py NAME TRAIN.csv SYNTHETIC.csv --seed N

"SMOTE" needs imbalanced-learn, "CTGAN" ctgan, "MST 1" and "MST 10" smartnoise-synth; all others need what divulge
needs. Missing values are not handled. "private 1" and "MST 1" spend an epsilon of 1; the table named by --domain is the
public one that gives their bins and categories.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["BROKEN", "ELSEWHERE", "GENERATORS", "PRIVATE", "train"]


def _numbers(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    numbers = [c for c in table if table[c].dtype.kind in "iuf"]
    return numbers, [c for c in table if c not in numbers]


def _coded(table: pd.DataFrame) -> dict[str, np.ndarray]:
    numbers, _ = _numbers(table)
    return {c: table[c].to_numpy(float) if c in numbers else pd.factorize(table[c], sort=True)[0] for c in table}


def trees(table: pd.DataFrame, seed: int, leaf: int = 5) -> pd.DataFrame:
    """One tree for each column, given the columns before it; a leaf gives values of its people (as synthpop)."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    rng, n, coded = np.random.default_rng(seed), len(table), _coded(table)
    numbers, categories = _numbers(table)
    made: dict[str, np.ndarray] = {}
    rows: dict[str, np.ndarray] = {}
    for column in [*categories, *numbers]:
        if not made:
            donor = rng.integers(0, n, n)
        else:
            known, asked = np.column_stack([coded[c] for c in made]), np.column_stack(list(made.values()))
            kind = DecisionTreeRegressor if column in numbers else DecisionTreeClassifier
            tree = kind(min_samples_leaf=leaf, random_state=int(rng.integers(2**31))).fit(known, coded[column])
            home, seat = tree.apply(known), tree.apply(asked)
            order = np.argsort(home, kind="stable")
            first, last = (np.searchsorted(home[order], seat, side=side) for side in ("left", "right"))
            donor = order[first + (rng.random(n) * (last - first)).astype(int)]
        rows[column], made[column] = donor, coded[column][donor]
    return pd.DataFrame({c: table[c].to_numpy()[rows[c]] for c in table})


def copula(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """A Gaussian copula on ranks; categories are ordered by name, values are those of people."""
    from scipy.stats import norm

    rng, n = np.random.default_rng(seed), len(table)
    ordered = table.apply(lambda c: c.sort_values(kind="stable").to_numpy())
    place = np.column_stack([np.argsort(np.argsort(x + 1e-9 * rng.random(n))) for x in _coded(table).values()])
    normal = norm.ppf((place + 0.5) / n)
    spread = np.corrcoef(normal.T) + 1e-6 * np.eye(table.shape[1])
    drawn = norm.cdf(rng.multivariate_normal(np.zeros(table.shape[1]), spread, n, method="cholesky"))
    at = np.clip((drawn * n).astype(int), 0, n - 1)
    return pd.DataFrame({c: ordered[c].to_numpy()[at[:, j]] for j, c in enumerate(table)})


def margins(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Each column on its own, with replacement."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({c: table[c].to_numpy()[rng.integers(0, len(table), len(table))] for c in table})


def bayes_net(table: pd.DataFrame, seed: int, parents: int = 1, bins: int = 10) -> pd.DataFrame:
    """Each column given those earlier ones that say most about it, counts as they are; numbers in bins."""
    rng, n = np.random.default_rng(seed), len(table)
    numbers, coded, cuts = _numbers(table)[0], _coded(table), {}
    for c in numbers:
        cuts[c] = np.unique(np.quantile(coded[c], np.linspace(0, 1, bins + 1)[1:-1]))
        coded[c] = np.searchsorted(cuts[c], coded[c])
    order = [next(iter(coded))]
    told = {c: {d: _information(coded[c], coded[d]) for d in coded if d != c} for c in coded}
    made: dict[str, np.ndarray] = {}
    while len(made) < len(coded):
        column = order[0] if not made else max(set(coded) - set(made), key=lambda c: (max(told[c][d] for d in made), c))
        above = sorted(made, key=lambda d: (-told[column].get(d, 0.0), d))[:parents]
        key, asked = np.zeros(n, int), np.zeros(n, int)
        for d in above:
            size = int(coded[d].max()) + 1
            key, asked = key * size + coded[d], asked * size + made[d]
        cells, which = np.unique(np.concatenate([key, asked]), return_inverse=True)
        count = np.full((len(cells), int(coded[column].max()) + 1), 1e-3)
        np.add.at(count, (which[:n], coded[column]), 1.0)
        reached = np.cumsum(count / count.sum(axis=1, keepdims=True), axis=1)[which[n:]]
        made[column] = np.minimum((rng.random((n, 1)) > reached).sum(axis=1), count.shape[1] - 1)
    out = {}
    for c in table:
        if c not in numbers:
            out[c] = np.unique(table[c])[made[c]]
            continue
        ends = np.concatenate([[table[c].min()], cuts[c], [table[c].max()]])
        drawn = ends[made[c]] + rng.random(n) * (ends[made[c] + 1] - ends[made[c]])
        out[c] = np.round(drawn).astype(table[c].dtype) if table[c].dtype.kind in "iu" else drawn
    return pd.DataFrame(out)


def _information(a: np.ndarray, b: np.ndarray) -> float:
    joint = np.histogram2d(a, b, (int(a.max()) + 1, int(b.max()) + 1))[0] / len(a)
    alone = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None]
    return float((joint[joint > 0] * np.log(joint[joint > 0] / alone[joint > 0])).sum())


def smote(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """imbalanced-learn's SMOTE for mixed columns: as many new rows as there are people, all of one class."""
    from imblearn.over_sampling import SMOTE, SMOTENC

    n, (numbers, categories) = len(table), _numbers(table)
    wanted = {0: 2 * n}
    kind = SMOTENC(categories, sampling_strategy=wanted, random_state=seed) if categories else SMOTE(
        sampling_strategy=wanted, random_state=seed
    )  # fmt: skip
    three = pd.concat([table] * 3, ignore_index=True)
    made = kind.fit_resample(three, np.repeat([0, 1, 1], n))[0][-n:]
    whole = {c: made[c].round().astype(table[c].dtype) for c in numbers if table[c].dtype.kind in "iu"}
    return made.assign(**whole).reset_index(drop=True)


def private_chain(table: pd.DataFrame, seed: int, epsilon: float, domain: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Each column given the one before, from counts with Laplace noise: epsilon-differentially private by construction.

    One person more changes one count of each table by 1, so that noise of scale (columns / epsilon) is enough. The
    order of columns, the bins and the categories are those of a public table (`domain`), which no training changes.
    """
    rng, n, numbers = np.random.default_rng(seed), len(table), _numbers(domain)[0]
    columns, made = list(domain), dict[str, np.ndarray]()
    before: tuple[np.ndarray, np.ndarray, int] = (np.zeros(n, int), np.zeros(n, int), 1)
    out = {}
    for c in columns:
        if c in numbers:
            ends = np.linspace(domain[c].min(), domain[c].max() + 1e-9, bins + 1)
            codes, size = np.clip(np.searchsorted(ends, table[c], side="right") - 1, 0, bins - 1), bins
        else:
            levels = np.unique(domain[c])
            codes, size = np.searchsorted(levels, table[c]), len(levels)
        count = np.zeros((before[2], size))
        np.add.at(count, (before[0], codes), 1.0)
        count = np.maximum(count + rng.laplace(0, len(columns) / epsilon, count.shape), 0.0) + 1e-6
        reached = np.cumsum(count / count.sum(axis=1, keepdims=True), axis=1)[before[1]]
        made[c] = np.minimum((rng.random((n, 1)) > reached).sum(axis=1), size - 1)
        before = (codes, made[c], size)
        if c not in numbers:
            out[c] = levels[made[c]]
            continue
        drawn = ends[made[c]] + rng.random(n) * (ends[1] - ends[0])
        out[c] = np.floor(drawn).astype(table[c].dtype) if table[c].dtype.kind in "iu" else drawn
    return pd.DataFrame(out)


def ctgan(table: pd.DataFrame, seed: int, epochs: int = 60) -> pd.DataFrame:
    """CTGAN with small layers and 60 epochs."""
    import torch
    from ctgan import CTGAN

    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 (ctgan draws from it)
    torch.set_num_threads(1)
    model = CTGAN(epochs=epochs, generator_dim=(64, 64), discriminator_dim=(64, 64), batch_size=500)
    model.fit(table, _numbers(table)[1])
    return model.sample(len(table))


def spanning_tree(table: pd.DataFrame, seed: int, epsilon: float, domain: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """MST of smartnoise-synth with delta 1e-9; numbers are in bins of the public table, categories are its categories.

    Nothing is learnt from the training table but by MST itself, so that the claim is about all that is published.
    """
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    rng, numbers = np.random.default_rng(seed), _numbers(domain)[0]
    np.random.seed(seed % 2**32)  # noqa: NPY002 (MST draws from it)
    ends = {c: np.linspace(domain[c].min(), domain[c].max() + 1e-9, bins + 1) for c in numbers}

    def binned(frame: pd.DataFrame) -> pd.DataFrame:
        codes = {c: np.clip(np.searchsorted(ends[c], frame[c], side="right") - 1, 0, bins - 1) for c in numbers}
        return frame.assign(**codes)[list(domain)].astype(str)

    known = {c: [str(b) for b in range(bins)] if c in numbers else sorted(set(domain[c].astype(str))) for c in domain}
    longest = max(map(len, known.values()))
    public = pd.DataFrame({c: (levels * longest)[:longest] for c, levels in known.items()})
    categories = TableTransformer([LabelTransformer(nullable=False) for _ in domain])
    categories.fit(public)
    model = Synthesizer.create("mst", epsilon=epsilon, delta=1e-9)
    model.fit(binned(table), transformer=categories, preprocessor_eps=0.0)
    made = model.sample(len(table))
    for c in numbers:
        drawn = ends[c][made[c].astype(int)] + rng.random(len(made)) * (ends[c][1] - ends[c][0])
        made[c] = np.floor(drawn).astype(table[c].dtype) if table[c].dtype.kind in "iu" else drawn
    return made


def some_copied(table: pd.DataFrame, seed: int, share: float = 0.2) -> pd.DataFrame:
    """A leak of known rate: a fifth of the people as they are, the others from their margins."""
    made = margins(table, seed)
    copied = np.random.default_rng(seed).random(len(table)) < share
    made[copied] = table[copied]
    return made


GENERATORS: dict[str, Callable[[pd.DataFrame, int], pd.DataFrame]] = {
    "margins": margins,
    "copula": copula,
    "Bayes net, 1 parent": bayes_net,
    "Bayes net, 3 parents": lambda table, seed: bayes_net(table, seed, 3),
    "trees": trees,
    "SMOTE": smote,
    "CTGAN": ctgan,
    "a fifth copied": some_copied,
}
PRIVATE = {"private 1": 1.0, "private 10": 10.0, "MST 1": 1.0, "MST 10": 10.0}
"""Differentially private generators and their epsilon."""
ELSEWHERE = ("SMOTE", "CTGAN", "MST 1", "MST 10")
"""Those that need other packages than divulge does."""
BROKEN = ("crashes", "crashes for every third seed", "hangs", "writes half a file")


def train(name: str, table: pd.DataFrame, seed: int, domain: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the synthetic table of a generator."""
    if name in PRIVATE:
        made = spanning_tree if name.startswith("MST") else private_chain
        return made(table, seed, PRIVATE[name], table if domain is None else domain)
    return GENERATORS[name](table, seed)


def go_wrong(name: str, table: pd.DataFrame, synthetic: Path, seed: int) -> None:
    """Do what a broken generator does."""
    if name == "crashes" or (name.startswith("crashes") and seed % 3 == 0):
        sys.exit(3)
    if name == "hangs":
        time.sleep(600)
    text = margins(table, seed).to_csv(index=False)
    if name == "writes half a file":
        text = text[: len(text) // 2].rpartition(",")[0]
    synthetic.write_text(text, encoding="utf-8")


def main() -> None:
    """Train once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*GENERATORS, *PRIVATE, *BROKEN])
    parser.add_argument("train", type=Path)
    parser.add_argument("synthetic", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--domain", type=Path)
    given = parser.parse_args()
    table = pd.read_csv(given.train)
    if given.name in BROKEN:
        go_wrong(given.name, table, given.synthetic, given.seed)
        return
    public = None if given.domain is None else pd.read_csv(given.domain)
    train(given.name, table, given.seed, public).to_csv(given.synthetic, index=False)


if __name__ == "__main__":
    main()
