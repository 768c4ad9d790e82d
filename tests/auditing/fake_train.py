"""A generator as a command, of the standard library alone: it leaks at a known rate, or goes wrong in a known way."""

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import time


def main() -> None:
    """Write a synthetic table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("train")
    parser.add_argument("synthetic")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--leak", type=float, default=0.0, help="share of the rows that are copied")
    parser.add_argument("--how", default="well")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--odd-seeds-only", action="store_true", help="go wrong for odd seeds alone")
    given = parser.parse_args()
    time.sleep(given.seconds)
    with open(given.train, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    wrong = given.how != "well" and (given.seed % 2 == 1 or not given.odd_seeds_only)
    if wrong and given.how in BEFORE:
        BEFORE[given.how](rows)
    made = synthesized(rows, given.leak, random.Random(given.seed))
    if wrong and given.how in INSTEAD:
        head, made = INSTEAD[given.how](head, made)
    text = "\n".join(",".join(row) for row in [head, *made]) + "\n"
    if wrong and given.how == "half":
        text = text[: len(text) // 2]
        text = text[: text.rindex(",")]
    with open(given.synthetic, "w", encoding="utf-8") as file:
        file.write(text)
    if wrong and given.how == "late":
        sys.exit(4)


def synthesized(rows: list, leak: float, rng: random.Random) -> list:
    """Return copies of some rows, and rows whose columns are drawn one by one."""
    columns = list(zip(*rows, strict=True))
    return [list(row) if rng.random() < leak else [rng.choice(c) for c in columns] for row in rows]


def crash(rows: list) -> None:
    """Fail with a message that quotes a person."""
    raise ValueError(f"cannot train on {rows[0]}")


def hang(rows: list) -> None:
    """Ignore TERM, with a child that does so, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("child", child.pid, flush=True)
    time.sleep(600)


BEFORE = {"crash": crash, "hang": hang, "nothing": lambda rows: sys.exit(0), "killed": lambda rows: os.abort()}
INSTEAD = {
    "columns": lambda head, made: (head[:-1], [row[:-1] for row in made]),
    "empty": lambda head, made: (head, []),
    "words": lambda head, made: (head, [["error", *row[1:]] for row in made]),
    "same": lambda head, made: (head, [["1"] * len(head)] * len(made)),
    "constant": lambda head, made: (head, [made[0]] * len(made)),
    "fewer": lambda head, made: (head, made[: len(made) // 3]),
    "extra": lambda head, made: ([*head, "more"], [[*row, "1"] for row in made]),
}


if __name__ == "__main__":
    main()
