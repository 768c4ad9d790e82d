"""Run many triples: `python tests/fuzz --n 10000`; `--seed 7 --n 1` runs one again and prints its traceback."""

from __future__ import annotations

import argparse
import collections
import contextlib
import multiprocessing
import re

from judge import timed


def _kind_of(sentence: str) -> str:
    """Return a sentence without its names and numbers."""
    return re.sub(r"""(?<!\w)(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|[\d,.]+\d""", "_", sentence)[:90]


def _print(counts: collections.Counter[str], sentences: collections.Counter[str]) -> None:
    for name, n in [*sorted(counts.items()), *((f"  {s}", n) for s, n in sentences.most_common(60))]:
        print(f"{n:6} {name}", flush=True)


def main() -> None:
    """Run the triples, print each fault as it is found, and the counts by outcome at the end."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="number of the first triple")
    parser.add_argument("--n", type=int, default=200, help="how many triples")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--trace", action="store_true", help="print the traceback of each fault")
    asked = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    sentences: collections.Counter[str] = collections.Counter()
    slowest, most = (0.0, 0), 0
    seeds = range(asked.seed, asked.seed + asked.n)
    # a fresh process now and then: what a library keeps does not count for the triples after it
    pool = multiprocessing.get_context("spawn").Pool(asked.jobs, maxtasksperchild=500) if asked.n > 1 else None
    with pool or contextlib.nullcontext():
        for seed, told, kind, why, trace, seconds, memory in (pool.imap if pool else map)(timed, seeds):
            way = told.partition(": ")[2].partition(",")[0]
            counts[f"{kind}: {way}"] += 1
            slowest, most = max(slowest, (seconds, seed)), max(most, memory)
            if kind == "sentence":
                sentences[_kind_of(why)] += 1
            if seeds[-1] > seed and seed % 500 == 499:
                _print(counts, collections.Counter())
            if kind == "fault":
                print(f"FAULT {told}\n    {why}", flush=True)
                if asked.trace or asked.n == 1:
                    print(trace, flush=True)
            elif asked.n == 1:
                print(told, kind, why)
    _print(counts, sentences if asked.n > 1 else collections.Counter())
    print(f"slowest: {slowest[0]:.1f} s (seed {slowest[1]}); memory at most {most / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
