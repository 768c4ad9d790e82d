"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""

from __future__ import annotations

BYTES = {
    "process": 1.41e08,
    "attacks": 3.64e08,
    "byte of text": 1.23,
    "byte of table": 20.1,
    "cell in distances": 9.79,
    "byte of counts": 1.43,
    "byte of scores": 1.91,
    "cell in fidelity": 98.8,
}
"""Bytes of memory of each part."""

SECONDS = {
    "process": 2.18,
    "byte of text": 6.49e-07,
    "row in distances": 2.93e-05,
    "cell in distances": 1.05e-05,
    "cell of a target": 3.05e-07,
    "model": 0.287,
    "cell of a model": 1.71e-06,
    "pair": 0.00846,
    "membership": 3.78,
    "cell in membership": 3.9e-06,
    "utility": 1.41,
}
"""CPU seconds of each part."""

ALONE = 0.4
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
