"""What an entry of the catalogue says: how an attack explains itself, when a run makes it, which result speaks for it,
and what others may do with its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from divulge.case.case import Case
from divulge.core.result import Counts, Result

__all__ = [
    "Abstaining",
    "Attack",
    "Coarse",
    "Count",
    "Decimals",
    "Exact",
    "Headline",
    "Median",
    "Plan",
    "Quantile",
    "Record",
    "Rounding",
    "Share",
    "Withheld",
    "Words",
    "hit_words",
    "on_demand",
    "per_key_set",
    "per_pair",
    "per_table",
    "per_target",
]

Results = tuple[Result, ...]
Run = Callable[..., Result | Results]
Settings = Mapping[str, Any]
Role = Literal["real", "synthetic", "holdout"]


@dataclass(frozen=True, slots=True)
class Words:
    """How an attack explains itself; sentences end with a full stop, and may hold no markup."""

    says: str
    """What the attacker says, in the first person."""
    knows: str
    """What he knows."""
    data: str
    """What the attack takes: tables, kinds of columns, holdout."""
    formula: str
    """Lines of ASCII mathematics and what the letters stand for."""
    reading: str
    """What 0, 1, the baseline and negative numbers mean."""
    silent: tuple[str, ...]
    """What it does not tell, one sentence or two each."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of its own that the docstring does not list."""


# ---------------------------------------------------------------- when a run makes it


@dataclass(frozen=True, slots=True)
class Plan:
    """When `assess` makes an attack, and with which settings; made by `per_table` and its kin."""

    per: Literal["table", "target", "pair", "key set", "demand"]
    calls: Callable[[Case, str], Iterable[Settings]] = lambda case, target: ({},)
    """Settings of each call besides keys and target, from the case and the target ("" where there is none)."""
    columns: int = 0
    """Columns that can be attacked, at least."""
    strangers: bool = False
    """A holdout is needed."""
    in_memory: bool = False
    """It needs every row, so that tables that live elsewhere are read."""
    searched: Literal["all", "first", "no"] = "no"
    """Of the key sets that a search kept, when none are given: all of each target, as one family with the settings of
    the first call; the first of each target, with the same settings; or none."""
    why: str = ""
    """Why no run makes it."""


def per_table(*, columns: int = 1, in_memory: bool = True) -> Plan:
    """Return the plan of an attack on whole rows: one call, where so many columns can be attacked."""
    return Plan("table", columns=columns, in_memory=in_memory)


def per_target() -> Plan:
    """Return the plan of an attack on each target by all that is known.

    It is called with `target` and with those of `keys` (if any are given), `subgroups` and `ways` that it takes.
    """
    return Plan("target", columns=2, in_memory=True)


def per_pair(
    *calls: Settings,
    searched: Literal["all", "first", "no"] = "no",
    chosen: Callable[[Case, str], Iterable[Settings]] | None = None,
) -> Plan:
    """Return the plan of an attack on each target by the keys.

    Parameters
    ----------
    calls
        Settings of each call besides `keys` and `target`; none is one call without any.
    searched
        What is made of key sets that a search found, see `Plan.searched`.
    chosen
        The calls where they depend on the case and the target, instead of `calls`.
    """
    fixed = calls or ({},)
    return Plan("pair", chosen or (lambda case, target: fixed), columns=2, searched=searched)


def per_key_set(*, strangers: bool = False) -> Plan:
    """Return the plan of an attack on the keys alone: one call a set, found by a search or given."""
    return Plan("key set", strangers=strangers, searched="first")


def on_demand(why: str) -> Plan:
    """Return the plan of a measure that no run makes, and why."""
    return Plan("demand", why=why)


# ---------------------------------------------------------------- what others do with its results


