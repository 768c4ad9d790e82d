"""The domain test: does the synthetic table show a value that only one person has?

Some people alone hold the smallest or largest number of a column, a category, most decimals, or a missing value. Two
trainings: a fair coin says for each of them in which of the two they take part. Whether a table shows such a value is
exact, yes or no; where it is shown with the person and not without, the table has told. It is the cheapest audit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE
from divulge.auditing.design import Evidence
from divulge.auditing.hits import counted
from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Findable, PerTraining, Run
from divulge.auditing.worlds import Encoded, encoded
from divulge.case.case import Case, build_case
from divulge.core.errors import SettingError
from divulge.core.result import Verdict, tidy
from divulge.core.schema import Schema
from divulge.report.formatting import several
from divulge.stats.fair_coins import fewest_right, one_sided_upper
from divulge.tables.frames import Table

__all__ = ["KINDS", "Carried", "Domain", "DomainTrial", "carried"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KINDS = ("minimum", "maximum", "category", "decimals", "missing value")
_MOST = 0.1
"""Share of the people who are left out of a training at most; of more who carry a category some are drawn."""
_MOST_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that only one person has."""

    unit: int
    row: int
    """Row of the pool that has the value."""
    column: str
    kind: str


def carried(people: Encoded) -> tuple[Carried, ...]:
    """Return all values of the pool that only one person or household has, by column and kind."""
    out: list[Carried] = []
    for column in sorted(people.case.schema.usable()):
        codes = people.case.codes(column, binned=False)[0].astype(np.int64)
        pairs = np.unique(np.column_stack([codes, people.units]), axis=0)
        holders = np.bincount(pairs[:, 0], minlength=int(codes.max()) + 1)  # units of each level
        first = np.full(len(holders), -1)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        alone = np.flatnonzero(holders == 1)
        out += [
            Carried(int(people.units[r]), int(r), column, kind) for r, kind in _of(people.case, column, alone, first)
        ]
    return tuple(out)


def _of(case: Case, column: str, alone: Ints, first: Ints) -> list[tuple[int, str]]:
    """Return the rows that alone hold a value of this column, and what kind of value; `alone` are their levels."""
    out = [(int(first[0]), "missing value")] if 0 in alone else []
    if case.schema[column].kind not in ("numeric", "datetime"):
        return out + [(int(first[code]), "category") for code in alone if code > 0]
    numbers, lone = case.numbers(column), set(alone.tolist())
    there = np.flatnonzero((first >= 0) & np.isfinite(numbers[: len(first)]))
    if not len(there):
        return out
    ends = {"minimum": there[np.argmin(numbers[there])], "maximum": there[np.argmax(numbers[there])]}
    out += [(int(first[code]), kind) for kind, code in ends.items() if code in lone]
    decimals = _decimals(numbers[there])
    most = there[decimals == decimals.max()]
    if decimals.max() > decimals.min() and len(most) == 1 and most[0] in lone:
        out.append((int(first[most[0]]), "decimals"))
    return out


def _decimals(numbers: Floats) -> Ints:
    """Return how many decimals each number is written with, 12 at most."""
    return np.array([len(f"{x:.{_MOST_DECIMALS}f}".rstrip("0").split(".")[1]) for x in numbers], dtype=np.int64)


def shown(case: Case, values: Sequence[Carried]) -> Bools:
    """Return which of these values the synthetic table shows; the case has the pool and the synthetic table."""
    out = np.zeros(len(values), dtype=np.bool_)
    for i, value in enumerate(values):
        if value.column not in case.columns:
            continue
        code = int(case.codes(value.column, binned=False)[0][value.row])
        counts = case.pooled(value.column).counts[1]
        if value.kind in ("category", "missing value"):
            out[i] = counts[code] > 0
            continue
        numbers = case.numbers(value.column)
        there = numbers[(counts > 0) & np.isfinite(numbers)]
        if not len(there) or not np.isfinite(numbers[code]):
            continue
        own = numbers[code]
        if value.kind == "decimals":
            out[i] = _decimals(there).max() >= _decimals(numbers[[code]])[0]
        else:
            out[i] = there.min() <= own if value.kind == "minimum" else there.max() >= own
    return out


