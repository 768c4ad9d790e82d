"""The calls that `remake_bayes.py` makes of SDMetrics and `test_bayes.py` of `divulge.sdmetrics`: Bayesian networks."""

import random
from dataclasses import dataclass
from typing import Any

from relational_cases import NAN, Table, frame, gauss, holes, whole
from report_cases import words


@dataclass(frozen=True)
class Case:
    id: str
    real: Table
    synthetic: Table
    metadata: Any = None
    structure: Any = None


def table(seed: int, n: int, of: str = "xyz", share: float = 0.8) -> Table:
    """Return columns that depend on each other in a chain, one that does not, and numbers."""
    rng = random.Random(seed)
    a = rng.choices(of, k=n)
    b = [v if rng.random() < share else rng.choice(of) for v in a]
    c = [rng.random() < (0.8 if v == of[0] else 0.3) for v in b]
    return {"a": ("object", a), "b": ("object", b), "c": ("bool", c), "d": ("object", words(seed + 1, n, "pq")), "n": ("float64", gauss(seed + 2, n))}  # fmt: skip


def some(columns: str, given: Table) -> Table:
    return {n: s for n, s in given.items() if n in columns}


R, S = table(1, 150), table(2, 120)
META = {"columns": {"a": {"sdtype": "categorical"}, "b": {"sdtype": "categorical"}, "c": {"sdtype": "boolean"}, "d": {"sdtype": "categorical"}, "n": {"sdtype": "numerical"}}}  # fmt: skip
GAPS = {
    k: (d if k != "c" else "object", holes(i, v, 0.15) if k != "n" else v) for i, (k, (d, v)) in enumerate(R.items())
}
GAPS_S = {
    k: (d if k != "c" else "object", holes(9 + i, v, 0.2) if k != "n" else v) for i, (k, (d, v)) in enumerate(S.items())
}
# fmt: off
CASES = [
    Case("no metadata", R, S),
    Case("metadata", R, S, META),
    Case("metadata of tables", R, S, {"tables": {"t": META}}),
    Case("itself", R, R, META),
    Case("the commonest row", R, {k: (d, [max(set(v), key=v.count)] * 20) for k, (d, v) in R.items()}, META),
    Case("independent columns", R, {k: (d, random.Random(i).sample(v, len(v))) for i, (k, (d, v)) in enumerate(S.items())}, META),
    Case("weak dependence", table(3, 100, share=0.1), table(4, 100, share=0.1), META),
    Case("strong dependence", table(5, 100, share=1), table(6, 100, share=1), META),
    Case("rows that the real table lacks", table(5, 100, share=1), table(6, 100, share=0.2), META),
    Case("many levels", table(7, 200, "abcdefgh"), table(8, 150, "abcdefgh"), META),
    Case("one level", {**R, "d": ("object", ["p"] * 150)}, {**S, "d": ("object", ["p"] * 120)}, META),
    Case("one column", some("a", R), some("a", S)),
    Case("two columns", some("ab", R), some("ab", S)),
    Case("truth values", some("cn", R), some("cn", S)),
    Case("missing", GAPS, GAPS_S),
    Case("missing in the real table", GAPS, {**S, "c": ("object", S["c"][1])}),
    Case("numbers as categories", {"a": ("int64", whole(10, 90, 3, 6)), "b": ("int64", whole(11, 90, 3, 5))}, {"a": ("int64", whole(12, 60, 3, 6)), "b": ("int64", whole(13, 60, 3, 5))}, {"columns": {"a": {"sdtype": "categorical"}, "b": {"sdtype": "categorical"}}}),
    Case("floats as categories", {"a": ("float64", [1.5, 2.5, NAN, 1.5] * 9), "b": ("object", words(14, 36, "uv"))}, {"a": ("float64", [2.5, NAN, 1.5] * 5), "b": ("object", words(15, 15, "uv"))}, {"columns": {"a": {"sdtype": "categorical"}, "b": {"sdtype": "categorical"}}}),
    Case("a key", R, S, {**META, "primary_key": "a"}),
    Case("an alternate key", R, S, {**META, "alternate_keys": ["b"]}),
    Case("a personal column", R, S, {"columns": {**META["columns"], "b": {"sdtype": "categorical", "pii": True}}}),
    Case("an ordinal column", R, S, {"columns": {**META["columns"], "b": {"sdtype": "ordinal"}}}),
    Case("a structure", R, S, META, ((), (0,), (1,), ())),
    Case("a structure in the metadata", R, S, {**META, "structure": ((), (), (), ())}),
    Case("few rows", table(16, 9), table(17, 6), META),
    Case("one synthetic row", R, {k: (d, v[:1]) for k, (d, v) in S.items()}, META),
    Case("a long table", table(18, 800), table(19, 700), META),
    Case("no categories", some("n", R), some("n", S)),
    Case("other columns", R, some("ab", S)),
    Case("an unknown table", R, S, {"tables": {"t": META, "u": META}}),
    Case("a value that the real table lacks", R, {**S, "a": ("object", ["new", *S["a"][1][1:]])}, META),
    Case("a value of a child that the real table lacks", R, {**S, "b": ("object", ["new", *S["b"][1][1:]])}, META),
]
# fmt: on
METRICS = ("BNLikelihood", "BNLogLikelihood")
assert len({c.id for c in CASES}) == len(CASES)


def arguments(case: Case) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (frame(case.real), frame(case.synthetic), case.metadata), {"structure": case.structure}
