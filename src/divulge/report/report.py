"""The report: one typed assessment, from which every document is rendered."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import msgspec
import polars as pl

from divulge.core.atomic_write import new_folder, replaced, replacing, saved, written
from divulge.core.errors import SettingError
from divulge.core.result import Result, jsonable
from divulge.report import first_page
from divulge.report.content import (
    RECORDS,
    assessment_bytes,
    assessment_of,
    content_of,
    read_assessment,
    read_records,
    text_of,
)
from divulge.report.model import Assessment, ResultRecord
from divulge.report.notebook import framed
from divulge.report.prose.tiles import representative_risk
from divulge.tables.kinds import as_kind
from divulge.tables.parquet import write_parquet

if TYPE_CHECKING:
    from divulge.report.documents.figure import Figure

__all__ = ["Report", "other_edition"]


@dataclasses.dataclass(frozen=True)
class Report:
    """What `divulge.assess` found."""

    assessment: Assessment
    """The content of assessment.json, typed."""
    results: tuple[Result, ...]
    """The results of the attacks; empty in a report read from a file and in an external edition."""
    record_frame: pl.DataFrame | None
    kind: str = "polars"
    """The kind of frame that `to_frame`, `records`, `get_details` and `get_properties` return: "pandas" or "pyarrow"
    where the real table was such a frame, else "polars"."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], record_frame: pl.DataFrame | None = None) -> Report:
        """Return the report with this content, as `to_dict` returns it.

        Absent fields that a later version added take their defaults; unknown fields are left out.

        Parameters
        ----------
        data
            The content of assessment.json; it is copied.
        record_frame
            The content of records.parquet, or None.

        Raises
        ------
        SettingError
            The content has another format than this version reads, or a field is absent or of the wrong type.
        """
        return cls(assessment_of(deepcopy(dict(data))), (), record_frame)

    @classmethod
    def from_json(cls, path: str | Path) -> Report:
        """Return the report of an assessment.json, with the records.parquet beside it if there is one.

        Raises
        ------
        SettingError
            The file cannot be read, is not JSON, or is not an assessment of this version.
        TableError
            The records.parquet beside it cannot be read, or does not have the assessment's number of records.
        """
        path = Path(path)
        assessment = read_assessment(path)
        records = path.with_name(RECORDS)
        frame = read_records(records, assessment.records) if assessment.records and records.exists() else None
        return cls(assessment, (), frame)

    def replaced(self, **parts: Any) -> Report:
        """Return a copy of the report with parts of its assessment replaced, such as command, policy and change."""
        return dataclasses.replace(self, assessment=msgspec.structs.replace(self.assessment, **parts))

    @cached_property
    def data(self) -> dict[str, Any]:
        """The content of assessment.json as plain dictionaries; a change there changes that document and no other."""
        return content_of(self.assessment)

    def external(self, reveal: Sequence[str] = ()) -> Report:
        """Return the report for the recipient of the synthetic table (see `divulge.report.external.edition`).

        Records, hashes of real and holdout, the command and the machine are left out, small counts are withheld, the
        others are multiples of 5, all other numbers follow from these or are withheld, and columns are numbered.

        Parameters
        ----------
        reveal
            "columns" keeps the names of columns.

        Raises
        ------
        SettingError
            `reveal` names something else, or this report is an external edition that lacks it.
        """
        from divulge.report.external.edition import external

        return Report(external(self.assessment, reveal=reveal), (), None, self.kind)

    @property
    def verdict(self) -> str:
        """The overall verdict: excess found, deficit found, none found, cannot tell, or no holdout."""
        return str(self.assessment.verdict.verdict)

    @property
    def failed(self) -> list[dict[str, str]]:
        """Attacks that failed, and why."""
        return [{"attack": f.attack, "why": f.why} for f in self.assessment.failed]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of assessment.json."""
        return self.data

    def to_frame(self) -> Any:
        """Return one row for each result, as a frame of the kind of the real table (see `kind`)."""
        return as_kind(self._rows(), self.kind)

    def _rows(self) -> pl.DataFrame:
        return pl.DataFrame([_row(r) for r in self.assessment.results], infer_schema_length=None)

    def records(self) -> Any:
        """Return one row for each real record, most exposed first, as a frame of the kind of the real table.

        `divulge.run.judging.records` names the columns. Without records the frame is empty.

        Raises
        ------
        SettingError
            This is an external edition.
        """
        if self.assessment.edition == "external":
            raise SettingError(
                "records: an external edition has none. hint: ask the report that it was made of, the custodian's."
            )
        return as_kind(pl.DataFrame() if self.record_frame is None else self.record_frame, self.kind)

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The questions of the first page: each with its state, members, strangers and a sentence.

        They stand in the JSON too, as `summary`. A dictionary has `question`, `asks`, `state`, `attack` (the one that
        speaks for the question), `members` and `strangers` (shares of people, guesses or rows that it hits; None where
        there is none) and `sentence`.
        """
        return first_page.questions(self.assessment)

    @property
    def advice(self) -> list[dict[str, str]]:
        """What to do now, most urgent first: `do`, `changes` (what the step changes) and `warning` ("" if none)."""
        return first_page.advice(self.assessment)

    def columns(self) -> Any:
        """Return what was found about single columns, worst first, as a frame of the kind of the real table.

        One row a column and a way in which it was tried: column, kind, compared (whether any comparison looks at it),
        way, verdict, risk. A column that no comparison is about alone has one row, whose way is null.
        """
        return as_kind(first_page.columns(self.assessment), self.kind)

    def people(self) -> Any:
        """Return how many people each test hits, the clearest first, as a frame of the kind of the real table.

        One row a test that counts people: question, attack, test, verdict, primary, counts, members, of_members,
        strangers, of_strangers, and `more`, how many more members are hit than as many strangers, with `at_least` and
        `at_most`, limits that hold for all tests of an attack together. Tests reach in part the same people: do not add
        them.
        With a unit most tests count rows: `counts` is then "rows of people", and all numbers of that test are of rows.
        Who these people are stands in `records`.
        """
        return as_kind(first_page.people(self.assessment), self.kind)

    def metrics(self) -> dict[str, float]:
        """Return ten numbers for a trend or an experiment tracker; one that this report lacks is left out.

        score (`get_score`), tests, excess_found and deficit_found (how many tests), people_at_risk_at_least (the
        largest `at_least` of `people` among tests that found an excess, which may be of another test than the one that
        page one leads with, whose choice is by rounded counts; left out where only tests of rows found one),
        risk_at_least and risk_at_most (largest limits
        of all tests), members_copied and strangers_copied (shares whose whole record is copied), distance_of_pairs (of
        columns, in units of what a fresh sample of people shows).
        """
        return first_page.metrics(self.assessment)

    def plot(self, attack: str | None = None) -> Figure:
        """Return a figure of the comparisons of an attack; without a name, of the one that decides the verdict.

        Raises
        ------
        SettingError
            No result of that attack can be drawn.
        """
        from divulge.report.documents.figure import drawable

        decides = representative_risk(self.assessment)
        first = next((r.attack for r in drawable(self.assessment)), "")
        return self.get_visualization(attack or (first if decides is None else decides.attack))

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return `to_frame` as CSV, and write it when a path is given.

        Texts are quoted; an apostrophe precedes a text that a spreadsheet would read as a formula.
        """
        frame = self._rows()
        harmless = [pl.col(c).map_elements(_harmless, return_dtype=pl.String) for c in frame.columns
                    if frame[c].dtype == pl.String]  # fmt: skip
        return written(frame.with_columns(harmless).write_csv(quote_style="non_numeric"), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return assessment.json as text, and write it when a path is given."""
        return written(text_of(self.data), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the report as Markdown, and write it when a path is given."""
        from divulge.report.documents.markdown import markdown

        return written(markdown(self.assessment), path)

    @overload
    def to_html(self, path: None = None, *, annex: bool = False) -> str: ...
    @overload
    def to_html(self, path: str | Path, *, annex: bool = False) -> Path: ...
    def to_html(self, path: str | Path | None = None, *, annex: bool = False) -> str | Path:
        """Return the report as one offline HTML page; where a path is given, write it there and return the path.

        Parameters
        ----------
        path
            File to write.
        annex
            Whether the annex, all comparisons and the method in full, is unfolded and printed with the page.
        """
        from divulge.report.documents.html import page

        return saved(page(self.assessment, _worst_records(self.record_frame), annex=annex), path)

    def to_junit(self, path: str | Path | None = None) -> str:
        """Return the report as JUnit XML, and write it when a path is given."""
        from divulge.report.documents.junit import junit

        return written(junit(self.assessment), path)

    def write(self, folder: str | Path, only: Sequence[str] | None = None) -> Path:
        """Write the documents to a folder, each under a temporary name first, and return the folder.

        They are assessment.json, report.html, report.md, junit.xml and, where there are records, records.parquet.

        Parameters
        ----------
        only
            Names of documents to write. None writes all.

        Raises
        ------
        SettingError
            The folder holds documents of the other edition (see `other_edition`).
        """
        folder = Path(folder)
        if why := other_edition(folder, self.assessment.edition):
            raise SettingError(f"the folder holds {why}. hint: name another folder.")
        private = self.assessment.edition != "external"
        new_folder(folder, private=private)
        for name, text in _DOCUMENTS.items():
            if only is None or name in only:
                replaced(folder / name, text(self).encode(), private=private)
        if self.record_frame is not None and (only is None or RECORDS in only):
            with replacing(folder / RECORDS, mode=0o600) as file:
                write_parquet(self.record_frame, file)
        return folder

    # ------------------------------------------------------------ the methods of SDMetrics' reports

    def get_score(self) -> float:
        """Return a score from 0 to 1, where 1 is least risk: 1 - min(1, max(0, u)).

        u is the largest simultaneous upper limit of risk over all comparisons with a verdict, each divided by the part
        of a full copy of the real table that would show there. Comparisons without such a limit (strangers are always
        hit), or where no part of a copy would show, are left out. The worst comparison decides; the score is not a mean
        over properties. It is nan without a holdout and where a critical precondition fails.
        """
        return first_page.score(self.assessment)

    def get_properties(self) -> Any:
        """Return one row for each attack that was compared with strangers: Property, Score, Verdict, worst first.

        Property is the name of the attack, Score the score of `get_score` over its comparisons, whatever the
        preconditions, and Verdict its worst verdict.
        """
        rows = []
        for attack in _attacks(self.assessment.results):
            own = [r for r in self.assessment.results if r.attack == attack]
            rows.append({"Property": attack, "Score": first_page.score_of(own), "Verdict": _worst(own)})
        schema = {"Property": pl.String, "Score": pl.Float64, "Verdict": pl.String}
        frame = pl.DataFrame(rows, schema=schema).sort("Score", maintain_order=True, nulls_last=True)
        return as_kind(frame, self.kind)

    def get_details(self, property_name: str | None = None) -> Any:
        """Return the rows of `to_frame` for one attack, or for all attacks when none is named.

        Raises
        ------
        SettingError
            There is no result of that attack.
        """
        frame = self._rows()
        if property_name is not None:
            _known(property_name, list(dict.fromkeys(r.attack for r in self.assessment.results)))
            frame = frame.filter(pl.col("attack") == property_name)
        return as_kind(frame, self.kind)

    def get_visualization(self, property_name: str) -> Figure:
        """Return a figure of the comparisons of one attack; a notebook displays it, and it can be saved as SVG.

        The figure shows risks with their intervals; without a holdout, rates with their baselines.

        Raises
        ------
        SettingError
            No result of that attack can be drawn.
        """
        from divulge.report.documents.figure import drawable, figure

        _known(property_name, list(dict.fromkeys(r.attack for r in drawable(self.assessment))))
        return figure(self.assessment, property_name)

    def get_info(self) -> dict[str, Any]:
        """Return the report's report_type, version, edition, generated_date, seconds, num_rows of each table."""
        d = self.assessment
        rows = {role: table.rows for role, table in d.tables.by_role().items() if table}
        return {
            "report_type": "divulge assessment", "version": d.divulge, "edition": d.edition,
            "generated_date": d.started, "seconds": d.seconds, "num_rows": rows,
        }  # fmt: skip

    def __str__(self) -> str:
        from divulge.report.documents.terminal import summary

        return summary(self.assessment)

    def __repr__(self) -> str:
        tables = {role: table.rows for role, table in self.assessment.tables.by_role().items() if table}
        rows = ", ".join(f"{'few' if n is None else f'{n:,}'} {role}" for role, n in tables.items())  # None: withheld
        what = "people" if self.assessment.tables.real.linked else "rows"
        return f"<Report {self.verdict}: {rows} {what}, {len(self.assessment.results):,} results>"

    def _repr_html_(self) -> str:
        from divulge.report.documents.html import card

        return framed(card(self.assessment), "divulge report")


def other_edition(folder: str | Path, edition: str) -> str:
    """Return which document of the other edition a folder holds, "" if none: editions must not share a folder.

    Parameters
    ----------
    folder
        Folder to write documents to; it need not exist.
    edition
        "custodian" or "external": the edition of these documents.

    Examples
    --------
    >>> other_edition("no/such/folder", "external")
    ''
    """
    folder = Path(folder)
    if edition == "external" and (folder / RECORDS).exists():
        return f"{RECORDS} of a custodian's report"
    try:
        data = json.loads(assessment_bytes(folder / "assessment.json").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return ""
    # a report from before there were editions is a custodian's
    has = data.get("edition", "custodian") if isinstance(data, dict) and "format" in data else edition
    if has == edition:
        return ""
    return "the assessment.json of " + ("an external edition" if has == "external" else "a custodian's report")


_DOCUMENTS: dict[str, Callable[[Report], str]] = {
    "assessment.json": Report.to_json,
    "report.html": Report.to_html,
    "report.md": Report.to_markdown,
    "junit.xml": Report.to_junit,
}


def _attacks(results: Sequence[ResultRecord]) -> list[str]:
    """Return the attacks with a verdict, worst first."""
    from divulge.report.order import judged

    return list(dict.fromkeys(r.attack for r in judged(results) if r.risk))


def _worst(results: Sequence[ResultRecord]) -> str:
    from divulge.report.order import judged

    return str(judged(results)[0].verdict)


def _known(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise SettingError(f"property_name: no such attack here. hint: one of {', '.join(known) or 'none'}.")


_FORMULA = re.compile(r"[\s\u200b-\u200f\ufeff]*[=+\-@|%\uff0b\uff0d\uff1d\uff20]")


def _harmless(text: str) -> str:
    """Return text that a spreadsheet does not read as a formula, with control characters replaced."""
    from divulge.core.result import tidy

    shown = tidy(text)
    return f"'{shown}" if _FORMULA.match(text) or _FORMULA.match(shown) or shown[:1] == "\ufffd" else shown


def _worst_records(records: pl.DataFrame | None) -> list[dict[str, Any]]:
    return [] if records is None else jsonable(records.head(50).to_dicts())


def _row(r: ResultRecord) -> dict[str, Any]:
    def of(part: msgspec.Struct | None, field: str) -> Any:
        return None if part is None else getattr(part, field)

    return {
        "attack": r.attack, "variant": r.variant, "keys": " + ".join(r.keys), "target": r.target,
        "members": of(r.real, "rate"), "members_n": of(r.real, "n"),
        "strangers": of(r.holdout, "rate"), "strangers_n": of(r.holdout, "n"), "baseline": of(r.baseline, "rate"),
        "difference": of(r.difference, "value"), "risk": of(r.risk, "value"), "risk_low": of(r.risk, "low"),
        "risk_high": of(r.risk, "high"), "risk_low_simultaneous": of(r.risk, "low_simultaneous"),
        "risk_high_simultaneous": of(r.risk, "high_simultaneous"), "score": r.score, "p_value": r.p_value,
        "p_adjusted": r.p_adjusted, "smallest_detectable": r.smallest_detectable, "verdict": r.verdict,
        "value_real": of(r.value, "real"), "value_holdout": of(r.value, "holdout"),
        "value_synthetic": of(r.value, "synthetic"), "seconds": r.seconds,
    }  # fmt: skip
