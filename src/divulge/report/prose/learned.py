"""What models learned from a synthetic table and from real rows, in plain lines."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.core.result import tidy
from divulge.measures.result import FidelityResult
from divulge.report.formatting import name

__all__ = ["agreement_lines"]

_KEYS = ("importance_agreement", "importance_agreement_real")
_WHY = "importances of columns are not compared: "


def agreement_lines(results: Sequence[FidelityResult]) -> tuple[str, ...]:
    """Return for each target how far models agree on the columns that matter, or why that is not known.

    Parameters
    ----------
    results
        Of a run; those of other measures than `ml_efficacy` have nothing to tell.

    Examples
    --------
    >>> known = {"importance_agreement": 0.9, "importance_agreement_real": 0.95}
    >>> agreement_lines([FidelityResult(measure="ml_efficacy", variant="linear", target="pay", context=known)])[0]
    'columns that matter for pay: rank correlation 0.90 linear (two real parts: 0.95)'
    """
    targets: dict[tuple[str, str], list[FidelityResult]] = {}
    for r in results:
        if r.measure == "ml_efficacy" and r.target is not None and r.variant:
            targets.setdefault((r.table, r.target), []).append(r)
    return tuple(line for (_, target), own in targets.items() if (line := _line(target, own)))


def _line(target: str, own: Sequence[FidelityResult]) -> str:
    known = [(r.variant, *(r.context.get(key) for key in _KEYS)) for r in own]
    numbers = [(v, a, b) for v, a, b in known if isinstance(a, int | float) and isinstance(b, int | float)]
    why: dict[str, list[str]] = {}
    for r in own:
        for note in r.notes:
            if note.startswith(_WHY):
                why.setdefault(note.removeprefix(_WHY), []).append(r.variant)
    parts = []
    if numbers:
        of_synthetic = ", ".join(f"{a:.2f} {v}" for v, a, _ in numbers)
        parts.append(f"rank correlation {of_synthetic} (two real parts: {', '.join(f'{b:.2f}' for *_, b in numbers)})")
    parts += [f"not compared for {', '.join(variants)}: {reason}" for reason, variants in why.items()]
    return f"columns that matter for {tidy(name(target)) or repr(target)}: {'; '.join(parts)}" if parts else ""
