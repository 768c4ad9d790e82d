"""The reports of one shape, which SDMetrics deprecates: the same scores, other arguments and columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from divulge.sdmetrics.metadata import table_metadata
from divulge.sdmetrics.reports.base import Report
from divulge.sdmetrics.reports.inputs import ONE_TABLE

__all__ = ["MultiTable", "SingleTable", "warn"]


def warn(shape: str, kind: str, instead: str) -> None:
    """Warn that a report is deprecated."""
    warnings.warn(
        f"The {shape} {kind} report is deprecated. Please use the {instead} from 'divulge.sdmetrics.reports' instead.",
        FutureWarning,
        stacklevel=3,
    )


class SingleTable(Report):
    """A report of two frames, whose details have no column for the table."""

    _skips = False

    def generate(
        self, real_data: Any, synthetic_data: Any, metadata: Any, constraints: Any = None, verbose: bool = True
    ) -> None:
        """Compute the report of two frames and the metadata of their table; see `Report.generate`."""
        if isinstance(real_data, Mapping) or isinstance(synthetic_data, Mapping):
            raise ValueError(
                f"Single table {type(self).__name__} expects real and synthetic data to be frames. If your real and "
                f"synthetic data are dictionaries of tables, please use the multi-table {type(self).__name__} instead."
            )
        super().generate(real_data, synthetic_data, _of_one_table(metadata), constraints, verbose)
        self.report_info.pop("num_tables")
        for which in ("num_rows_real_data", "num_rows_synthetic_data"):
            self.report_info[which] = self.report_info[which][ONE_TABLE]

    def get_details(self, property_name: str, table_name: str | None = None) -> Any:
        """Return a pandas frame with the score of each column or pair; see `Report.get_details`."""
        details = super().get_details(property_name)
        return details.drop(columns="Table")

    def get_visualization(self, property_name: str, table_name: str | None = None, *, backend: str = "svg") -> Any:
        """Return a plot of the scores of a property; see `Report.get_visualization`."""
        return super().get_visualization(property_name, ONE_TABLE, backend=backend)


def _of_one_table(metadata: Any) -> Any:
    entry = table_metadata(metadata)
    return {k: v for k, v in entry.items() if k != "tables"} if entry is not None else entry


class MultiTable(Report):
    """A report of dictionaries of frames, which has all properties also for one table."""

    _skips = False

    def generate(
        self, real_data: Any, synthetic_data: Any, metadata: Any, constraints: Any = None, verbose: bool = True
    ) -> None:
        """Compute the report of dictionaries of frames; see `Report.generate`."""
        if not isinstance(real_data, Mapping) or not isinstance(synthetic_data, Mapping):
            raise ValueError(
                f"Multi table {type(self).__name__} expects real and synthetic data to be dictionaries of frames. If "
                f"your real and synthetic data are frames, please use the single-table {type(self).__name__} instead."
            )
        super().generate(real_data, synthetic_data, metadata, constraints, verbose)
