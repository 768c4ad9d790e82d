"""Write `readings.json`: what SDMetrics answers in the calls of `reading_cases.py`, or the type of its error.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3" pyarrow
    .golden/bin/python tests/golden/remake_readings.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
"""

import importlib.metadata
import json
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from reading_cases import calls, plain
from sdmetrics import column_pairs, single_column, single_table


def outcome(call):
    np.random.seed(0)  # noqa: NPY002 # SDMetrics draws from it
    try:
        return plain(call())
    except Exception as error:
        return plain(error)


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    head = {
        "versions": {
            p: importlib.metadata.version(p) for p in ("sdmetrics", "pandas", "numpy", "scipy", "scikit-learn")
        },
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_readings.py",
    }
    found = {name: outcome(call) for name, call in calls(single_column, column_pairs, single_table).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in found.items()]
    text = f'{{"about": {json.dumps(head)},\n"cases": {{\n' + ",\n".join(lines) + "\n}}\n"
    Path(__file__).with_name("readings.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
