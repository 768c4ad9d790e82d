"""Write `constraints.json`: what SDMetrics answers, raises and warns of for the constraints of `constraint_cases.py`.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_constraints.py

The versions and the day of the last run stand in the file itself. SDMetrics is not needed to run the tests.
"""

import importlib.metadata
import json
import logging
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

import sdmetrics
from constraint_cases import CASES, Case, arguments
from remake_relational import plain, raised, written_in_sdmetrics
from sdmetrics.multi_table import ConstraintAdherence


def found(case: Case) -> dict:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out: dict = {"score": plain(ConstraintAdherence.compute(*arguments(case)))}
        except Exception as error:
            return {"raised": raised(error)}
    own = [str(w.message) for w in caught if written_in_sdmetrics(w.filename, w.lineno, "warnings.warn(")]
    return out | ({"warnings": own} if own else {})


def main() -> None:
    logging.disable()
    head = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "python": platform.python_version(),
        "versions": {p: importlib.metadata.version(p) for p in ("sdmetrics", "pandas", "numpy")},
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_constraints.py",
        "null": "nan",
        "published": "whether SDMetrics raises the error itself; else it is a crash of something below it",
    }
    lines = ",\n".join(f"{json.dumps(c.id)}: {json.dumps(found(c), allow_nan=False)}" for c in CASES)
    start = json.dumps(head, indent=1)[:-2]
    Path(__file__).with_name("constraints.json").write_text(
        f'{start},\n "cases": {{\n{lines}\n}}}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    main()
