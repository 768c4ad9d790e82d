"""The entry of an attack in the catalogue: its explanation, its plan, its primary comparisons, and how its numbers may
be published.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal, NamedTuple

from divulge.case.case import Case
from divulge.core.result import Counts, Result
from divulge.core.threat_model import Actor

__all__ = [
    "CATALOGUE",
    "UNTAUGHT",
    "WAYS",
    "Attack",
    "Claimed",
    "Coarse",
    "Cost",
    "Count",
    "EngineWork",
    "Exact",
    "Plan",
    "Primary",
    "Record",
    "Rounding",
    "SearchBytes",
    "Share",
    "Withheld",
    "Words",
    "for_actors",
    "hit_words",
    "indexed",
    "on_demand",
    "per_key_set",
    "per_pair",
    "per_table",
    "per_target",
    "unclaimed",
]

Results = tuple[Result, ...]
Run = Callable[..., Result | Results]
Summary = Callable[[Case, Sequence[Result]], Results]
Settings = Mapping[str, Any]
Expect = Callable[[Case, Sequence[Settings]], None]
Role = Literal["real", "synthetic", "holdout"]
Targets = Callable[[Case, Sequence[str]], Sequence[str]]
Reasons = Mapping[str, Callable[[Case, Sequence[str]], bool]]


@dataclass(frozen=True, slots=True)
class Words:
    """The explanation of an attack. Sentences end with a full stop and contain no markup."""

    says: str
    """What the attacker says, in the first person."""
    knows: str
    """What the attacker knows."""
    data: str
    """The data that the attack takes: tables, kinds of columns, holdout."""
    formula: str
    """Formulas in ASCII, one a line, and the meaning of their letters."""
    reading: str
    """The meaning of 0, 1, the baseline and negative numbers."""
    silent: tuple[str, ...]
    """What the attack does not show, one or two sentences each."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of this attack that its docstring does not list."""


# ---------------------------------------------------------------- the plan

WAYS = ("nearest record", "CAP", "k-vote", "model")
"""Ways to guess a target. The first is the headline; this was fixed before any data."""
UNTAUGHT = WAYS[:3]
"""Ways that train no model."""


@dataclass(frozen=True, slots=True)
class Plan:
    """When `assess` makes an attack and with which settings. `per_table` and the functions below it make one."""

    per: Literal["table", "target", "pair", "key set", "demand"]
    calls: Callable[[Case, str], Iterable[Settings]] = lambda case, target: ({},)
    """Settings of each call besides keys and target, given the case and the target ("" where there is none)."""
    columns: int = 0
    """Least number of columns that can be attacked."""
    strangers: bool = False
    """Whether the attack needs a holdout."""
    in_memory: bool = False
    """Whether the attack needs every row in memory, so that tables elsewhere are read first."""
    by_parts: Literal["no", "by keys", "yes"] = "no"
    """Whether the attack takes a synthetic table in files part by part, so that it may be larger than the memory:
    where keys are given, always, or never."""
    searched: Literal["all", "first", "no"] = "no"
    """Which key sets of a search are tested when no keys are given: "all" sets of each target, as one family; the
    "first" set of each target; or "no" set. Both use the settings of the first call."""
    chosen: Targets = lambda case, targets: targets
    """The targets that are attacked, of those of the run; only for an attack on each target with all known columns."""
    why: str = ""
    """Why no run makes the attack, or a run without actors."""
    for_actors: Callable[[Actor], Iterable[Settings]] | None = None
    """Settings besides the keys of each call for an actor of a schema file; None is made whoever attacks."""
    reasons: Reasons = field(default_factory=dict)
    """Why a run does not make an attack, given the case and the targets of the run: the first reason that holds. Where
    an attack on chosen targets chooses none, one of them holds."""
    counted: Settings | None = None
    """Settings that leave of the attack what follows from counts alone, where an engine counts the tables of a run;
    None where nothing is left."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All reasons that the plan may give why the attack is not made."""
        return (self.why, *self.reasons)


