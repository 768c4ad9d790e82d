"""The result of a measure of fidelity: what was found, what a fresh sample would show, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, get_args

import msgspec

from divulge.core.records import PUBLIC
from divulge.core.result import jsonable, tidy

__all__ = [
    "TOLERANCE",
    "VERDICTS",
    "FidelityResult",
    "FidelityVerdict",
    "FreshSample",
    "HoldoutValue",
    "digits",
    "grouped",
    "name_of",
    "sentence_of",
    "telling_of",
]

FidelityVerdict = Literal["differs", "like a fresh sample", "cannot tell", "closer than a fresh sample", "not measured"]
VERDICTS: tuple[FidelityVerdict, ...] = get_args(FidelityVerdict)
TOLERANCE = 0.05
"""Differences up to this size do not matter to the user, unless he says otherwise."""


class FreshSample(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh sample of the population, as large as the synthetic table, would show."""

    mean: float
    low: float
    """2.5% of fresh samples show less (at level 0.95)."""
    high: float
    """2.5% of fresh samples show more."""


class HoldoutValue(msgspec.Struct, frozen=True, kw_only=True):
    """The same measure for the holdout, which is a fresh sample of the population."""

    value: float | None
    n: int
    """Rows of the holdout."""
    fresh_sample: FreshSample | None = None
    """What a fresh sample as large as the holdout would show."""
    ruler: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None


class FidelityResult(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of all columns together, of one column, of one pair of columns or of one target."""

    measure: str
    """Name of the entry in the registry."""
    table: str = ""
    """The table, or the relation of two tables, that it is about; "" where there is one table."""
    variant: str = ""
    """Which of the numbers of a measure: "Pearson"; "" where there is one."""
    columns: tuple[str, ...] = ()
    """The columns that are compared; empty where the result is about all of them."""
    target: str | None = None
    group: str = ""
    """Name of a subgroup of people; groups are numbered, because their values are data."""
    quantity: str = "distance"
    """What the value is: "distance" (from 0, the same, to 1), "AUC", "R squared", "ratio", "difference"."""
    value: float | None = None
    """None where it is not measured; a note says why."""
    fresh_sample: FreshSample | None = None
    ruler: float | None = None
    """Distances only, value / fresh_sample.mean: 0 is a copy, 1 is a fresh sample, more is worse."""
    excess: float | None = None
    """value - fresh_sample.mean."""
    low: float | None = None
    """Lower limit of the difference between the populations: the value without the noise of samples."""
    high: float | None = None
    p_value: float | None = None
    """How often a fresh sample is as far away, or farther."""
    p_low_tail: float | None = None
    """How often a fresh sample is as near, or nearer."""
    p_adjusted: float | None = None
    """`p_value` corrected for all results of the measure, and in a run for all measures."""
    p_low_tail_adjusted: float | None = None
    verdict: FidelityVerdict = "not measured"
    tolerance: Annotated[float, PUBLIC] = TOLERANCE
    smallest_detectable: float | None = None
    """A true difference of this size gets the verdict "differs" in at least 4 of 5 samples."""
    rows_needed: int | None = None
    """Where the verdict is "cannot tell": rows of each table with which a table without difference could be told."""
    holdout: HoldoutValue | None = None
    n: int = 0
    """Rows of the real table that were compared; of relations, rows, pairs of rows or sequences."""
    m: Annotated[int, PUBLIC] = 0
    """Rows of the synthetic table that were compared."""
    notes: tuple[str, ...] = ()
    context: dict[str, int | float | str | None] = {}
    """Further numbers that help to read the result, by name; no data value."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dictionaries and lists."""
        return jsonable(msgspec.to_builtins(self))  # type: ignore[no-any-return] # a dict goes in, a dict comes out

    def __str__(self) -> str:
        return f"{tidy(name_of(self))}: {sentence_of(self)}"

    def __repr__(self) -> str:
        return f"<FidelityResult {self}>"


def grouped(results: Sequence[FidelityResult]) -> list[list[FidelityResult]]:
    """Return results in groups whose first one is the headline: by measure, and by table where each has a headline."""
    overall = {r.measure for r in results if not r.table}
    groups: dict[tuple[str, str], list[FidelityResult]] = {}
    for result in results:
        key = (result.measure, "" if result.measure in overall else result.table)
        groups.setdefault(key, []).append(result)
    return list(groups.values())


def name_of(result: FidelityResult) -> str:
    """Return measure, table, variant, columns, target and group in one line.

    Examples
    --------
    >>> name_of(FidelityResult(measure="column_pairs", variant="Pearson", columns=("age", "sex")))
    'column pairs (Pearson): age + sex'
    """
    text = result.measure.replace("_", " ") + (f" of {result.table}" if result.table else "")
    text += f" ({result.variant})" if result.variant else ""
    if result.columns:
        text += ": " + " + ".join(result.columns)
    text += "" if result.target is None else f" -> {result.target or repr(result.target)}"
    return text + (f", {result.group}" if result.group else "")


def sentence_of(result: FidelityResult) -> str:
    """Return verdict and numbers in words.

    Examples
    --------
    >>> fresh = FreshSample(mean=0.03, low=0.023, high=0.04)
    >>> sentence_of(FidelityResult(measure="x", value=0.031, fresh_sample=fresh, verdict="like a fresh sample"))
    'like a fresh sample (distance 0.031; a fresh sample shows 0.023 to 0.040)'
    """
    if result.value is None:
        return "; ".join((result.verdict, *result.notes[:1]))
    parts = [f"{result.quantity} {digits(result.value)}"]
    if result.fresh_sample is not None:
        low, high = (digits(v) for v in (result.fresh_sample.low, result.fresh_sample.high))
        parts.append(f"a fresh sample shows {low} to {high}")
    said = _more(result)
    return f"{result.verdict}{said} ({'; '.join(parts)})"


def digits(value: float) -> str:
    """Return a number with three decimals, and one digit where these would be zeros."""
    return f"{value:.1g}" if 0 < abs(value) < 5e-4 else f"{value:.3f}"


def _more(result: FidelityResult) -> str:
    """Return what the verdict says of the size of the difference."""
    if result.verdict == "differs" and result.low:
        more = f", more than {result.tolerance:g}" if result.low > result.tolerance else ""
        return f" by at least {digits(result.low)}{more}"
    if result.verdict == "cannot tell" and result.rows_needed is not None:
        return f" (about {result.rows_needed:,} rows would do)"
    return ""


def telling_of(result: FidelityResult) -> tuple[tuple[str, float], ...]:
    """Return the columns by which a model tells synthetic rows from real ones, and by how much its AUC falls without.

    Examples
    --------
    >>> telling_of(FidelityResult(measure="detection", context={"column_1": "age", "drop_1": 0.02}))
    (('age', 0.02),)
    """
    found = [(result.context.get(f"column_{i}"), result.context.get(f"drop_{i}")) for i in range(1, 10)]
    return tuple((str(c), float(d)) for c, d in found if c is not None and isinstance(d, int | float))
