"""The source of an external edition: the custodian's assessment, the shown names of its columns, its sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import CATALOGUE
from divulge.core.records import CRITICAL
from divulge.core.result import Identity, counts_rows, identity, label, tidy
from divulge.report import formatting
from divulge.report.external.masking import HIDDEN, Names
from divulge.report.external.narrowing import narrows
from divulge.report.external.rounding import alike, count, nearest, size, step_of
from divulge.report.external.sentences import numberless
from divulge.report.model import Assessment, Rate, ResultRecord
from divulge.report.policy_model import Changed

__all__ = ["CHECKS", "Compared", "Source", "hidden", "is_summary", "numbers"]

CHECKS = ("same columns", "constant columns", "identifiers and free text", "sizes", "holdout", *CRITICAL)
"""Checks that an external edition tells. The others name columns by what a single person may decide: that a value is
infinite, unreadable or nobody's, that a row is repeated."""

Compared = ResultRecord | Changed
"""A record with the fields that identify a comparison: attack, variant, keys and target."""


@dataclass(frozen=True)
class Source:
    """The custodian's assessment, and the names of columns in the external edition."""

    data: Assessment
    names: Names

    # ------------------------------------------------------------ sizes

    @property
    def made(self) -> bool:
        """Whether the source is an external edition already, so that its numbers stay."""
        return self.data.edition == "external"

    @cached_property
    def step(self) -> int:
        """The multiple that counts of people are rounded to: 5, times the rows of a person where he has several."""
        t = self.data.tables
        return step_of((x.rows, x.units) for x in (t.real, t.holdout) if x is not None)

    @cached_property
    def n_tests(self) -> Counter[tuple[str, ...]]:
        """How many results with a risk each attack has, those of each actor by themselves."""
        return Counter((r.attack, *r.actors[:1]) for r in self.data.results if r.risk is not None)

    def size(self, n: float | None) -> int | None:
        """Return the size of a table of people, or of a part of one, as shown."""
        return size(n, self.step)

    def rows(self, role: str) -> int | None:
        """Return the rows of a table as shown; None where they are withheld or there is no such table."""
        n = formatting.rows_of(self.data, role)
        return n if role == "synthetic" or self.made else self.size(n)

    def count(self, value: float | None, n: int | None) -> int | None:
        """Return a count of people as shown, of a size as shown."""
        return count(value, n, self.step)

    def share(self, value: float | None, role: str) -> float | None:
        """Return a share of the rows of a table, made of their count as shown; None where it is withheld."""
        exact, n = formatting.rows_of(self.data, role), self.rows(role)
        found = None if value is None or exact is None else count(value * exact, n, self.step)
        return None if found is None or not n else _share(found, n)

    def alone(self, columns: Iterable[str]) -> bool:
        """Return whether numbers of these columns of the synthetic table follow from it alone: none of them is binned.

        Bins are quantiles of real and holdout.
        """
        binned = {c.name for c in self.data.schema if c.bins}
        return binned.isdisjoint(columns)

    # ------------------------------------------------------------ rates

    def sides(self, r: ResultRecord) -> tuple[Rate | None, Rate | None]:
        """Return the counts and rates of members and of strangers that are shown."""
        if self.made:
            return r.real, r.holdout
        if counts_rows(r):
            return self._of_rows(r.real, r.holdout)
        if self.kept_back(r):
            return self._withheld(r.real), self._withheld(r.holdout)
        return self.rate(r.real), self.rate(r.holdout)

    def kept_back(self, r: ResultRecord) -> bool:
        """Return whether the counts of a result are withheld whatever they are, and the ranges of few and many too.

        Beside its parts a mean over targets would narrow them; and a verdict may leave too few counts possible.
        """
        if is_summary(r):
            return True
        if not self.of_people(r) or r.risk is None or r.verdict is None:
            return False
        ranges = [(alike(x.hits, n, self.step), n) for x in (r.real, r.holdout) if x is not None for n in [size(x.n)]]
        if len(ranges) < 2:
            return False
        (a, n), (b, m) = ranges
        if a is None or b is None or n is None or m is None:
            return False
        part = r.context.get(SHOWN, 1.0)
        part = 1.0 if part is None else nearest(part * n, self.step) / n  # exact, it would be told by what is withheld
        acceptable = self.data.settings.acceptable * max(0.0, part)
        return narrows(r.verdict, a, n, b, m, round(1 - r.risk.level, 12), self.tests, acceptable)

    def of_people(self, r: ResultRecord) -> bool:
        """Return whether a result counts people, of whom each has one row."""
        return not (counts_rows(r) or formatting.of_guesses(r.attack)) and self.data.settings.unit is None

    @cached_property
    def tests(self) -> int:
        """The comparisons of the run, over which a verdict is corrected at most."""
        return max(1, sum(r.risk is not None for r in self.data.results))

    def rate(self, rate: Rate | None) -> Rate | None:
        """Return the count and the rate that are shown of one side of a comparison; None where it has no such side."""
        if rate is None:
            return None
        n = self.size(rate.n)
        hits = self.count(rate.hits, n)
        share = None if hits is None or not n else _share(hits, n)
        return Rate(hits=hits, n=n, rate=share, units=size(rate.units))

    def _withheld(self, rate: Rate | None) -> Rate | None:
        return None if rate is None else Rate(hits=None, n=self.size(rate.n), rate=None, units=size(rate.units))

    def _of_rows(self, real: Rate | None, holdout: Rate | None) -> tuple[Rate | None, Rate | None]:
        """Return rates of synthetic rows by their nearest person.

        The two counts add up to the rows counted, so that two rounded ones would narrow each other: the second is the
        rounded sum without the first.
        """
        if real is None or holdout is None:
            return self._withheld(real), self._withheld(holdout)
        n = real.n if real.n == self.data.tables.synthetic.rows else self.size(real.n)
        total = None if real.hits is None or holdout.hits is None else real.hits + holdout.hits
        if not n or total is None:
            return Rate(hits=None, n=n, rate=None), Rate(hits=None, n=n, rate=None)
        most = alike(total, n, self.step)
        counted = n if most is not None and most[1] == n else nearest(total, self.step)
        hits = count(real.hits, counted, self.step)
        other = None if hits is None else counted - hits
        one, two = (Rate(hits=h, n=n, rate=None if h is None else _share(h, n)) for h in (hits, other))
        return one, two

    @cached_property
    def withheld(self) -> set[Identity]:
        """The names of the comparisons that have a withheld count."""
        return {identity(r) for r in self.data.results if hidden(*self.sides(r))}

    # ------------------------------------------------------------ names

    def of(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the names of columns in this edition."""
        return tuple(self.names.several(columns))

    def table(self, name: str) -> str:
        """Return the name of a linked table, or of a relation of two, in this edition; relations are numbered."""
        if not name or self.made or "columns" in self.data.revealed or name in self.names.shown:
            return self.names.shown.get(name, name)
        others = [t for t in dict.fromkeys(r.table for r in self.data.fidelity) if t and t not in self.names.shown]
        return f"relation {1 + others.index(name)}" if name in others else "another table"

    def target(self, target: str | None) -> str | None:
        """Return the name of a target in this edition."""
        return None if target is None else self.names.name(target)

    def variant(self, r: Compared) -> str:
        """Return a variant; one of an attack that is not known is text, which may hold names."""
        return self.names.text(r.variant) if r.variant and r.attack not in CATALOGUE else r.variant

    def sentence(self, text: str) -> str:
        """Return a sentence with the names here, or "…" for an unknown one that may name a column unquoted."""
        kept = self.names.note(text)
        return numberless(kept) if kept or not text else HIDDEN

    @cached_property
    def labels(self) -> dict[str, Compared]:
        """The comparisons by their labels, with an entry for each form in which a label is written."""
        rows: list[Compared] = [*(self.data.change.comparisons if self.data.change else ()), *self.data.results]
        return {form: r for r in rows for text in (label(r), formatting.label(r, "->")) for form in (text, tidy(text))}

    def relabelled(self, r: Compared) -> str:
        """Return the label of a comparison with the names of this edition."""
        renamed = replace(r, variant=self.variant(r), keys=self.of(r.keys), target=self.target(r.target))
        return formatting.label(renamed, "->")

    def worded(self, text: str) -> str:
        """Return a label with the names of this edition; of an unknown label the parts that may be data are hidden."""
        known = self.labels.get(text)
        if known is not None:
            return self.relabelled(known)
        head, colon, rest = text.partition(": ")
        head, arrow, target = head.partition(" -> ") if not colon else (head, "", "")
        attack = re.match(r"\w*", head)
        head = head if attack and attack[0] in CATALOGUE else HIDDEN
        if colon:
            return f"{head}: {self._keys_and_target(rest)}"
        return head + (f" -> {self.names.name(target)}" if arrow else "")

    def _keys_and_target(self, text: str) -> str:
        for place in [m.start() for m in re.finditer(" -> ", text)] or [len(text)]:
            keys = self.names.joined(text[:place])
            wanted = text[place + 4 :]
            if keys is not None and (not wanted or wanted in self.names.shown):
                return keys + (f" -> {self.names.name(wanted)}" if wanted else "")
        return HIDDEN


def _share(hits: int, n: int) -> float:
    return round(min(1.0, hits / n), 4)


def is_summary(r: ResultRecord) -> bool:
    """Return whether a result sums up the results of an attack over its targets."""
    entry = CATALOGUE.get(r.attack)
    return entry is not None and entry.summary is not None and r.target is None


def hidden(*sides: Rate | None) -> bool:
    """Return whether the count of any side is withheld."""
    return any(side is not None and side.hits is None for side in sides)


def numbers(text: str) -> list[int]:
    """Return the numbers in a text."""
    return [int(n) for n in re.findall(r"\d+", text)]
