"""What a synthetic table keeps, in plain sentences: for the first screen, the terminal, and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from divulge.core.result import tidy
from divulge.measures import catalogue as _  # noqa: F401 # enters the measures
from divulge.measures.differing import Differing, differing, told_of
from divulge.measures.registry import REGISTRY
from divulge.measures.result import VERDICTS, FidelityResult, FidelityVerdict, digits, grouped, name_of
from divulge.measures.too_close import drawn_ruler, is_closer
from divulge.report.formatting import capitalized, enumerated, name, several
from divulge.report.model import Assessment
from divulge.report.policy_model import ChangedFidelity
from divulge.report.prose.compared import Bar
from divulge.report.verdicts import FIDELITY

__all__ = [
    "PAIRS",
    "SCALE_IN_WORDS",
    "Kept",
    "agreement_lines",
    "bars",
    "changed_line",
    "differing_lines",
    "differing_of",
    "drawn_of",
    "family_of",
    "farthest",
    "fresh_range",
    "headlines",
    "is_too_close",
    "judged",
    "kept_lines",
    "measure_name",
    "of_pairs",
    "question_of",
    "silent_line",
    "times",
    "told",
    "use_word",
    "worst",
]

PAIRS = "column_pairs"
_NAMED = 3
_LISTED, _FURTHER = 3, 10
"""Columns that differ whose results are told, and further ones that are named."""


def headlines(data: Assessment) -> tuple[FidelityResult, ...]:
    """Return the first result of each measure, and of each table, which is about all columns together."""
    return tuple(own[0] for own in grouped(data.fidelity))


def family_of(result: FidelityResult) -> str:
    """Return the heading under which a measure stands: "columns", "pairs", "validity"."""
    entry = REGISTRY.get(result.measure)
    return "further measures" if entry is None else entry.family


def is_too_close(data: Assessment) -> bool:
    """Return whether pairs of columns, or correlations, are closer to the real table than rows drawn from it."""
    return data.fidelity_scope is not None and data.fidelity_scope.too_close


def times(ruler: float) -> str:
    """Return a ruler with the digits that it carries.

    Examples
    --------
    >>> times(0.804), times(3.21), times(15.07)
    ('0.80', '3.2', '15')
    """
    return f"{ruler:.2f}" if ruler < 2 else f"{ruler:.1f}" if ruler < 9.95 else f"{ruler:.0f}"


def measure_name(result: FidelityResult) -> str:
    """Return the name of a measure in words, of several tables with the table."""
    return tidy(result.measure.replace("_", " ") + (f" of {result.table}" if result.table else ""))


def question_of(result: FidelityResult) -> str:
    """Return what a measure asks; "" for one of another package that is not there."""
    entry = REGISTRY.get(result.measure)
    return "" if entry is None else entry.question


def of_pairs(data: Assessment) -> FidelityResult | None:
    """Return the result that stands for fidelity: the mean over all pairs, else over all columns; None without.

    Of several tables it is that of the table which is farthest.
    """
    known = [r for r in headlines(data) if r.verdict != "not measured"]
    for measure in (PAIRS, "column_shapes"):
        if own := [r for r in known if r.measure == measure]:
            return max(own, key=lambda r: r.ruler or 0.0)  # the first of equal ones
    return None


def drawn_of(result: FidelityResult) -> float | None:
    """Return the ruler of rows drawn from the real table; None where an edition withholds the sizes."""
    return drawn_ruler(result.n, result.m) if result.n and result.m else None


def fresh_range(result: FidelityResult) -> tuple[float, float] | None:
    """Return between which rulers 95 of 100 fresh samples are; None where that is not known."""
    fresh = result.fresh_sample
    return None if fresh is None or not fresh.mean else (fresh.low / fresh.mean, fresh.high / fresh.mean)


def judged(data: Assessment, verdict: FidelityVerdict) -> tuple[str, ...]:
    """Return the measures with this verdict over all columns, in words."""
    return tuple(measure_name(r) for r in headlines(data) if r.verdict == verdict)


def worst(data: Assessment, measure: str = PAIRS, table: str = "") -> tuple[FidelityResult, ...]:
    """Return the columns or pairs of a measure, of one table, that differ, the largest ruler first."""
    of = (r for r in data.fidelity if r.measure == measure and r.table == table)
    own = [r for r in of if r.columns and r.verdict == "differs"]
    return tuple(sorted(own, key=lambda r: (-(r.ruler or 0.0), r.columns)))


# ---------------------------------------------------------------- the first screen


def _what(head: FidelityResult) -> str:
    """Return what is compared, of several tables the farthest."""
    return _WHAT.get(head.measure, "Columns") + (f" of {name(head.table)}" if head.table else "")


def _inside(what: str) -> str:
    """Return what is compared inside a sentence; the name of a table keeps its letters."""
    return what[:1].lower() + what[1:]


_WHAT = {PAIRS: "Pairs of columns", "column_shapes": "Columns"}


def bars(head: FidelityResult) -> tuple[Bar, ...]:
    """Return the ruler of the synthetic table beside that of another sample, on one scale; () where it is withheld."""
    inside = fresh_range(head)
    if head.ruler is None or inside is None:
        return ()
    return (
        Bar("synthetic", "this table", min(1.0, head.ruler / SCALE), times(head.ruler)),
        Bar("strangers", "new sample", 1 / SCALE, f"1 ({inside[0]:.2f} to {inside[1]:.2f})"),
    )


SCALE = 5
"""The ruler at which the bar of use ends."""
_USES = ((2, "a little coarser"), (4, "coarse"), (float("inf"), "of little use for counts"))
"""Words for a ruler up to these that is above those of new samples."""
SCALE_IN_WORDS = "below 1 is closer, as copies are; above 4, of little use"
"""The scale of use, beside a 1 for a new sample."""


def use_word(head: FidelityResult) -> str:
    """Return in a few words how useful a table is that lies so far from the real one; "" where that is withheld.

    The word follows from the ruler alone: below, among or above those of 95 of 100 new samples.
    """
    if head.ruler is None:
        return ""
    low, high = fresh_range(head) or (1.0, 1.0)
    if head.ruler < low:
        return "closer than a new sample" if head.verdict == _CLOSER else "closer than most new samples"
    return "like a new sample" if head.ruler <= high else next(word for most, word in _USES if head.ruler <= most)


_CLOSER: FidelityVerdict = "closer than a fresh sample"


def brief(data: Assessment, head: FidelityResult) -> str:
    """Return what a table keeps beside its bars and its word: how many pairs differ, and the scale."""
    if head.ruler is None:
        return told(data, head)
    differ, what = len(worst(data, head.measure, head.table)), _what(head)
    if head.verdict == "cannot tell":
        return f"Distance of {_inside(what)}: {SCALE_IN_WORDS}."
    of = f"{differ:,} of {_compared(head):,} {_inside(what)} differ{'s' * (differ == 1)} beyond chance."
    return f"{of if differ else f'{what}: {FIDELITY[head.verdict].of_distance}'} {capitalized(SCALE_IN_WORDS)}."


def told(data: Assessment, head: FidelityResult) -> str:
    """Return what a table keeps in one or two plain sentences."""
    what = _what(head)
    if head.ruler is None:
        return f"{what}: {FIDELITY[head.verdict].of_distance} This edition withholds the number."
    differ, inside = len(worst(data, head.measure, head.table)), fresh_range(head)
    of = f"{differ:,} of {_compared(head):,} {_inside(what)} {'differs' if differ == 1 else 'differ'} beyond chance."
    counted = f" {of}" if differ else ""
    close = " Rows drawn from the real table itself would be farther away." if is_closer(head) else _below(head)
    far = f"{times(head.ruler)} times as far from the real table as a new sample of people would be"
    if head.verdict == "differs" and differ and inside is not None and head.ruler <= inside[1]:
        return f"On average {_inside(what)} are {far}, yet {of}{close}"
    return f"{what} are {far}: {FIDELITY[head.verdict].of_distance}{counted}{close}"


def _below(head: FidelityResult) -> str:
    """Return what a ruler below those of new samples says; "" of another one."""
    inside = fresh_range(head)
    below = head.ruler is not None and inside is not None and head.ruler < inside[0]
    return " Less than 1 is closer to the real people than new people are: copied values do that." if below else ""


# ---------------------------------------------------------------- lines of text


@dataclass(frozen=True, slots=True)
class Kept:
    """One line about fidelity."""

    verdict: FidelityVerdict
    words: str


def kept_lines(data: Assessment) -> tuple[Kept, ...]:
    """Return lines on the columns that differ, on pairs of columns, and on each verdict of other measures."""
    lines = [Kept("differs", line) for line, _listed in differing_lines(differing_of(data), data.fidelity)]
    head = of_pairs(data)
    if head is not None:
        lines.append(Kept(head.verdict, _of_head(head, worst(data, head.measure, head.table))))
    for verdict in VERDICTS[:4]:
        others = [m for m in judged(data, verdict) if head is None or m != measure_name(head)]
        if others:
            lines.append(Kept(verdict, f"{verdict}: {', '.join(map(tidy, others))}"))
    return tuple(lines)


def differing_of(data: Assessment) -> tuple[Differing, ...]:
    """Return the columns that explain what differs; () in an external edition."""
    return differing(data.fidelity)  # a file of an earlier version does not have them


def differing_lines(found: Sequence[Differing], results: Sequence[FidelityResult]) -> Iterator[tuple[str, list[str]]]:
    """Yield a line for each column that explains what differs, with one for each of its measures; then one of others.

    Parameters
    ----------
    found
        Of `divulge.measures.differing`.
    results
        The results that it was found from.
    """
    for one in found[:_LISTED]:
        yield tidy(one.sentence), [farthest(n, worst) for n, worst in told_of(one, results)]
    if further := found[_LISTED:]:
        named = ", ".join(tidy(" and ".join(one.columns)) for one in further[:_FURTHER])
        more = len(further) - _FURTHER
        yield f"further columns that differ: {named}{f' and {more:,} more' if more > 0 else ''}", []


def farthest(n: int, worst: FidelityResult) -> str:
    """Return the number of differing results of one measure, and the one that is farthest."""
    ruler = "" if worst.ruler is None else f", ruler {times(worst.ruler)}"
    value = "undefined" if worst.value is None else digits(worst.value)
    of = f" ({n:,} differ, this one most)" if n > 1 else ""
    return f"{tidy(name_of(worst))}: {worst.quantity} {value}{ruler}{of}"


def _of_head(head: FidelityResult, differ: Sequence[FidelityResult]) -> str:
    what = measure_name(head)
    inside = fresh_range(head)
    within = head.ruler is not None and inside is not None and head.ruler <= inside[1]
    told = f"{what}: {'as a whole like a fresh sample' if head.verdict == 'differs' and within else head.verdict}"
    if head.ruler is not None and inside is not None:
        told += f", {times(head.ruler)} times a fresh sample's distance ({inside[0]:.2f} to {inside[1]:.2f} by chance)"
    if differ:
        named = enumerated([" + ".join(map(name, r.columns)) for r in differ[:_NAMED]])
        more = len(differ) - _NAMED
        told += f"; {len(differ):,} of {several(_compared(head), 'comparison')} differ: {named}"
        told += f" and {more:,} more" if more > 0 else ""
    return told


def _compared(head: FidelityResult) -> int:
    n = head.context.get("compared", 0)
    return int(n) if isinstance(n, int | float) else 0


def changed_line(data: Assessment) -> str:
    """Return which measures changed since the previous run, in one line; "" where it has none of them."""
    rows = () if data.change is None else data.change.fidelity
    if not rows:
        return ""
    moved = [f"{tidy(r.measure.replace('_', ' '))} is {r.verdict}{_rulers(r)}" for r in rows if r.verdict in _MOVED]
    told = "; ".join(moved) or f"no change found in {several(len(rows), 'measure')}"
    return f"Fidelity since the previous run: {told}."


_MOVED = ("farther", "closer")


def _rulers(r: ChangedFidelity) -> str:
    return "" if r.before is None or r.now is None else f" (ruler {r.before:.2f} before, {r.now:.2f} now)"


def silent_line(data: Assessment) -> str:
    """Return which measures of fidelity have no number, and why, in one line; "" where all have one."""
    scope = data.fidelity_scope
    if scope is None:
        return "Fidelity was left out."
    why: dict[str, list[str]] = {}
    for n in scope.not_measured:
        why.setdefault(n.why, []).append(n.measure.replace("_", " "))
    parts = [f"{', '.join(map(tidy, names))} ({tidy(reason)})" for reason, names in why.items()]
    parts += [f"column {name(c.column)} ({c.why})" for c in scope.not_compared]
    return f"Fidelity not compared: {'; '.join(parts)}." if parts else ""


_AGREEMENT = ("importance_agreement", "importance_agreement_real")
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
    return tuple(line for (__, target), own in targets.items() if (line := _agreement(target, own)))


def _agreement(target: str, own: Sequence[FidelityResult]) -> str:
    known = [(r.variant, *(r.context.get(key) for key in _AGREEMENT)) for r in own]
    numbers = [(v, a, b) for v, a, b in known if isinstance(a, int | float) and isinstance(b, int | float)]
    why: dict[str, list[str]] = {}
    for r in own:
        for note in r.notes:
            if note.startswith(_WHY):
                why.setdefault(note.removeprefix(_WHY), []).append(r.variant)
    parts = []
    if numbers:
        of_synthetic = ", ".join(f"{a:.2f} {v}" for v, a, __ in numbers)
        parts.append(f"rank correlation {of_synthetic} (two real parts: {', '.join(f'{b:.2f}' for *__, b in numbers)})")
    parts += [f"not compared for {', '.join(variants)}: {reason}" for reason, variants in why.items()]
    return f"columns that matter for {tidy(name(target)) or repr(target)}: {'; '.join(parts)}" if parts else ""
