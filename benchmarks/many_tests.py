"""Time and memory of the correction for many tests on many people (max-T by sums of whole numbers).

    python benchmarks/many_tests.py                                     300 tests of 1.25 million people (two minutes)
    python benchmarks/many_tests.py --tests 60 --people 100000

Scores are simulated: people who are easy to hit are so in every test; half of the tests have hits of 0 or 1, half have
fractions. Memory is the peak of the process beyond what it has when the scores are there. The same tests are then made
with the people in another order and added up in other blocks, and the bits must be the same.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

from divulge.stats import max_t, multiple_testing, resampling
from divulge.stats.moments import Limit, limit_of

GOAL_SECONDS, GOAL_MB = 30.0, 200.0


def scores(n: int, n_tests: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the scores of n people in each test."""
    easy = rng.random(n, dtype=np.float32)
    out = []
    for i in range(n_tests):
        hit = rng.random(n, dtype=np.float32) * 0.7 + 0.3 * easy
        out.append((hit > 0.6).astype(np.float64) if i % 2 else np.rint(hit * 12).astype(np.float64) / 12)
    return out


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--people", type=int, default=1_250_000, help="four fifths of them members")
    options = parser.parse_args()
    rng, n = np.random.default_rng(0), options.people * 4 // 5
    sides = scores(n, options.tests, rng), scores(options.people - n, options.tests, rng)
    max_t(scores(50, 2, rng), scores(50, 2, rng), rng=rng)  # libraries are loaded
    kept: list[Limit] = []

    def limit(*args: Any, **kwargs: Any) -> Limit:
        kept.append(limit_of(*args, **kwargs))
        return kept[-1]

    multiple_testing.limit_of = limit  # type: ignore[attr-defined] # to look at it afterwards
    before, began, wall = peak(), time.process_time(), time.perf_counter()
    family = max_t(*sides, rng=np.random.default_rng(1))
    cpu, wall, more = time.process_time() - began, time.perf_counter() - wall, peak() - before
    print(f"{options.tests} tests, {options.people:,} people: {cpu:.1f} CPU s (goal {GOAL_SECONDS:.0f}), {wall:.1f} s, "
          f"{more:.0f} MB beyond the scores (goal {GOAL_MB:.0f}); critical value {family.critical:.7f}")  # fmt: skip
    one = kept[0]
    resampling._CHUNK //= 3
    other = limit_of(*([column[::-1] for column in side] for side in sides))
    same = all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in ("z", "live", "correlation"))
    print(f"another order of people, other blocks: {'the same bits' if same else 'OTHER BITS'}")


if __name__ == "__main__":
    main()
