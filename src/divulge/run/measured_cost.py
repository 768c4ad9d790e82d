"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""

from __future__ import annotations

BYTES = {
    "process": 1.23e08,
    "attacks": 3.83e08,
    "byte of text": 1.23,
    "byte of table": 22.2,
    "cell in distances": 1.52,
    "byte of counts": 1.49,
    "byte of scores": 1.57,
    "cell in fidelity": 108,
}
"""Bytes of memory of each part."""

SECONDS = {
    "process": 2.18,
    "byte of text": 4.73e-07,
    "row in distances": 7.29e-05,
    "cell in distances": 6.71e-06,
    "cell of a target": 3.51e-07,
    "model": 0.273,
    "cell of a model": 2e-06,
    "pair": 0.00931,
    "membership": 3.73,
    "utility": 1.42,
}
"""CPU seconds of each part."""

ALONE = 0.40
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
