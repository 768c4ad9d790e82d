"""Delta-presence: the probability that somebody with given keys is in the real table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from divulge.attacks.checks import binned_note, checked_keys
from divulge.attacks.entry import Coarse, Withheld, Words, per_key_set
from divulge.attacks.identity._classes import _among_population, _least, _most, _share_at_most
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Rate, Result, Value

__all__ = ["delta_presence"]

_DELTA_PRESENCE_WORDS = Words(
    says="I know that a person of the population has these values, and conclude that the person is in your table.",
    knows=(
        "The keys of everybody in the population, and the real table's classes; or the synthetic table and the "
        "number of real records."
    ),
    data=(
        "Real and synthetic table with the keys; a population table that contains the real one, or real and holdout "
        "together in its place. " + CODED
    ),
    formula=(
        "presence of a class = n_T(j) / n_P(j)\n"
        "guess from the synthetic table = (n_T / m) * s_j / n_P(j), at most 1\n"
        "value.real, value.synthetic = largest of these over the classes that have people\n"
        "rate = share of real records in classes with n_T(j) = n_P(j)\n"
        "n_T(j), n_P(j), s_j: records with key j of real, population, synthetic table; n_T, m: all records."
    ),
    reading=(
        "1 means that everybody with some key is in the real table, so that the key proves presence; the mean "
        "presence in the context is the baseline: what a person of the population has without any key. The smallest "
        "presence is 0 where some class has nobody in the table. It is never negative. The rate counts the real "
        "records that are proved present. There is no risk and no verdict."
    ),
    silent=(
        "With real and holdout as the population it describes that sample, and not the world outside.",
        "Classes of one person are wholly in the table or not at all: with many keys the value is 1.",
        "It is not about what else the table tells of a person who is in it.",
    ),
)


@attack(
    family="uniqueness",
    question="Somebody in the population has this key; is that person in the real table?",
    needs="keys; a population, or a holdout in its place",
    reference="Nergiz, Atzori and Clifton 2007, delta-presence.",
    words=_DELTA_PRESENCE_WORDS,
    compared=False,
    plan=per_key_set(strangers=True),
    coarse=Coarse(),
    context={
        "mean presence": Withheld(),
        "smallest presence": Withheld(),
    },
    notes=(
        "population: real and holdout records together; the rate counts real records whose class is wholly in the"
        " real table",
    ),
)
def delta_presence(case: Case, *, keys: Sequence[str], population: Any = None) -> Result:
    """Return the probability that a member of the population is in the real table, given the keys.

    For a class with n_P people of the population, n_T of them in the real table, the probability is n_T / n_P.
    `value.real` is its maximum over the classes that have people; `context` has its minimum. An attacker who sees only
    the synthetic table estimates (n_T / m) s / n_P, at most 1, where n_T and m are the totals: `value.synthetic`.

    Parameters
    ----------
    population
        A table of the whole population (any kind of frame) that contains the real one; None stands for the real
        and holdout tables together.

    Examples
    --------
    >>> import polars as pl
    >>> real, everybody = pl.DataFrame({"k": [1, 1, 2]}), pl.DataFrame({"k": [1, 1, 2, 2, 2]})
    >>> delta_presence(real, real, keys=["k"], population=everybody).value.real
    1.0
    """
    keys, notes = checked_keys(case, keys)
    notes = list(notes)
    if population is not None:
        case = _among_population(case, population, keys)
        table = case.contingency(keys, ())
        n_p = table.c_key
        if (n_p < table.o_key).any():
            notes.append("the population lacks real records on some keys: their presence was counted as certain")
            n_p = np.maximum(n_p, table.o_key)
        what = "the population given"
    elif case.has_holdout:
        table = case.contingency(keys, ())
        n_p, what = table.o_key + table.c_key, "real and holdout records together"
    else:
        raise SettingError("delta_presence: no population. hint: pass population= or holdout=.")
    present = n_p > 0
    share = table.o_key[present] / n_p[present]
    guess = np.minimum(1.0, table.n_o / max(table.n_s, 1) * table.s_key[present] / n_p[present])
    levels = np.linspace(0.05, 1, 20).round(2).tolist()
    certain = int(table.o_key[present][share == 1].sum())
    return Result(
        attack="delta_presence",
        keys=keys,
        real=Rate(hits=float(certain), n=table.n_o, rate=certain / table.n_o),
        value=Value(real=_most(share), synthetic=_most(guess)),
        context={"smallest presence": _least(share), "mean presence": table.n_o / int(n_p.sum())},
        curves={
            "presence at most": levels,
            "real": _share_at_most(share, table.o_key[present], levels),
            "synthetic": _share_at_most(guess, table.o_key[present], levels),
        },
        notes=(
            *notes,
            *binned_note(case, keys),
            f"population: {what}; the rate counts real records whose class is wholly in the real table",
        ),
    )
