"""Write `dcr.json`: what SDMetrics says about distances in the tables of `dcr_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_dcr.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
"""

import json
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import sdmetrics
from dcr_cases import CASES, Case, Columns
from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection
from sdmetrics.single_table.privacy.dcr_utils import calculate_dcr


def frame(columns: Columns, kinds: dict[str, str]) -> pd.DataFrame:
    # numbers with None become floats with nan, which SDMetrics takes for missing
    def series(name: str) -> pd.Series:
        if kinds[name] == "datetime":
            return pd.Series(pd.to_datetime(columns[name]))
        dtype = "float64" if kinds[name] == "numerical" else object
        return pd.Series(columns[name], dtype=dtype)

    return pd.DataFrame({c: series(c) for c in columns})


def found(case: Case) -> dict:
    real, synthetic, holdout = (frame(t, case.kinds) for t in (case.real, case.synthetic, case.holdout))
    metadata = {"columns": {c: {"sdtype": k} for c, k in case.kinds.items()}}
    overfitting = DCROverfittingProtection.compute_breakdown(real, synthetic, holdout, metadata, None)
    baseline = DCRBaselineProtection.compute_breakdown(real, synthetic, metadata, None)
    return {
        "to real": [float(v) for v in calculate_dcr(synthetic, real, metadata)],
        "to holdout": [float(v) for v in calculate_dcr(synthetic, holdout, metadata)],
        "closer to training": overfitting["synthetic_data_percentages"]["closer_to_training"],
        "overfitting protection": overfitting["score"],
        "median to real": baseline["median_DCR_to_real_data"]["synthetic_data"],
    }


def main() -> None:
    warnings.simplefilter("ignore")
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "pandas": pd.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_dcr.py",
    }
    out = Path(__file__).with_name("dcr.json")
    out.write_text(json.dumps(head | {"cases": {n: found(c) for n, c in CASES.items()}}, indent=1) + "\n")


if __name__ == "__main__":
    main()
