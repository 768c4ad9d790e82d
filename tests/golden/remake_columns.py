"""Write `columns.json`: what SDMetrics answers, raises and warns of in the calls of `column_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_columns.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests. A case is
one of: a number, a breakdown, or {"raised": type, "message": text where SDMetrics itself wrote it}; "warned" are the
categories of the warnings that SDMetrics itself gives. null is nan; "inf" and "-inf" are infinite.
"""

import importlib
import importlib.metadata
import json
import linecache
import math
import platform
import traceback
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sdmetrics
from column_cases import CASES, MODULES, Case, arguments

HOME = str(Path(sdmetrics.__file__).parent)


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {" & ".join(map(str, k)) if isinstance(k, tuple) else str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Exception):
        return raised(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, pd.Timestamp):
        return value.value
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def of_sdmetrics(filename: str, line: int, word: str) -> bool:
    return filename.startswith(HOME) and word in linecache.getline(filename, line)


def raised(error: Exception) -> dict:
    last = traceback.extract_tb(error.__traceback__)[-1]
    own = of_sdmetrics(last.filename, last.lineno, "raise ")
    return {"raised": type(error).__name__} | ({"message": str(error)} if own else {})


def outcome(case: Case) -> dict:
    metric = getattr(importlib.import_module(f"sdmetrics.{MODULES.get(case.kind, case.kind)}"), case.metric)
    args, kwargs = arguments(case)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = {"value": plain(getattr(metric, case.call)(*args, **kwargs))}
        except Exception as error:
            found = raised(error)
    own = sorted({w.category.__name__ for w in caught if of_sdmetrics(w.filename, w.lineno, "warnings.warn(")})
    return found | ({"warned": own} if own else {})


def main() -> None:
    packages = ("sdmetrics", "pandas", "numpy", "scipy")
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in packages},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_columns.py",
    }
    np.seterr(all="ignore")
    lines = [f"{json.dumps(c.id)}: {json.dumps(outcome(c), allow_nan=False)}" for c in CASES]
    text = f'{{"about": {json.dumps(head)},\n"cases": {{\n' + ",\n".join(lines) + "\n}}\n"
    json.loads(text)
    Path(__file__).with_name("columns.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
