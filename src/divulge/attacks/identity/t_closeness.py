"""t-closeness: the distance between the target distribution of a class and that of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from divulge.attacks.checks import Floats, binned_note, checked_keys, one_of, require
from divulge.attacks.entry import Coarse, Words, per_pair
from divulge.attacks.identity._classes import _most, _share_at_most
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Result, Value
from divulge.kernels.counts.contingency import ContingencyTable, Ints

__all__ = ["t_closeness"]

_T_CLOSENESS_WORDS = Words(
    says="I find a class of people with one key whose targets are distributed unlike everybody's.",
    knows=(
        "The keys of one person, the targets of the people who share them, and the distribution of the target over all."
    ),
    data=(
        "Real and synthetic table with the keys and one target, and the holdout if there is one; each is counted by "
        'itself. The kind "ordered" needs a target of numbers, dates or codes. ' + CODED
    ),
    formula=(
        "equal: t of a class = 1/2 * sum over targets of |p_class - p_table|\n"
        "ordered: t = 1 / (L - 1) * sum over L ordered targets of |cumulated p_class - cumulated p_table|\n"
        "value = largest t over the classes of the table\n"
        "p_class, p_table: share of a target in the class, in the whole table."
    ),
    reading=(
        "0 means that every class has the distribution of its table, so that the key tells nothing of the target; "
        "it is never negative and at most 1. One small class sets the maximum, so read the curve. There is no "
        "baseline, no risk and no verdict."
    ),
    silent=(
        "Classes of one or few records lie far from the table by chance alone.",
        "A difference may be knowledge about the population: it is no statement about a record.",
        "Classes of the synthetic table may be wrong about people.",
    ),
    settings={
        "kind": (
            '"equal" takes all targets as equally unlike, "ordered" takes numbers, dates and codes in their order; '
            "missing comes first."
        ),
    },
)


def _kinds(case: Case, target: str) -> list[dict[str, str]]:
    """Return the settings of each call: ordered targets are also compared with the "ordered" distance."""
    is_ordered = case.schema[target].kind in ("numeric", "datetime", "integer-coded")
    return [{}, {"kind": "ordered"}] if is_ordered else [{}]


@attack(
    family="uniqueness",
    question="How much does the target's distribution in this class differ from that of everybody?",
    needs="keys, target",
    reference="Li, Li and Venkatasubramanian 2007, t-closeness.",
    words=_T_CLOSENESS_WORDS,
    compared=False,
    plan=per_pair(chosen=_kinds),
    coarse=Coarse(synthetic=True),
)
def t_closeness(case: Case, *, keys: Sequence[str], target: str, kind: Literal["equal", "ordered"] = "equal") -> Result:
    """Return the largest earth mover's distance between the target distribution of a class and of its whole table.

    "equal": half the sum of absolute differences of shares. "ordered" (numbers, dates, codes): the mean absolute
    difference of the cumulative shares over the L - 1 steps between the ordered values; missing comes first.
    `curves` has for each distance the share of records in classes at most that far.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 2, 2], "t": ["a", "a", "b", "b"]})
    >>> t_closeness(real, real, keys=["k"], target="t").value.real
    0.5
    """
    one_of("kind", kind, ("equal", "ordered"))
    keys, notes = checked_keys(case, keys, target)
    if kind == "ordered":
        require(case, "t_closeness(kind='ordered')", [target], ("numeric", "datetime", "integer-coded", "boolean"))
    table = case.contingency(keys, target)
    tables = {"real": (table.o, table.o_key), "synthetic": (table.s, table.s_key)}
    if case.has_holdout:
        tables["holdout"] = (table.c, table.c_key)
    distance = {role: _distance(table, counts, margin, kind) for role, (counts, margin) in tables.items()}
    levels = np.linspace(0.05, 1, 20).round(2).tolist()
    return Result(
        attack="t_closeness",
        variant=kind,
        keys=keys,
        target=target,
        value=Value(**{role: _most(d[tables[role][1] > 0]) for role, d in distance.items()}),
        curves={"distance at most": levels}
        | {role: _share_at_most(d, tables[role][1], levels) for role, d in distance.items()},
        notes=(*notes, *binned_note(case, [*keys, target])),
    )


def _distance(table: ContingencyTable, counts: Ints, margin: Ints, kind: str) -> Floats:
    """Return the distance between each class's target shares and the table's, shape (n_keys,), rounded to 12 digits."""
    total = max(int(margin.sum()), 1)
    overall = table.target_margin(counts) / total
    share = np.nan_to_num(table.shares(counts, margin))
    if kind == "equal":
        # both distributions add to 1, so half the absolute sum is the sum of the positive parts
        surplus = np.maximum(share - overall[table.target], 0.0)
        return np.asarray(np.round(np.add.reduceat(surplus, table.start), 12), dtype=np.float64)
    occurs = np.flatnonzero(overall > 0)
    if len(occurs) < 2:
        return np.zeros(table.n_keys)
    place = np.searchsorted(occurs, table.target)
    wanted = np.cumsum(overall[occurs])
    out = np.zeros(table.n_keys)
    block = max(1, 4_000_000 // len(occurs))
    for a in range(0, table.n_keys, block):
        inside = (table.key >= a) & (table.key < a + block) & (counts > 0)
        dense = np.zeros((min(block, table.n_keys - a), len(occurs)))
        dense[table.key[inside] - a, place[inside]] = share[inside]
        out[a : a + block] = np.abs(np.cumsum(dense, axis=1) - wanted).sum(axis=1) / (len(occurs) - 1)
    return np.asarray(np.round(out, 12), dtype=np.float64)
