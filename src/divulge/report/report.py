"""The report: one dictionary is the truth, and every document is drawn from it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from platform import machine, python_version, system
from typing import Any

import msgspec
import polars as pl

from divulge.attacks import CATALOGUE
from divulge.attacks.search import Disclosing, KeySet
from divulge.preconditions import Check
from divulge.result import Result, jsonable
from divulge.schema import Schema

__all__ = ["FORMAT", "Report"]

FORMAT = "divulge-assessment/1"

NOT_TESTED = (
    ("membership", "is somebody in the real table at all?"),
    ("singling_out", "can a description that fits one synthetic row single out one person?"),
    ("linkability", "can two sets of columns of one person be joined through the synthetic table?"),
    ("reconstruction", "can secrets be solved for from the counts of the synthetic table?"),
)
"""What is said not to be tested, unless an attack of that name is among the results."""

_NEEDED = ("numpy", "polars", "numba", "scikit-learn", "scipy")
"""Packages whose version may change a digit."""


@dataclass(frozen=True)
class Report:
    """What `divulge.assess` found."""

    data: dict[str, Any]
    """The content of assessment.json."""
    results: tuple[Result, ...]
    record_frame: pl.DataFrame | None

    @classmethod
    def build(
        cls,
        *,
        version: str,
        settings: Mapping[str, Any],
        started: str,
        seconds: float,
        tables: Mapping[str, Any],
        schema: Schema,
        bins: Mapping[str, str],
        checks: Sequence[Check],
        results: Sequence[Result],
        failed: Sequence[Mapping[str, str]],
        key_sets: Sequence[KeySet],
        minimal: Sequence[Disclosing],
        notes: Sequence[str],
        verdict: Mapping[str, Any],
        records: pl.DataFrame | None,
        exposed_strangers: float | None,
        positive_control: Sequence[Mapping[str, Any]] = (),
        left_out: Sequence[Mapping[str, Any]] = (),
        utility: Sequence[Mapping[str, Any]] = (),
    ) -> Report:
        """Return the report of one run."""
        columns = [
            {"name": c.name, "kind": c.kind, "roles": list(c.roles), "why": c.why, "bins": bins.get(c.name, "")}
            for c in schema.columns
        ]
        data = {
            "format": FORMAT,
            "divulge": version,
            "command": "",
            "edition": "custodian",
            "revealed": [],
            "settings": dict(settings),
            "started": started,
            "seconds": seconds,
            "verdict": dict(verdict),
            "tables": dict(tables),
            "schema": columns,
            "preconditions": [msgspec.to_builtins(c) for c in checks],
            "results": [r.to_dict() for r in results],
            "key_sets": [asdict(k) for k in key_sets],
            "minimal_key_sets": [asdict(d) for d in minimal],
            "records": _records_summary(records, exposed_strangers, results),
            "positive_control": [dict(c) for c in positive_control],
            "failed": [dict(f) for f in failed],
            "left_out": [dict(o) for o in left_out],
            "utility": [dict(u) for u in utility],
            "policy": None,
            "change": None,
            "not_tested": _not_tested({r.attack for r in results}),
            "threat": msgspec.to_builtins(schema.threat),
            "versions": _versions(),
            "machine": _machine(),
            "attacks": {
                name: {"family": a.family, "question": a.question, "needs": a.needs, "reference": a.reference}
                for name, a in CATALOGUE.items()
                if any(r.attack == name for r in results)
            },
            "notes": list(notes),
        }
        return cls(jsonable(data), tuple(results), records)

    @property
    def verdict(self) -> str:
        """The overall verdict: excess found, none found, cannot tell, or no holdout."""
        return str(self.data["verdict"]["verdict"])

    @property
    def failed(self) -> list[dict[str, str]]:
        """Attacks that failed, and why."""
        return list(self.data["failed"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of assessment.json."""
        return self.data

    def to_frame(self) -> pl.DataFrame:
        """Return one row for each result."""
        return pl.DataFrame([_row(r) for r in self.data["results"]], infer_schema_length=None)

    def records(self) -> pl.DataFrame:
        """Return one row for each real record, most exposed first (see `divulge.records`)."""
        return pl.DataFrame() if self.record_frame is None else self.record_frame

    def to_json(self, path: str | Path | None = None) -> str:
        """Return assessment.json as text, and write it when a path is given."""
        return _written(json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the report as Markdown, and write it when a path is given."""
        from divulge.report.markdown import markdown

        return _written(markdown(self.data), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one offline HTML page, and write it when a path is given."""
        from divulge.report.html import page

        return _written(page(self.data, _worst_records(self.record_frame)), path)

    def write(self, folder: str | Path) -> Path:
        """Write assessment.json, report.html, report.md and records.parquet into a folder, each renamed into place."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (
            ("assessment.json", self.to_json()),
            ("report.html", self.to_html()),
            ("report.md", self.to_markdown()),
        ):
            _replace(folder / name, text.encode())
        if self.record_frame is not None:
            temporary = folder / ".records.parquet.tmp"
            self.record_frame.write_parquet(temporary)
            temporary.replace(folder / "records.parquet")
        return folder

    def __repr__(self) -> str:
        from divulge.report.terminal import summary

        return summary(self.data)

    def _repr_html_(self) -> str:
        from html import escape

        # a frame of its own keeps the page's style and script out of the notebook
        return (
            f'<iframe title="divulge report" style="width:100%;height:640px;border:1px solid #8888" '
            f'srcdoc="{escape(self.to_html(), quote=True)}"></iframe>'
        )


def _not_tested(run: set[str]) -> list[dict[str, str]]:
    return [{"what": w.replace("_", " "), "question": q} for w, q in NOT_TESTED if w not in run]


def _versions() -> dict[str, str]:
    return {"python": python_version(), **{name: version(name) for name in _NEEDED}}


def _machine() -> str:
    """Return what the run ran on: it may change times, and no digit."""
    return f"{system()} {machine()}, {os.cpu_count()} processors"


def _records_summary(
    records: pl.DataFrame | None, strangers: float | None, results: Sequence[Result]
) -> dict[str, Any] | None:
    if records is None:
        return None
    hit = next((r for r in results if (r.attack, r.variant) == ("exposure", "hit") and r.real is not None), None)
    least = [] if hit is None else [v for n, v in hit.context.items() if n.startswith("fewest ") and v is not None]
    exposed = records.filter(pl.col("copied") | pl.col("replicated_unique") | (pl.col("n_disclosed") > 0))
    return {
        "n": len(records),
        "flagged": None if hit is None else int(records["flagged"].sum()),
        "fdr": None if hit is None else hit.settings["fdr"],
        "smallest_flaggable": int(least[0]) if least else None,
        "file": "records.parquet",
        "copied": int(records["copied"].sum()),
        "replicated_unique": int(records["replicated_unique"].sum()),
        "disclosed": int((records["n_disclosed"] > 0).sum()),
        "exposed": len(exposed),
        "exposed_share": len(exposed) / len(records),
        "exposed_share_strangers": strangers,
    }


def _worst_records(records: pl.DataFrame | None) -> list[dict[str, Any]]:
    return [] if records is None else jsonable(records.head(50).to_dicts())


def _row(r: Mapping[str, Any]) -> dict[str, Any]:
    def of(part: str, field: str) -> Any:
        return (r.get(part) or {}).get(field)

    return {
        "attack": r["attack"], "variant": r["variant"], "keys": " + ".join(r["keys"]), "target": r["target"],
        "members": of("real", "rate"), "members_n": of("real", "n"),
        "strangers": of("holdout", "rate"), "strangers_n": of("holdout", "n"), "baseline": of("baseline", "rate"),
        "difference": of("difference", "value"), "risk": of("risk", "value"), "risk_low": of("risk", "low"),
        "risk_high": of("risk", "high"), "risk_low_simultaneous": of("risk", "low_simultaneous"),
        "risk_high_simultaneous": of("risk", "high_simultaneous"), "score": r["score"], "p_value": r["p_value"],
        "p_adjusted": r["p_adjusted"], "smallest_detectable": r["smallest_detectable"], "verdict": r["verdict"],
        "value_real": of("value", "real"), "value_holdout": of("value", "holdout"),
        "value_synthetic": of("value", "synthetic"), "seconds": r["seconds"],
    }  # fmt: skip


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        _replace(Path(path), text.encode())
    return text


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)
