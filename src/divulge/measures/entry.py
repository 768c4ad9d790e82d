"""The entry of a measure in the registry: its explanation, its reference point, and when a run makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from divulge.measures.result import FidelityResult

__all__ = ["Better", "Family", "Measure", "MeasureWords", "Run", "Seconds"]

Run = Callable[..., tuple[FidelityResult, ...]]
Seconds = Callable[[int, int], float]
"""Takes the rows of all tables and the columns that are compared."""
Better = Literal["lower", "higher", "near the reference"]
Family = Literal["columns", "pairs", "joint", "learning", "validity", "relations", "sequences"]


@dataclass(frozen=True, slots=True)
class MeasureWords:
    """The explanation of a measure. Sentences end with a full stop and contain no markup."""

    what: str
    """What is compared, in one sentence."""
    formula: str
    """Formulas in ASCII, one a line, and the meaning of their letters."""
    reading: str
    """The meaning of 0, of a fresh sample's value, and of more."""
    silent: tuple[str, ...]
    """What the measure does not see, one or two sentences each."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One entry of the registry."""

    name: str
    family: Family
    """A heading in the report."""
    question: str
    """What the reader wants to know: "Has each column the values of the real one?"."""
    needs: str
    """Which tables, columns and packages it needs, in words."""
    reference: str
    """Where the method is from."""
    better: Better
    null: str
    """What a fresh sample of the population shows, and how it is found: "the columns of relabelled blocks of rows"."""
    words: MeasureWords
    run: Run
    """`run(case, **settings)` returns the results; the first is about all columns together where there is one. It is
    given those of the settings `tolerance`, `targets` and `groups` that it takes."""
    custodian_only: bool = False
    """Whether its results say more than an external edition may, even as rounded counts."""
    holdout: bool = False
    """Whether nothing can be measured without a holdout."""
    models: bool = False
    """Whether it fits models, which takes most of the time; a run can leave these out."""
    share: float = 1.0
    """As how much of a measure it counts where p-values are corrected over measures."""
    seconds: Seconds | None = None
    """CPU seconds that it takes, about, of a measure that runs make where this is less than a tenth of theirs."""
