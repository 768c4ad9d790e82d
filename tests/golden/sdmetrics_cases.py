"""The tables on which SDMetrics was run, made anew from `random.Random`, whose stream Python guarantees.

`remake_sdmetrics.py` and `test_sdmetrics.py` both read them here. Columns are plain lists: missing is None, or nan
where a float column is meant. A case has at most a few hundred rows, because SDMetrics loops over them.
"""

import math
import random
from dataclasses import dataclass

Columns = dict[str, list[object]]


@dataclass(frozen=True)
class Case:
    """Two tables, what is known and what is wanted."""

    real: Columns
    synthetic: Columns
    keys: list[str]
    targets: list[str]
    differs: str = ""
    """Why the metrics with "Categorical" in their name and divulge part ways here; "" where they agree."""


def drawn(seed: int, n: int, levels: dict[str, list[object]], noise: float = 0.3) -> Columns:
    """Return columns that depend on one another: each takes the place of the one before it, or at random."""
    rng = random.Random(seed)
    columns: Columns = {name: [] for name in levels}
    for _ in range(n):
        place = rng.random()
        for name, values in levels.items():
            if rng.random() < noise:
                place = rng.random()
            columns[name].append(values[int(place * len(values))])
    return columns


def pair(levels: dict[str, list[object]], n: int = 200, m: int = 150, seed: int = 1) -> tuple[Columns, Columns]:
    return drawn(seed, n, levels), drawn(seed + 1000, m, levels)


def anes96() -> tuple[Columns, Columns]:
    """Return two halves of the American National Election Study of 1996 (public domain, in statsmodels)."""
    from statsmodels.datasets import anes96

    data = anes96.load_pandas().data
    columns = {c: [int(v) for v in data[c]] for c in ("age", "educ", "TVnews", "PID", "vote")}
    rng = random.Random(9)
    order = sorted(range(len(data)), key=lambda _: rng.random())
    return tuple({c: [v[i] for i in half] for c, v in columns.items()} for half in (order[:472], order[472:]))


LETTERS: list[object] = ["a", "b", "c", "d", "e"]
FEW: dict[str, list[object]] = {"k": LETTERS, "t": ["x", "y", "z"]}
MORE: dict[str, list[object]] = {f"k{i}": LETTERS[: i + 2] for i in range(4)} | {"t": ["x", "y", "z"]}
HOLES: dict[str, list[object]] = {"k": ["a", "b", None], "j": ["p", None, "q", "r"], "t": ["x", None, "y"]}
FLOATS: dict[str, list[object]] = {"k": [1.5, 2.5, math.nan], "j": ["p", "q"], "t": ["x", "y"]}
FLOAT_TARGET: dict[str, list[object]] = {"k": ["p", "q"], "t": [0.5, 1.5, math.nan]}
BOTH: dict[str, list[object]] = {"k": LETTERS, "t": ["x", "y"], "u": ["v", "w"]}
NUMBERS: dict[str, list[object]] = {"k": list(range(8)), "j": [10, 20, 30], "t": [0, 1]}

CASES = {
    "one key": Case(*pair(FEW), ["k"], ["t"]),
    "four keys, some unseen": Case(*pair(MORE), ["k0", "k1", "k2", "k3"], ["t"]),
    "four keys, few synthetic rows": Case(*pair(MORE, m=12), ["k0", "k1", "k2", "k3"], ["t"]),
    "integers": Case(*pair(NUMBERS), ["k", "j"], ["t"]),
    "floats": Case(*pair({"k": [0.1, 0.25, 1e300], "j": [-1.0, 0.0], "t": [1.5, 2.5]}), ["k", "j"], ["t"]),
    "booleans": Case(*pair({"k": [True, False], "j": LETTERS, "t": [False, True]}), ["k", "j"], ["t"]),
    "missing as None": Case(*pair(HOLES), ["k", "j"], ["t"]),
    "missing as None, few synthetic rows": Case(*pair(HOLES, m=6, seed=4), ["k", "j"], ["t"]),
    "two targets": Case(*pair(BOTH), ["k"], ["t", "u"]),
    "all keys unseen": Case(
        drawn(1, 30, {"k": ["a", "b"], "j": ["p", "q"], "t": ["x", "y"]}),
        drawn(2, 20, {"k": ["c", "d"], "j": ["r", "s"], "t": ["x", "y"]}),
        ["k", "j"],
        ["t"],
    ),
    "one row each": Case({"k": ["a"], "t": ["x"]}, {"k": ["a"], "t": ["x"]}, ["k"], ["t"]),
    "one row each, wrong target": Case({"k": ["a"], "t": ["x"]}, {"k": ["a"], "t": ["y"]}, ["k"], ["t"]),
    "one row each, unseen": Case({"k": ["a"], "t": ["x"]}, {"k": ["b"], "t": ["x"]}, ["k"], ["t"]),
    "constant target": Case(*pair({"k": LETTERS, "j": ["p", "q"], "t": ["x"]}), ["k", "j"], ["t"]),
    "constant key": Case(*pair({"k": ["a"], "t": ["x", "y", "z"]}), ["k"], ["t"]),
    "a copy": Case(drawn(5, 120, MORE), drawn(5, 120, MORE), ["k0", "k1", "k2"], ["t"]),
    "unrelated": Case(*pair(MORE, seed=77), ["k3"], ["t"]),
    "election study": Case(*anes96(), ["age", "educ", "TVnews"], ["vote"]),
    "election study, seven levels": Case(*anes96(), ["educ", "TVnews"], ["PID"]),
    "nan in a key of floats": Case(*pair(FLOATS), ["k", "j"], ["t"], differs="nan is unequal to nan"),
    "nan in a target of floats": Case(*pair(FLOAT_TARGET), ["k"], ["t"], differs="nan is unequal to nan"),
    "numbers beside text": Case(
        drawn(3, 60, {"k": [1, 2, 3], "t": ["x", "y"]}),
        drawn(4, 60, {"k": ["1", "2", "3"], "t": ["x", "y"]}),
        ["k"],
        ["t"],
        differs="the number 1 is unequal to the text 1",
    ),
}
