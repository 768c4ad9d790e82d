"""Authenticity: the share of synthetic rows farther from their nearest real record than other real records are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from divulge.attacks.distance.attracted import ATTRACTED, attracted, prepared_distances, round_sum
from divulge.attacks.entry import Coarse, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances
from divulge.core.result import Result, Value

__all__ = ["authenticity"]

_AUTHENTICITY_WORDS = Words(
    says="I find a synthetic row that lies so close to a person that it must have been remembered.",
    knows="The records of members and of strangers, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. " + MIXED,
    formula=(
        "authentic row = strictly farther from its nearest person than that person is from the next one\n"
        "value = share of authentic synthetic rows, with real and with holdout as the people\n"
        "c = credits of a person: rows nearest to this one and nearer than the next person, ties shared\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "Fellows of the credits are members and strangers together; n_T, m: real and synthetic rows."
    ),
    reading=(
        "A value of 1 means that no row is that close, 0 that every row is; leak-free data do not give 1, but the "
        "same value for real and holdout of equal sizes. Risk estimates the fraction of synthetic rows that are "
        "copied so closely: 0 is none, 1 all, and negative where strangers attract more of them. The rate is the "
        "rows credited to members; its baseline is the leak-free share in the context."
    ),
    silent=(
        "In dense regions, where fellows are near, a copy hides.",
        "People with a double attract nothing, copied or not.",
        "Tables that pass may leak.",
    ),
)


@attack(
    family="distance",
    question="Is a synthetic row nearer to a person than the person's nearest fellow: a memorised record?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Alaa, van Breugel, Saveliev and van der Schaar 2022, How faithful is your synthetic data?",
    words=_AUTHENTICITY_WORDS,
    plan=per_table(),
    counts="rows",
    coarse=Coarse("share", rows=""),
    context=ATTRACTED,
)
def authenticity(case: Case, *, columns: Sequence[str] | None = None) -> Result:
    """Return the share of synthetic rows farther from their nearest person than that person is from the next person.

    The value is the published authenticity (strictly farther), once with real and once with holdout as the people. For
    leak-free data the two are equal if the tables have equal size, and they are not 1. The verdict is about rows that
    are nearer to their nearest person than any other person is, members and strangers pooled, ties shared: for
    leak-free data members are the nearest person of n_T/N of these rows. The measure sees close copies of isolated
    people. It misses a leak in dense regions, and tables that pass may leak.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, synthetic = pl.DataFrame({"x": [0.0, 4.0, 10.0]}), pl.DataFrame({"x": [1.0, 16.0]})
    >>> authenticity(real, synthetic).value.real
    0.0
    """
    d, notes, settings = prepared_distances(case, columns)
    shares = {
        role: _authentic(d, role) if d.n_rows(role) > 1 else None
        for role in ("real", "holdout")[: 1 + case.has_holdout]
    }
    plain = Result(attack="authenticity", settings=settings, value=Value(**shares), notes=tuple(notes))
    fellow = d.nearest("people", "people").distances[:, 0]
    return attracted(case, plain, d, d.attraction(closer_than=fellow), alone=True)


def _authentic(d: Distances, role: str) -> float:
    """Return the share of synthetic rows that are strictly farther; a row is shared among nearest records that tie."""
    fellow = np.nextafter(d.nearest(role, role).distances[:, 0], np.inf)  # "closer than" becomes "at most as far"
    within = round_sum(d.attraction(closer_than=fellow, among=role))
    return 1 - within / d.n_rows("synthetic")
