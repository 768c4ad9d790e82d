"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""

from __future__ import annotations

BYTES = {
    "process": 5.04e08,
    "byte of text": 16.6,
    "byte of table": 1.24,
    "byte of counts": 2.37,
    "byte of scores": 1.24,
    "cell in fidelity": 161,
}
"""Bytes of memory of each part."""

SECONDS = {
    "process": 7.81,
    "byte of text": 1.22e-06,
    "model": 0.239,
    "cell of a model": 2.36e-06,
    "pair": 0.00888,
    "row of a pair": 3.84e-07,
}
"""CPU seconds of each part."""

ALONE = 0.40
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
