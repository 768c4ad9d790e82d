"""Identity disclosure and anonymity models: who stands alone on the keys, in the real and in the synthetic table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import Floats, binned_note, checked_keys, one_of, record_result, require
from divulge.attacks.registry import CODED, Words, attack
from divulge.case.case import Case, build_case
from divulge.core.errors import SettingError
from divulge.core.result import Rate, Result, Value
from divulge.kernels.counts.contingency import ContingencyTable, Ints

__all__ = ["delta_presence", "k_anonymity", "l_diversity", "replicated_uniques", "t_closeness"]

_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)


_REPLICATED_UNIQUES_WORDS = Words(
    says=(
        "I know that this person alone has these values in your table, and I find one synthetic row that has them too."
    ),
    knows="The keys of one person, and the whole synthetic table, in which he looks for rows that stand alone.",
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
)
def replicated_uniques(case: Case, *, keys: Sequence[str]) -> tuple[Result, ...]:
    """Return the replicated uniques and the counts around them: repU, UiO, UiS, UiOiS, as fractions of rows.

    UiO: real records alone on their key. UiS: synthetic ones, of the synthetic rows. UiOiS: real records alone on
    their key which the synthetic table has. repU: real records alone on their key which exactly one synthetic row
    has. These are counts of the real table and have no verdict.

    "repU pooled" compares: members and strangers who are alone on their key among real and holdout records
    together, and whose key exactly one synthetic row has. Who is alone there does not depend on who is a member, so
    that without a leak both are hit alike.

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
    # alone in the real table says nothing about strangers; without them repU is all there is to show
    results = [
        replace(of(v, hit, v == "repU" and not case.has_holdout), holdout=None, curves={}) for v, hit in counted.items()
    ]
    uis = float(table.s[once].sum() / max(table.n_s, 1))
    results.append(Result(attack="replicated_uniques", variant="UiS", keys=keys, value=Value(synthetic=uis)))
    if case.has_holdout:
        results.append(of("repU pooled", (table.o_key + table.c_key == 1) & once, True))
    return tuple(results)


def _class_sizes(margin: Ints) -> dict[str, list[float]]:
    """Return the share of records in classes of at most each size."""
    used = margin[margin > 0]
    total = max(int(used.sum()), 1)
    return {"at_most": [float(used[used <= k].sum() / total) for k in _SIZES]}


def _least(values: Any) -> float | None:
    return float(values.min()) if len(values) else None


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
)
def k_anonymity(case: Case, *, keys: Sequence[str]) -> Result:
    """Return the size of the smallest class of equal keys, in the real, the holdout and the synthetic table.

    No synthetic row belongs to anybody, so k of the synthetic table says nothing about people by itself. `curves`
    holds the share of records in classes of at most each size, because one odd row sets the minimum.

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
)
def l_diversity(
    case: Case,
    *,
    keys: Sequence[str],
    target: str,
    kind: Literal["distinct", "entropy", "recursive"] = "distinct",
    c: float = 3.0,
) -> Result:
    """Return how diverse the targets are in the least diverse class, in the real and the synthetic table.

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


def _share_at_most(values: Floats, margin: Ints, levels: Sequence[float]) -> list[float]:
    used = margin > 0
    total = max(int(margin[used].sum()), 1)
    return [float(margin[used][values[used] <= x + 1e-9].sum() / total) for x in levels]


def _diversity(table: ContingencyTable, counts: Ints, margin: Ints, kind: str, c: float) -> Floats:
    if kind == "distinct":
        return table.n_distinct_targets(counts).astype(float)
    if kind == "entropy":
        share = np.nan_to_num(table.shares(counts, margin))
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(share > 0, -share * np.log(share), 0.0)
        # rounded: the order of the targets in a class is that of their codes
        return np.asarray(np.round(np.exp(np.add.reduceat(terms, table.start)), 12), dtype=np.float64)
    # largest first within each key: with suffix sums r_l + ... + r_m, the largest l that holds
    order = np.lexsort([-counts, table.key])
    ordered = counts[order]
    rank = np.arange(len(ordered)) - table.start[table.key]
    before = np.cumsum(ordered) - ordered
    suffix = margin[table.key] - (before - before[table.start][table.key])
    first = ordered[table.start][table.key]
    holds = (first < c * suffix) & (ordered > 0)
    return np.maximum.reduceat(np.where(holds, rank + 1, 0), table.start).astype(float)


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


@attack(
    family="uniqueness",
    question="How much does the target's distribution in this class differ from that of everybody?",
    needs="keys, target",
    reference="Li, Li and Venkatasubramanian 2007, t-closeness.",
    words=_T_CLOSENESS_WORDS,
)
def t_closeness(case: Case, *, keys: Sequence[str], target: str, kind: Literal["equal", "ordered"] = "equal") -> Result:
    """Return the largest earth mover's distance between a class's target distribution and its whole table's.

    "equal": half the sum of absolute differences of shares. "ordered" (numbers, dates, codes): the mean absolute
    difference of the cumulated shares over the L - 1 steps between the ordered values; missing comes first.
    `curves` holds the share of records in classes at most that far.

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


def _most(values: Any) -> float | None:
    return float(values.max()) if len(values) else None


def _distance(table: ContingencyTable, counts: Ints, margin: Ints, kind: str) -> Floats:
    """Return the distance of each class's target shares to the whole table's, shape (n_keys,), rounded to 12 digits."""
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
    question="Somebody in the population has this key; is he in the real table?",
    needs="keys; a population, or a holdout in its place",
    reference="Nergiz, Atzori and Clifton 2007, delta-presence.",
    words=_DELTA_PRESENCE_WORDS,
)
def delta_presence(case: Case, *, keys: Sequence[str], population: Any = None) -> Result:
    """Return how sure the keys make somebody that a member of the population is in the real table.

    For a class with n_P people of the population, n_T of them in the real table, the probability is n_T / n_P;
    `value.real` is its maximum over the classes that have people, `context` its minimum. An attacker who sees the
    synthetic table alone estimates (n_T / m) s / n_P with the totals n_T and m, at most 1: `value.synthetic`.

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
        case = build_case(
            case.tables[0],
            case.tables[1],
            population,
            schema=case.schema,
            missing=case.missing,
            seed=case.seed,
            level=case.level,
        )
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
