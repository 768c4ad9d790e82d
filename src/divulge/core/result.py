"""The result of an attack: one frozen `Result` per attack and setting; a record with what stays in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from divulge.core.coded_scores import Scores, coded, decoded
from divulge.core.errors import escaped, tidy
from divulge.core.records import (
    FOUND,
    Baseline,
    Difference,
    Group,
    Rate,
    ResultRecord,
    Risk,
    Value,
    Verdict,
)

__all__ = [
    "BY_HIGHEST",
    "BY_ORDER",
    "FOUND",
    "GAPS_BY_ORDER",
    "Baseline",
    "Difference",
    "Group",
    "Identity",
    "Individual",
    "Rate",
    "Result",
    "Risk",
    "Value",
    "Verdict",
    "escaped",
    "found_by",
    "identity",
    "is_compared",
    "jsonable",
    "plain",
    "tidy",
]

Counts = Literal["people", "rows", "guesses"]
"""What rates are of: people, synthetic rows by whose person is nearest, or guesses that fit one person or not."""


class Individual:
    """Scores per record, in the row order of the input; never in assessment.json."""

    __slots__ = ("_holdout", "_real", "holdout_times", "once", "real_times")

    def __init__(
        self,
        *,
        real: Scores,
        holdout: Scores | None = None,
        real_times: NDArray[np.int64] | None = None,
        holdout_times: NDArray[np.int64] | None = None,
        once: bool = False,
    ) -> None:
        self._real, self._holdout = real, holdout
        self.once = once
        """Whether all records of a unit have one score, which counts once."""
        self.real_times, self.holdout_times = real_times, holdout_times
        """How many records each score stands for, where an engine merged equal records; None is one."""

    @property
    def real(self) -> NDArray[np.float64]:
        """Shape (n_real,); nan if the attack skips the record."""
        return decoded(self._real)

    @property
    def holdout(self) -> NDArray[np.float64] | None:
        """Shape (n_holdout,)."""
        return None if self._holdout is None else decoded(self._holdout)

    @property
    def kept(self) -> tuple[Scores, Scores | None]:
        """The scores of real and of holdout as they are kept: coded where that saves memory."""
        return self._real, self._holdout

    def coded(self) -> Individual:
        """Return the scores in little memory."""
        real, holdout = coded(self._real), None if self._holdout is None else coded(self._holdout)
        return Individual(
            real=real, holdout=holdout, real_times=self.real_times, holdout_times=self.holdout_times, once=self.once
        )


class Result(ResultRecord, frozen=True, kw_only=True):
    """One attack with one setting: its record, and what stays in memory."""

    individual: Individual | None = None
    """Scores per record; never in assessment.json."""
    table: Any = None
    """A table that the attack built (`cap_minimum`); never in assessment.json."""
    comparison: Any = None
    """The comparison behind difference and risk, for intervals at other levels; never in assessment.json."""
    counts: Counts = "people"
    """What the rates count, as the catalogue says; never in assessment.json."""
    hit: str = "right for"
    """What a hit is, in words to put before a share of people; never in assessment.json."""
    measured: str = ""
    """What `value` is, in words to put before the three values; never in assessment.json."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dictionaries and lists, as in assessment.json."""
        return jsonable(msgspec.to_builtins(self.record()))  # type: ignore[no-any-return] # a struct becomes a dict

    def record(self) -> ResultRecord:
        """Return the result as in assessment.json: nan and infinities are None, numpy numbers are Python's."""
        return ResultRecord(**{f: plain(getattr(self, f)) for f in ResultRecord.__struct_fields__})

    def __str__(self) -> str:
        return f"{tidy(label(self))}: {sentence(self)}"

    def __repr__(self) -> str:
        return f"<Result {self}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(tidy(label(self)))}</b><br>{escape(sentence(self))}</p>"


def jsonable(value: Any) -> Any:
    """Return the value with nan and infinities as None, arrays as lists and numpy numbers as Python's."""
    kind = type(value)
    if kind is float:  # curves are many of them
        return value if math.isfinite(value) else None
    if kind is str or kind is int or value is None:
        return value
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def plain(value: Any) -> Any:
    """Return the value as `jsonable` does, with structs and tuples kept."""
    if isinstance(value, msgspec.Struct):
        return type(value)(**{f: plain(getattr(value, f)) for f in value.__struct_fields__})
    return tuple(map(plain, value)) if type(value) is tuple else jsonable(value)


