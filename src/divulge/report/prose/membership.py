"""What a report says about membership beside its tile: rates, AUC, the check without the synthetic table, people."""

from __future__ import annotations

from divulge.attacks.membership.results import LEAST_AUC
from divulge.core.result import FOUND, number, percent
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose.compared import how_many, plain_share
from divulge.report.prose.people import people_or_rows
from divulge.report.prose.several_tables import by_number_in_words
from divulge.report.prose.tiles import tiles
from divulge.stats.roc import least_strangers

__all__ = ["DEFINITION", "membership_in_words"]

DEFINITION = (
    "Finding out whether somebody is in the real table at all. Where the table is about an illness or a debt, that is "
    "a secret. The European Data Protection Board names membership inference among the attacks whose resistance is to "
    "be tested (opinion 28/2024)."
)


def membership_in_words(data: Assessment) -> list[str]:
    """Return what was found about membership, one sentence each; [] where it was not tested."""
    tile = next(t for t in tiles(data) if t.id == "membership")
    if tile.r is None:
        return [tile.sentence] if tile.state == "cannot tell" else []
    own = [r for r in data.results if r.attack == "membership"]
    told = [tile.sentence, _scores(own), *_numbers(tile.r), by_number_in_words(tile.r), _blind(tile.r), _people(data)]
    return [t for t in told if t]


def _scores(own: list[ResultRecord]) -> str:
    found = sum(r.verdict in FOUND for r in own)
    return f"{len(own)} scores were tested together, and {found or 'none'} found a difference."


def _numbers(r: ResultRecord) -> list[str]:
    """Return the rates at three prices, and the AUC; [] where they are withheld."""
    area = r.context.get("AUC")
    if area is None:
        return []
    value, low, high = _three(r, "AUC")
    rates = "; ".join(_rate(r, rate) for rate in ("10%", "1%", "0.1%"))
    least = r.context.get(LEAST_AUC)
    one = "row of a " * formatting.of_rows(r.real)
    many = "rows" if one else "people"
    found = "" if least is None else f" With so many {many}, {percent(least)} or more is found with 80% power."
    return [
        f"By {r.variant}, so many {formatting.rows_or('members', r.real)} are taken for members: {rates}.",
        f"A {one}member scores higher than a {one}stranger in {percent(value)} of pairs ({percent(low)} to "
        f"{percent(high)}); 50% is chance (AUC).{found}",
        *_advantage(r),
    ]


def _rate(r: ResultRecord, name: str) -> str:
    """Return the share of members taken where this share of strangers is, or how many strangers it takes to know."""
    value, low, high = _three(r, f"TPR at FPR {name}")
    where, n = f"where {name} of strangers are", 0 if r.holdout is None else r.holdout.n or 0
    needed = least_strangers(float(name[:-1]) / 100, 0.95 if r.risk is None else r.risk.level)
    if value is None:
        return f"not known {where}, which takes {needed:,} strangers"
    told = f"{percent(value)} ({percent(low)} to {percent(high)}) {where}"
    return told if n >= needed else f"{told} (a lower limit takes {needed:,} strangers)"


def _advantage(r: ResultRecord) -> list[str]:
    value, low, high = _three(r, "membership advantage")
    if value is None or low is None or high is None:
        return []
    return [
        f"In the upper half of all scores are {100 * value:.1f} points more of the members than of the strangers "
        f"({100 * low:.1f} to {100 * high:.1f}; membership advantage)."
    ]


def _three(r: ResultRecord, name: str) -> tuple[float | None, float | None, float | None]:
    value, low, high = (r.context.get(name + end) for end in ("", ", lower limit", ", upper limit"))
    return value, low, high


def _blind(r: ResultRecord) -> str:
    area, p = (r.context.get(f"{what} without the synthetic table") for what in ("AUC", "p-value"))
    if area is None or p is None:
        return ""
    return (
        f"Without the synthetic table, a classifier tells members from strangers in {percent(area)} of pairs "
        f"(p = {number(p)})."
    )


def _people(data: Assessment) -> str:
    s = data.records
    if s is None or s.recognised is None:
        return ""
    what = people_or_rows(data)
    who = "Nobody is" if not s.recognised else f"{s.recognised:,} {what} ({plain_share(s.recognised / s.n, s.n)}) are"
    told = f"{who} recognised one by one; of those who are, at most 10% are expected by chance."
    if not s.recognised or s.recognised_not_near is None:
        return told
    n = s.recognised_not_near
    return (
        f"{told} Of them {how_many(n, s.recognised)} {'is' if n == 1 else 'are'} given away by margins or the "
        "classifier and by no distance."
    )
