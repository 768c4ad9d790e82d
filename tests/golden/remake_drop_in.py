"""Write `drop_in.json`: what SDMetrics answers, raises and warns of in the calls of `drop_in_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_drop_in.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
Each call gets tables of its own and starts right after `np.random.seed(seed)`, because SDMetrics draws from numpy's
global generator; DCRBaselineProtection has a seed beside it, `_seed`, for its random table. A path as argument writes
elsewhere, so that runs with other numbers of threads can be compared.
"""

import importlib.metadata
import json
import linecache
import math
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sdmetrics
import sdmetrics.single_table.privacy as privacy
from drop_in_cases import CASES, METRICS, Case, built
from sdmetrics import single_table
from sdmetrics.single_table.privacy import cap, categorical_sklearn, loss, radius_nearest_neighbor

HOME = str(Path(sdmetrics.__file__).parent)
PLACES = (privacy, cap, categorical_sklearn, loss, radius_nearest_neighbor)


def named(name: str) -> Any:
    return next(getattr(place, name) for place in PLACES if hasattr(place, name))


def plain(value: Any) -> Any:
    """Return the value for JSON: null is nan, "inf" infinity, and an exception that was returned is its type and text."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, Exception):
        return {"type": type(value).__name__, "message": str(value)}
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value.item() if isinstance(value, np.generic) else value


def written_in_sdmetrics(filename: str, line: int, word: str) -> bool:
    return filename.startswith(HOME) and word in linecache.getline(filename, line)


def raised(error: Exception) -> dict:
    """Return the type and text, and whether SDMetrics itself raised it: else it is a crash further down."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    own = written_in_sdmetrics(last.filename, last.lineno, "raise ")
    return {"type": type(error).__name__, "message": str(error), "published": own}


def outcome(call: Callable[[], Any]) -> dict:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
            found = {"returned": plain(value)} if isinstance(value, Exception) else {"value": plain(value)}
        except Exception as error:
            found = {"raised": raised(error)}
    own = [w for w in caught if written_in_sdmetrics(w.filename, w.lineno, "warnings.warn(")]
    # each text once: SDMetrics looks at a table anew for each distance
    texts = list(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in own))
    return found | ({"warnings": texts} if texts else {})


def once(case: Case, call: str) -> dict:
    metric = getattr(single_table, case.metric)
    args, kwargs = built(case.args, named), built(case.kwargs, named)
    np.random.seed(case.seed or 0)  # noqa: NPY002
    if hasattr(metric, "_seed"):
        metric._seed = case.seed or 0
    return outcome(lambda: getattr(metric, call)(*args, **kwargs))


def found(case: Case) -> dict:
    if case.raw:
        metric = getattr(single_table, case.metric)
        return {"normalize": [outcome(lambda raw=raw: metric.normalize(raw)) for raw in case.raw]}
    return {call: once(case, call) for call in case.calls}


def attributes(name: str) -> dict:
    metric = getattr(single_table, name)
    return {
        "name": metric.name,
        "goal": metric.goal.name,
        "min_value": plain(metric.min_value),
        "max_value": plain(metric.max_value),
    }


def main() -> None:
    packages = ("sdmetrics", "pandas", "numpy", "scipy", "scikit-learn", "copulas")
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in packages},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_drop_in.py",
        "null": "nan",
        "published": "whether SDMetrics raises the error itself; else it is a crash of something below it",
    }
    cases = {}
    for case in CASES:
        began = time.perf_counter()
        cases[case.id] = found(case)
        if (took := time.perf_counter() - began) > 5:
            print(f"{took:6.1f} s  {case.id}", file=sys.stderr)
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("drop_in.json")
    written = head | {"attributes": {m: attributes(m) for m in METRICS}, "cases": cases}
    out.write_text(json.dumps(written, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
