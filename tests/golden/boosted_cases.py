"""The calls that `remake_boosted.py` makes of SDMetrics and `test_boosted.py` of `divulge.sdmetrics`: models of XGBoost."""

import random

import pandas as pd

METADATA = {
    "columns": {
        "x": {"sdtype": "numerical"}, "c": {"sdtype": "categorical"}, "b": {"sdtype": "boolean"},
        "d": {"sdtype": "datetime"}, "sex": {"sdtype": "categorical"}, "y": {"sdtype": "categorical"},
    }
}  # fmt: skip
WITHOUT_B = {"columns": {k: v for k, v in METADATA["columns"].items() if k != "b"}}


def table(seed: int, n: int) -> pd.DataFrame:
    rng = random.Random(seed)
    columns: dict[str, list] = {name: [] for name in METADATA["columns"]}
    for i in range(n):
        u = rng.random()
        columns["x"].append(None if i % 17 == 0 else round(u + rng.gauss(0, 0.3), 3))
        columns["c"].append(rng.choice("pqrs"))
        columns["b"].append(rng.random() < u)
        columns["d"].append(pd.Timestamp(2020, 1, 1) + pd.Timedelta(days=int(u * 300)))
        columns["sex"].append("f" if rng.random() < 0.4 else "m")
        columns["y"].append("yes" if u + rng.gauss(0, 0.25) > 0.7 else "no")
    dtypes = {"x": "float64", "c": "object", "b": "bool", "d": "datetime64[ns]", "sex": "object", "y": "object"}
    return pd.DataFrame({k: pd.Series(v, dtype=dtypes[k]) for k, v in columns.items()})


def tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return table(1, 250), table(2, 200), table(3, 150)


CASES = {
    **{
        f"{metric} at {value}": (metric, (METADATA, None, "y", "yes", "XGBoost", value))
        for metric in ("BinaryClassifierPrecisionEfficacy", "BinaryClassifierRecallEfficacy")
        for value in (0.5, 0.9, 0.99)
    },
    "truth values": ("BinaryClassifierRecallEfficacy", (METADATA, None, "b", True)),
    "a number to predict": ("BinaryClassifierRecallEfficacy", (METADATA, None, "x", "yes")),
    "another classifier": ("BinaryClassifierRecallEfficacy", (METADATA, None, "y", "yes", "Forest")),
    "no such label": ("BinaryClassifierRecallEfficacy", (METADATA, None, "y", "maybe")),
    "odds": ("EqualizedOddsImprovement", (METADATA, None, "b", True, "c", "p")),
    "odds of text": ("EqualizedOddsImprovement", (METADATA, None, "b", True, "sex", "f")),
    "no such group": ("EqualizedOddsImprovement", (METADATA, None, "b", True, "c", "z")),
}
"""Name, metric, and the arguments after the tables."""
