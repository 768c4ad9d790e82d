"""The report on a comparison of candidate tables: one typed comparison and its documents."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from divulge.core.atomic_write import new_folder, replaced, written
from divulge.core.result import jsonable
from divulge.report.comparison.model import Comparison
from divulge.report.content import _last, _plain
from divulge.report.notebook import framed
from divulge.report.order import ORDER
from divulge.report.report import Report

__all__ = ["ComparisonReport", "folder_names"]

_FILES = ("comparison.json", "comparison.html", "comparison.md")


_MEAN = ("value", "notes")
"""Fields of a candidate's utility that are written last."""


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
        data = _plain(msgspec.to_builtins(self.comparison))
        candidates = [c | {"utility": [_last(u, _MEAN) for u in c["utility"]]} for c in data["candidates"]]
        return _last(data | {"candidates": candidates}, ["verdict"])

    @property
    def order(self) -> list[str]:
        """The labels, least risk first; empty where nothing is ranked."""
        return list(self.comparison.verdict.order)

    @property
    def failed(self) -> list[dict[str, str]]:
        """Tables that could not be attacked, and why."""
        return [{"label": f.label, "why": f.why} for f in self.comparison.failed]

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

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the comparison as one offline HTML page, and write it when a path is given."""
        from divulge.report.comparison.html import page

        return written(page(self.comparison), path)

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