@dataclass(frozen=True, slots=True)
class Domain:
    """The design with its settings."""

    level: float = 0.95
    acceptable: float = ACCEPTABLE
    name: str = "domain"
    n_least: int = 2

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool."""
        return {"level": self.level}

    def prepare(self, pool: Pool) -> DomainTrial:
        """Return the design for a pool; a `SettingError` if nobody alone has a value."""
        people = encoded(pool)
        values = _few_enough(carried(people), people.n_units, pool.rng("domain who"))
        if not values:
            raise SettingError(
                "domain: every value is shared by two people or more. hint: there is nothing to test; name columns "
                "that were left out in the schema, or go on with `secrets`."
            )
        return DomainTrial(pool, people, values, self.level, self.acceptable)


def _few_enough(values: tuple[Carried, ...], n_units: int, rng: np.random.Generator) -> tuple[Carried, ...]:
    """Return the values of at most a tenth of the people; ends of numbers come before categories."""
    order = rng.permutation(len(values))
    ranked = sorted(order.tolist(), key=lambda i: values[i].kind == "category")
    kept: dict[int, None] = {}
    for i in ranked:
        if len(kept) < max(1, int(_MOST * n_units)):
            kept.setdefault(values[i].unit)
    return tuple(v for v in values if v.unit in kept)


@dataclass(frozen=True, slots=True, eq=False)
class DomainTrial:
    """The design for one pool."""

    pool: Pool
    people: Encoded
    values: tuple[Carried, ...]
    level: float
    acceptable: float = ACCEPTABLE

    @property
    def carriers(self) -> Ints:
        """Units that alone have a value, ascending."""
        return np.unique([v.unit for v in self.values])

    def first(self, run: int) -> Bools:
        """Return who of the carriers is in the first training of the pair that a run belongs to."""
        return self.pool.rng("domain coins", run // 2).integers(0, 2, len(self.carriers)).astype(np.bool_)

    def training(self, run: int) -> Training:
        """Return all rows but those of carriers who are in the other training of the pair."""
        inside = self.first(run) if run % 2 == 0 else ~self.first(run)
        return Training(np.flatnonzero(~np.isin(self.people.units, self.carriers[~inside])))

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return which of the carried values the synthetic table shows."""
        known = {c for t in (self.pool.table, synthetic) for c in t.columns}
        schema = Schema(tuple(c for c in self.people.schema.columns if c.name in known))
        case = build_case(self.pool.table, synthetic, schema=schema, missing=self.pool.missing, seed=self.pool.seed)
        return {"shown": shown(case, self.values)}

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return how often a value is shown with its person and not without, and the reverse."""
        place = np.searchsorted(self.carriers, [v.unit for v in self.values])
        trainings, told = [], np.zeros(len(self.values), dtype=np.int64)
        n_pairs = 0
        for run in sorted(r for r in evidence if r % 2 == 0 and r + 1 in evidence):
            n_pairs += 1
            both = [np.asarray(evidence[r]["shown"], dtype=np.int64) for r in (run, run + 1)]
            more = np.bincount(place, weights=both[0] - both[1], minlength=len(self.carriers))
            guessed, first = more != 0, self.first(run)
            right = (more > 0) == first
            trainings.append(PerTraining(run=run, n=int(guessed.sum()), hits=float((guessed & right).sum())))
            with_it = np.where(first[place], both[0], both[1])
            without = np.where(first[place], both[1], both[0])
            told += (with_it > without).astype(np.int64)
        return (self._result(counted(trainings, self.level), told, n_pairs),)

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""
        n = len(self.carriers) * (n_runs // 2)
        needed = _people_needed(self.acceptable, self.level)
        least = next(k for k in range(1, 100) if fewest_right(k, self.level) <= k)
        pairs = several(n_runs // 2, "pair")
        if n < least:
            return (
                f"{len(self.carriers)} people alone have a value, {pairs} of trainings: too few for any "
                f"finding, which needs {least} people",
            )
        return (
            f"{len(self.carriers):,} people alone have a value; {pairs} of trainings. Values of {least} people that are"
            f" shown with them alone are a finding; `none found` needs {needed:,} people, here {n:,}",
        )

    def _result(self, fields: dict[str, Any], told: Ints, n_pairs: int) -> AuditResult:
        n = len(self.carriers) * n_pairs
        hits = int(fields["hits"])
        missed = int(fields["n"]) - hits
        context: dict[str, float | None] = {"people who alone have a value": float(len(self.carriers))}
        context["share of them told"] = (hits - missed) / n if n else None
        for kind in KINDS:
            of = [i for i, v in enumerate(self.values) if v.kind == kind]
            if of:
                context[f"{kind}: values"] = float(len(of))
                context[f"{kind}: told, mean of the pairs of trainings"] = (
                    float(told[of].sum()) / n_pairs if n_pairs else None
                )
        high = one_sided_upper(hits, n, (1 - self.level) / 2) if n else 1.0
        verdict, notes = self._verdict(fields, high)
        columns = sorted({(self.values[i].column, self.values[i].kind) for i in np.flatnonzero(told)})
        if columns:
            notes.append(
                "shown with the person and not without: " + ", ".join(f"{k} of {tidy(c)!r}" for c, k in columns)
            )
        fields |= {"findable": Findable(needed=_people_needed(self.acceptable, self.level))}
        return AuditResult(
            test="domain",
            counts="people",
            p_adjusted=fields.get("p_value"),
            verdict=verdict,
            sentence=(
                f"of {n:,} times that a person alone had a value, the synthetic table showed it with the person and "
                f"not without {several(hits, 'time')}, and the reverse {several(missed, 'time')}; without a leak both "
                "are as likely"
            ),
            context=context,
            notes=tuple(notes),
            **fields,
        )

    def _verdict(self, fields: Mapping[str, Any], high: float) -> tuple[Verdict, list[str]]:
        p = fields.get("p_value")
        if isinstance(p, float) and p <= 1 - self.level:
            return "excess found", []
        if high <= self.acceptable:
            return "none found", []
        return "cannot tell", ["cannot tell: too few people alone have a value, or too few of these values differ"]


def _people_needed(acceptable: float, level: float) -> int:
    """Return how many people must alone have a value until none that is told shows that the risk is acceptable."""
    return math.ceil(math.log((1 - level) / 2) / math.log1p(-acceptable) - 1e-9)
