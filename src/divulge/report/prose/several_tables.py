"""What a report says where several synthetic tables of one training set were taken together."""

from __future__ import annotations

from divulge.core.result import number, percent
from divulge.report import formatting, words
from divulge.report.model import Assessment, ResultRecord
from divulge.tables.stacking import TOGETHER

__all__ = ["by_number_in_words", "limits_in_words", "together_in_words"]

_BEST = "AUC of the best single table"
_GAIN = "gain of all tables over the best single one"


def together_in_words(data: Assessment) -> str:
    """Return that all findings are about several tables, with their number where it is shown; "" for one table."""
    told = next((note.removeprefix("synthetic: ") for note in data.notes if TOGETHER in note), "")
    if not told:
        return ""
    which = f"Several {TOGETHER}" if "…" in told else formatting.capitalized(told)
    which = which.replace("tables", "synthetic tables", 1)
    return f"{which}. All that is said of the synthetic table is said of their rows together."


def limits_in_words(data: Assessment) -> list[str]:
    """Return what the numbers do not prove, for one synthetic table or for several."""
    together = bool(together_in_words(data))
    return [words.SEVERAL_TABLES if together and line == words.ONE_TABLE else line for line in words.LIMITS]


def by_number_in_words(r: ResultRecord) -> str:
    """Return what each further table adds to a membership score, in one sentence or two; "" where it is not known."""
    areas, numbers = (r.curves.get(name) or [] for name in ("by tables: AUC", "synthetic tables"))
    best, gain, low, high = (r.context.get(n) for n in (_BEST, _GAIN, f"{_GAIN}, lower limit", f"{_GAIN}, upper limit"))
    if not areas or best is None or gain is None or low is None or high is None:
        return ""
    with_ = ", ".join(f"{percent(a)} with {n:.0f}" for a, n in zip(areas, numbers, strict=True) if a is not None)
    return (
        f"By number of synthetic tables a member scores higher than a stranger in so many pairs: {with_}. The best "
        f"single one gives {percent(best)}; all together add {number(gain)} ({number(low)} to {number(high)}) to its "
        "AUC."
    )
