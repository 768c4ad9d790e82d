"""The catalogue of attacks: what each asks, needs and refers to, and the public function made from it."""

from __future__ import annotations

import functools
import inspect
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from divulge.attacks.multiplicity import correct
from divulge.case.case import COLLECTED, LEFT_OUT, Case, build_case
from divulge.core.result import Result
from divulge.core.schema import Schema

__all__ = ["CATALOGUE", "CODED", "EVERY", "MIXED", "SHARED", "Attack", "Words", "attack"]

Results = tuple[Result, ...]
Run = Callable[..., Result | Results]


@dataclass(frozen=True, slots=True)
class Words:
    """How an attack explains itself; sentences end with a full stop, and may hold no markup."""

    says: str
    """What the attacker says, in the first person."""
    knows: str
    """What he knows."""
    data: str
    """What the attack takes: tables, kinds of columns, holdout."""
    formula: str
    """Lines of ASCII mathematics and what the letters stand for."""
    reading: str
    """What 0, 1, the baseline and negative numbers mean."""
    silent: tuple[str, ...]
    """What it does not tell, one sentence or two each."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of its own that the docstring does not list."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One entry of the catalogue."""

    name: str
    family: str
    """Attribution, singling out, distance or another: the heading in the report."""
    question: str
    """What the attacker says."""
    needs: str
    reference: str
    words: Words
    run: Run
    """`run(case, **settings)`: the attack on tables that are laid already."""


CATALOGUE: dict[str, Attack] = {}
CODED = (
    "Numbers and dates are put into bins, by default ten of equal counts among real and holdout; missing is a value "
    "of its own."
)
"""What `Words.data` says of attacks that count."""
MIXED = (
    "A distance is the mean over columns: numbers count by their difference over the range of real and holdout, at "
    "most 1, all else 0 or 1, and missing equals missing. Constants, identifiers, free text, the unit and ignored "
    "columns are left out unless named."
)
"""What `Words.data` says of attacks that measure distances."""
SHARED = {"keys": "Columns that the attacker knows.", "target": "Column that he wants."}
"""Settings that mean the same wherever an attack does not say otherwise."""
EVERY = (
    "Every attack also takes `holdout` (people of the same population that the synthesizer never saw), `schema`, "
    "`unit` (the column of the person or household), `missing` (texts that stand for missing), `seed` and `level` "
    "(of the interval)."
)
_BY_ROW = ("distance", "exposure", "singling out", "linkability", "inference")

_TABLES = inspect.signature(
    lambda real, synthetic, *, holdout=None, schema=None, unit=None, missing=(), seed=0, level=0.95: None
)


def attack(*, family: str, question: str, needs: str, reference: str, words: Words) -> Callable[[Run], Any]:
    """Enter a function into the catalogue and return the public function that lays the tables for it.

    The decorated function takes a `Case` and its own keyword settings. The public one takes the tables instead,
    and `holdout`, `schema`, `unit`, `missing`, `seed` and `level` beside the settings; `public.run` is the
    decorated function, timed.
    """

    def enter(function: Run) -> Any:
        @functools.wraps(function)
        def run(case: Case, **settings: Any) -> Result | Results:
            began = time.perf_counter()
            found = function(case, **settings)
            seconds = time.perf_counter() - began
            if isinstance(found, Result):
                return replace(found, seconds=seconds)
            return tuple(replace(r, seconds=seconds / len(found)) for r in found)

        @functools.wraps(function)
        def public(
            real: Any,
            synthetic: Any,
            *,
            holdout: Any = None,
            schema: Schema | None = None,
            unit: str | None = None,
            missing: Sequence[str] = (),
            seed: int = 0,
            level: float = 0.95,
            **settings: Any,
        ) -> Result | Results:
            own.bind(None, **settings)  # a wrong setting fails before the tables are read
            case = build_case(
                real, synthetic, holdout, schema=schema, unit=unit, missing=missing, seed=seed, level=level
            )
            if family in _BY_ROW:
                case = case.collected("this attack needs every row")
            found = _with_notes(
                run(case, **settings), [n for n in case.notes if LEFT_OUT in n or n.startswith(COLLECTED)]
            )
            # several comparisons in one call are one family; `assess` corrects over all calls of an attack
            return found if isinstance(found, Result) else tuple(correct(case, found))

        own = inspect.signature(function)
        extra = [p for n, p in own.parameters.items() if n != "case"]
        shared = list(_TABLES.parameters.values())
        public.__signature__ = _TABLES.replace(parameters=[*shared[:3], *extra, *shared[3:]])  # type: ignore[attr-defined] # functions take attributes
        public.run = run  # type: ignore[attr-defined] # functions take attributes
        public.__doc__ = (function.__doc__ or "").rstrip() + _COMMON.format(every=_EVERY_LINES, reference=reference)
        CATALOGUE[function.__name__] = Attack(function.__name__, family, question, needs, reference, words, run)
        return public

    return enter


def _with_notes(found: Result | Results, notes: Sequence[str]) -> Result | Results:
    """Return the results, the first with what there was to say about the tables."""
    if isinstance(found, Result):
        return replace(found, notes=(*found.notes, *notes))
    return tuple(replace(r, notes=(*r.notes, *(() if i else notes))) for i, r in enumerate(found))


_EVERY_LINES = textwrap.fill(EVERY, 116, subsequent_indent="    ")
_COMMON = """

    {every}

    References
    ----------
    {reference}
    """
