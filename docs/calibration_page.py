"""The table of `calibration.md`, from `calibration.toml`: what each file of tests/calibration simulates."""

import ast
import tomllib

from parts import DOCS, ROOT, markdown_table

__all__ = ["table"]

FOLDER = ROOT / "tests" / "calibration"


def table():
    """Return the table; raise where it tells of a test that is not there, or of another number of runs."""
    told, rows = tomllib.loads((DOCS / "calibration.toml").read_text(encoding="utf-8")), []
    for module, tests in told.items():
        text = (FOLDER / f"test_{module}_calibration.py").read_text(encoding="utf-8")
        names = {n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
        for test, (attack, design, quick, full, promised, *so_far) in tests.items():
            assert f"test_{test}" in names, f"no test {test} in {module}"
            assert str(quick) in text.replace("_", "") and str(full) in text.replace("_", ""), (module, test)
            runs = f"{full:,}" + "".join(f" (so far: {x})" for x in so_far)
            rows.append((attack, design, f"{quick:,}", runs, promised))
    files = {p.name for p in FOLDER.glob("test_*.py")}
    assert files == {f"test_{m}_calibration.py" for m in told}, files
    return markdown_table(("attack", "simulated", "runs, quick", "runs, full", "what must come out"), rows)
