"""`Fidelity`: the results of all measures of one synthetic table, and the documents made from them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import msgspec
import polars as pl

from divulge.core.atomic_write import saved, written
from divulge.core.result import jsonable, tidy
from divulge.measures.differing import Differing, differing, is_of_all_columns
from divulge.measures.result import VERDICTS, FidelityResult, grouped, telling_of
from divulge.report.notebook import framed
from divulge.report.prose.use import agreement_lines, differing_lines, farthest
from divulge.tables.kinds import as_kind

__all__ = ["Fidelity"]


@dataclass(frozen=True, slots=True, repr=False)
class Fidelity:
    """How much of the real table a synthetic table keeps, measure by measure; there is no grade and no overall number.

    The first result of each measure is about all columns together, where there is one.
    """

    results: tuple[FidelityResult, ...]
    settings: dict[str, Any]
    """Rows of the tables, tolerance, level and seed."""
    notes: tuple[str, ...] = ()
    """What was done to the tables."""
    warnings: tuple[str, ...] = ()
    """Why the verdicts may not hold: the holdout is no fresh sample of the real table."""
    kind: str = "polars"
    """The kind of frame that `to_frame` returns, which is that of the real table."""

    def of(self, measure: str) -> tuple[FidelityResult, ...]:
        """Return the results of one measure."""
        return tuple(r for r in self.results if r.measure == measure)

    def headlines(self) -> tuple[FidelityResult, ...]:
        """Return the first result of each measure; of measures of one table, that of each table."""
        return tuple(group[0] for group in grouped(self.results))

    def differing(self) -> tuple[Differing, ...]:
        """Return the columns that explain the results that differ; `results` of each are places in `self.results`."""
        return differing(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists."""
        out = {
            "differing": msgspec.to_builtins(self.differing()),
            "settings": self.settings, "warnings": list(self.warnings), "notes": list(self.notes),
            "fidelity": [r.to_dict() for r in self.results],
        }  # fmt: skip
        return jsonable(out)  # type: ignore[no-any-return] # a dict goes in, a dict comes out

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON, and write it when a path is given. It holds no value of the tables."""
        return written(json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n", path)

    def to_frame(self) -> Any:
        """Return one row for each result, as a frame of the kind of the real table."""
        return as_kind(pl.DataFrame([_row(r) for r in self.results], infer_schema_length=None), self.kind)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | Path) -> Path: ...
    def to_html(self, path: str | Path | None = None) -> str | Path:
        """Return the results as one offline HTML page; where a path is given, write it there and return the path."""
        from divulge.report.documents.fidelity_page import page

        return saved(page(self.results, self.settings, self.warnings, self.notes, self.differing()), path)

    def __str__(self) -> str:
        lines = [f"warning: {tidy(w)}" for w in self.warnings]
        for line, listed in differing_lines(self.differing(), self.results):
            lines += [line, *(f"  {one}" for one in listed)]
        for head, *others in grouped(self.results):
            lines.append(f"{head}{_counted(head)}")
            lines += [f"  {farthest(1, r)}" for r in others if r.verdict == "differs" and is_of_all_columns(r)]
            telling = telling_of(head) if head.verdict == "differs" else ()
            lines += [f"  tells: {tidy(', '.join(name for name, _ in telling))}"] if telling else []
            lines += [f"  {told}" for told in agreement_lines([head, *others])]
        return "\n".join(lines)

    def __repr__(self) -> str:
        counts = Counter(r.verdict for r in self.headlines())
        return "<Fidelity " + ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v]) + ">"

    def _repr_html_(self) -> str:
        return framed(self.to_html(), "divulge fidelity")


def _counted(head: FidelityResult) -> str:
    """Return how many columns or pairs differ or are closer, and where to look for copied rows."""
    compared, kinds = head.context.get("compared"), (("differ", "differ"), ("closer", "are closer"))
    least = "at least " if head.context.get("unlisted") else ""
    of = [
        f"; {least}{head.context[key]:,} of {compared:,} {word}"
        for key, word in kinds if compared and head.context.get(key)
    ]  # fmt: skip
    copied = "; see `divulge assess` for copies" if head.verdict == "closer than a fresh sample" else ""
    return "".join(of) + copied


def _row(r: FidelityResult) -> dict[str, Any]:
    fresh, holdout = r.fresh_sample, r.holdout
    return {
        "measure": r.measure, "table": r.table, "variant": r.variant, "columns": " + ".join(r.columns),
        "target": r.target, "group": r.group, "verdict": r.verdict, "quantity": r.quantity, "value": r.value,
        "fresh_mean": fresh.mean if fresh else None, "fresh_low": fresh.low if fresh else None,
        "fresh_high": fresh.high if fresh else None, "ruler": r.ruler, "excess": r.excess, "low": r.low,
        "high": r.high, "p_value": r.p_value, "p_adjusted": r.p_adjusted, "p_low_tail": r.p_low_tail,
        "p_low_tail_adjusted": r.p_low_tail_adjusted, "tolerance": r.tolerance,
        "smallest_detectable": r.smallest_detectable, "rows_needed": r.rows_needed,
        "holdout": holdout.value if holdout else None, "holdout_ruler": holdout.ruler if holdout else None,
        **{key: r.context.get(key) for key in ("kept", "importance_agreement", "importance_agreement_real")},
        "n": r.n, "m": r.m, "notes": "; ".join(r.notes), "seconds": r.seconds,
    }  # fmt: skip
