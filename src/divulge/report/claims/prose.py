"""What a report says about a claim of differential privacy."""

from __future__ import annotations

from divulge.core.result import number
from divulge.report.model import Assessment

__all__ = ["CLAIM_MEANING", "CLAIM_TITLE", "claim_in_words"]

CLAIM_TITLE = "What a claim of differential privacy allows"
CLAIM_MEANING = (
    "A claim bounds every attack, and also those that were not run; it covers only what went through the mechanism: "
    "not ranges, categories, order of keys or filters that were taken from the data. A claim is contradicted where the "
    "lower bound of epsilon is above it. The bound looks at the odds of members against those of strangers in this one "
    "table, which is sharper than the number allowed. A claim that is not contradicted is not confirmed by that."
)


def claim_in_words(data: Assessment) -> list[str]:
    """Return the claim, what it allows, and whether the run contradicts it; [] without a claim."""
    stated, read = data.threat.claim, data.claim
    if stated is None or read is None:
        return []
    delta = "not stated" if stated.delta is None else f"{stated.delta:g}"
    told = [
        f"Claimed: epsilon {stated.epsilon:g}, delta {delta}, unit {stated.unit or 'not stated'}, neighbouring "
        f"{stated.neighbouring or 'not stated'}."
    ]
    if read.epsilon is not None and read.advantage is not None and read.tpr_at_1 is not None and read.tpr_at_10:
        told.append(
            f"A member beside a stranger is one person replaced by another: epsilon {read.epsilon:g}, delta "
            f"{read.delta:.3g}. That allows a membership advantage or an excess of inference of "
            f"{number(read.advantage)}, a TPR of {number(read.tpr_at_1)} at an FPR of 1%, and of "
            f"{number(read.tpr_at_10)} at 10%."
        )
    if stated.unit == "person" and data.settings.unit is None and not data.tables.real.linked:
        told.append("No column says which rows are of one person, so that each row counts as one.")
    return [*told, _judged(data)]


def _judged(data: Assessment) -> str:
    read = data.claim
    assert read is not None
    if read.why:
        return f"The claim is not judged: {read.why}."
    of = f"{read.comparisons:,} comparisons together, {100 * read.level:g}% confidence"
    broken = [line for line in read.lines if line.verdict == "contradicted"]
    if broken:
        low = max((line.epsilon_low for line in broken if line.epsilon_low is not None), default=None)
        least = "" if low is None else f": epsilon is at least {low:.2f}"
        return f"The claim is contradicted{least} ({', '.join(line.what for line in broken)}; {of})."
    return f"The claim is not contradicted, which does not confirm it ({of})."
