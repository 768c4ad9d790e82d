"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""

from __future__ import annotations

BYTES = {
    "process": 2.32e08,
    "attacks": 2.45e08,
    "byte of text": 1.21,
    "byte of table": 3.94,
    "distinct value": 84.4,
    "cell in distances": 138,
    "byte of counts": 1.8,
    "byte of scores": 1.21,
    "cell in membership": 85.5,
    "pair of columns in fidelity": 2.22e05,
}
"""Bytes of memory of each part."""

SECONDS = {
    "process": 1.32,
    "byte of text": 4.55e-07,
    "row in distances": 1.8e-05,
    "cell in distances": 1.36e-05,
    "cell of a target": 5.19e-07,
    "model": 0.309,
    "cell of a model": 1.61e-06,
    "pair": 0.0058,
    "membership": 5.93,
    "cell in membership": 9.44e-07,
    "pair of columns in fidelity": 0.00314,
    "row of a pair of columns in fidelity": 1.59e-08,
    "cell in utility": 1.27e-08,
}
"""CPU seconds of each part."""

ALONE = 0.4
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
