"""The registry of measures of related tables and of sequences, and the public function made from each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from divulge.case.door import public_function
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema
from divulge.measures.entry import Better, Family, Measure, MeasureWords, Run
from divulge.measures.linked.tables import linked_tables
from divulge.measures.registry import timed
from divulge.measures.result import FidelityResult

__all__ = ["LINKED", "linked_measure"]

LINKED: dict[str, Measure] = {}
"""The measures in the order in which a run makes them; `run` takes a `Linked`."""


def linked_measure(
    *,
    family: Family,
    question: str,
    needs: str,
    reference: str,
    words: MeasureWords,
    better: Better = "lower",
    null: str = "Families of rows (a root row and all below it, or a sequence) are dealt into blocks whole, and the "
    "blocks relabelled 999 times.",
    models: bool = False,
) -> Callable[[Run], Any]:
    """Enter a function into the registry and return the public function that reads the tables for it.

    The decorated function takes a `Linked` whose keys are ignored and its own keyword settings, and returns a tuple of
    `FidelityResult`. `public.run` is the decorated function, timed.
    """

    def enter(function: Run) -> Any:
        entry = Measure(
            function.__name__, family, question, needs, reference, better, null, words, timed(function), models=models
        )
        LINKED[entry.name] = entry
        return public_function(entry, _answer)

    return enter


def _answer(
    entry: Measure,
    settings: dict[str, Any],
    real: Any,
    synthetic: Any,
    holdout: Any = None,
    *,
    schema: RelationalSchema | Schema | None = None,
    sequence_key: Any = None,
    sequence_index: Any = None,
    missing: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> tuple[FidelityResult, ...]:
    """Return the results of a measure on related tables or sequences.

    Parameters
    ----------
    real
        The training data of the synthesizer: a dictionary of frames by name, or one frame.
    synthetic
        The synthetic tables, likewise.
    holdout
        The same tables of people that the synthesizer never saw. None leaves what needs them out.
    schema
        Columns, relations and sequences that are not to be inferred.
    sequence_key
        Column, or columns, of the sequence, where each side is one table.
    sequence_index
        Column that orders the rows of a sequence, where each side is one table.
    missing
        Texts that stand for missing.
    seed
        Of everything that is drawn at random.
    level
        Of the intervals.
    """
    linked = linked_tables(
        real, synthetic, holdout, schema=schema, sequence_key=sequence_key, sequence_index=sequence_index,
        missing=missing, seed=seed, level=level,
    )  # fmt: skip
    return entry.run(linked, **settings)
