"""What a comparison of candidate tables found: one dictionary is the truth, and every document is drawn from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from divulge.report.report import Report, _replace, _written

__all__ = ["ComparisonReport", "folder_names"]

_FILES = ("comparison.json", "comparison.html", "comparison.md")


@dataclass(frozen=True)
class ComparisonReport:
    """What `divulge.compare` found."""

    data: dict[str, Any]
    """The content of comparison.json."""
    reports: Mapping[str, tuple[Report, ...]]
    """The full report of each table, by label."""

    @property
    def order(self) -> list[str]:
        """The labels, least risk first; empty where nothing is ranked."""
        return list(self.data["verdict"]["order"])

    @property
    def failed(self) -> list[dict[str, str]]:
        """Tables that could not be attacked, and why."""
        return list(self.data["failed"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of comparison.json."""
        return self.data

    def to_json(self, path: str | Path | None = None) -> str:
        """Return comparison.json as text, and write it when a path is given."""
        return _written(json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the comparison as Markdown, and write it when a path is given."""
        from divulge.report.comparison.text import markdown

        return _written(markdown(self.data), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the comparison as one offline HTML page, and write it when a path is given."""
        from divulge.report.comparison.html import page

        return _written(page(self.data), path)

    def write(self, folder: str | Path) -> Path:
        """Write the comparison into a folder, and the full report of each table into a folder of its own below it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        names = folder_names(self.reports)
        for candidate in self.data["candidates"]:
            name, reports = names[candidate["label"]], self.reports[candidate["label"]]
            for i, (table, report) in enumerate(zip(candidate["tables"], reports, strict=True)):
                table["folder"] = name if len(reports) == 1 else f"{name}/{i + 1}"
                report.replaced(command=self.data["command"]).write(folder / table["folder"])
        for name, text in zip(_FILES, (self.to_json(), self.to_html(), self.to_markdown()), strict=True):
            _replace(folder / name, text.encode())
        return folder

    def __repr__(self) -> str:
        from divulge.report.comparison.text import summary

        return summary(self.data)

    def _repr_html_(self) -> str:
        from html import escape

        # a frame of its own keeps the page's style and script out of the notebook
        return (
            f'<iframe title="divulge comparison" style="width:100%;height:640px;border:1px solid #8888" '
            f'srcdoc="{escape(self.to_html(), quote=True)}"></iframe>'
        )


def folder_names(labels: Iterable[str]) -> dict[str, str]:
    """Return a folder name for each label: labels are untrusted, and no two folders differ by case alone.

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
