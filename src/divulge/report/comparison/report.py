"""The report on a comparison of candidate tables: one typed comparison and its documents."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import msgspec
import polars as pl
from msgspec.structs import replace

from divulge.core.atomic_write import new_folder, replaced, saved, written
from divulge.core.errors import SettingError
from divulge.core.result import jsonable
from divulge.report.comparison.model import Comparison
from divulge.report.content import _last, _plain
from divulge.report.notebook import framed
from divulge.report.order import ORDER
from divulge.report.report import Report
from divulge.tables.kinds import as_kind

__all__ = ["ComparisonReport", "folder_names"]

_FILES = ("comparison.json", "comparison.html", "comparison.md")


@dataclasses.dataclass(frozen=True)
class ComparisonReport:
    """What `divulge.compare` found."""

    comparison: Comparison
    """The content of comparison.json, typed."""
    reports: Mapping[str, tuple[Report, ...]]
    """The full report of each table, by label."""

    @classmethod
    def build(cls, data: Mapping[str, Any], reports: Mapping[str, tuple[Report, ...]]) -> ComparisonReport:
        """Return the report on the findings of a run, with nan as None and numpy numbers as Python numbers."""
        return cls(msgspec.convert(jsonable(dict(data)), Comparison), reports)

    def replaced(self, **parts: Any) -> ComparisonReport:
        """Return a copy of the report with parts of its comparison replaced, such as the command."""
        return dataclasses.replace(self, comparison=msgspec.structs.replace(self.comparison, **parts))

    @cached_property
    def data(self) -> dict[str, Any]:
        """The content of comparison.json as plain dictionaries; a change there changes `to_json` alone."""
        return _last(_plain(msgspec.to_builtins(self.comparison)), ["verdict"])

    @property
    def order(self) -> list[str]:
        """The labels: cleared ones, others without a finding, others. Empty where nothing is ranked."""
        return list(self.comparison.verdict.order)

    @property
    def failed(self) -> list[dict[str, str]]:
        """Tables that could not be attacked, and why."""
        return [{"label": f.label, "why": f.why} for f in self.comparison.failed]

    def __getitem__(self, label: str) -> Report:
        """Return the full report on a candidate's table, by its label; of several tables the first.

        Raises
        ------
        SettingError
            There is no such candidate, or the comparison was read from a file, which has no reports.
        """
        if label not in self.reports:
            known = ", ".join(repr(name) for name in self.reports) or "none: a file has no reports"
            raise SettingError(f"comparison: there is no candidate of this label. hint: {known}.")
        return self.reports[label][0]

    def to_frame(self) -> Any:
        """Return one row for each candidate, in their order, as a frame of the kind of the real table.

        place (1 reaches fewest; null where nothing is ranked), label, verdict, members reached (people, share, whether
        that is at least, at most, or fewer than by chance), worst attack with its risk and limits,
        the first and the last rank that it may have (all hold together), use (distance of pairs of columns, or of
        columns where there is one, beyond a fresh sample) with limits and verdict, front (whether no other candidate
        betters it in risk or in use without being worse in the other), tables.
        """
        place = {label: i for i, label in enumerate(self.order, start=1)}
        front = self.comparison.front
        rows = [
            {
                "place": place.get(c.label), "label": c.label, "verdict": c.verdict,
                "people": c.reached and c.reached.people, "share": c.reached and c.reached.share,
                "reached": c.reached and c.reached.kind,
                "attack": c.worst and c.worst.attack, "risk": c.worst and c.worst.value,
                "risk_low": c.worst and c.worst.low, "risk_high": c.worst and c.worst.high,
                "first_rank": c.worst and c.worst.first, "last_rank": c.worst and c.worst.last,
                "distance": c.fidelity and c.fidelity.excess, "distance_low": c.fidelity and c.fidelity.low,
                "distance_high": c.fidelity and c.fidelity.high, "use": c.fidelity and c.fidelity.verdict,
                "front": None if front is None else c.label in front.labels, "tables": len(c.tables),
            }
            for c in sorted(self.comparison.candidates, key=lambda c: (place.get(c.label, 0), c.label))
        ]  # fmt: skip
        kind = next((r.kind for reports in self.reports.values() for r in reports), "polars")
        return as_kind(pl.DataFrame(rows, infer_schema_length=None), kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of comparison.json."""
        return self.data

    def to_json(self, path: str | Path | None = None) -> str:
        """Return comparison.json as text, and write it when a path is given."""
        return written(json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the comparison as Markdown, and write it when a path is given."""
        from divulge.report.comparison.text import markdown

        return written(markdown(self.comparison), path)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path) -> Path: ...
    def to_html(self, path: str | Path | None = None) -> str | Path:
        """Return the comparison as one offline HTML page; where a path is given, write it there and return the path."""
        from divulge.report.comparison.html import page

        return saved(page(self.comparison), path)

    def write(self, folder: str | Path) -> Path:
        """Write the comparison to a folder, and the full report on each table to a subfolder of its own."""
        folder = new_folder(folder, private=True)
        names = folder_names(self.reports)
        candidates = []
        for candidate in self.comparison.candidates:
            reports = self.reports[candidate.label]
            places = _places(names[candidate.label], len(reports))
            for place, report in zip(places, reports, strict=True):
                report.replaced(command=self.comparison.command).write(folder / place)
            placed = (replace(t, folder=place) for t, place in zip(candidate.tables, places, strict=True))
            candidates.append(replace(candidate, tables=tuple(placed)))
        whole = self.replaced(candidates=tuple(candidates))
        for name, text in zip(_FILES, (whole.to_json(), whole.to_html(), whole.to_markdown()), strict=True):
            replaced(folder / name, text.encode(), private=True)
        return folder

    def __str__(self) -> str:
        from divulge.report.comparison.text import summary

        return summary(self.comparison)

    def __repr__(self) -> str:
        counts = Counter[str](c.verdict for c in self.comparison.candidates)
        told = ", ".join(f"{counts[v]} {v}" for v in ORDER if counts[v])
        return f"<ComparisonReport {len(self.comparison.candidates)} candidates: {told}>"

    def _repr_html_(self) -> str:
        return framed(self.to_html(), "divulge comparison")


def _places(name: str, n: int) -> list[str]:
    """Return the folder of each table of a candidate."""
    return [name] if n == 1 else [f"{name}/{i + 1}" for i in range(n)]


def folder_names(labels: Iterable[str]) -> dict[str, str]:
    """Return a folder name for each label, which is untrusted text; no two names differ by case alone.

    Examples
    --------
    >>> folder_names(["ctgan 1", "../etc", "CTGAN/1", ".."])
    {'ctgan 1': 'ctgan_1', '../etc': 'etc', 'CTGAN/1': 'CTGAN_1-2', '..': 'table'}
    """
    taken = set(_FILES)
    out = {}
    for label in labels:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "_", label).strip("._-")[:60] or "table"
        name, n = plain, 1
        while name.lower() in taken:
            n += 1
            name = f"{plain}-{n}"
        taken.add(name.lower())
        out[label] = name
    return out
