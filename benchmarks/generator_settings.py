"""What the settings in divulge's advice change: tables of the demo's survey (docs/how-to/lower-the-risk.md).

`python benchmarks/generator_settings.py tables FOLDER` writes the survey, `... make FOLDER` the tables of the
generators that are installed there (CART is divulge's own), `... assess FOLDER` prints a row of the page for each. Run
on 29 November 2026 with imbalanced-learn 0.14.2, ctgan 0.12.1, copulas 0.14.1, DataSynthesizer 0.1.13, which disagree
on pandas: each needs an environment of its own.
"""

import importlib.util
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

TRIED = {
    "cart": ("CART (divulge's demo)", "leaves of 5 people", "leaves of 20"),
    "smote": ("SMOTE (imbalanced-learn)", "k_neighbors=5", "k_neighbors=100"),
    "bayes": ("Bayesian network (DataSynthesizer)", "3 parents", "1 parent"),
    "dp": ("differential privacy (DataSynthesizer, 3 parents)", "epsilon=100", "epsilon=1"),
    "tvae": ("TVAE (ctgan)", "epochs=1000", "epochs=100"),
    "ctgan": ("CTGAN (ctgan)", "epochs=1000", "epochs=100"),
    "copula": ("Gaussian copula (copulas)", "GaussianKDE", "BetaUnivariate"),
}


def cart(real, leaf):
    import polars as pl

    from divulge.demo.trees import synthesize

    return synthesize(pl.from_pandas(real), np.random.default_rng(1), min_leaf=leaf).to_pandas()


def smote(real, k):
    """Return the new rows that SMOTE makes of all people, beside a filler that it ignores."""
    import pandas as pd
    from imblearn.over_sampling import SMOTE

    n = len(real)
    rows = pd.concat([real, real.sample(2 * n, replace=True, random_state=0)]).astype(float)
    made, _ = SMOTE(k_neighbors=k, random_state=0).fit_resample(rows, np.r_[np.ones(n), np.zeros(2 * n)])
    return made.iloc[3 * n :]


def bayes(real, parents, epsilon=0):
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    with TemporaryDirectory() as folder:
        table, told = f"{folder}/real.csv", f"{folder}/real.json"
        real.to_csv(table, index=False)
        described = DataDescriber(category_threshold=12)
        described.describe_dataset_in_correlated_attribute_mode(table, epsilon=epsilon, k=parents, seed=0)
        described.save_dataset_description_to_file(told)
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(real), told, seed=0)
    return generator.synthetic_dataset


def deep(real, kind, epochs):
    import ctgan
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 # what these packages draw from
    model = getattr(ctgan, kind)(epochs=epochs, **({"batch_size": 100} if kind == "CTGAN" else {}))
    model.fit(real, [c for c in real if real[c].nunique() <= 12])
    return model.sample(len(real))


def copula(real, marginal):
    from copulas import univariate
    from copulas.multivariate import GaussianMultivariate

    np.random.seed(0)  # noqa: NPY002 # what these packages draw from
    model = GaussianMultivariate(distribution=getattr(univariate, marginal))
    model.fit(real.astype(float))
    return model.sample(len(real))


MADE = {
    "cart": ("sklearn", lambda real, after: cart(real, 20 if after else 5)),
    "smote": ("imblearn", lambda real, after: smote(real, 100 if after else 5)),
    "bayes": ("DataSynthesizer", lambda real, after: bayes(real, 1 if after else 3)),
    "dp": ("DataSynthesizer", lambda real, after: bayes(real, 3, 1 if after else 100)),
    "tvae": ("ctgan", lambda real, after: deep(real, "TVAE", 100 if after else 1000)),
    "ctgan": ("ctgan", lambda real, after: deep(real, "CTGAN", 100 if after else 1000)),
    "copula": ("copulas", lambda real, after: copula(real, "BetaUnivariate" if after else "GaussianKDE")),
}


def make(folder):
    import pandas as pd

    real = pd.read_csv(folder / "real.csv")
    for name, (package, synthesize) in MADE.items():
        if importlib.util.find_spec(package) and (name != "cart" or importlib.util.find_spec("divulge")):
            for after in (False, True):
                synthesize(real, after).round().astype(int).to_csv(folder / f"{name}-{int(after)}.csv", index=False)


def assess(folder):
    import polars as pl

    import divulge

    real, holdout = pl.read_csv(folder / "real.csv"), pl.read_csv(folder / "holdout.csv")
    for name, (generator, *settings) in TRIED.items():
        cells = [generator]
        for after, setting in enumerate(settings):
            table = pl.read_csv(folder / f"{name}-{after}.csv")
            report = divulge.assess(
                real, table, holdout, keys=["age", "educ", "popul"], targets=["vote"], models=False, progress=False
            )
            m = report.metrics()
            use = f"{m['distance_of_pairs']:.2f}"
            cells += [setting, report.verdict, f"{m['people_at_risk_at_least']:.0f}", use]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    given = Path(sys.argv[2])
    if sys.argv[1] == "tables":
        from divulge.demo import tables

        made, _, others = tables()
        made.write_csv(given / "real.csv")
        others.write_csv(given / "holdout.csv")
    else:
        {"make": make, "assess": assess}[sys.argv[1]](given)