@dataclass(frozen=True, slots=True)
class Headline:
    """Which results speak for an attack; fixed beforehand, so that none is chosen for what it found."""

    speaks: Callable[[str], bool]
    """Whether the results of a variant do."""
    words: str
    """Which they are, in words."""
    needed: bool = True
    """Whether "none found" is said of a run only if one of them was compared with strangers."""
    ranks: Literal["scores", "intervals", "no"] = "scores"
    """How candidate tables are ranked by them: by scores of the same people, by intervals that lie apart, or not."""
    needs_keys: bool = False
    """They are the same for several tables only where keys are given: searched ones differ."""


@dataclass(frozen=True, slots=True)
class Record:
    """The column of an attack among the scores of each real record."""

    column: str
    how: Literal["any", "highest", "count"]
    """Whether any of the results hits the record, the highest of its scores, or how many results hit it."""
    of: Callable[[str], bool] = lambda variant: True
    """Whether the results of a variant are meant."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the rows of a table."""

    of: Role


@dataclass(frozen=True, slots=True)
class Count:
    """A number of people of a table; of guesses where it is None."""

    of: Role | None


@dataclass(frozen=True, slots=True)
class Decimals:
    """A number that rests on everybody: so many decimals may be shown."""

    n: int


@dataclass(frozen=True, slots=True)
class Exact:
    """A number that sizes, settings or the synthetic table alone decide."""


@dataclass(frozen=True, slots=True)
class Median:
    """A median over the rows of a table."""

    of: Role


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile over the rows of a table; the share stands in its name."""

    of: Role


@dataclass(frozen=True, slots=True)
class Abstaining:
    """How often somebody who may abstain answers, and is right then: shown where enough people are answered."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """An extreme, or another number that tells of few people."""


Rounding = Share | Count | Decimals | Exact | Median | Quantile | Abstaining | Withheld
"""How an external edition makes a number coarse."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """How an external edition makes the three values of an attack coarse."""

    how: Literal["share", "two", "class", "digits", "tail", "median"]
    rows: str | None = None
    """Beginning of the variants whose values are of synthetic rows; None where each is of its own table."""

    def of_rows(self, variant: str) -> bool:
        """Return whether the values of a variant are of synthetic rows."""
        return self.rows is not None and variant.startswith(self.rows)


@dataclass(frozen=True, slots=True)
class Attack:
    """One entry of the catalogue."""

    name: str
    family: str
    """Attribution, singling out, distance or another: the heading in the report."""
    question: str
    """What the attacker says."""
    needs: str
    reference: str
    words: Words
    run: Run
    """`run(case, **settings)`: the attack on tables that are a case already."""
    plan: Plan
    weight: int = 0
    """Its place where the time of a run is limited: the weightiest comes first; 0 is in the order of the plan."""
    headline: Headline | None = None
    record: Record | None = None
    counts: Counts = "people"
    """What its rates are of."""
    hit: Mapping[str, str] = field(default_factory=dict)
    """What a hit is, in words that a share of people follows, by the beginning of the variant; "" is any."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What its three values are, by variant, in words that the values follow."""
    coarse: Coarse | None = None
    """How an external edition makes its three values coarse; None withholds them."""
    context: Mapping[str, Rounding] = field(default_factory=dict)
    """Its further numbers by name, "#" standing for digits, and how an external edition rounds them."""
    notes: tuple[str, ...] = ()
    """Its notes, "#" standing for a number and "'…'" for quoted names: an external edition may repeat them."""

    def rounding(self, name: str) -> Rounding | None:
        """Return how a further number is rounded; None for one that is not declared, which is withheld."""
        return self.context.get(name) or self.context.get(re.sub(r"\d+", "#", name))


def hit_words(hit: Mapping[str, str], variant: str) -> str:
    """Return what a hit of a variant is: of the beginnings that fit the longest.

    Examples
    --------
    >>> hit_words({"": "a copy of", "near": "a near copy of"}, "near on 3 columns"), hit_words({}, "zero")
    ('a near copy of', 'right for')
    """
    fits: Sequence[str] = sorted((start for start in hit if variant.startswith(start)), key=len)
    return hit[fits[-1]] if fits else "right for"
