"""IMS, the identical match share: the share of synthetic rows that equal a real record."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.distance.attracted import ATTRACTED, attracted, prepared_distances
from divulge.attacks.entry import Coarse, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value

__all__ = ["identical_match_share"]

_IDENTICAL_MATCH_SHARE_WORDS = Words(
    says=("I find synthetic rows that equal a person's record, and they are more often your people's than strangers'."),
    knows="The records of members and of strangers, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout says how many matches chance "
        "gives. " + MIXED
    ),
    formula=(
        "value = share of synthetic rows that equal some real row, and that equal some holdout row\n"
        "c = credits of a person: synthetic rows equal to the record, shared among all people who have it\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "n_T, m: real and synthetic rows."
    ),
    reading=(
        "A share of 0 means that no synthetic row equals a record, 1 that all do. Shares of real and holdout are "
        "alike in leak-free data of equal sizes; on coarse data both are high, and say nothing. Risk estimates the "
        "fraction of synthetic rows that are exact copies: 0 is none, 1 all, negative where strangers are matched "
        "more. The rate is the rows credited to members; its baseline is the leak-free share in the context."
    ),
    silent=(
        "The smallest jitter hides a copy.",
        "Columns that a distance leaves out are not compared: copies looks at those too.",
        "Tables without a match may leak.",
    ),
)


@attack(
    family="distance",
    question="Which synthetic rows equal a person's record, in the columns that a distance compares?",
    needs="numbers or categories; a holdout says how many matches chance gives",
    reference="Platzer and Reutterer 2021 (identical match share).",
    words=_IDENTICAL_MATCH_SHARE_WORDS,
    plan=per_table(),
    counts="rows",
    coarse=Coarse("share", rows=""),
    context=ATTRACTED,
)
def identical_match_share(case: Case, *, columns: Sequence[str] | None = None) -> Result:
    """Return the share of synthetic rows that equal a real row, and that equal a holdout row.

    The value is the plain share for each table. The verdict is about the synthetic rows that equal any person; a row
    that equals several people is shared among them. For leak-free data members have n_T/N of these rows. On coarse data
    most rows equal somebody, and the shares say nothing. The measure sees exact copies only: jitter hides a copy, and
    tables without a match may leak.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [1.0, 2.0, 2.0]}), pl.DataFrame({"x": [2.0, 3.0, 4.0]})
    >>> found = identical_match_share(real, pl.DataFrame({"x": [1.0, 2.0, 5.0, 5.5]}), holdout=strangers)
    >>> found.value.real, found.value.holdout, round(found.real.hits, 3)
    (0.5, 0.25, 1.667)
    """
    d, notes, settings = prepared_distances(case, columns)
    shares = {
        role: float((d.nearest("synthetic", role).distances[:, 0] == 0).mean())
        for role in ("real", "holdout")[: 1 + case.has_holdout]
    }
    plain = Result(attack="identical_match_share", settings=settings, value=Value(**shares), notes=tuple(notes))
    return attracted(case, plain, d, d.attraction(d.nearest("synthetic", "people").distances[:, 0] == 0))
