"""The tables whose predicates anonymeter made and counted: public ones that come with statsmodels and scikit-learn.

Plain Python, so that either side can read them. Rows are dealt out to three tables by `random.Random`, whose stream
Python guarantees; a fifth of the synthetic table are copies of members.
"""

import random
from dataclasses import dataclass

Columns = dict[str, list]


@dataclass(frozen=True)
class Case:
    real: Columns
    synthetic: Columns
    holdout: Columns
    kinds: dict[str, str]
    """Column to "numeric", "categorical" or "boolean"."""


def dealt(columns: Columns, kinds: dict[str, str], n: int, rows: int, seed: int) -> Case:
    rng = random.Random(seed)
    order = sorted(range(len(columns[next(iter(columns))])), key=lambda _: rng.random())
    real, synthetic, holdout = order[:n], order[n : n + rows], order[n + rows :]
    synthetic = real[: rows // 5] + synthetic[rows // 5 :]
    return Case(*({c: [v[i] for i in part] for c, v in columns.items()} for part in (real, synthetic, holdout)), kinds)


def election_study() -> Case:
    """The American National Election Study of 1996: whole numbers, a text, a truth value; some made missing."""
    from statsmodels.datasets import anes96

    data = anes96.load_pandas().data
    columns = {c: [int(v) for v in data[c]] for c in ("age", "educ", "popul", "income", "TVnews")}
    columns["TVnews"] = [None if v == 6 else v for v in columns["TVnews"]]
    columns["party"] = [None if v == 3 else f"party {int(v)}" for v in data["PID"]]
    columns["vote"] = [bool(v) for v in data["vote"]]
    kinds = dict.fromkeys(columns, "numeric") | {"party": "categorical", "vote": "boolean"}
    return dealt(columns, kinds, 400, 300, 3)


def wine() -> Case:
    """Chemical measurements of 178 wines: decimals with few ties, and the grower as a text."""
    from sklearn.datasets import load_wine

    data = load_wine()
    columns = {c: [float(v) for v in data.data[:, j]] for j, c in enumerate(data.feature_names)}
    columns["grower"] = [f"grower {v}" for v in data.target]
    kinds = dict.fromkeys(columns, "numeric") | {"grower": "categorical"}
    return dealt(columns, kinds, 70, 60, 4)


CASES = {"election study": election_study(), "wine": wine()}
