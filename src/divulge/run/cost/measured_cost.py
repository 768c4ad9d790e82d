"""What the parts of a run cost, fitted to measured runs: benchmarks/plan.py writes this file."""

from __future__ import annotations

BYTES = {
    "process": 2.29e08,
    "attacks": 2.37e08,
    "byte of text": 7.09,
    "byte of table": 3.95,
    "distinct value": 79.7,
    "cell in distances": 105,
    "byte of counts": 1.98,
    "byte of scores": 1.58,
    "cell in membership": 3.85,
    "pair of columns in fidelity": 2.21e05,
}
"""Bytes of memory of each part."""

SECONDS = {
    "byte of text": 7.73e-07,
    "cell": 2.05e-07,
    "row in distances": 1.67e-05,
    "bit in distances": 2.59e-06,
    "bit of a target": 1.55e-07,
    "model": 0.321,
    "cell of a model": 2.73e-07,
    "pair": 0.006,
    "row of a pair": 5.49e-08,
    "membership": 4.75,
    "cell in membership": 8.2e-06,
    "fidelity": 0.925,
    "pair of columns in fidelity": 0.00234,
}
"""CPU seconds of each part."""

ALONE = 0.5
"""Share of the work that no further thread shortens."""

ADDRESS_SPACE = 2100000000
"""Bytes of address space that a process has mapped and never uses."""
