"""The source of an external edition: the custodian's assessment, the shown names of its columns, its sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from divulge.attacks import CATALOGUE
from divulge.core.result import Identity, identity, label, tidy
from divulge.report import formatting
from divulge.report.external.masking import HIDDEN, Names
from divulge.report.external.rounding import count, few_hidden
from divulge.report.model import Assessment, Changed, Rate, ResultRecord

__all__ = ["Compared", "Source", "hidden", "numbers"]

Compared = ResultRecord | Changed
"""A record with the fields that identify a comparison: attack, variant, keys and target."""


@dataclass(frozen=True)
class Source:
    """The custodian's assessment, and the names of columns in the external edition."""

    data: Assessment
    names: Names

    # ------------------------------------------------------------ sizes

    def rows(self, role: str) -> int:
        """Return the rows of a table, 0 where there is none."""
        return formatting.rows_of(self.data, role) or 0

    def people(self) -> int:
        """Return the size of the smaller table of people."""
        return min(n for n in (self.rows("real"), self.rows("holdout") or self.rows("real")))

    def side(self, rate: Rate | None, role: str, few: bool = False) -> Rate | None:
        """Return the counts and rate that are shown of one side of a comparison, None where it has no such side."""
        return None if rate is None else self.rate(rate, role, few)

    def rate(self, rate: Rate, role: str, few: bool = False) -> Rate:
        """Return the counts and rate that are shown; one from which a count of fewer than 10 would follow is None."""
        n, hits = rate.n, rate.hits
        if n in {self.rows(t) for t in ("real", "synthetic", "holdout")}:
            size: float | None = n
        else:
            size = count(n, self.rows(role) if n is not None and n < self.rows(role) else None)
        found = None if few or size is None or hits is None else count(hits, n)
        rate_ = None if found is None or not size else round(min(1.0, found / size), 4)
        return Rate(hits=found, n=None if size is None else int(size), rate=rate_)

    @cached_property
    def withheld(self) -> set[Identity]:
        """The names of the comparisons that have a withheld count."""
        return {
            identity(r) for r in self.data.results if hidden(self.side(r.real, "real"), self.side(r.holdout, "holdout"))
        }

    # ------------------------------------------------------------ names

    def of(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the names of columns in this edition."""
        return tuple(self.names.several(columns))

    def target(self, target: str | None) -> str | None:
        """Return the name of a target in this edition."""
        return None if target is None else self.names.name(target)

    def variant(self, r: Compared) -> str:
        """Return a variant; one of an attack that is not known is text, which may hold names."""
        return self.names.text(r.variant) if r.variant and r.attack not in CATALOGUE else r.variant

    def sentence(self, text: str) -> str:
        """Return a sentence with the names here, or "…" for an unknown one that may name a column unquoted."""
        kept = self.names.note(text)
        return few_hidden(kept) if kept or not text else HIDDEN

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


def hidden(*sides: Rate | None) -> bool:
    """Return whether the count of any side is withheld."""
    return any(side is not None and side.hits is None for side in sides)


def numbers(text: str) -> list[int]:
    """Return the numbers in a text."""
    return [int(n) for n in re.findall(r"\d+", text)]