class Labelled(Protocol):
    """What names a comparison."""

    @property
    def attack(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def keys(self) -> tuple[str, ...]: ...
    @property
    def target(self) -> str | None: ...


class Counted(Protocol):
    """What says of whom, or of what, the rates of a result are."""

    @property
    def attack(self) -> str: ...
    @property
    def real(self) -> object: ...
    @property
    def context(self) -> Mapping[str, float | None]: ...


def label(result: Labelled) -> str:
    """Return the attack, its variant, keys and target in one line.

    Examples
    --------
    >>> label(Result(attack="cap", variant="zero", keys=("age", "sex"), target="income"))
    'cap (zero): age + sex -> income'
    """
    text = result.attack + (f" ({result.variant})" if result.variant else "")
    if result.keys:
        text += ": " + " + ".join(result.keys)
    return text + ("" if result.target is None else f" -> {result.target or repr(result.target)}")


Identity = tuple[str, str, tuple[str, ...], str | None]


def identity(result: Labelled) -> Identity:
    """Return what tells a comparison from all others of a run: attack, variant, keys and target."""
    return result.attack, result.variant, result.keys, result.target


BY_CHANCE = ("rows a few places apart", "rows in random order")
"""Baselines that are no guess without the synthetic table, but what its own rows give by chance."""
TOWARDS = "leak-free share towards members"
"""Context key of results whose rates are shares of synthetic rows, by their nearest person, not of people."""


class Judged(Protocol):
    """What says whether members were compared with strangers."""

    @property
    def verdict(self) -> str | None: ...
    @property
    def risk(self) -> object: ...
    @property
    def real(self) -> Any: ...
    @property
    def holdout(self) -> Any: ...


def is_compared(result: Judged) -> bool:
    """Return whether a verdict compares members with strangers: the attack reaches at least one of each."""
    sides = (result.real, result.holdout)
    # an external edition withholds numbers, not whether there are any
    return result.risk is not None and result.verdict is not None and all(s is not None and s.n != 0 for s in sides)


def counts_rows(result: Counted) -> bool:
    """Return whether the rates are shares of synthetic rows, by their nearest person, not of people."""
    return result.real is not None and TOWARDS in result.context


def counts_guesses(result: Result) -> bool:
    """Return whether the rates are shares of guesses (does a guess fit exactly one person?), not of people."""
    return result.counts == "guesses"


def sentence(result: Result) -> str:
    """Return what was found in words and counts."""
    parts = []
    if counts_rows(result):
        assert result.real is not None
        rate, free = result.real, result.context.get(TOWARDS)
        members, strangers = rate.counted[0], result.holdout.counted[0] if result.holdout else 0.0
        share = members / (members + strangers) if members + strangers else None
        if share is None:
            parts.append(f"no synthetic row was counted ({_counted(rate)})")
        else:
            parts.append(f"{percent(share)} of the synthetic rows counted lie nearest to a member ({_counted(rate)})")
            parts.append(f"{percent(free)} without a leak")
    elif result.real and result.real.rate is not None and counts_guesses(result):
        parts.append(f"{_guessed(result.real)} single out exactly one member")
    elif result.real and result.real.rate is not None:
        parts.append(f"{result.hit} {percent(result.real.rate)} of members ({_counted(result.real)})")
    if result.holdout and result.holdout.rate is not None and counts_guesses(result):
        parts.append(f"{_guessed(result.holdout)} exactly one stranger")
    elif result.holdout and result.holdout.rate is not None and not counts_rows(result):
        parts.append(f"{percent(result.holdout.rate)} of strangers ({_counted(result.holdout)})")
    if result.risk and result.risk.value is not None:
        low, high = result.risk.low, result.risk.high
        parts.append(
            f"risk {number(result.risk.value)} "
            f"({100 * result.risk.level:.0f}% interval {number(low)} to {number(high)})"
        )
    if result.value:
        shown = [(n, getattr(result.value, n)) for n in ("real", "holdout", "synthetic")]
        parts.append(result.measured + ", ".join(f"{n} {number(v)}" for n, v in shown if v is not None))
    if result.baseline and result.baseline.rate is not None:
        told = "by chance" if result.baseline.what in BY_CHANCE else "without the synthetic table"
        parts.append(f"{percent(result.baseline.rate)} {told} ({result.baseline.what})")
    if result.verdict:
        parts.append(f"{result.verdict}{f' by {how}' if (how := found_by(result)) else ''}")
    return "; ".join(p for p in parts if p) or "undefined: nothing to attack"


BY_ORDER, BY_HIGHEST, GAPS_BY_ORDER = (
    "members and strangers are told apart by many small traces",
    "few members are recognised, and surely",
    "members score lower in the order of all scores",
)
"""Beginnings of notes on a difference that the interval of the risk does not show."""


def found_by(result: ResultRecord) -> str:
    """Return by what a difference was found that the interval of its risk does not show; "" where that shows it.

    Examples
    --------
    >>> found_by(Result(attack="membership", verdict="excess found", notes=(f"{BY_ORDER}, as exact statistics do",)))
    'the order of all scores'
    """
    if any(note.startswith(BY_HIGHEST) for note in result.notes):
        return "the highest scores"
    return _ORDER * any(note.startswith((BY_ORDER, GAPS_BY_ORDER)) for note in result.notes)


_ORDER = "the order of all scores"


def _counted(rate: Rate) -> str:
    hits, n = rate.counted
    told = f"{hits:,.0f}" if float(hits).is_integer() else f"{hits:,.1f}"
    return f"{told} of {n:,}" + ("" if rate.units is None else f" rows of {rate.units:,}")


def _guessed(rate: Rate) -> str:
    return f"{_counted(rate)} guesses ({percent(rate.rate)})"


def rounded_up(n: float, digits: int) -> int:
    """Return a number from 1 on, rounded up to a whole number of so many digits.

    Examples
    --------
    >>> rounded_up(1234.5, 2), rounded_up(3, 2), rounded_up(3001, 1)
    (1300, 3, 4000)
    """
    whole = math.ceil(n)
    step = int(10 ** max(0, len(str(whole)) - digits))
    return -(-whole // step) * step


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal, "-" for None."""
    return "-" if share is None else f"{100 * share:.1f}%"


def number(value: float | None) -> str:
    """Return a number with three decimals, "-" for None or nan."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.3f}".replace("-0.000", "0.000")
