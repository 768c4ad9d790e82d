"""Tables for distances, on which SDMetrics and divulge were both run; plain Python, so that either can read them.

SDMetrics takes the range of a number from the reference table of each call, divulge from real and holdout together:
so that the two mean the same, both tables hold the smallest and the largest value of every column.
"""

import datetime
import random
from dataclasses import dataclass

Columns = dict[str, list]


@dataclass(frozen=True)
class Case:
    real: Columns
    synthetic: Columns
    holdout: Columns
    kinds: dict[str, str]
    """Column to "numerical", "categorical", "boolean" or "datetime"."""


KINDS = {"x": "numerical", "n": "numerical", "c": "categorical", "b": "boolean", "d": "datetime"}


def value(rng: random.Random, kind: str, name: str):
    if kind == "numerical":
        return round(rng.gauss(50, 20), 2) if name == "x" else rng.randrange(1000)
    if kind == "categorical":
        return rng.choice(["p", "q", "r", "s"])
    if kind == "boolean":
        return rng.random() < 0.4
    return datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randrange(900))


LIMITS = {
    "x": (-60.0, 160.0),
    "n": (0, 1000),
    "d": (datetime.date(2020, 1, 1), datetime.date(2022, 12, 31)),
}


def table(seed: int, n: int, kinds: dict[str, str], missing: float, limits: bool) -> Columns:
    rng = random.Random(seed)
    out: Columns = {}
    for name, kind in kinds.items():
        out[name] = [None if rng.random() < missing else value(rng, kind, name) for _ in range(n)]
        if limits and name in LIMITS:
            out[name][0], out[name][1] = LIMITS[name]
    return out


def case(seed: int, names: str, sizes=(40, 50, 35), missing=0.0) -> Case:
    kinds = {k: KINDS[k] for k in names}
    real, synthetic, holdout = (table(10 * seed + i, n, kinds, missing, limits=i != 1) for i, n in enumerate(sizes))
    return Case(real, synthetic, holdout, kinds)


def copies(of: Case) -> Case:
    """The first 20 synthetic rows are the first 20 real ones."""
    synthetic = {k: of.real[k][:20] + v[20:] for k, v in of.synthetic.items()}
    return Case(of.real, synthetic, of.holdout, of.kinds)


CASES = {
    "all kinds": case(1, "xncbd"),
    "numbers": case(2, "xn"),
    "one number": case(3, "x"),
    "categories": case(4, "cb"),
    "dates beside categories": case(5, "cd"),
    "missing values": case(6, "xcd", missing=0.2),
    "missing categories": case(7, "c", missing=0.4),
    "some copies": copies(case(8, "xncbd")),
    "two real rows": case(9, "xncd", sizes=(2, 6, 2)),
}
