"""Write `sdmetrics.json`: what SDMetrics says about the tables of `sdmetrics_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3" statsmodels
    .golden/bin/python tests/golden/remake_sdmetrics.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
"""

import json
import math
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import sdmetrics
from sdmetrics.single_table import (
    CategoricalCAP,
    CategoricalGeneralizedCAP,
    CategoricalZeroCAP,
    DisclosureProtection,
)
from sdmetrics_cases import CASES, Columns

METRICS = {"skip": CategoricalCAP, "zero": CategoricalZeroCAP, "nearest": CategoricalGeneralizedCAP}
METHODS = {"skip": "cap", "zero": "zero_cap", "nearest": "generalized_cap"}


def frame(columns: Columns) -> pd.DataFrame:
    # None stays None in a column of objects; pandas would turn [1, None] into floats
    return pd.DataFrame({c: pd.Series(v, dtype=object if None in v else None) for c, v in columns.items()})


def plain(value: float) -> float | None:
    """Return the value for JSON: null is nan."""
    return None if math.isnan(value) else float(value)


def main() -> None:
    warnings.simplefilter("ignore")
    cases = {}
    for name, case in CASES.items():
        real, synthetic = frame(case.real), frame(case.synthetic)
        found = {"Categorical": {}, "DisclosureProtection": {}}
        for unseen, metric in METRICS.items():
            value = metric.compute(real, synthetic, key_fields=case.keys, sensitive_fields=case.targets)
            found["Categorical"][unseen] = plain(value)
            breakdown = DisclosureProtection.compute_breakdown(
                real, synthetic, case.keys, case.targets, computation_method=METHODS[unseen]
            )
            found["DisclosureProtection"][unseen] = plain(breakdown["cap_protection"])
            found["baseline_protection"] = plain(breakdown["baseline_protection"])
        cases[name] = found
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "pandas": pd.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_sdmetrics.py",
        "null": "nan",
    }
    out = Path(__file__).with_name("sdmetrics.json")
    out.write_text(json.dumps(head | {"cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
