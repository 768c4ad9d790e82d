"""k-anonymity: the size of the smallest class of equal keys."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks.checks import binned_note, checked_keys
from divulge.attacks.entry import Coarse, Count, Share, Withheld, Words, per_key_set
from divulge.attacks.identity._classes import _SIZES, _class_sizes, _least
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value

__all__ = ["k_anonymity"]

_K_ANONYMITY_WORDS = Words(
    says="I look for the person who shares these values with the fewest others.",
    knows="The keys of people, and which keys occur how often.",
    data=(
        "Real and synthetic table with the keys, and the holdout if there is one; each is counted by itself. " + CODED
    ),
    formula=(
        "k = smallest number of records with one key, over the keys that occur in the table\n"
        "Curves: share of records in classes of at most 1, 2, 3, 4, 5, 10, 20, 50 and 100."
    ),
    reading=(
        "k = 1 means that somebody is alone on the key; it is never 0 or negative. A larger k means that everybody "
        "shares the key with at least k - 1 others. One odd record sets the minimum, so read the curve and the "
        "share of records alone on their key. There is no baseline, no risk and no verdict."
    ),
    silent=(
        "No synthetic row belongs to anybody: k of the synthetic table says nothing about people by itself.",
        "It does not look at the target: a large class in which all have one target still tells it.",
        "A finer grid of a number always lowers k.",
    ),
)


@attack(
    family="uniqueness",
    question="How few others share this person's key?",
    needs="keys",
    reference="Sweeney 2002, k-anonymity.",
    words=_K_ANONYMITY_WORDS,
    compared=False,
    plan=per_key_set(),
    coarse=Coarse("class", synthetic=True),
    context={
        "classes in real": Count("real"),
        "classes in synthetic": Withheld(),
        "real records alone on their key": Share("real"),
        "real records in classes below 5": Share("real"),
    },
)
def k_anonymity(case: Case, *, keys: Sequence[str]) -> Result:
    """Return the size of the smallest class of equal keys, in the real, the holdout and the synthetic table.

    A synthetic row belongs to nobody, so k of the synthetic table alone says nothing about people. `curves` has the
    share of records in classes of at most each size, because a single unusual row determines the minimum.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 2, 2]})
    >>> k_anonymity(real, real, keys=["k"]).value.real
    2.0
    """
    keys, notes = checked_keys(case, keys)
    table = case.contingency(keys, ())
    margins = {"real": table.o_key, "synthetic": table.s_key} | ({"holdout": table.c_key} if case.has_holdout else {})
    n = table.n_o
    return Result(
        attack="k_anonymity",
        keys=keys,
        value=Value(**{role: _least(m[m > 0]) for role, m in margins.items()}),
        context={
            "real records alone on their key": float((table.o_key == 1).sum() / n),
            "real records in classes below 5": float(table.o_key[table.o_key < 5].sum() / n),
            "classes in real": float((table.o_key > 0).sum()),
            "classes in synthetic": float((table.s_key > 0).sum()),
        },
        curves={"class size": [float(k) for k in _SIZES]}
        | {role: _class_sizes(m)["at_most"] for role, m in margins.items()},
        notes=(*notes, *binned_note(case, keys)),
    )
