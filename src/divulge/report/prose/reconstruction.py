"""What a report says about linear reconstruction: rates, and what it adds over the nearest record."""

from __future__ import annotations

from divulge.core.result import number
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord

__all__ = ["MEANING", "reconstruction_in_words"]

MEANING = (
    "Linear reconstruction solves many counts of the synthetic table together for a secret of two values. Strangers "
    "are solved in the same way, as if they were members."
)
_GAIN = "right more often than the nearest record, members"


def reconstruction_in_words(data: Assessment) -> list[str]:
    """Return what was found about each secret, one sentence or two each; [] where none was attacked."""
    return [_told(r) for r in data.results if r.attack == "linear_reconstruction"]


def _told(r: ResultRecord) -> str:
    target = formatting.name(r.target or "")
    risk = formatting.risk_value(r)
    shown = "withheld" if risk is None else f"{number(risk)}, {formatting.interval_in_words(r.risk, '_simultaneous')}"
    members, strangers = formatting.rows_or("members", r.real), formatting.rows_or("strangers", r.holdout)
    return (
        f"Of “{target}”: {r.verdict}; right about {formatting.rated(r.real)} of {members} and "
        f"{formatting.rated(r.holdout)} of {strangers} (risk {shown}).{_gain(r)}"
    )


def _gain(r: ResultRecord) -> str:
    """Return what it adds over inference from the nearest record, "" where that is withheld."""
    value, low, high = (r.context.get(_GAIN + end) for end in ("", ", lower limit", ", upper limit"))
    if value is None or low is None or high is None:
        return ""
    so = "so that it adds to inference" if low > 0 else "so that it does not clearly add to inference"
    points = f"{100 * low:.1f} to {100 * high:.1f}"
    return (
        f" Against the nearest record of inference, about the same members: {100 * value:+.1f} points ({points}), {so}."
    )
