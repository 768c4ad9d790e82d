"""Lone matches: who believes in the one synthetic row that fits a person, and what that row then says of the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from divulge.attacks.checks import binned_note, checked_keys, record_result
from divulge.attacks.entry import Count, Words, for_actors, per_pair
from divulge.attacks.identity._classes import people_with_keys
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Result, Value
from divulge.core.threat_model import Actor

__all__ = ["lone_match"]

_CLAIM = "a claim is made where nobody else of the real and holdout table has the keys"
_CLAIM_OF_POPULATION = "a claim is made where nobody else of the population has the keys"
_LACKING = "the population lacks # people of the real and holdout table on some keys, so that nothing is said"
_WORDS = Words(
    says="One synthetic row alone has this person's values, and nobody else has them: I take its target for theirs.",
    knows=(
        "The keys of one person, the whole synthetic table, and who may be in the real table, so that nobody else "
        "there has the keys (prosecutor); or the keys of all people of the population (journalist)."
    ),
    data="Real, synthetic and holdout table with the keys and one target; for the journalist a population. " + CODED,
    formula=(
        "claim about a person with key j: s_j = 1, and o_j + c_j = 1 (prosecutor) or\n"
        "F_j = 1 (journalist)\n"
        "right claim: the synthetic row has the person's own target\n"
        "p_T, p_C = right claims about members, about strangers, over all of them\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "o_j, c_j, s_j: records with key j of real, holdout and synthetic table\n"
        "F_j: people of the population with key j."
    ),
    reading=(
        "The rate is 0 where no claim is right, and 1 where everybody is alone and claimed rightly. Risk 0 means that "
        "claims about strangers are right as often, a negative risk that they are so more often. The context has the "
        "claims made; right ones among them are the precision. There is no baseline but the strangers."
    ),
    silent=(
        "It is an apparent reading: no row of a fully synthetic table belongs to the person whom it is taken for.",
        "Claims about people who share their keys are not made, and may be right all the same.",
        "Whoever does not know who is in the table needs the people of a population to believe in a match; their "
        "number alone will not do.",
    ),
)


def _asked(actor: Actor) -> Iterator[dict[str, Any]]:
    """Yield the settings of each call for an actor: the prosecutor, and with a table of a population the journalist."""
    for target in actor.targets or ():
        if actor.knows_membership:
            yield {"target": target}
        if isinstance(actor.population, str):
            yield {"target": target, "population": actor.population}


@attack(
    family="uniqueness",
    question="One synthetic row alone has this person's keys; is its target the person's own?",
    needs="keys, target, a holdout",
    reference="Prasser and Kohlmayer 2015 (ARX): prosecutor; claims: Francis et al. 2019 (GDA score).",
    words=_WORDS,
    plan=for_actors(per_pair(), _asked),
    hit={"": "rightly claimed to have the target:"},
    context={"claims about members": Count("real"), "claims about strangers": Count("holdout")},
    notes=(_CLAIM, _CLAIM_OF_POPULATION, _LACKING),
)
def lone_match(case: Case, *, keys: Sequence[str], target: str, population: Any = None) -> Result:
    """Return how often a lone synthetic row with a person's keys has the person's target too, beyond strangers.

    Whoever believes in a lone match claims the target of its row. The reading is apparent: a row of a fully synthetic
    table belongs to nobody. Without a leak claims about members are right as often as claims about strangers.

    Parameters
    ----------
    population
        A table (any kind of frame, or a path) of the people of whom real and holdout table are a part: a claim is made
        where one of them alone has the keys (variant "journalist"). None asks that one person alone of real and holdout
        table has them, as who knows who may be in the table would.

    Raises
    ------
    SettingError
        There is no holdout.
    ColumnError, TableError
        The population lacks a key, or cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"k": [1, 2, 3, 3], "t": ["a", "b", "a", "b"]})
    >>> strangers = pl.DataFrame({"k": [4, 5], "t": ["a", "b"]})
    >>> lone_match(people, people[:2], strangers, keys=["k"], target="t").real.rate
    0.5
    """
    keys, notes = checked_keys(case, keys, target)
    if not case.has_holdout:
        raise SettingError("lone_match: nobody to compare with. hint: pass holdout=.")
    table, variant, how = case.contingency(keys, target), "", _CLAIM
    notes = [*notes, *binned_note(case, [*keys, target])]
    people = table.o_key + table.c_key
    if population is not None:
        variant, how = "journalist", _CLAIM_OF_POPULATION
        everybody = people_with_keys(case, population, keys, table)
        if lacking := int(np.maximum(people - everybody, 0).sum()):
            return Result(
                attack="lone_match",
                variant=variant,
                keys=keys,
                target=target,
                settings=_READS,
                value=Value(),
                notes=(*notes, _LACKING.replace("#", f"{lacking:,}")),
            )
        people = everybody
    claim = (people == 1) & (table.s_key == 1)
    right = claim[table.key] & (table.s == 1)

    return record_result(
        case,
        table,
        right.astype(np.float64),
        attack="lone_match",
        variant=variant,
        keys=keys,
        target=target,
        settings=_READS,
        context={
            "claims about members": float(table.o_key[claim].sum()),
            "claims about strangers": float(table.c_key[claim].sum()),
        },
        notes=[*notes, how],
    )


_READS = {"reads": "apparent"}
