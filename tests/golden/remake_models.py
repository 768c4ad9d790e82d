"""Write `models.json`: what SDMetrics answers in the calls of `model_cases.py`, after `numpy.random.seed(seed)`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_models.py

Scores depend on the release of scikit-learn, which stands in the file. An error is its type.
"""

import importlib.metadata
import json
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import sdmetrics
from column_cases import frame
from model_cases import CASES, Case
from sdmetrics import single_table


def outcome(case: Case) -> float | str:
    tables = frame(case.first), frame(case.second)
    np.random.seed(case.seed)  # noqa: NPY002
    try:
        return float(getattr(single_table, case.metric).compute(*tables, case.metadata, **case.kwargs))
    except Exception as error:
        return type(error).__name__


def main() -> None:
    warnings.simplefilter("ignore")
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in ("sdmetrics", "pandas", "numpy", "scikit-learn")},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_models.py",
    }
    cases = {case.id: outcome(case) for case in CASES}
    text = json.dumps({"about": head, "cases": cases}, indent=1, allow_nan=False) + "\n"
    Path(__file__).with_name("models.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
