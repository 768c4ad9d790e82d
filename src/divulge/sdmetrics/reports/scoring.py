"""SDMetrics' two reports of tables of any kind: `divulge.quality` and `divulge.diagnose`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from divulge.core.errors import SettingError
from divulge.core.memory import read_as_told
from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.details import is_own
from divulge.sdmetrics.reports.diagnostic_report import DiagnosticReport
from divulge.sdmetrics.reports.quality_report import QualityReport
from divulge.sdmetrics.reports.read_inputs import check_memory, counted_inputs, loaded, read_inputs
from divulge.tables.counting import COUNTING

__all__ = ["diagnose", "quality"]

Progress = Callable[[str, int, int], None]
Say = Callable[[str], None]


@read_as_told
def quality(
    real: Any,
    synthetic: Any,
    *,
    schema: Any = None,
    tables: Sequence[str] = (),
    missing: Sequence[str] = (),
    engine: str = "auto",
    beyond_memory: bool = False,
    progress: Progress = lambda what, done, total: None,
    before: Say = lambda told: None,
) -> QualityReport:
    """Return how alike the synthetic and the real tables are: SDMetrics' quality report, over all rows.

    The scores are those of SDMetrics 0.32.0. Another sample of the same people scores below 1, too; the report says
    what it would score, and `fidelity` which differences are more. They say nothing about disclosure: `assess` does.

    Parameters
    ----------
    real, synthetic
        Two tables: frames of any kind, or paths of files. Several tables each: dictionaries of them, or two folders.
    schema
        Types, keys and relations: a `Schema`, SDV metadata, or the path of a file of either. None infers them from the
        real tables.
    tables
        The tables to take from two folders, as "users=users.csv"; empty takes all files.
    missing
        Texts that stand for missing.
    engine
        "duckdb" and "polars" count one table where it is.
    beyond_memory
        Whether to begin although the tables are not expected to fit into memory.
    progress, before
        Called with the step, the steps done and the number of steps; and with notes on the tables.

    Returns
    -------
    QualityReport
        `get_score()`, `get_details(property)`, `save(path)`, `to_html(path)`.

    Raises
    ------
    DivulgeError
        Tables or schema cannot be used, or do not fit each other.

    Examples
    --------
    >>> from divulge.demo import tables
    >>> real, synthetic, holdout = tables()
    >>> report = quality(real, synthetic)
    >>> round(report.get_score(), 3), {n: round(score, 3) for n, score in report.scores().items()}
    (0.953, {'Column Shapes': 0.965, 'Column Pair Trends': 0.941})
    """
    report = QualityReport()
    _generate(report, real, synthetic, schema, tables, missing, engine, beyond_memory, progress, before, strict=True)
    report.get_fresh_sample()
    return report


@read_as_told
def diagnose(
    real: Any,
    synthetic: Any,
    *,
    schema: Any = None,
    tables: Sequence[str] = (),
    missing: Sequence[str] = (),
    engine: str = "auto",
    beyond_memory: bool = False,
    progress: Progress = lambda what, done, total: None,
    before: Say = lambda told: None,
) -> DiagnosticReport:
    """Return whether the synthetic tables have the columns, limits and keys of the real ones: SDMetrics' diagnostic.

    The scores are those of SDMetrics 0.32.0. Ranges, formats and keys come from the schema.

    Parameters
    ----------
    real, synthetic, schema, tables, missing, engine, beyond_memory, progress, before
        As in `quality`.

    Returns
    -------
    DiagnosticReport
        `get_score()`, `get_details(property)`, `save(path)`, `to_html(path)`.

    Raises
    ------
    DivulgeError
        Tables or schema cannot be used, or do not fit each other.

    Examples
    --------
    >>> from divulge.demo import tables
    >>> real, synthetic, holdout = tables()
    >>> diagnose(real, synthetic).scores()
    {'Data Validity': 1.0, 'Data Structure': 1.0, 'Constraint Validity': nan}
    """
    report = DiagnosticReport()
    _generate(report, real, synthetic, schema, tables, missing, engine, beyond_memory, progress, before, strict=False)
    return report


def _generate(
    report: Report,
    real: Any,
    synthetic: Any,
    schema: Any,
    tables: Sequence[str],
    missing: Sequence[str],
    engine: str,
    beyond_memory: bool,
    progress: Progress,
    before: Say,
    *,
    strict: bool,
) -> None:
    """Read the tables, and compute the report; what an engine counts stays where it is."""
    if engine not in ("auto", "memory", *COUNTING):
        raise SettingError(f"engine: unknown engine. hint: use auto, memory or {', '.join(COUNTING)}.")
    progress("reading the tables", 0, 1)
    if engine in COUNTING:
        inputs = counted_inputs(
            real, synthetic, schema, tables, missing, engine, strict=strict, beyond_memory=beyond_memory
        )
    else:
        real, synthetic = loaded(real, "real"), loaded(synthetic, "synthetic")
        if not beyond_memory:
            check_memory(real, synthetic, tables, missing)
        inputs = read_inputs(real, synthetic, schema, tables, missing, strict=strict)
    for note in inputs.notes:
        before(note)
    progress("comparing", 0, 1)
    given = (inputs.real, inputs.synthetic, inputs.metadata)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say is a score of nan, or an error beside one
            if engine in COUNTING:
                report.generate_in(engine, *given, missing=missing, progress=progress)
            else:
                report.generate(*given, verbose=False)
    except (TypeError, ValueError) as error:
        if not is_own(error):
            raise
        raise SettingError(str(error)) from None
    report.report_info["metadata_source"] = inputs.source
