"""The registry of measures of related tables and of sequences, and the public function made from each."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema
from divulge.measures.entry import Better, Family, Measure, MeasureWords, Run
from divulge.measures.linked.tables import linked_tables
from divulge.measures.registry import timed
from divulge.measures.result import FidelityResult

__all__ = ["LINKED", "linked_measure"]

LINKED: dict[str, Measure] = {}
"""The measures in the order in which a run makes them; `run` takes a `Linked`."""

_TABLES = inspect.signature(
    lambda real, synthetic, holdout=None, *, schema=None, sequence_key=None, sequence_index=None, missing=(), seed=0,
    level=0.95: None
)  # fmt: skip
_EVERY = (
    "Tables are dictionaries of frames by name, or one frame each. Every measure of relations or sequences also takes "
    "`holdout` (the same tables of people that the synthesizer never saw), `schema` (columns, relations and sequences; "
    "the rest is inferred), `sequence_key` and `sequence_index` (columns, where each side is one table), `missing` "
    "(texts that stand for missing), `seed` and `level` (of the interval)."
)


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
        run = timed(function)
        LINKED[function.__name__] = Measure(
            function.__name__, family, question, needs, reference, better, null, words, run, models=models
        )
        return _public(run, reference)

    return enter


def _public(run: Run, reference: str) -> Any:
    own = inspect.signature(run)

    @functools.wraps(run)
    def public(
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
        **settings: Any,
    ) -> tuple[FidelityResult, ...]:
        own.bind(None, **settings)  # an unknown setting fails before the tables are read
        linked = linked_tables(
            real, synthetic, holdout, schema=schema, sequence_key=sequence_key, sequence_index=sequence_index,
            missing=missing, seed=seed, level=level,
        )  # fmt: skip
        return run(linked, **settings)

    extra = [p for n, p in own.parameters.items() if n != "linked"]
    shared = list(_TABLES.parameters.values())
    public.__signature__ = _TABLES.replace(parameters=[*shared[:3], *extra, *shared[3:]])  # type: ignore[attr-defined] # functions take attributes
    public.run = run  # type: ignore[attr-defined] # functions take attributes
    lines = textwrap.fill(_EVERY, 116)
    public.__doc__ = inspect.cleandoc(run.__doc__ or "") + _COMMON.format(every=lines, reference=reference)
    return public


_COMMON = """

{every}

References
----------
{reference}
"""
