"""The report for a terminal and for `print`: risk, interval, members against strangers, verdict in words."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from divulge.result import number, percent

__all__ = ["clean", "summary"]

_ORDER = {"excess found": 0, "cannot tell": 1, "none found": 2, "no holdout": 3}
_SHOWN = 16


def clean(text: object) -> str:
    """Return text without control characters: column names are untrusted and must not steer the terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))


def summary(data: Mapping[str, Any], *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a report as text."""
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
    )
    for part in _parts(data):
        console.print(part)
    return stream.getvalue().rstrip()


def _parts(data: Mapping[str, Any]) -> list[Any]:
    from rich.text import Text

    verdict = data["verdict"]
    parts: list[Any] = [Text(f"divulge: {verdict['verdict']}", style="bold"), Text(clean(verdict["sentence"])), Text("")]
    bad = [c for c in data["preconditions"] if not c["ok"]]
    for check in bad:
        parts.append(Text(f"! {check['check']}: {clean(check['detail'])}", style="yellow"))
    judged = [r for r in data["results"] if r["verdict"] is not None]
    if judged:
        parts.append(_table(judged))
    shown = min(len(judged), _SHOWN)
    if len(judged) > shown:
        parts.append(Text(f"{len(judged) - shown} more comparisons are in the report."))
    for failure in data["failed"]:
        parts.append(Text(f"! {failure['attack']} failed: {clean(failure['why'])}", style="red"))
    records = data.get("records")
    if records:
        parts.append(
            Text(
                f"{records['exposed']:,} of {records['n']:,} real records stand out: {records['copied']:,} copied whole, "
                f"{records['replicated_unique']:,} alone on their key and matched by one synthetic row, "
                f"{records['disclosed']:,} with a target that their synthetic class names rightly and with certainty."
            )
        )
    parts.append(Text("Not tested: " + ", ".join(n["what"] for n in data["not_tested"]) + "."))
    return parts


def _sort_key(r: Mapping[str, Any]) -> tuple[int, float]:
    bound = (r["risk"] or {}).get("low_simultaneous")
    rate = (r["real"] or {}).get("rate")
    return _ORDER[r["verdict"]], -(bound if bound is not None else rate if rate is not None else 0.0)


def _table(judged: list[Mapping[str, Any]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, side in (
        ("attack", "left"), ("members", "right"), ("strangers", "right"), ("without", "right"),
        ("risk (simultaneous interval)", "right"), ("verdict", "left"),
    ):  # fmt: skip
        table.add_column(name, justify=side, overflow="fold")  # type: ignore[arg-type] # rich's literals
    for r in sorted(judged, key=_sort_key)[:_SHOWN]:
        risk = r["risk"] or {}
        interval = "-"
        if risk.get("value") is not None:
            low, high = risk["low_simultaneous"], risk["high_simultaneous"]
            interval = f"{number(risk['value'])} ({number(low)} to {number(high)})"
        row = (
            clean(_label(r)), _rate(r["real"]), _rate(r["holdout"]), percent((r["baseline"] or {}).get("rate")),
            interval, r["verdict"],
        )  # fmt: skip
        style = {"excess found": "bold red", "cannot tell": "yellow"}.get(r["verdict"], "")
        table.add_row(*(Text(c, style=style if i == 5 else "") for i, c in enumerate(row)))
    return table


def _label(r: Mapping[str, Any]) -> str:
    text: str = r["attack"] + (f" ({r['variant']})" if r["variant"] else "")
    if r["keys"]:
        text += ": " + " + ".join(r["keys"])
    return text + (f" -> {r['target']}" if r["target"] else "")


def _rate(rate: Mapping[str, Any] | None) -> str:
    if not rate or rate["rate"] is None:
        return "-"
    return f"{percent(rate['rate'])} of {rate['n']:,}"
