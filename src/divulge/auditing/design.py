"""What a design is: how the training tables of an audit differ, and what is concluded from the synthetic ones.

`prepare` sees the people once and gives a `Trial`. The runner asks the trial for the training table of each run, gives
it the synthetic table that came back, and at the end all that it found. No design knows of processes or files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from divulge.auditing.pool import Pool, Training
from divulge.auditing.result import AuditResult, Run
from divulge.tables.frames import Table

__all__ = ["Design", "Evidence", "Trial"]

Evidence = Mapping[str, NDArray[np.generic]]
"""What one synthetic table says, as arrays of numbers by name; the runner keeps it in a file to resume."""


class Trial(Protocol):
    """A design for one pool of people."""

    def training(self, run: int) -> Training:
        """Return the training table of a run, from 0. It depends on the pool and the run's number alone."""

    def read(self, run: int, synthetic: Table) -> Evidence:
        """Return the evidence of a synthetic table. It may use `training(run)`, but no coin that it is to guess."""

    def conclude(self, evidence: Mapping[int, Evidence], runs: Sequence[Run]) -> tuple[AuditResult, ...]:
        """Return the results of the runs that gave a table.

        Parameters
        ----------
        evidence
            What was read, by the number of the run; runs that failed are missing.
        runs
            All runs that were made, in order.
        """

    def outlook(self, n_runs: int) -> tuple[str, ...]:
        """Return sentences on what so many trainings can find, and cannot."""


class Design(Protocol):
    """One kind of audit with its settings."""

    @property
    def name(self) -> str:
        """What `--design` calls it."""

    @property
    def settings(self) -> Mapping[str, str | int | float | bool | Sequence[str] | None]:
        """All that the trial depends on besides the pool; a resumed audit must have the same."""

    @property
    def n_least(self) -> int:
        """Trainings below which the design cannot say anything."""

    def prepare(self, pool: Pool) -> Trial:
        """Return the design for a pool. A `SettingError` says why it does not fit the table."""
