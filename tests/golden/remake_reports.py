"""Write `reports.json`: the scores, properties and details of SDMetrics' reports on the data of `report_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_reports.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests. Of the column
Error the type alone is kept: the texts are those of pandas and scipy, and quote data.
"""

import importlib.metadata
import json
import platform
from datetime import UTC, datetime
from pathlib import Path

import sdmetrics
from report_cases import CASES, found

PACKAGES = ("sdmetrics", "pandas", "numpy", "scipy")


def main() -> None:
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in PACKAGES},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_reports.py",
        "null": "nan, NA or no error",
    }
    lines = ",\n".join(
        f"{json.dumps(f'{c.id} | {r}')}: {json.dumps(found('sdmetrics.reports', r, c), allow_nan=False, ensure_ascii=False)}"
        for c in CASES
        for r in c.reports
    )
    start = json.dumps(head, indent=1)[:-2]
    Path(__file__).with_name("reports.json").write_text(f'{start},\n "cases": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
