"""Write `relational.json`: what SDMetrics answers, raises and warns of in the calls of `relational_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_relational.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
"""

import importlib
import importlib.metadata
import json
import linecache
import math
import platform
import sys
import traceback
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sdmetrics
from relational_cases import CASES, Case, arguments

HOME = str(Path(sdmetrics.__file__).parent)


def plain(value: Any) -> Any:
    """Return the value for JSON: null is nan, "inf" infinity, an exception its type; tuples of names joined."""
    if isinstance(value, dict):
        return {" -> ".join(map(str, k)) if isinstance(k, tuple) else str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Exception):
        return type(value).__name__
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def in_order(value: Any) -> Any:
    """SDMetrics lists columns in the order of a set, another one in each process."""
    return {k: in_order(value[k]) for k in sorted(value)} if isinstance(value, dict) else value


def written_in_sdmetrics(filename: str, line: int, word: str) -> bool:
    return filename.startswith(HOME) and word in linecache.getline(filename, line)


def raised(error: Exception) -> dict:
    """Return the type and text, and whether SDMetrics itself raised it: else it is a crash further down."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return {
        "type": type(error).__name__,
        "message": str(error)[:300],
        "published": written_in_sdmetrics(last.filename, last.lineno, "raise "),
    }


def found(case: Case) -> dict:
    metric = getattr(importlib.import_module(f"sdmetrics.{case.kind}"), case.metric)
    out: dict = {}
    # the sequence metrics refuse their own options in compute_breakdown
    for call in ("compute", "compute_breakdown") if case.kind == "multi_table" else ("compute",):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = getattr(metric, call)(*arguments(case), **case.kwargs)
                out[call] = in_order(plain(value))
            except Exception as error:
                return {"raised": raised(error)}
    own = [w for w in caught if written_in_sdmetrics(w.filename, w.lineno, "warnings.warn(")]
    texts = sorted({f"{w.category.__name__}: {w.message}" for w in own})
    return out | ({"warnings": texts} if texts else {})


def main() -> None:
    packages = ("sdmetrics", "pandas", "numpy", "scipy")
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in packages},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_relational.py",
        "null": "nan",
        "published": "whether SDMetrics raises the error itself; else it is a crash of something below it",
    }
    np.random.seed(0)  # noqa: NPY002
    cases = ",\n".join(
        f"{json.dumps(c.id)}: {json.dumps(found(c), allow_nan=False, ensure_ascii=False)}" for c in CASES
    )
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("relational.json")
    start = json.dumps(head, indent=1)[:-2]
    out.write_text(f'{start},\n "cases": {{\n{cases}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
