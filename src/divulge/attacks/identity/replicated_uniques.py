"""Replicated uniques: records with a unique key in the real table whose key is unique in the synthetic table too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import binned_note, checked_keys, record_result
from divulge.attacks.entry import Coarse, Record, Words, per_key_set
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value

__all__ = ["replicated_uniques"]


_REPLICATED_UNIQUES_WORDS = Words(
    says=(
        "I know that this person alone has these values in your table, and I find one synthetic row that has them too."
    ),
    knows="The keys of one person, and the whole synthetic table, to look for rows that stand alone.",
    data="Real and synthetic table with the keys; a holdout for risk and verdict of the pooled count. " + CODED,
    formula=(
        "UiO = share of real records with o_j = 1; UiS = share of synthetic rows with s_j = 1\n"
        "UiOiS = share of real records with o_j = 1 and s_j > 0\n"
        "repU = share of real records with o_j = 1 and s_j = 1\n"
        "repU pooled: p_T, p_C = share of members, of strangers with o_j + c_j = 1 and s_j = 1\n"
        "risk of repU pooled = (p_T - p_C) / (1 - p_C)\n"
        "o_j, c_j, s_j: real, holdout and synthetic records with key j."
    ),
    reading=(
        "repU is 0 when nobody alone on the key meets a lone synthetic row, 1 when everybody does; UiO bounds it "
        "from above. There is no baseline but the strangers. Risk of repU pooled is 0 when strangers are met as "
        "often, and negative when they are met more often. The other counts are of the real and the synthetic table "
        "and have no verdict."
    ),
    silent=(
        "A lone synthetic row need not be made from the lone person: it may be a coincidence of values.",
        "A match on the keys says nothing about whether the other columns are right.",
        "More keys make everybody unique: counts of different key sets cannot be set against each other.",
    ),
)


@attack(
    family="uniqueness",
    question="This person stands alone in the real table and a synthetic row stands alone on the same key.",
    needs="keys",
    reference="Raab, Nowok and Dibben 2024 (synthpop: disclosure); Jackson et al. divide repU by the synthetic rows.",
    words=_REPLICATED_UNIQUES_WORDS,
    plan=per_key_set(),
    record=Record("replicated_unique", "any", lambda variant: variant.startswith("repU")),
    hit={"": "alone and replicated:"},
    coarse=Coarse("share", rows="", synthetic=True),
)
def replicated_uniques(case: Case, *, keys: Sequence[str]) -> tuple[Result, ...]:
    """Return the replicated uniques and the counts around them: repU, UiO, UiS, UiOiS, as fractions of rows.

    UiO: real records with a unique key in the real table. UiS: synthetic rows with a unique key, as a share of the
    synthetic rows. UiOiS: records of UiO whose key occurs in the synthetic table. repU: records of UiO whose key
    exactly one synthetic row has. These counts have no verdict.

    "repU pooled" compares members with strangers. It counts people whose key is unique among real and holdout records
    pooled and whose key exactly one synthetic row has. Uniqueness there does not depend on who is a member, so without
    a leak members and strangers are hit equally often.

    Examples
    --------
    >>> import polars as pl
    >>> real, synthetic = pl.DataFrame({"k": [1, 1, 2, 3]}), pl.DataFrame({"k": [1, 2, 4, 4]})
    >>> {r.variant: r.real.rate for r in replicated_uniques(real, synthetic, keys=["k"]) if r.real}
    {'repU': 0.25, 'UiO': 0.5, 'UiOiS': 0.25}
    """
    keys, notes = checked_keys(case, keys)
    table = case.contingency(keys, ())
    alone, once = table.o_key == 1, table.s_key == 1
    notes = [*notes, *binned_note(case, keys)]

    def of(variant: str, hit: NDArray[np.bool_], judged: bool) -> Result:
        return record_result(
            case, table, hit.astype(float), attack="replicated_uniques", variant=variant, keys=keys, target=None,
            notes=notes, judged=judged,
        )  # fmt: skip

    counted = {"repU": alone & once, "UiO": alone, "UiOiS": alone & (table.s_key > 0)}
    # uniqueness in the real table is not defined for strangers; without a holdout repU is the only result to show
    results = [
        replace(of(v, hit, v == "repU" and not case.has_holdout), holdout=None, curves={}) for v, hit in counted.items()
    ]
    uis = float(table.s[once].sum() / max(table.n_s, 1))
    results.append(Result(attack="replicated_uniques", variant="UiS", keys=keys, value=Value(synthetic=uis)))
    if case.has_holdout:
        results.append(of("repU pooled", (table.o_key + table.c_key == 1) & once, True))
    return tuple(results)
