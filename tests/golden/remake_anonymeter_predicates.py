"""Write `anonymeter_predicates.json`: predicates that anonymeter makes of the tables of `predicate_cases.py`.

Tool: anonymeter 1.1.0 (BSD 3-Clause Clear). Its own functions make the predicates and count the rows they fit in each
table, after its own removal of equal rows. Remade with:

    python -m venv .golden && .golden/bin/pip install anonymeter==1.1.0 statsmodels scikit-learn
    .golden/bin/python tests/golden/remake_anonymeter_predicates.py

The versions and the day of the last run stand in the file itself. Anonymeter is not needed to run the tests.
"""

import json
import platform
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import polars as pl
from anonymeter.evaluators import SinglingOutEvaluator
from anonymeter.evaluators import singling_out_evaluator as anonymeter
from predicate_cases import CASES, Columns

NUMBERS_OF_COLUMNS = (1, 2, 3, 4, 5)
EACH = 60
OPERATORS = {"GtEq": ">=", "LtEq": "<=", "Eq": "=="}


def frame(columns: Columns) -> pd.DataFrame:
    # numbers with None become nullable ones: anonymeter does not take nan of pandas for missing
    return pd.DataFrame({c: pd.Series(v).convert_dtypes() if None in v else pd.Series(v) for c, v in columns.items()})


def value(literal: object) -> object:
    """The value inside {"Dyn": {"Int": 3}}, {"Scalar": {"String": "x"}} and the like."""
    while isinstance(literal, dict):
        ((_, literal),) = literal.items()
    return literal


def conditions(node: dict) -> list[list]:
    """What a polars expression says, as column, operator and value."""
    ((what, inside),) = node.items()
    if what == "Function":
        assert inside["function"] == {"Boolean": "IsNull"}, inside
        return [[inside["input"][0]["Column"], "missing", None]]
    assert what == "BinaryExpr", what
    if inside["op"] == "And":
        return conditions(inside["left"]) + conditions(inside["right"])
    return [[inside["left"]["Column"], OPERATORS[inside["op"]], value(inside["right"]["Literal"])]]


def found(real: pd.DataFrame, synthetic: pd.DataFrame, holdout: pd.DataFrame, n_columns: int) -> list[dict]:
    """All univariate predicates for 0 columns, else a number of multivariate ones, with the rows each fits."""
    mode = "multivariate" if n_columns else "univariate"
    n = EACH if n_columns else 10_000
    evaluator = SinglingOutEvaluator(real, synthetic, n_attacks=n, n_cols=max(1, n_columns), control=holdout, seed=1)
    tables = evaluator._syn, evaluator._ori, evaluator._control
    made = anonymeter._generate_singling_out_queries(
        df=tables[0], mode=mode, n_attacks=n, n_cols=n_columns, max_attempts=20_000, rng=evaluator._rng
    )
    counts = [anonymeter._evaluate_queries(df=t, queries=made) for t in tables]
    out = [
        {"where": conditions(json.loads(q.meta.serialize(format="json"))), "fits": list(fits)}
        for q, *fits in zip(made, *counts, strict=True)
    ]
    return sorted(out, key=lambda p: json.dumps(p))  # its univariate predicates come in another order each time


def main() -> None:
    warnings.simplefilter("ignore")
    head = {
        "tool": f"anonymeter {version('anonymeter')}",
        "python": platform.python_version(),
        "polars": pl.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_anonymeter_predicates.py",
        "fits": "rows of the synthetic, the real and the holdout table that meet all conditions, equal rows counted once",
    }
    cases = {}
    for name, case in CASES.items():
        tables = [frame(t) for t in (case.real, case.synthetic, case.holdout)]
        cases[name] = {str(k): found(*tables, k) for k in (0, *NUMBERS_OF_COLUMNS)}
    lines = ",\n".join(
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f" {json.dumps(k)}: [\n" + ",\n".join(f"  {json.dumps(p)}" for p in made) + "\n ]" for k, made in case.items())
        + "\n}"
        for name, case in cases.items()
    )  # fmt: skip
    text = json.dumps(head, indent=1)[:-2] + f',\n "cases": {{\n{lines}\n}}}}\n'
    assert json.loads(text)["cases"] == cases
    Path(__file__).with_name("anonymeter_predicates.json").write_text(text)


if __name__ == "__main__":
    main()
