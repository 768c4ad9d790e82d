"""How each number and each decision of an external edition is made: one entry for each field of the report's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = ["DECISIONS", "NUMBERS", "Made"]

Made = Literal["counts", "public", "listing", "clock", "withheld"]
"""A function of counts as shown; of settings or the synthetic table alone; a number of entries of a list that is shown,
or of tests; seconds; or not there."""

_COUNTS = (
    "Baseline.rate", "ColumnAnswer.risk",
    "Difference.value", "MinimalKeySet.n_disclosed", "MinimalKeySet.share", "Rate.hits", "Rate.n",
    "Rate.rate", "ResultRecord.context", "ResultRecord.score", "Risk.high", "Risk.high_simultaneous",
    "Risk.leak_free_high", "Risk.leak_free_low", "Risk.low", "Risk.low_simultaneous", "Risk.value", "Table.repeated",
    "Table.rows", "Table.units", "Value.holdout", "Value.real",
    "QuestionAnswer.members", "QuestionAnswer.strangers", "Summary.metrics",
)  # fmt: skip
_PUBLIC = (
    "AcceptedLimit.limit", "Bound.acceptable",
    "Bound.limit", "Change.level", "FidelityResult.m", "FidelityResult.tolerance", "FidelityScope.tolerance",
    "KeySet.share", "MinimalKeySet.synthetic_share", "PositiveControl.n_planted", "PositiveControl.share",
    "ResultRecord.settings", "Risk.level", "Settings.acceptable", "Settings.jobs", "Settings.level",
    "Settings.missing", "Settings.people", "Settings.seed", "Table.columns", "Table.missing", "Value.synthetic",
)  # fmt: skip
_LISTING = (
    "Change.gone", "Change.new", "LeftOut.n", "LeftOut.of", "Overall.screened", "PositiveControl.n_judged",
)  # fmt: skip
_WITHHELD = (
    "Bound.people", "Bound.shown", "Changed.before", "Changed.difference", "Changed.high",
    "Changed.high_simultaneous", "Changed.low", "Changed.low_simultaneous", "Changed.now", "Changed.p_adjusted",
    "ChangedFidelity.before", "ChangedFidelity.difference", "ChangedFidelity.high", "ChangedFidelity.low",
    "ChangedFidelity.now", "Difference.high", "Difference.high_simultaneous", "Difference.low",
    "Difference.low_simultaneous", "Differing.results",
    "FidelityResult.context", "FidelityResult.excess", "FidelityResult.high",
    "FidelityResult.low", "FidelityResult.n", "FidelityResult.p_adjusted", "FidelityResult.p_low_tail",
    "FidelityResult.p_low_tail_adjusted", "FidelityResult.p_value", "FidelityResult.rows_needed",
    "FidelityResult.ruler", "FidelityResult.seconds", "FidelityResult.smallest_detectable", "FidelityResult.value",
    "Found.high", "Found.low", "Found.risk", "FreshSample.high", "FreshSample.low", "FreshSample.mean",
    "HoldoutValue.n", "HoldoutValue.p_adjusted", "HoldoutValue.p_value", "HoldoutValue.ruler", "HoldoutValue.value",
    "Marginal.high", "Marginal.low", "Marginal.real", "Marginal.synthetic", "Planted.flagged", "Rate.units",
    "Planted.flagged_without", "Planted.others_flagged", "Planted.planted", "Precondition.numbers",
    "PositiveControl.smallest_share",
    "Records.copied", "Records.disclosed", "Records.exposed", "Records.exposed_share",
    "Records.exposed_share_strangers", "Records.fdr", "Records.flagged", "Records.n",
    "Records.named_in_texts", "Records.recognised",
    "Records.recognised_not_near", "Records.replicated_unique", "Records.smallest_flaggable", "Repeated.elsewhere",
    "Repeated.named", "Repeated.p_value", "Repeated.times", "ResultRecord.curves", "ResultRecord.p_adjusted",
    "ResultRecord.p_value", "ResultRecord.seconds", "ResultRecord.smallest_detectable", "Sampling.excess",
    "Sampling.members", "Sampling.of_members", "Sampling.of_strangers", "Sampling.strangers",
    "Smallest.difference_with", "Smallest.difference_without", "Smallest.smallest_detectable",
    "Smallest.smallest_share",
    "Verbatim.members", "Verbatim.named",
    "Verbatim.strangers", "Verbatim.telling",
)  # fmt: skip

NUMBERS: Mapping[str, Made] = {
    **dict.fromkeys(_COUNTS, "counts"),
    **dict.fromkeys(_PUBLIC, "public"),
    **dict.fromkeys(_LISTING, "listing"),
    **dict.fromkeys(_WITHHELD, "withheld"),
    "Assessment.seconds": "clock",
}
"""Each field of `report.model` that holds a number, as struct.field. A field that is missing here fails a test. The
synthetic table's own `Table.rows`, `Table.repeated`, `Table.missing` are public. `ResultRecord.context` holds what the
entry of its attack declares. Numbers inside sentences are withheld but for those of `known_sentences.PUBLIC`, the
limits of a policy, and numbers of entries."""

DECISIONS = (
    "ColumnAnswer.compared", "ColumnAnswer.verdict",
    "Bound.bounded", "Bound.primary", "Change.previous_edition", "Change.same_people", "Change.same_synthetic",
    "Change.verdict", "Changed.verdict", "ChangedFidelity.verdict", "Condition.kept", "FidelityResult.verdict",
    "FidelityScope.too_close", "Found.without", "Overall.nearer", "Overall.verdict", "Policy.kept",
    "PositiveControl.verdict", "Precondition.ok", "Precondition.tested", "ResultRecord.verdict",
)  # fmt: skip
"""Words of the custodian's edition that go out as they are."""
