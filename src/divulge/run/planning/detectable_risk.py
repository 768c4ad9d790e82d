"""How small a risk a run of this size can find, known before it begins."""

from __future__ import annotations

from divulge.case.case import Case
from divulge.core.result import rounded_up
from divulge.stats.power import smallest_detectable

__all__ = ["RATES", "people_needed", "reach_in_words", "smallest_excess", "smallest_risk"]

_STRANGERS_HIT = 0.3
"""Rate of strangers for which the reach is stated. Rarer hits are found at smaller risks, commoner ones at larger."""
RATES = (0.02, 0.1, 0.3, 0.5)
"""Rates of strangers for which `divulge plan` tells the smallest excess."""
_MOST = 2**22  # people beyond which the search stops: a limit on the time


def smallest_excess(n_members: int, n_strangers: int, n_attacks: int, level: float, strangers_hit: float) -> float:
    """Return the smallest excess over strangers that one comparison finds with 80% power.

    The power is that after correction for the number of attacks; nan where no excess would be found.

    Examples
    --------
    >>> [round(smallest_excess(1_000_000, 250_000, 1, 0.9, rate), 4) for rate in (0.02, 0.5)]
    [0.0008, 0.0028]
    """
    each = 1 - (1 - level) / max(1, n_attacks)
    return smallest_detectable(strangers_hit, n_members, n_strangers, level=each)


def smallest_risk(n_members: int, n_strangers: int, n_attacks: int, level: float) -> float:
    """Return the smallest risk that one comparison finds with 80% power after correction for the number of attacks.

    Strangers are taken to be hit in 30% of cases. nan where no risk would be found.

    Examples
    --------
    >>> round(smallest_risk(250, 250, 15, 0.95), 2), round(smallest_risk(10_000, 10_000, 15, 0.95), 3)
    (0.24, 0.036)
    """
    return smallest_excess(n_members, n_strangers, n_attacks, level, _STRANGERS_HIT) / (1 - _STRANGERS_HIT)


def people_needed(risk: float, n_attacks: int, level: float) -> int:
    """Return how many members, and as many strangers, make `smallest_risk` at most `risk`; two digits, upward.

    Examples
    --------
    >>> people_needed(0.05, 15, 0.95)
    5200
    """
    many = 16
    while many < _MOST and not smallest_risk(many, many, n_attacks, level) <= risk:
        many *= 2
    few = many // 2
    while few < many:
        n = (few + many) // 2
        if smallest_risk(n, n, n_attacks, level) <= risk:
            many = n
        else:
            few = n + 1
    return rounded_up(few, 2)


def reach_in_words(case: Case, n_attacks: int, acceptable: float) -> str:
    """Return how small a risk the run can find, and how many people the acceptable one needs; "" without a holdout."""
    if not case.has_holdout:
        return ""
    n, m = (case.n_people(role) for role in ("real", "holdout"))
    least = smallest_risk(n, m, n_attacks, case.level) if min(n, m) else float("nan")
    needed = people_needed(acceptable, n_attacks, case.level)
    what = "members and strangers" if case.unit is None else "units of members and of strangers"
    head = f"with {n:,} and {m:,} {what} "
    if not least < 1:
        return head + f"no risk can be found; {acceptable:g} needs about {needed:,} of each"
    also = "" if least <= acceptable else f"; {acceptable:g} needs about {needed:,} of each"
    return head + f"a risk below about {least:.2g} will hardly be found (where strangers are hit in 30% of cases){also}"
