"""Pairs of codes that hardly anybody has, and that recur in the synthetic table: a trade and a place, for instance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import record_result
from divulge.attacks.copying.one_column import PEOPLE, n_people_with, own_columns
from divulge.case.case import Case
from divulge.core.result import Result
from divulge.kernels.counts.contingency import ContingencyTable

__all__ = ["RARE_PAIR", "RARE_PAIRS", "RARE_PAIRS_NOTES", "rare_pairs"]

Bools = NDArray[np.bool_]

RARE_PAIRS = "rare pairs"
RARE_PAIR = "rare pair"
FEW = 2
"""People who may have a pair that counts: it then tells a person but for one other."""
TELLING = 0.25  # part of the people whose pair is rare, below which a pair of columns hardly tells anybody
MOST = 10
"""Pairs of columns that are tested, as each one takes from the power of the others."""
_LOOKED_AT = 60  # pairs of columns that are counted; those with the most possible pairs of values

_NOTE = f"a pair of values that at most {FEW} people of real and holdout together have stands in a synthetic row"
_LEFT = "rare pairs: # of # pairs of columns in which a quarter of the people has a rare pair were tested"
_ELSEWHERE = "rare pairs: not tested, they need every row in memory"
RARE_PAIRS_NOTES = (_NOTE, _LEFT, _ELSEWHERE)


def rare_pairs(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have a rare pair of values that a synthetic row has too.

    Pairs of categorical columns are compared in which a quarter of the people, real and holdout together, has a pair of
    values that at most two people have; columns that are compared by themselves are left out. A person whose pair
    is not rare is not hit. Which pairs are tested depends on no label.

    Returns
    -------
    results, note
        One result for each pair of columns, at most ten; the note says which were left, or why none was tested.
    """
    if not case.in_memory:
        return [], _ELSEWHERE
    n = sum(case.tables[i].n_rows for i in case.encoded.people)
    alone = set(own_columns(case))
    columns = [c for c in sorted(case.schema.usable()) if case.schema[c].kind == "categorical" and c not in alone]
    if n < PEOPLE or len(columns) < 2:
        return [], ""
    size = {c: case.n_codes(c, binned=False) for c in columns}
    largest = sorted(columns, key=lambda c: (-size[c], c))[:_LOOKED_AT]
    pairs = [p for p in combinations(largest, 2) if size[p[0]] * size[p[1]] >= TELLING * n / FEW]
    pairs = sorted(pairs, key=lambda p: (-size[p[0]] * size[p[1]], p))[:_LOOKED_AT]
    telling = []
    for pair in pairs:
        names = tuple(sorted(pair))
        table = case.contingency(names, (), binned=False)
        rare = _rare(case, table)
        share = float((table.o_key + table.c_key)[rare].sum() / n)
        if share >= TELLING:
            telling.append((-share, names, table, rare))
    telling.sort(key=lambda t: t[:2])
    found = []
    for _, names, table, rare in sorted(telling[:MOST], key=lambda t: t[1]):
        scores = (rare & (table.s_key > 0)).astype(float)
        found.append(
            record_result(
                case, table, scores, attack="copies", variant=RARE_PAIR, keys=names, target=None, notes=[_NOTE]
            )
        )
    left = _LEFT.replace("#", str(MOST), 1).replace("#", str(len(telling)), 1)
    return found, left if len(telling) > MOST else ""


def _rare(case: Case, table: ContingencyTable) -> Bools:
    """Return which pairs at most two people have; the rows of a unit are one person."""
    keys = np.concatenate([cells for i in case.encoded.people if (cells := table.cells[i]) is not None])
    people = n_people_with(case, keys, table.n_keys)
    return np.asarray((people > 0) & (people <= FEW))
