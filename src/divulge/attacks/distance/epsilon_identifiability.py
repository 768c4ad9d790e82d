"""Epsilon-identifiability: the share of people to whom a synthetic row is nearer than any other person."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from divulge.attacks.checks import SHOWN, by_record, finite
from divulge.attacks.distance.attracted import prepared_distances, shown_of_a_copy
from divulge.attacks.entry import Coarse, Withheld, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import distance_columns, distances_of
from divulge.core.result import Individual, Result, Value

__all__ = ["epsilon_identifiability"]

_EPSILON_IDENTIFIABILITY_WORDS = Words(
    says="I find a synthetic row that lies nearer to a person than any other person does.",
    knows="The records of the people, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. Each column "
        "is weighted by 1 / entropy of its bins. " + MIXED
    ),
    formula=(
        "hit = d(person, nearest synthetic row) < d(person, nearest other person)\n"
        "published: share of real hit among real, of holdout among holdout; leak-free = m / (m + n - 1)\n"
        "pooled: other people are members and strangers alike; leak-free = m / (m + n_T + n_C - 1)\n"
        "risk of pooled = (p_T - p_C) / (1 - p_C), p_T, p_C being the share of members, of strangers hit\n"
        "n: people of that table; n_T, n_C, m: real, holdout and synthetic rows."
    ),
    reading=(
        "1 means that everybody has a synthetic row nearer than any person, 0 that nobody has. About one half is "
        "what leak-free data of equal sizes give, so the published number alone says nothing; the leak-free share "
        "in the context is the baseline. Risk 0 means that strangers are hit as often, 1 that every member is hit, "
        "and a negative risk that strangers are hit more often. Only pooled has a verdict."
    ),
    silent=(
        "The high share that chance gives drowns a few copies.",
        "People with a double are never hit, copied or not.",
        "The epsilon of the name is a share of people; it has nothing to do with differential privacy.",
    ),
)


@attack(
    family="distance",
    question="Does a synthetic row lie nearer to this person than any other person does?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Yoon, Drumright and van der Schaar 2020, ADS-GAN.",
    words=_EPSILON_IDENTIFIABILITY_WORDS,
    plan=per_table(),
    hit={"": "a synthetic row is nearer than any other person to"},
    coarse=Coarse("share"),
    context={
        "leak-free share of holdout, without ties": Withheld(),
        "leak-free share of real, without ties": Withheld(),
        "leak-free share, without ties": Withheld(),
        SHOWN: Withheld(),
    },
)
def epsilon_identifiability(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the share of people to whom a synthetic row is nearer than any other person.

    Columns are weighted by 1/entropy of their bins, real and holdout pooled. "published": the synthetic row is nearer
    than any other real record (for members), or than any other holdout record (for strangers). It has no verdict:
    leak-free data give about one half, so the number alone says nothing. "pooled": the synthetic row is nearer than any
    other member or stranger, which does not depend on who is a member; leak-free data hit m/(m + N - 1) of both. It
    sees copies on average; a few copies do not show beside this high share.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [0.5, 10.0, 20.0]}), pl.DataFrame({"x": [4.0, 14.0, 26.0]})
    >>> published, pooled = epsilon_identifiability(real, pl.DataFrame({"x": [1.0, 11.0]}), holdout=strangers)
    >>> published.value.real, pooled.real.hits, pooled.holdout.hits
    (1.0, 2.0, 2.0)
    """
    _, notes, settings = prepared_distances(case, columns)
    used = distance_columns(case, columns)[0]
    d = distances_of(case, columns, _weights(case, used))
    m = d.n_rows("synthetic")
    floors = {role: m / (m + d.n_rows(role) - 1) for role in ("real", "holdout")[: 1 + case.has_holdout]}
    plain = Result(attack="epsilon_identifiability", settings=settings, notes=tuple(notes))
    nearer = {
        role: d.nearest(role, "synthetic").distances[:, 0] < d.nearest(role, role).distances[:, 0] for role in floors
    }
    published = replace(
        plain,
        variant="published",
        value=Value(**{role: float(x.mean()) if len(x) > 1 else None for role, x in nearer.items()}),
        context={f"leak-free share of {role}, without ties": floors[role] for role in floors},
        individual=Individual(real=nearer["real"].astype(float)),
    )
    if not case.has_holdout:
        return published, replace(by_record(case, replace(plain, variant="pooled"), nearer["real"], None), real=None)
    to_others = d.nearest("people", "people").distances[:, 0]
    hit = d.nearest("people", "synthetic").distances[:, 0] < to_others
    n, n_people = d.n_rows("real"), d.n_rows("people")
    context: dict[str, float | None] = {
        "leak-free share, without ties": m / (m + n_people - 1),
        SHOWN: finite(shown_of_a_copy(d, alone=True)),
    }
    return published, by_record(case, replace(plain, variant="pooled", context=context), hit[:n], hit[n:])


def _weights(case: Case, columns: Sequence[str]) -> dict[str, float]:
    """Return 1/entropy of each column among people, with the bins of the schema; equal weights if no column has any."""
    out = {}
    for c in columns:
        codes = case.codes(c)
        people = np.concatenate([codes[0], *codes[2:]])
        share = np.unique(people, return_counts=True)[1] / len(people)
        entropy = -math.fsum((share * np.log(share)).tolist())  # exact in any order, so names of values do not enter
        out[c] = 1 / entropy if entropy > 1e-12 else 0.0
    return out if any(out.values()) else dict.fromkeys(columns, 1.0)
