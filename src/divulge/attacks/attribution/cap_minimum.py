"""The smallest CAP that a table with the same keys can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from divulge.attacks.attribution.scores import (
    _CAP_PAPER,
    minimising_cell,
)
from divulge.attacks.checks import (
    checked_keys,
    marginal_baseline,
    one_of,
)
from divulge.attacks.entry import Words, on_demand
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.core.result import Baseline, Rate, Result

__all__ = ["cap_minimum"]

_CAP_MINIMUM_WORDS = Words(
    says="I hold the real table, and make the release whose mean CAP is the lowest that any release can have.",
    knows="The whole real table. He is no intruder but somebody who tunes a release to one number.",
    data=(
        "The real table with the keys and one target; of the synthetic table the number of rows, and which keys and "
        "targets occur. The table that is made holds real values and never enters a report. " + CODED
    ),
    formula=(
        "zero: minimum = smallest o_ij / n_T over all cells\n"
        "skip: minimum = smallest o_ij / o_j over all cells whose key some person has\n"
        "attained by m synthetic rows in one such cell\n"
        "cells: every key with every target that occurs, o_ij = 0 among them; o_j: real records with key j,\n"
        "of n_T in all."
    ),
    reading=(
        "0 means that some key never goes with some target in the real table: a release of that one cell has a mean "
        "CAP of 0. A higher number is a floor below which no release gets, and none is negative. It reaches 1 only "
        "where there is a single target to guess. The baseline is guessing in proportion to how often each value "
        "occurs. There is no risk and no verdict."
    ),
    silent=(
        "It is about no person's risk: it shows what a mean CAP is blind to.",
        "It does not say how near the table under test comes to such a table.",
        "The table that attains the minimum is of no use to anybody.",
    ),
    settings={
        "unseen": 'Records whose key no synthetic row has: "skip" leaves them out, "zero" scores them 0.',
    },
)


@attack(
    family="attribution",
    question="Which synthetic table would look best by its mean CAP, and what is it worth?",
    needs="keys, target",
    reference=_CAP_PAPER + " Theorems 2 and 3.",
    words=_CAP_MINIMUM_WORDS,
    compared=False,
    plan=on_demand("it builds the table with the smallest CAP, and attacks nobody"),
    notes=("a table of one cell attains this: a low mean CAP does not say that a table is of use",),
)
def cap_minimum(case: Case, *, keys: Sequence[str], target: str, unseen: Literal["skip", "zero"] = "skip") -> Result:
    """Return the smallest mean CAP that any synthetic table can have, and a table that has it.

    The table is `result.table`, a polars frame with as many rows as the synthetic table, all in one cell of keys and
    target. It holds real values and never enters a report. The minimum is a warning: a table with a mean CAP near it
    can be useless.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"k": [1, 1, 1, 2, 2], "t": ["a", "a", "b", "a", "b"]})
    >>> cap_minimum(real, real, keys=["k"], target="t").real.rate
    0.3333333333333333
    """
    one_of("unseen", unseen, ("skip", "zero"))
    keys, notes = checked_keys(case, keys, target)
    table = case.contingency(keys, target)
    key, value, count = minimising_cell(table, unseen)
    n = int(table.o_key[key]) if unseen == "skip" else table.n_o
    codes = dict(zip(sorted(keys), table.key_codes[key].tolist(), strict=True)) | {target: value}
    return Result(
        attack="cap_minimum",
        variant=unseen,
        keys=keys,
        target=target,
        real=Rate(hits=float(count), n=n, rate=count / n),
        baseline=Baseline(
            rate=marginal_baseline(table).rate, what="guessing in proportion to how often each value occurs"
        ),
        notes=(*notes, "a table of one cell attains this: a low mean CAP does not say that a table is of use"),
        table=case.repeat_values(codes, case.n_rows("synthetic")),
    )
