"""Primary comparisons: those fixed before the run that must bound the risk before it says "none found"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from msgspec.structs import replace

from divulge.attacks.checks import ACCEPTABLE, SHOWN
from divulge.attacks.entry import CATALOGUE, Attack, Primary
from divulge.attacks.membership.blind import same_people
from divulge.core.result import Result, is_compared, label, rounded_up
from divulge.report.model import Bound
from divulge.report.prose.bounds import SAME_PEOPLE, SEES_A_COPY, UNFAIR
from divulge.run.planning.options import Attacker

__all__ = ["bounds_of", "is_named", "untested"]

_MANKIND = 1e10  # more people than there are: nothing is said
_GUESSES = 20  # guesses below which the univariate attack of singling out states no bound


def bounds_of(
    results: Sequence[Result],
    level: float,
    acceptable: float = ACCEPTABLE,
    attacker: Attacker | None = None,
    n_members: int = 0,
    required: Sequence[str] | None = None,
    accepted: Mapping[str, float] | None = None,
) -> tuple[Bound, ...]:
    """Return the bound of each comparison that was fixed before the run; all of them hold together (Bonferroni).

    A bound is an upper limit, so that each has its share of the level on one side.

    Parameters
    ----------
    results
        Results of a run, with their comparisons.
    level
        Level at which the bounds hold together.
    acceptable
        Largest limit that counts as bounded.
    attacker
        The keys and targets that the user named; they make further comparisons primary.
    n_members
        Rows of the real table, for attacks that count guesses or rows.
    required
        Attacks whose bounds are primary, where a policy names them; None takes those of the catalogue.
    accepted
        Largest limit that counts as bounded, by attack, in place of `acceptable`.
    """
    chosen = list(_chosen(results, attacker or Attacker()))
    each = max(level, 1 - 2 * (1 - level) / max(1, len(chosen)))  # of one alone the limit that its result shows
    bounds = [
        _bound(
            r,
            words,
            primary if required is None else r.attack in required,
            each,
            acceptable,
            n_members,
            (accepted or {}).get(r.attack),
        )
        for r, words, primary in chosen
    ]
    return tuple(_covered([r for r, _, _ in chosen], bounds, acceptable))


def _covered(results: Sequence[Result], bounds: Sequence[Bound], acceptable: float) -> list[Bound]:
    """Return the bounds; where one covers what another bounds, the other has the smaller limit of both.

    Both are limits of the same share of members, such as those whose record was copied, and all bounds hold together.
    Other variants with the same hits, as near copies that are equal rows in tables of codes, are covered as well.
    """
    out = list(bounds)
    for over in bounds:
        entry = CATALOGUE[over.attack].primary
        if entry is None or entry.covers is None or over.limit is None or not entry.always(over.variant):
            continue
        attack, variant = entry.covers
        hits = {b.variant: (r.real, r.holdout) for r, b in zip(results, bounds, strict=True) if b.attack == attack}
        for i, b in enumerate(out):
            equal = b.attack == attack and variant in hits and hits.get(b.variant) == hits[variant]
            if equal and not b.why and (b.limit is None or b.limit > over.limit):
                bounded = over.limit <= (acceptable if b.acceptable is None else b.acceptable)
                out[i] = replace(b, limit=over.limit, bounded=bounded, people=None if bounded else over.people)
    return out


def untested(results: Sequence[Result], planned: Sequence[str], required: Sequence[str] | None = None) -> list[str]:
    """Return the attacks with primary comparisons that were planned, or that a policy requires, and compared nobody."""
    tested = {r.attack for r in results if is_compared(r)}
    if required is not None:
        return [a for a in dict.fromkeys(required) if a not in tested]
    return [
        a
        for a in dict.fromkeys(planned)
        if a not in tested and (p := CATALOGUE[a].primary) is not None and not p.first and not p.by_keys
    ]


def _chosen(results: Sequence[Result], attacker: Attacker) -> Iterator[tuple[Result, str, bool]]:
    """Yield each comparison that states a bound, what it compares, and whether it is a candidate for a primary."""
    compared = [r for r in results if is_compared(r) and r.comparison is not None]
    for name, entry in CATALOGUE.items():
        own, primary = [r for r in compared if r.attack == name], entry.primary
        if primary is None:
            continue
        most = max(map(_people_of, own), default=0)
        for r in own:
            if primary.always(r.variant) and _people_of(r) >= SEES_A_COPY * most:
                yield r, primary.words + (f" ({r.variant})" if _several(own, primary) else ""), True
            elif is_named(r, primary, attacker) and not _is_its_mean(r, entry, attacker):
                yield r, label(r), True
        if primary.first:
            enough = (
                r for v in primary.first for r in own if r.variant == v and r.real and r.real.counted[1] >= _GUESSES
            )
            if (one := next(enough, None)) is not None:
                yield one, f"{primary.words} ({one.variant})", False


def _people_of(result: Result) -> int:
    """Return how many members a comparison asks; of some, as of those with rows in a rare table, it says little."""
    return 0 if result.real is None else result.real.units or result.real.counted[1]


def _several(own: Sequence[Result], primary: Primary) -> bool:
    return sum(primary.always(r.variant) for r in own) > 1


def _is_its_mean(result: Result, entry: Attack, attacker: Attacker) -> bool:
    """Return whether a result over all targets says the same, as only one target was attacked."""
    return entry.summary is not None and len(attacker.targets or ()) == 1 and result.target is not None


def is_named(result: Result, primary: Primary, attacker: Attacker) -> bool:
    """Return whether a result is about a target, and keys where it must be, that the user named."""
    if not primary.named(result.variant) or result.target not in (attacker.targets or ()):
        return False
    return not primary.by_keys or bool(attacker.keys)


def _bound(
    result: Result,
    words: str,
    candidate: bool,
    level: float,
    acceptable: float,
    n_members: int,
    accepted: float | None = None,
) -> Bound:
    acceptable = acceptable if accepted is None else accepted
    _, risk = result.comparison.at(level)
    of_copy = result.context.get(SHOWN)
    shown = 1.0 if of_copy is None else min(1.0, max(0.0, of_copy))
    limit = risk.high / shown if isfinite(risk.high) and shown > 0 else 1.0
    limit = None if limit >= 1 else limit  # everybody may be affected: no bound
    n = result.real.counted[1] if result.real and result.counts == "people" else n_members
    bounded = limit is not None and limit <= acceptable
    unfair = getattr(result.comparison, "unfair", "")
    return Bound(
        attack=result.attack,
        variant=result.variant,
        keys=result.keys,
        target=result.target,
        words=words,
        primary=candidate and shown >= SEES_A_COPY,
        limit=limit,
        shown=shown,
        bounded=bounded,
        people=None if bounded or risk.high >= 1 else _people(n, risk.high - risk.value, acceptable * shown),
        why="" if not unfair else SAME_PEOPLE if same_people(unfair) else UNFAIR,
        acceptable=accepted,
    )


def _people(n: int, width: float, wanted: float) -> int | None:
    """Return how many members, instead of n, would bring the limit to the wanted one if nothing leaked, rounded.

    The width of an interval shrinks with the square root of the number of people. At least 1.1 times the present
    number, because the present limit was too large. Nothing is said of a limit that was cut at 1: its width is unknown.
    """
    if not (n and isfinite(width) and wanted > 0):
        return None
    more = n * max(1.1, (width / wanted) ** 2)
    return rounded_up(more, 2) if more <= _MANKIND else None
