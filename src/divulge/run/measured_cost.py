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
    "process": 0.0856,
    "byte of text": 4.37e-07,
    "cell": 3.72e-07,
    "row in distances": 8.2e-06,
    "bit in distances": 2.48e-06,
    "bit of a target": 2.3e-07,
    "model": 0.312,
    "cell of a model": 2.01e-06,
    "row of a pair": 3.62e-08,
    "membership": 7.11,
    "fidelity": 0.873,
    "pair of columns in fidelity": 0.00377,
}
"""CPU seconds of each part."""

ALONE = 0.4
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
