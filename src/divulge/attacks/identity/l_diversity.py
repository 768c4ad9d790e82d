"""l-diversity: how many target values a class of equal keys has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from divulge.attacks.checks import Floats, binned_note, checked_keys, one_of
from divulge.attacks.entry import Coarse, Words, per_pair
from divulge.attacks.identity._classes import _least, _share_at_most
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.core.result import Result, Value
from divulge.kernels.counts.contingency import ContingencyTable, Ints

__all__ = ["l_diversity"]

_L_DIVERSITY_WORDS = Words(
    says="I find a class of people with one key who nearly all have the same target.",
    knows="The keys of one person, and the targets of the people who share them.",
    data=(
        "Real and synthetic table with the keys and one target, and the holdout if there is one; each is counted by "
        "itself. " + CODED
    ),
    formula=(
        "distinct: l of a class = number of its targets\n"
        "entropy: l = exp(-sum over its targets of p log p), p being the share of a target in the class\n"
        "recursive: largest l with r_1 < c * (r_l + ... + r_m), r_i the i-th largest count; 0 if none\n"
        "value = smallest l over the classes of the table."
    ),
    reading=(
        "1 means that some class has a single target, so that its key tells it; larger is more diverse, up to the "
        "number of targets. Only the recursive kind can be 0, with c of at most 1; none is negative. One small "
        "class sets the minimum, so read the curve. There is no baseline, no risk and no verdict."
    ),
    silent=(
        "Classes of the synthetic table may be wrong about people: disco and tcap count those that are right.",
        "It treats targets as equally unlike: three stages of one illness count as three.",
        "A class of one record always has l = 1, whatever is known about it.",
    ),
    settings={
        "kind": 'How diversity is counted: "distinct", "entropy" or "recursive".',
        "c": 'Constant of "recursive", above 0; 3 is common.',
    },
)


@attack(
    family="uniqueness",
    question="Everybody with this key has one of few targets; which?",
    needs="keys, target",
    reference="Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, l-diversity.",
    words=_L_DIVERSITY_WORDS,
    compared=False,
    plan=per_pair({"kind": "distinct"}, {"kind": "entropy"}, {"kind": "recursive"}),
    coarse=Coarse(synthetic=True),
)
def l_diversity(
    case: Case,
    *,
    keys: Sequence[str],
    target: str,
    kind: Literal["distinct", "entropy", "recursive"] = "distinct",
    c: float = 3.0,
) -> Result:
    """Return the diversity of the target in the least diverse class, in the real and the synthetic table.

    "distinct": number of targets. "entropy": exp of the entropy of the target shares. "recursive": the largest l
    with r_1 < c (r_l + ... + r_m), r_i the i-th largest count (0 when even l = 1 fails).
    `curves` holds the share of records by the diversity of their class.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 1], "t": ["a", "a", "b"]})
    >>> round(l_diversity(real, real, keys=["k"], target="t", kind="entropy").value.real, 6)
    1.889882
    """
    one_of("kind", kind, ("distinct", "entropy", "recursive"))
    if c <= 0:
        raise SettingError(f"c: {c} is not positive. hint: 3 is common.")
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    tables = {"real": (table.o, table.o_key), "synthetic": (table.s, table.s_key)}
    if case.has_holdout:
        tables["holdout"] = (table.c, table.c_key)
    per_class = {role: _diversity(table, counts, margin, kind, c) for role, (counts, margin) in tables.items()}
    levels = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0]
    return Result(
        attack="l_diversity",
        variant=kind,
        keys=keys,
        target=target,
        settings={"c": c} if kind == "recursive" else {},
        value=Value(**{role: _least(v[tables[role][1] > 0]) for role, v in per_class.items()}),
        curves={"diversity at most": levels}
        | {role: _share_at_most(v, tables[role][1], levels) for role, v in per_class.items()},
        notes=(*notes, *binned_note(case, [*keys, target])),
    )


def _diversity(table: ContingencyTable, counts: Ints, margin: Ints, kind: str, c: float) -> Floats:
    if kind == "distinct":
        return table.n_distinct_targets(counts).astype(float)
    if kind == "entropy":
        share = np.nan_to_num(table.shares(counts, margin))
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(share > 0, -share * np.log(share), 0.0)
        # rounded: targets are ordered by code, and the last digit of a sum depends on that order
        return np.asarray(np.round(np.exp(np.add.reduceat(terms, table.start)), 12), dtype=np.float64)
    # largest first within each key: suffix sums give r_l + ... + r_m, and with them the largest l that holds
    order = np.lexsort([-counts, table.key])
    ordered = counts[order]
    rank = np.arange(len(ordered)) - table.start[table.key]
    before = np.cumsum(ordered) - ordered
    suffix = margin[table.key] - (before - before[table.start][table.key])
    first = ordered[table.start][table.key]
    holds = (first < c * suffix) & (ordered > 0)
    return np.maximum.reduceat(np.where(holds, rank + 1, 0), table.start).astype(float)