def per_table(
    *calls: Settings,
    columns: int = 1,
    in_memory: bool = True,
    strangers: bool = False,
    counted: Settings | None = None,
    by_parts: Literal["no", "yes"] = "no",
    reasons: Reasons | None = None,
) -> Plan:
    """Return the plan of an attack on whole rows: if at least `columns` columns can be attacked.

    `calls` are the settings of each call; without any there is one call without settings. None is made where one of the
    `reasons` holds, see `Plan.reasons`.
    """
    fixed = calls or ({},)
    plan = Plan("table", lambda case, target: fixed, columns, strangers, in_memory, counted=counted)
    return replace(plan, by_parts=by_parts, reasons=reasons or {})


def per_target(
    *,
    chosen: Targets | None = None,
    reasons: Reasons | None = None,
    strangers: bool = False,
    by_parts: Literal["no", "by keys"] = "no",
) -> Plan:
    """Return the plan of an attack on each target with all known columns.

    Each call passes `target`, and of `keys` (if given), `subgroups` and `ways` those that the attack accepts.

    Parameters
    ----------
    chosen
        A function that gives the targets that are attacked, of those of the run; None takes all.
    reasons
        Why a run makes no such attack in which none is chosen, see `Plan.reasons`.
    strangers
        Whether the attack needs a holdout.
    by_parts
        See `Plan.by_parts`.
    """
    plan = Plan("target", columns=2, in_memory=True, strangers=strangers, reasons=reasons or {}, by_parts=by_parts)
    return plan if chosen is None else replace(plan, chosen=chosen)


def per_pair(
    *calls: Settings,
    searched: Literal["all", "first", "no"] = "no",
    chosen: Callable[[Case, str], Iterable[Settings]] | None = None,
    counted: bool = True,
) -> Plan:
    """Return the plan of an attack on each target with the keys.

    Parameters
    ----------
    calls
        Settings of each call besides `keys` and `target`. Without any there is one call without further settings.
    searched
        Which key sets of a search are tested, see `Plan.searched`.
    chosen
        A function that gives the settings where they depend on the case and the target; replaces `calls`.
    counted
        Whether all results of the attack follow from counts.
    """
    fixed = calls or ({},)
    plan = Plan("pair", chosen or (lambda case, target: fixed), columns=2, searched=searched)
    return replace(plan, counted={}) if counted else plan


def per_key_set(*, strangers: bool = False) -> Plan:
    """Return the plan of an attack on the keys alone: one call for each key set, given or found by a search."""
    return Plan("key set", strangers=strangers, searched="first", counted={})


def on_demand(why: str, *, in_memory: bool = False) -> Plan:
    """Return the plan of a measure that no run makes, with the reason."""
    return Plan("demand", why=why, in_memory=in_memory)


def for_actors(plan: Plan, calls: Callable[[Actor], Iterable[Settings]]) -> Plan:
    """Return a plan that is made for the actors of a schema file alone, with the settings of each call for an actor."""
    return replace(plan, for_actors=calls, why="it is made for actors of a schema file alone", searched="no")


# ---------------------------------------------------------------- what it costs


class EngineWork(NamedTuple):
    """What the time of a run depends on whose tables an engine holds."""

    rows: int
    """Of all tables."""
    synthetic: int
    """Rows of the synthetic table."""
    asked: int
    """Members and strangers who are asked; 0 where counts alone are made."""
    columns: int
    """That are compared."""

    @property
    def cells(self) -> int:
        """Values of all tables."""
        return self.rows * self.columns

    @property
    def searches(self) -> float:
        """Searches of people, each as long as one in 15 columns: in fewer columns more rows tie."""
        return self.asked * max(1.0, self.columns / 15)


class SearchBytes(NamedTuple):
    """Bytes of memory of an attack that searches synthetic rows in files, measured with 15 columns."""

    row: int
    """Of each synthetic row."""
    block: int
    """Of each row of a block."""
    person: int
    """Of each person asked, with what attacks before it left in memory."""
    always: int = 150_000_000


def _distinct_rows(work: EngineWork, settings: Settings) -> float:
    return 0.006 + 9e-9 * work.rows  # of some columns


