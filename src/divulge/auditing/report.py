"""What `divulge.audit` returns: one typed audit and its documents."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import msgspec
import polars as pl
from msgspec.structs import replace

from divulge.auditing.model import FORMAT, Audit
from divulge.auditing.result import AuditResult
from divulge.core.atomic_write import new_folder, replaced, replacing, saved, written
from divulge.core.bounded_read import read_at_most
from divulge.core.errors import SettingError
from divulge.core.result import jsonable, tidy
from divulge.report.content import text_of
from divulge.report.notebook import framed
from divulge.report.schema import fault_of
from divulge.tables.parquet import write_parquet

__all__ = ["FILES", "AuditReport", "other_edition", "read_audit"]

FILES = ("audit.html", "audit.json", "audit.md", "people.parquet")
"""Documents of an audit, in the folder that it is written to."""
_LARGEST = 64  # megabytes of an audit.json


@dataclasses.dataclass(frozen=True)
class AuditReport:
    """What `divulge.audit` found."""

    audit: Audit
    """The content of audit.json, typed."""
    people: pl.DataFrame | None = None
    """What was found about each person, by row of the table as it was given; for the custodian alone."""
    results: tuple[AuditResult, ...] = ()
    """The results with their arrays of persons, by row of the pool."""

    @property
    def verdict(self) -> str:
        """The verdict: "excess found", "none found" or "cannot tell"."""
        return self.audit.verdict

    @cached_property
    def data(self) -> dict[str, Any]:
        """The content of audit.json as plain dictionaries."""
        return jsonable(msgspec.to_builtins(self.audit))  # type: ignore[no-any-return] # a dict goes in

    def replaced(self, **parts: Any) -> AuditReport:
        """Return a copy with parts of its audit replaced, such as the rules."""
        return dataclasses.replace(self, audit=replace(self.audit, **parts))

    def external(self, reveal: Sequence[str] = ()) -> AuditReport:
        """Return the audit for the recipient of a synthetic table (see `divulge.auditing.external`).

        Parameters
        ----------
        reveal
            "columns" keeps the names of columns; without it they are numbered.

        Raises
        ------
        SettingError
            `reveal` names something else, or this audit is an external edition that shows other names.
        """
        from divulge.auditing.external import external_audit

        return AuditReport(external_audit(self.audit, reveal))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of audit.json."""
        return self.data

    def to_json(self, path: str | Path | None = None) -> str:
        """Return audit.json as text, and write it when a path is given."""
        return written(text_of(self.data), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the audit as Markdown, and write it when a path is given."""
        from divulge.auditing.documents.text import markdown

        return written(markdown(self.audit), path)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path) -> Path: ...
    def to_html(self, path: str | Path | None = None) -> str | Path:
        """Return the audit as one offline HTML page; where a path is given, write it there and return the path."""
        from divulge.auditing.documents.html import page

        return saved(page(self.audit), path)

    def to_junit(self, path: str | Path | None = None) -> str:
        """Return the audit as JUnit XML, and write it when a path is given."""
        from divulge.auditing.documents.junit import junit

        return written(junit(self.audit), path)

    def write(self, folder: str | Path) -> Path:
        """Write audit.html, audit.json and audit.md to a folder, and people.parquet where persons were tested."""
        private = self.audit.edition != "external"
        folder = new_folder(folder, private=private)
        for name, text in zip(FILES, (self.to_html(), self.to_json(), self.to_markdown()), strict=False):
            replaced(folder / name, text.encode(), private=private)
        if self.people is not None:
            with replacing(folder / FILES[3], mode=0o600) as file:
                write_parquet(self.people, file)
        return folder

    def __str__(self) -> str:
        from divulge.auditing.documents.text import summary

        return summary(self.audit)

    def __repr__(self) -> str:
        trainings = self.audit.trainings
        return f"<AuditReport {self.verdict}: {trainings.done} of {trainings.planned} trainings>"

    def _repr_html_(self) -> str:
        return framed(self.to_html(), "divulge audit")


def other_edition(folder: Path, edition: str) -> str:
    """Return which document of the other edition a folder holds, "" if none: editions must not share a folder."""
    if edition == "external" and (folder / FILES[3]).exists():
        return f"{FILES[3]} of a custodian's audit"
    try:
        data = json.loads(read_at_most(folder / FILES[1], _LARGEST, FILES[1]))
    except (OSError, ValueError, RecursionError, SettingError):
        return ""
    has = data.get("edition", "custodian") if isinstance(data, dict) else edition
    if has == edition:
        return ""
    return f"the {FILES[1]} of " + ("an external edition" if has == "external" else "a custodian's audit")


def read_audit(path: str | Path) -> Audit | None:
    """Return the audit in a file; None for a file of another format.

    Raises
    ------
    SettingError
        The file cannot be read, or is damaged.
    """
    path = Path(path)
    where = tidy(path.name) or "audit"
    try:
        data = msgspec.json.decode(read_at_most(path, _LARGEST, where))
    except OSError as error:
        raise SettingError(f"{where}: cannot be read ({error.strerror}). hint: check the path.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(data, dict) or not str(data.get("format", "")).startswith("divulge-audit/"):
        return None
    if data["format"] != FORMAT:
        raise SettingError(f"{where}: of another format than {FORMAT}. hint: read it with the version that wrote it.")
    if place := fault_of(data, Audit):
        raise SettingError(f"{where}: damaged at {place}. hint: run `divulge audit --resume` again.")
    return msgspec.convert(data, Audit)
