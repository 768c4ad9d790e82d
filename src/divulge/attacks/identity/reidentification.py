"""Re-identification risk of a real table: prosecutor, journalist and marketer, from classes of equal keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from divulge.attacks.checks import Floats, binned_note, checked_keys
from divulge.attacks.entry import Coarse, Words, for_actors, per_key_set
from divulge.attacks.identity._classes import _among_population, mean_inverse
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Rate, Result, Value
from divulge.core.threat_model import Actor
from divulge.kernels.counts.contingency import Ints

__all__ = ["reidentification"]

_THRESHOLDS = (0.05, 0.09, 0.2, 0.33, 0.5)
_ESTIMATED = "the people of the population with each key are estimated from their number alone, and not counted"

_WORDS = Words(
    says="If the real table itself lay open, I would link this person to one of the rows that fit.",
    knows=(
        "The keys of people, and that they are in the table (prosecutor); or the keys of all people of the population "
        "(journalist: wants one of them; marketer: wants many)."
    ),
    data="The real table with the keys; for journalist and marketer a population, or its number of people. " + CODED,
    formula=(
        "prosecutor: highest = 1 / min f_q; average = classes / n\n"
        "journalist: highest = 1 / min F_q; average = max(J / sum F_q, (1/n) sum f_q / F_q)\n"
        "marketer: average = (1/n) sum f_q / F_q\n"
        "records at risk above t: f_q or F_q with 1/f_q > t, or 1/F_q > t\n"
        "f_q, F_q: records of the real table, people of the population with key q; J classes; n records.\n"
        "With the number N alone E(1/F_q) stands for 1/F_q: F_q - f_q negative binomial, f_q and p = n/N."
    ),
    reading=(
        "1 means that a link is certain to be right, 1/k that it is right once in k; it is never 0 or negative. The "
        "average is the share of links that would be right. There is no baseline and no verdict: it reads the real "
        "table, and says nothing of a synthetic one."
    ),
    silent=(
        "No row of a synthetic table belongs to anybody: read it as who needs care, not as a risk of the release.",
        "More keys make everybody unique; which keys somebody knows is the custodian's answer.",
    ),
)


def _asked(actor: Actor) -> Iterator[dict[str, Any]]:
    """Yield the settings of each call for an actor: the prosecutor, and with a population journalist and marketer."""
    yield {}
    if actor.population is not None:
        yield {"population": actor.population}


@attack(
    family="uniqueness",
    question="If the real table lay open, how often would a link to one of its rows be right?",
    needs="keys; for journalist and marketer a population",
    reference="Prasser and Kohlmayer 2015 (ARX); number of people alone: Benedetti and Franconi 1998.",
    words=_WORDS,
    compared=False,
    plan=for_actors(per_key_set(), _asked),
    hit={"": "linked to their own row:"},
    values={"": "highest: "},
    coarse=Coarse(),
    notes=(_ESTIMATED, "the population lacks # members on some keys, so that nothing is said"),
)
def reidentification(case: Case, *, keys: Sequence[str], population: Any = None) -> tuple[Result, ...]:
    """Return the re-identification risk of the real table: rate is the average, `value.real` the highest.

    It describes the real table, as if it were released, and has no verdict. Without a population it is about the
    prosecutor, with one about journalist and marketer. The curves have the share of records whose risk is above each
    of five thresholds, strictly.

    Parameters
    ----------
    population
        A table of the population (any kind of frame, or a path), or its number of people; None is the prosecutor, who
        needs none. With the number alone the people with each key are estimated, and a note says so.

    Raises
    ------
    SettingError
        The population has fewer people than the real table.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": ["a", "b", "b", "c"]})
    >>> everybody = pl.DataFrame({"k": [*"aaaa", *"bb", *("c" * 10)]})
    >>> for r in (*reidentification(real, real, keys=["k"]),
    ...           *reidentification(real, real, keys=["k"], population=everybody)):
    ...     print(r.variant, r.value and r.value.real, round(r.real.rate, 4))
    prosecutor 1.0 0.75
    journalist 0.5 0.3375
    marketer None 0.3375
    """
    keys, notes = checked_keys(case, keys)
    is_number = isinstance(population, int | np.integer)
    if population is not None and not is_number:
        case = _among_population(case, population, keys)
    table = case.contingency(keys, ())
    f, n = table.o_key[table.o_key > 0], table.n_o
    notes = [*notes, *binned_note(case, keys)]
    if population is None:
        return (_result(keys, "prosecutor", len(f), f, 1 / f, notes),)
    if is_number:
        if population < n:
            raise SettingError(
                "reidentification: the population is smaller than the real table. hint: the number of all people."
            )
        inverse, total = mean_inverse(f, n / int(population)), float(population)
        notes = [*notes, _ESTIMATED]
    else:
        people = table.c_key[table.o_key > 0]
        if lacking := int(np.maximum(f - people, 0).sum()):
            notes = [*notes, f"the population lacks {lacking:,} members on some keys, so that nothing is said"]
            return (
                Result(
                    attack="reidentification",
                    variant="journalist",
                    keys=keys,
                    settings=_READS,
                    value=Value(),
                    notes=tuple(notes),
                ),
            )
        inverse, total = 1 / people, float(people.sum())
    right = float((f * inverse).sum())  # of n links
    return (
        _result(keys, "journalist", max(len(f) / total * n, right), f, inverse, notes),
        _result(keys, "marketer", right, f, None, notes),
    )


_READS = {"reads": "real table"}


def _result(
    keys: tuple[str, ...], variant: str, right: float, f: Ints, of_class: Floats | None, notes: Sequence[str]
) -> Result:
    n = int(f.sum())
    value, curves = None, {}
    if of_class is not None:
        value = Value(real=float(of_class.max()) if len(of_class) else None)
        curves = {
            "risk above": list(_THRESHOLDS),
            "real": [float(f[of_class > t + 1e-12].sum() / max(n, 1)) for t in _THRESHOLDS],
        }
    return Result(
        attack="reidentification",
        variant=variant,
        keys=keys,
        settings=_READS,
        real=Rate(hits=right, n=n, rate=right / n if n else None),
        value=value,
        curves=curves,
        notes=tuple(notes),
    )
