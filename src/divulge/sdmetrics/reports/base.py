"""A report: its properties computed one after another, the mean of their scores, and what it prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Self

from divulge.core import __version__
from divulge.core.atomic_write import written
from divulge.core.errors import SettingError
from divulge.report.policy_model import Condition
from divulge.sdmetrics.plot import plotted
from divulge.sdmetrics.plot_shapes import Picture
from divulge.sdmetrics.reports import saving
from divulge.sdmetrics.reports.content import Content, Shown, of_table, without_score
from divulge.sdmetrics.reports.counted_inputs import Progress, counted_table, described
from divulge.sdmetrics.reports.details import Row, as_frame, mean_score
from divulge.sdmetrics.reports.figures import picture_of
from divulge.sdmetrics.reports.inputs import checked_inputs, unified
from divulge.sdmetrics.reports.pairs import Thresholds
from divulge.sdmetrics.reports.properties import RELATIONAL, Inputs, Property
from divulge.tables.counting import COUNTING
from divulge.tables.frames import Table

__all__ = ["SDMETRICS", "Report"]

SDMETRICS = "0.32.0"
"""The release of SDMetrics whose scores these are."""
_ONE_TABLE = "This property does not apply to single-table data."
_NO_CONSTRAINTS = "No constraints were provided."
_CONSTRAINTS = "Constraint Validity"
_WITHOUT_SCORE = "columns_without_score"
_OF_ALL_TABLES = ("Data Structure", _CONSTRAINTS)


class Report:
    """What both reports have in common; see `QualityReport` and `DiagnosticReport`."""

    _properties: ClassVar[tuple[Property, ...]] = ()
    _checks_columns: ClassVar[bool] = True
    _skips: ClassVar[bool] = True
    """Whether the properties of relations are left out for one table."""
    real_correlation_threshold: float = 0.0
    real_association_threshold: float = 0.0
    num_rows_subsample: int | None = None
    """Has no effect: all rows are counted. SDMetrics draws 50,000 rows of each pair of columns."""

    def __init__(self) -> None:
        self.is_generated = False
        self.table_names: list[str] = []
        self.report_info: dict[str, Any] = {
            "report_type": type(self).__name__,
            "generated_date": None,
            "sdmetrics_version": SDMETRICS,
            "divulge_version": __version__,
        }
        self._score = float("nan")
        self._without_score: list[dict[str, str]] = []
        self._rows: dict[str, list[Row]] = {}
        self._inputs: Inputs | None = None

    def generate(
        self,
        real_data: Any,
        synthetic_data: Any,
        metadata: Any,
        constraints: Sequence[Mapping[str, Any]] | None = None,
        verbose: bool = True,
    ) -> None:
        """Compute the report; the tables of the caller stay as they are.

        Parameters
        ----------
        real_data, synthetic_data
            Dictionaries of frames by the name of their table, or two frames.
        metadata
            SDV metadata as a dictionary or an object with `to_dict`: with "tables", or for two frames with "columns".
            Or divulge's own schema, or the name of a file of either.
        constraints
            A list of dictionaries with "class_name", the name of a constraint of SDV, and "parameters"; None takes
            "constraints" of the metadata. The diagnostic report checks them; the quality report does not look at them.
        verbose
            Whether to print each property and its score.

        Raises
        ------
        TypeError, ValueError
            The arguments do not fit each other.
        """
        real, synthetic, given = unified(real_data, synthetic_data, metadata)
        constraints = given.get("constraints") if constraints is None else constraints
        self._check_constraints(constraints)
        inputs = checked_inputs(
            real, synthetic, given, self._thresholds, check_columns=self._checks_columns,
            constraints=list(constraints or ()),
        )  # fmt: skip
        self._compute(inputs, verbose)

    def generate_in(
        self,
        engine: str,
        real: Any,
        synthetic: Any,
        metadata: Any = None,
        *,
        missing: Sequence[str] = (),
        progress: Progress = lambda what, done, total: None,
    ) -> None:
        """Compute the report of one table whose rows stay where they are; the scores are those of `generate`.

        Parameters
        ----------
        engine
            What counts both tables: "duckdb", "polars" or "spark".
        real, synthetic
            What the engine can count: the name of a Parquet file, or of a folder or pattern of them;
            "FILE.duckdb::TABLE"; a lazy frame, a relation of DuckDB, or a Spark frame.
        metadata
            As in `generate`, of one table; None is what divulge infers from the real table.
        missing
            Texts that stand for missing.
        progress
            Called with what is done, how much of it, and how much there is of it.

        Raises
        ------
        DivulgeError
            The engine cannot count the tables, or was asked for several; what has to be held does not fit into memory;
            or a constraint needs each row.
        TypeError, ValueError
            Tables and metadata do not fit each other.

        Examples
        --------
        >>> import polars as pl
        >>> from divulge.sdmetrics.reports import DiagnosticReport, QualityReport
        >>> real = pl.LazyFrame({"age": [20, 30, 40], "job": ["a", "a", "b"]})
        >>> synthetic = pl.LazyFrame({"age": [20, 30, 50], "job": ["a", "b", "b"]})
        >>> metadata = {"columns": {"age": {"sdtype": "numerical"}, "job": {"sdtype": "categorical"}}}
        >>> report, diagnosis = QualityReport(), DiagnosticReport()
        >>> for made in (report, diagnosis):
        ...     made.generate_in("polars", real, synthetic, metadata)
        >>> round(report.get_score(), 6), round(diagnosis.get_score(), 6)
        (0.666667, 0.916667)
        """
        if engine not in COUNTING:
            raise SettingError(f"engine: not one that counts where the tables are. hint: {', '.join(COUNTING)}.")
        ours, theirs = (
            counted_table(t, role, missing, engine) for t, role in ((real, "real"), (synthetic, "synthetic"))
        )
        given = described(metadata, ours, missing)
        if isinstance(given, dict):
            self._check_constraints(given.get("constraints"))
        self._compute(self._counted(ours, theirs, given, missing, progress), verbose=False)

    def _counted(
        self, real: Table, synthetic: Table, metadata: Any, missing: Sequence[str], progress: Progress
    ) -> Inputs:
        """Return what the report is computed from, of tables that an engine counts."""
        raise NotImplementedError

    @property
    def _thresholds(self) -> Thresholds:
        return Thresholds(self.real_correlation_threshold, self.real_association_threshold)

    def _compute(self, inputs: Inputs, verbose: bool) -> None:
        """Compute the properties of the inputs."""
        self.table_names, self._inputs = list(inputs.tables), inputs
        self.report_info.pop("fresh_sample", None)
        self._note(inputs)
        began = time.perf_counter()
        print_ = sys.stdout.write if verbose else _silent
        print_("Generating report ...\n\n")
        self._rows, scores = {}, []
        for i, each in enumerate(self._properties):
            start = f"({i + 1}/{len(self._properties)}) Evaluating {each.name}"
            reason = self._why_skipped(each.name, bool(inputs.constraints))
            if reason:
                print_(f"{start}: N/A\n{reason}\n\n")
                continue
            then = time.perf_counter()
            rows = each.rows(inputs)
            self._rows[each.name] = rows
            scores.append(mean_score(rows))
            if i == 0:  # the property of single columns
                self._without_score = without_score(inputs.tables, rows)
            print_(_bar(start, each.n_steps(inputs), time.perf_counter() - then))
            print_(f"{each.name} Score: {round(scores[-1] * 100, 2)}%\n\n")
        self._score = mean_score([{"Score": score} for score in scores])
        self.is_generated = True
        self.report_info["generation_time"] = time.perf_counter() - began
        print_(f"Overall Score (Average): {round(self._score * 100, 2)}%\n\n")

    def _note(self, inputs: Inputs) -> None:
        n_rows = [{name: t.n_rows(side) for name, t in inputs.tables.items()} for side in (0, 1)]
        self.report_info["generated_date"] = date.today().isoformat()
        self.report_info["num_tables"] = len(inputs.tables)
        self.report_info["num_rows_real_data"], self.report_info["num_rows_synthetic_data"] = n_rows

    def _check_constraints(self, constraints: Any) -> None:
        if constraints is None:
            return
        if not isinstance(constraints, list) or not all(isinstance(c, dict) for c in constraints):
            raise ValueError(
                f"{type(self).__name__} expects 'constraints' parameter to be a list of dictionaries, each one with "
                "the keys 'class_name' and 'parameters'."
            )

    def _why_skipped(self, name: str, has_constraints: bool) -> str:
        if self._hides(name):
            return _ONE_TABLE
        return _NO_CONSTRAINTS if name == _CONSTRAINTS and not has_constraints else ""

    def _hides(self, name: str) -> bool:
        return self._skips and name in RELATIONAL and len(self.table_names) == 1

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inputs": None}  # no value of the tables leaves with the report

    # --- what it found

    def get_score(self) -> float:
        """Return the mean of the properties' scores, those that are nan left out."""
        self._check_generated()
        return self._score

    def get_properties(self) -> Any:
        """Return a pandas frame with the score of each property."""
        self._check_generated()
        return as_frame(("Property", "Score"), [{"Property": n, "Score": score} for n, score in self.scores().items()])

    @classmethod
    def known_properties(cls) -> tuple[Property, ...]:
        """Return the properties of the report, in their order."""
        return cls._properties

    def scores(self) -> dict[str, float]:
        """Return the score of each property that applies, nan where there is none."""
        names = [p.name for p in self._properties if not self._hides(p.name)]
        return {name: mean_score(self._rows.get(name, [])) for name in names}

    def content(self) -> Content:
        """Return what a page or a terminal shows of the report."""
        self._check_generated()
        columns = {p.name: p.columns for p in self._properties}
        shown = [Shown(name, score, columns[name], self._rows.get(name, [])) for name, score in self.scores().items()]
        thresholds = (self.real_correlation_threshold, self.real_association_threshold)
        return Content(self._whole_info(), self.table_names, self._score, shown, thresholds)

    def get_details(self, property_name: str, table_name: str | None = None) -> Any:
        """Return a pandas frame with the score of each column, pair, table or relation.

        Parameters
        ----------
        property_name
            Name of the property.
        table_name
            Only rows of this table; of a relation, those in which it is parent or child; of constraints, all.
        """
        found = self._property(property_name)
        rows = self._rows.get(property_name, [])
        columns = found.columns if property_name in self._rows else ()
        if property_name == "Intertable Trends" and not rows:
            columns = ()
        if table_name and columns:
            of_one = self._of_table(rows, table_name)
            rows = rows if property_name == _CONSTRAINTS else of_one
        return as_frame(columns, rows)

    def _of_table(self, rows: list[Row], table_name: str) -> list[Row]:
        if table_name not in self.table_names:
            raise ValueError(f"Unknown table ('{table_name}'). Must be one of {self.table_names}.")
        return [r for r in rows if of_table(r, table_name)]

    def get_visualization(self, property_name: str, table_name: str | None = None, *, backend: str = "svg") -> Any:
        """Return a plot of the scores of a property; it holds names and scores and no value of the data.

        Parameters
        ----------
        property_name
            Name of the property.
        table_name
            The table; of several tables one must be named, but for Data Structure, whose plot is of all tables.
        backend
            "svg" returns a `Plot`, "plotly" a figure of plotly.

        Raises
        ------
        ValueError
            There is no such property or table, or no table is named.
        VisualizationUnavailableError
            The property has no plot.
        """
        self._property(property_name)
        return plotted(self._picture(property_name, table_name), backend)

    def _picture(self, property_name: str, table_name: str | None) -> Picture:
        rows = self._rows.get(property_name, [])
        if property_name in _OF_ALL_TABLES:
            return picture_of(property_name, rows, table=table_name)
        if table_name is None and len(self.table_names) != 1:
            raise ValueError("Please provide a table name to get a visualization for the property.")
        return picture_of(property_name, self._of_table(rows, table_name or self.table_names[0]), table=table_name)

    def get_info(self) -> dict[str, Any]:
        """Return kind and date of the report, versions, numbers of tables and rows, and the seconds that it took."""
        return deepcopy(self.report_info)

    def _whole_info(self) -> dict[str, Any]:
        """Return what SDMetrics does not tell, too: the columns that have no score."""
        apart = {_WITHOUT_SCORE: self._without_score} if self._without_score else {}
        return self.get_info() | deepcopy(apart)

    def _property(self, name: str) -> Property:
        found = next((p for p in self._properties if p.name == name), None)
        if found is None:
            valid = "', '".join(p.name for p in self._properties)
            raise ValueError(f"Invalid property name '{name}'. Valid property names are '{valid}'.")
        self._check_generated()
        if self._hides(name):
            raise ValueError("This property is not available for single-table datasets.")
        return found

    def _check_generated(self) -> None:
        if not self.is_generated:
            raise ValueError("The report has not been generated. Please call `generate` first.")

    # --- files

    def save(self, filepath: str | Path) -> None:
        """Write the report as JSON: names of tables and columns, scores and errors; no value of the data.

        Parameters
        ----------
        filepath
            Name of the file.
        """
        self._check_generated()
        thresholds = [self.real_correlation_threshold, self.real_association_threshold]
        saving.write(
            filepath,
            saving.Saved(self._whole_info(), self.table_names, thresholds, self._score, self._rows),
        )

    def to_html(self, path: str | Path | None = None, rules: Sequence[Condition] = ()) -> str:
        """Return the report as one offline HTML page, and write it when a path is given.

        Parameters
        ----------
        path
            Name of the file, or None.
        rules
            Rules on the scores and what was found about them, to be shown on the page.
        """
        from divulge.sdmetrics.reports.page import page

        return written(page(self.content(), rules), path)

    @classmethod
    def load(cls, filepath: str | Path) -> Self:
        """Return the report that a file of `save` holds.

        Parameters
        ----------
        filepath
            Name of the file. The pickles that SDMetrics writes are refused, as loading one can run any code.
        """
        saved = saving.read(filepath, {p.name: p.columns for p in cls._properties}, cls.__name__)
        report = cls()
        found = saved.info.pop(_WITHOUT_SCORE, [])
        if isinstance(found, list):
            report._without_score = [r for r in found if isinstance(r, dict) and {*r} == {"Table", "Column", "Reason"}]
        report.report_info, report.table_names = saved.info, saved.tables
        report.real_correlation_threshold, report.real_association_threshold = saved.thresholds
        report._score, report._rows, report.is_generated = saved.score, saved.details, True
        return report


def _silent(text: str) -> int:
    return len(text)


def _bar(start: str, n: int, seconds: float) -> str:
    """Return the line of a bar that is full, as tqdm writes it."""
    minutes, rest = divmod(int(seconds), 60)
    speed = f"{n / seconds:.2f}it/s" if n and seconds > 0 else "?it/s"
    clock = f"{minutes:02d}:{rest:02d}<00:00" if n else "00:00<?"
    return f"{start}: |{'█' * 10 if n else ' ' * 10}| {n}/{n} [{clock}, {speed}]|\n"