@dataclass(frozen=True, slots=True)
class Cost:
    """What an attack costs beside the memory and the time of its plan, as fitted to measured runs.

    Where an engine holds the tables, seconds are those of one thread and of DuckDB, with runs of 1, 10 and 100 million
    rows of 15 columns (docs/decisions/engines.md).
    """

    measured: str = ""
    """Its own parts in `run/cost/measured_cost.py`, where those of its plan are not what it costs."""
    seconds: Callable[[EngineWork, Settings], float] = _distinct_rows
    """CPU seconds of a call by an engine, without scores and models."""
    shared: Callable[[EngineWork, Settings], float] | None = None
    """Further seconds of the calls for which they are not 0: these calls are made together, and take them once."""
    memory: SearchBytes | None = None
    """Of an attack that searches rows in files; None where it was not measured."""
    disk: Callable[[int, bool], int] | None = None
    """Bytes of a synthetic row that it writes and removes at its end, given the columns and whether there are several
    blocks of rows."""
    kept: int = 0
    """Of these, bytes that stay until the run ends."""
    copied: bool = False
    """Whether it writes the codes of all rows once more."""


def indexed(columns: int) -> int:
    """Return the bytes of a row of an index in files, 153 with 15 columns."""
    return 63 + 6 * columns


# ---------------------------------------------------------------- how the results are used


def _no(variant: str) -> bool:
    return False


Claimed = Literal["membership advantage", "inference excess", "TPR"]
"""What a claim of differential privacy bounds: a difference of two rates, or the rates of a score of membership."""


def unclaimed(variant: str) -> Claimed | None:
    """Return None: strangers do not show what a claim allows of this attack."""
    return None


@dataclass(frozen=True, slots=True)
class Primary:
    """The comparisons of an attack that must bound the risk before a run says "none found".

    They are fixed before any outcome is seen. All other comparisons are screened: they can find something, and do not
    hold "none found" back. Where they score people, they also rank candidates in `compare`.
    """

    words: str
    """What is compared, before the bound: "copies", "inference on average over targets"."""
    always: Callable[[str], bool] = _no
    """Whether the comparisons of a variant are primary in every run."""
    named: Callable[[str], bool] = _no
    """Whether those of a variant are primary about a target that the user named, by keys that he named if any."""
    by_keys: bool = False
    """Whether the user must name the keys as well."""
    first: tuple[str, ...] = ()
    """Variants of which the first that has guesses enough only states its bound: it holds no verdict back."""
    clears: bool = False
    """Whether no run says "none found" without its bound, whatever a policy asks for."""
    covers: tuple[str, str] | None = None
    """Attack and variant whose share of people its limit bounds too: the smaller of both limits holds."""
    leans: str = ""
    """The variant that holds "none found" back where it leans towards members, too little for a finding."""
    placed: bool = False
    """Whether its scores of people are no rates: candidates are then ranked by the share of strangers who score
    lower."""


@dataclass(frozen=True, slots=True)
class Record:
    """The column of an attack among the scores of each real record."""

    column: str
    how: Literal["any", "highest", "count"]
    """The number of a record: whether any result hits it, its highest score, or the number of results that hit it."""
    of: Callable[[str], bool] = lambda variant: True
    """Whether the results of a variant count."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the rows of a table; made of their count as shown."""

    of: Role


@dataclass(frozen=True, slots=True)
class Count:
    """A number of people of a table, each of whom adds at most 1 to it."""

    of: Role


@dataclass(frozen=True, slots=True)
class Exact:
    """A number that depends on settings alone; shown as it is."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A number that is no count of people: not shown, as it may give a count back."""


