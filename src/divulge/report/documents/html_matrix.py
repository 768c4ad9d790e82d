"""Attribution as a table: targets by key sets, or targets by attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose.column_map import SHADES

__all__ = ["matrix"]

_RANKS = 4
_SMALL_N = 100


def matrix(data: Assessment) -> dict[str, Any] | None:
    """Return targets by key sets, or targets by attacks where no key sets were searched; None without targets."""
    elsewhere = (*order.QUESTIONS, "linear_reconstruction")
    attributed = [r for r in data.results if r.target and r.verdict is not None and r.attack not in elsewhere]
    if not attributed:
        return None
    if data.key_sets:
        return _ranked_matrix(data, [r for r in attributed if r.attack == "cap"])
    columns = list(dict.fromkeys((r.attack, r.variant) for r in attributed))
    rows = [
        {"target": target, "cells": [_cell(_find(attributed, keys, target, c), with_keys=False) for c in columns]}
        for keys, target in dict.fromkeys((tuple(r.keys), r.target) for r in attributed)
    ]
    heads = [f"{a} ({v})" if v else a for a, v in columns]
    keys = list(dict.fromkeys(tuple(r.keys) for r in attributed))
    return {"kind": "attacks", "heads": heads, "rows": rows, "keys": keys}


def _find(
    results: Sequence[ResultRecord], keys: Sequence[str], target: str | None, column: tuple[str, str]
) -> ResultRecord | None:
    for r in results:
        if (r.attack, r.variant) == column and r.target == target and tuple(r.keys) == tuple(keys):
            return r
    return None


def _ranked_matrix(data: Assessment, caps: Sequence[ResultRecord]) -> dict[str, Any]:
    by_pair = {(tuple(r.keys), r.target): r for r in caps}
    rows = []
    for target in dict.fromkeys(k.target for k in data.key_sets):
        pairs = [k for k in data.key_sets if k.target == target]
        own = [r for k in pairs if (r := by_pair.get((tuple(k.keys), target))) is not None]
        best = max(own, key=_shade_value, default=None)
        cells = [_cell(r, with_keys=True) for r in own[:_RANKS]]
        cells += [None] * (_RANKS - len(cells))
        rows.append({"target": target, "n": len(own), "cells": [*cells, _cell(best, with_keys=True)]})
    ordinals = ["1st", "2nd", "3rd", *(f"{i}th" for i in range(4, _RANKS + 1))]
    return {"kind": "ranks", "heads": [*(f"{o} key set" for o in ordinals), "worst tested"], "rows": rows, "keys": []}


def _shade_value(r: ResultRecord) -> float:
    value = formatting.risk_value(r)
    if value is None:
        value = formatting.rate_of(r.real)
    return -1.0 if value is None else float(value)


def _cell(r: ResultRecord | None, *, with_keys: bool) -> dict[str, Any] | None:
    if r is None:
        return None
    risk = formatting.risk_value(r)
    sizes = [part.n for part in (r.real, r.holdout) if part and part.n is not None]
    few = bool(sizes) and min(sizes) < _SMALL_N
    shade = 0 if risk is None else sum(risk > s for s in SHADES)
    return {
        "r": r, "shade": 0 if few else shade, "few": few, "least": min(sizes, default=None),
        "keys": r.keys if with_keys else [],
    }  # fmt: skip
