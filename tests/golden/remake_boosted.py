"""Write `boosted.json`: what SDMetrics answers in the calls of `boosted_cases.py`.

Tool: SDMetrics 0.32.0 (MIT) with XGBoost. Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3" xgboost-cpu==3.2.0
    .golden/bin/python tests/golden/remake_boosted.py

An error is its type.
"""

import importlib.metadata
import json
import warnings
from datetime import UTC, datetime
from pathlib import Path

import sdmetrics
import xgboost
from boosted_cases import CASES, tables
from sdmetrics.single_table import data_augmentation, equalized_odds


def outcome(metric: str, arguments: tuple) -> dict | str:
    home = equalized_odds if metric == "EqualizedOddsImprovement" else data_augmentation
    try:
        return getattr(home, metric).compute_breakdown(*tables(), *arguments)
    except Exception as error:
        return type(error).__name__


def main() -> None:
    warnings.simplefilter("ignore")
    versions = {p: importlib.metadata.version(p) for p in ("sdmetrics", "pandas", "numpy", "scikit-learn")}
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "versions": versions | {"xgboost": xgboost.__version__},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_boosted.py",
    }
    written = {"about": head, "cases": {name: outcome(*case) for name, case in CASES.items()}}
    text = json.dumps(written, indent=1, default=float) + "\n"
    Path(__file__).with_name("boosted.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
