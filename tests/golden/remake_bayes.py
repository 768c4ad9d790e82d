"""Write `bayes.json`: what SDMetrics answers or raises in the calls of `bayes_cases.py`.

Tool: SDMetrics 0.32.0 (MIT) with pomegranate 1.1.2 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install "sdmetrics[pomegranate]==0.32.0" "pandas<3" torch
    .golden/bin/python tests/golden/remake_bayes.py
"""

import importlib.metadata
import json
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

from bayes_cases import CASES, METRICS, arguments
from sdmetrics import single_table

PACKAGES = ("sdmetrics", "pomegranate", "torch", "pandas", "numpy")


def found(metric: str, case) -> float | str:
    given, options = arguments(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(getattr(single_table, metric).compute(*given, **options))
        except Exception as error:
            return type(error).__name__


def main() -> None:
    head = {
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_bayes.py",
    }
    cases = {f"{metric} | {case.id}": found(metric, case) for metric in METRICS for case in CASES}
    Path(__file__).with_name("bayes.json").write_text(json.dumps({"about": head, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
