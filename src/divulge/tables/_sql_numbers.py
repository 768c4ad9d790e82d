"""Numbers of a column in DuckDB and in Spark: the same questions in SQL that both speak."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count

import polars as pl

from divulge.tables.counting import PARTS, Edges, Floats, Ints, Spread, divided
from divulge.tables.numeric_types import NumericType

__all__ = ["SqlNumbers", "coded", "numbered"]

_MOST = f"{sys.float_info.max!r}"


class SqlNumbers:
    """The numbers of one column.

    Parameters
    ----------
    ask
        Returns the answer to a query.
    rows
        What stands behind "from" in it.
    value
        The column as a double.
    missing
        Numbers that stand for missing.
    """

    def __init__(
        self, ask: Callable[[str], pl.DataFrame], rows: str, value: str, own: NumericType, missing: Sequence[float]
    ) -> None:
        self.kind, self.most, self.whole = own
        self._ask = ask
        self._ends = f"select min({value}) as low, max({value}) as high from {rows}"
        self._x = numbered(rows, {"x": (value, missing)})

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest value, be it missing."""
        low, high = self._ask(self._ends).row(0)
        return float("nan") if low is None else low, float("nan") if high is None else high

    def spread(self) -> Spread:
        """Return how many there are, and between which numbers."""
        finite = f"abs(x) <= {_MOST}"
        found = self._ask(
            f"select count(x) as n, min(case when {finite} then x end) as low,"
            f" max(case when {finite} then x end) as high,"
            f" count(case when x < -{_MOST} then 1 end) as below, count(case when x > {_MOST} then 1 end) as above,"
            f" count(case when {finite} and x % 1 <> 0 then 1 end) as fractions from {self._x}"
        )
        n, low, high, below, above, fractions = found.row(0)
        return Spread(n, float("nan") if low is None else low, float("nan") if high is None else high, below, above,
                      fractions)  # fmt: skip

    def n_distinct(self) -> int:
        """Return how many numbers differ."""
        different = f"select x from {self._x} where x is not null group by x"
        return int(self._ask(f"select count(*) as n from ({different})").item())

    def parts(self, within: Sequence[tuple[float, float]]) -> tuple[Ints, Ints, Floats, Floats]:
        """Return how many rows are in each of `PARTS` parts of closed intervals, and between which numbers."""
        cases = " ".join(
            f"when {_between(low, high)} then {first} + floor((x * {_sql(half)} - {_sql(low * half)}) * {_sql(scale)})"
            for first, (low, high) in zip(count(0, 2 * PARTS), within)
            for half, scale in [divided(low, high)]
        )
        found = self._ask(
            f"select cast(part as bigint) as part, count(*) as n, min(x) as low, max(x) as high from "
            f"(select x, case {cases} end as part from {self._x}) where part is not null group by part"
        ).sort("part")
        return tuple(found[c].to_numpy() for c in ("part", "n", "low", "high"))

    def counts(self, within: Sequence[tuple[float, float]]) -> tuple[Floats, Ints]:
        """Return the distinct numbers in some closed intervals, and how many rows have each."""
        inside = " or ".join(_between(*interval) for interval in within)
        found = self._ask(f"select x, count(*) as n from {self._x} where {inside} group by x").sort("x")
        return found["x"].to_numpy(), found["n"].to_numpy()


def numbered(rows: str, columns: Mapping[str, tuple[str, Sequence[float]]]) -> str:
    """Return rows of SQL with further columns of numbers: name -> a double, and the numbers that stand for missing."""
    values = ", ".join(f"{value} as v_{name}" for name, (value, _) in columns.items())
    numbers = ", ".join(f"{_number(f'v_{name}', missing)} as {name}" for name, (_, missing) in columns.items())
    return f"(select *, {numbers} from (select *, {values} from {rows}))"


def coded(rows: str, columns: Mapping[str, tuple[str, Edges]]) -> str:
    """Return rows of SQL with further columns of codes: name -> a double, and the edges that code it."""
    if not columns:
        return rows
    numbers = numbered(rows, {f"x_{name}": (value, edges.missing) for name, (value, edges) in columns.items()})
    codes = ", ".join(f"{_placed(f'x_{name}', edges)} as {name}" for name, (_, edges) in columns.items())
    return f"(select *, {codes} from {numbers})"


def _placed(number: str, edges: Edges) -> str:
    cases = "".join(f" when {number} <= {_sql(edge)} then {i}" for i, edge in enumerate(edges.at.tolist(), 1))
    return f"case when {number} is null then 0{cases} else {len(edges.at) + 1} end"


def _number(value: str, missing: Sequence[float]) -> str:
    """Return a double without NaN, -0.0 and what stands for missing."""
    lost = "".join(f" or {value} = {_sql(code)}" for code in missing)
    return f"case when isnan({value}){lost} then null when {value} = 0 then 0e0 else {value} end"


def _between(low: float, high: float) -> str:
    return f"x between {_sql(low)} and {_sql(high)}"


def _sql(number: float) -> str:
    """Return a finite number as a double of SQL."""
    text = repr(float(number))
    return text if "e" in text else f"{text}e0"
