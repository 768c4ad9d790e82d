"""What each record is exposed to: one row a real record, for the custodian alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case import Case
from divulge.result import Result

__all__ = ["exposed_strangers", "per_record"]

Bools = NDArray[np.bool_]


def per_record(case: Case, results: Sequence[Result]) -> pl.DataFrame | None:
    """Return one row for each real record, most exposed first: its row number and its scores, never a value.

    Columns: `row` (from 0, in the order of the real table); `copied` (its whole record is a synthetic row);
    `replicated_unique` (alone on a tested key set, among strangers too where there are any, and exactly one
    synthetic row has the key); `n_disclosed` and
    `disclosed` (targets which the synthetic class names with certainty and rightly); `highest_cap` and
    `highest_cap_target`. None when rows are counted elsewhere.
    """
    if not case.in_memory:
        return None
    n = case.n_rows("real")
    copied, unique, hits = _signs(n, results, "real")
    n_disclosed = sum((h.astype(np.int64) for h in hits.values()), np.zeros(n, dtype=np.int64))
    best, of = _highest_cap(n, [r for r in results if r.attack == "cap"])
    frame = pl.DataFrame(
        {
            "row": np.arange(n),
            "copied": copied,
            "replicated_unique": unique,
            "n_disclosed": n_disclosed,
            "disclosed": _names(hits, n),
            "highest_cap": best,
            "highest_cap_target": of,
        }
    )
    order = ["copied", "replicated_unique", "n_disclosed", "highest_cap", "row"]
    return frame.sort(order, descending=[True, True, True, True, False], nulls_last=True)


def exposed_strangers(case: Case, results: Sequence[Result]) -> float | None:
    """Return the share of strangers with any of the signs that make a record stand out; None without a holdout."""
    n = case.n_rows("holdout")
    if not n or not case.in_memory:
        return None
    copied, unique, hits = _signs(n, results, "holdout")
    for hit in hits.values():
        copied = copied | hit
    return float((copied | unique).mean())


def _signs(n: int, results: Sequence[Result], role: str) -> tuple[Bools, Bools, dict[str, Bools]]:
    """Return who is copied, who is a replicated unique, and by target who is disclosed."""
    variants = {(r.attack, r.variant) for r in results}
    unique = "repU pooled" if ("replicated_uniques", "repU pooled") in variants else "repU"
    hits = {str(r.target): _hit(n, r, role) for r in results if (r.attack, r.variant) == ("disco", "DiSCO")}
    return _any_hit(n, results, "copies", "exact", role), _any_hit(n, results, "replicated_uniques", unique, role), hits


def _any_hit(n: int, results: Sequence[Result], attack: str, variant: str, role: str) -> Bools:
    out = np.zeros(n, dtype=bool)
    for result in results:
        if (result.attack, result.variant) == (attack, variant):
            out |= _hit(n, result, role)
    return out


def _hit(n: int, result: Result, role: str) -> Bools:
    scores = None if result.individual is None else getattr(result.individual, role)
    return np.zeros(n, dtype=bool) if scores is None else np.nan_to_num(scores) >= 1


def _highest_cap(n: int, results: Sequence[Result]) -> tuple[NDArray[np.float64], pl.Series]:
    best, which = np.full(n, -1.0), np.full(n, -1, dtype=np.int64)
    for i, result in enumerate(results):
        if result.individual is None:
            continue
        score = np.nan_to_num(result.individual.real, nan=-1.0)
        better = score > best
        best[better], which[better] = score[better], i
    names = pl.Series([str(r.target) for r in results] or [""], dtype=pl.String)
    index = pl.Series(which)
    of = names.gather(index.set(index < 0, None))
    return np.where(best < 0, np.nan, best), of


def _names(hits: dict[str, Bools], n: int) -> pl.Series:
    if not hits:
        return pl.Series([""] * n)
    parts = [
        pl.Series(h).replace_strict({True: name + ", ", False: ""}, return_dtype=pl.String)
        for name, h in sorted(hits.items())
    ]
    frame = pl.DataFrame([p.rename(str(i)) for i, p in enumerate(parts)])
    return frame.select(pl.concat_str(pl.all()).str.strip_chars_end(", ")).to_series()