Rounding = Share | Count | Exact | Withheld
"""How an external edition shows a number."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """How an external edition shows the three values of an attack, where it has no rates beside them."""

    how: Literal["share", "class", "withheld"] = "withheld"
    """A share of rows, the size of a class of people, or no count."""
    rows: str | None = None
    """Prefix of the variants whose values are about synthetic rows; None where each value is about its own table."""
    synthetic: bool = False
    """Whether the value of the synthetic table follows from that table alone, so that it is shown as it is."""

    def of_rows(self, variant: str) -> bool:
        """Return whether the values of a variant are about synthetic rows."""
        return self.rows is not None and variant.startswith(self.rows)


@dataclass(frozen=True, slots=True)
class Attack:
    """One entry of the catalogue."""

    name: str
    family: str
    """Family of the attack (attribution, singling out, distance or another); a heading in the report."""
    question: str
    """The question of the attacker, in the first person."""
    needs: str
    reference: str
    words: Words
    run: Run
    """`run(case, **settings)` makes the attack on a `Case`."""
    plan: Plan
    cost: Cost = field(default_factory=Cost)
    weight: int = 0
    """Priority when the time of a run is limited: the greatest weight comes first; 0 keeps the order of the plan."""
    primary: Primary | None = None
    summary: Summary | None = None
    """Results over all calls of a run, such as a mean over targets, from the results of its calls."""
    expect: Expect | None = None
    """Takes, before the first attack of a run, the settings of its calls on a case, which may then be searched together
    or with those of other attacks."""
    record: Record | None = None
    counts: Counts = "people"
    """What its rates count: people, rows or guesses."""
    hit: Mapping[str, str] = field(default_factory=dict)
    """What a hit is, in words that follow a share of people, by prefix of the variant; "" fits any variant."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What its three values are, by variant, in words that precede the values."""
    coarse: Coarse | None = None
    """How an external edition rounds its three values; None withholds them."""
    context: Mapping[str, Rounding] = field(default_factory=dict)
    """Its further numbers by name ("#" stands for digits), and how an external edition rounds each."""
    claimed: Callable[[str], Claimed | None] = unclaimed
    """What a claim of differential privacy bounds of a variant; None where whom it hits depends on who is a member, so
    that strangers do not show what the claim allows."""
    compared: bool = True
    """Whether it compares members with strangers; else it gives rates or values and no verdict."""
    notes: tuple[str, ...] = ()
    """Its notes that an external edition may repeat; "#" stands for a number and "'…'" for quoted names."""
    sampled: bool = False
    """Whether a random sample of people may take the place of all (`people` of a run): its numbers are means over
    people, and the score of each follows from the own record and the whole synthetic table. Attacks whose numbers are
    over synthetic rows, or that compare a person with all others, ask everybody."""
    most: int | None = None
    """Members, and as many strangers, that a run asks at most, drawn at random; a limit on the time. None asks all."""
    held: Callable[[Sequence[Result]], list[Result]] | None = None
    """Takes the results of a call or of a run, once judged, and holds those of this attack back that would say too much
    by themselves."""
    alone: tuple[str, ...] = ()
    """Variants that are a family of their own: their results have a corrected p-value and no comparison, and are no
    part of the family of the attack's other results. Over the families of a run they are corrected like the others."""

    @property
    def placed(self) -> bool:
        """Whether its scores are no rates: strangers set the threshold, and a test of the scores gives the verdict."""
        return self.primary is not None and self.primary.placed

    def rounding(self, name: str) -> Rounding | None:
        """Return how a further number is rounded; None if it is not declared, and therefore withheld."""
        return self.context.get(name) or self.context.get(re.sub(r"\d+", "#", name))


class _Catalogue(MutableMapping[str, Attack]):
    """The entries by name, in the order in which a run makes attacks. The attacks are loaded when somebody looks.

    An attack that is loaded by itself is entered, and has its place once all are.
    """

    def __init__(self) -> None:
        self._entered: dict[str, Attack] = {}

    def _all(self) -> dict[str, Attack]:
        import_module("divulge.attacks.catalogue")
        return self._entered

    def enter(self, entry: Attack) -> None:
        """Enter an attack."""
        self._entered[entry.name] = entry

    def arrange(self, names: Iterable[str]) -> None:
        """Put the entries into the order of these names."""
        self._entered = {name: self._entered[name] for name in names if name in self._entered} | self._entered

    def __getitem__(self, name: str) -> Attack:
        return self._all()[name]

    def __setitem__(self, name: str, entry: Attack) -> None:
        self._all()[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


CATALOGUE = _Catalogue()


def hit_words(hit: Mapping[str, str], variant: str) -> str:
    """Return what a hit of a variant is: the entry with the longest prefix of the variant.

    Examples
    --------
    >>> hit_words({"": "a copy of", "near": "a near copy of"}, "near on 3 columns"), hit_words({}, "zero")
    ('a near copy of', 'right for')
    """
    longest = max((start for start in hit if variant.startswith(start)), key=len, default=None)
    return "right for" if longest is None else hit[longest]
