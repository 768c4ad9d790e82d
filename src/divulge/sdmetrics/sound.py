"""`mode="sound"`: the question of a metric of SDMetrics, answered by divulge's own measures.

Each score is 1 less a risk, the residual (p - b) / (1 - b) over the success b without the synthetic table. With
`real_validation_data`, people whom the synthesizer never saw, b is how often the attack is right about them. Without it
b is the success of guesses drawn from the distribution of the sensitive values. The score is bounded to [0, 1] like a
score of SDMetrics; `risk` in the breakdown is not bounded.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.attribution.scores import Unseen, cap_scores
from divulge.attacks.checks import SHOWN, marginal_baseline, record_result
from divulge.attacks.distance.dcr import dcr
from divulge.attacks.distance.identical_match_share import identical_match_share
from divulge.case.case import Case, build_case
from divulge.case.comparable.overlap import overlap
from divulge.core.result import TOWARDS, Result
from divulge.core.schema import Bins, Column, Schema, schema_from_sdv
from divulge.kernels.counts.contingency import ContingencyTable
from divulge.sdmetrics.attribution import METHODS, check_counts, check_disclosure
from divulge.sdmetrics.closest import check_draws
from divulge.sdmetrics.columns import Frame, first_table, frame_of
from divulge.sdmetrics.discretize import binned
from divulge.sdmetrics.fields import attack_tables
from divulge.sdmetrics.metadata import as_datetimes, columns_of, table_metadata
from divulge.sdmetrics.new_rows import checked_size, checked_tolerance, compared
from divulge.stats import Interval, Outcomes, residual_over

__all__ = [
    "LEVEL", "cap_sound", "disclosure_estimate_sound", "disclosure_sound", "measured_tables", "new_rows_sound",
    "overfitting_sound",
]  # fmt: skip

Breakdown = dict[str, Any]
LEVEL = 0.95
_MARGINAL = "guessing in proportion to how often each sensitive value occurs in the real data"
_PUBLISHED = "guessing in proportion to how often each sensitive value occurs in the synthetic data"
_NO_STRANGERS = ": nobody in real_validation_data can be attacked, or the attack is always right about them"
_STRANGERS = "the same attack on the people of real_validation_data"
_MEASURED = ("numerical", "categorical", "boolean", "datetime", "ordinal")


def _score(risk: Interval, **more: Any) -> Breakdown:
    """Return score, limits and risk as a breakdown; nan where the risk is undefined."""
    return {
        "score": _bounded(1 - risk.value),
        "low": _bounded(1 - risk.high),
        "high": _bounded(1 - risk.low),
        **more,
        "risk": risk.value,
        "risk_low": risk.low,
        "risk_high": risk.high,
        "level": LEVEL,
    }


def _bounded(score: float) -> float:
    return score if math.isnan(score) else min(1.0, max(0.0, score))


def _risk_of(result: Result) -> Interval:
    """Return the risk of a result; a missing limit of an existing risk is infinite."""
    risk = result.risk
    assert risk is not None
    if risk.value is None:
        return Interval(math.nan, math.nan, math.nan)
    low, high = -math.inf if risk.low is None else risk.low, math.inf if risk.high is None else risk.high
    return Interval(risk.value, low, high)


def _warn_of_overlap(case: Case) -> None:
    found = overlap(case) if case.in_memory else None
    if found is not None and not found.ok:
        warnings.warn(f"real_validation_data: {found.detail}.", stacklevel=6)  # the caller of `compute`


# ---------------------------------------------------------------- CAP


def cap_sound(unseen: Unseen) -> Callable[..., Breakdown]:
    """Return the sound counterpart of a CAP metric."""

    def cap(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        key_fields: Sequence[Hashable] | None = None,
        sensitive_fields: Sequence[Hashable] | None = None,
        model_kwargs: Any = None,
        *,
        real_validation_data: Any = None,
    ) -> Breakdown:
        _, _, keys, sensitive = attack_tables(
            real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, None
        )
        kinds = [Column(str(name), "categorical") for name in dict.fromkeys([*keys, *sensitive])]
        return _attributed(real_data, synthetic_data, real_validation_data, kinds, keys, sensitive, unseen)

    return cap


def disclosure_sound(
    real_data: Any,
    synthetic_data: Any,
    known_column_names: Sequence[Hashable],
    sensitive_column_names: Sequence[Hashable],
    computation_method: str = "cap",
    continuous_column_names: Sequence[Hashable] | None = None,
    num_discrete_bins: int = 10,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of DisclosureProtection."""
    real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    known, sensitive = known_column_names, sensitive_column_names
    check_disclosure(
        real, synthetic, known, sensitive, computation_method, continuous_column_names, num_discrete_bins
    )  # fmt: skip
    for name in [] if continuous_column_names is None else continuous_column_names:
        binned(name, real[name], synthetic[name], num_discrete_bins)  # refuses what cannot be cut
    cut = set() if continuous_column_names is None else {str(name) for name in continuous_column_names}
    bins = Bins("quantile", num_discrete_bins)
    kinds = [
        Column(text, "numeric", bins=bins) if text in cut else Column(text, "categorical")
        for text in dict.fromkeys(map(str, [*known, *sensitive]))
    ]
    unseen = METHODS[computation_method.upper()]
    return _attributed(real_data, synthetic_data, real_validation_data, kinds, known, sensitive, unseen)


def disclosure_estimate_sound(
    real_data: Any,
    synthetic_data: Any,
    known_column_names: Sequence[Hashable],
    sensitive_column_names: Sequence[Hashable],
    computation_method: str = "cap",
    continuous_column_names: Sequence[Hashable] | None = None,
    num_discrete_bins: int = 10,
    num_rows_subsample: int = 1000,
    num_iterations: int = 10,
    verbose: bool = True,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of DisclosureProtectionEstimate: all rows, as nothing has to be drawn."""
    check_counts(num_rows_subsample=num_rows_subsample, num_iterations=num_iterations)
    return disclosure_sound(
        real_data, synthetic_data, known_column_names, sensitive_column_names, computation_method,
        continuous_column_names, num_discrete_bins, real_validation_data=real_validation_data,
    )  # fmt: skip


def _attributed(
    real_data: Any,
    synthetic_data: Any,
    holdout: Any,
    kinds: Sequence[Column],
    keys: Sequence[Hashable],
    sensitive: Sequence[Hashable],
    unseen: Unseen,
) -> Breakdown:
    tables = [first_table(t) for t in (real_data, synthetic_data, holdout)]
    case = build_case(*tables, schema=Schema(tuple(kinds)), level=LEVEL)
    _warn_of_overlap(case)
    names, targets = tuple(map(str, keys)), tuple(map(str, sensitive))
    table = case.contingency(names, targets)
    scores = cap_scores(table, unseen)
    result = record_result(
        case, table, scores, attack="cap", variant=unseen, keys=names, target=" + ".join(targets),
        baseline=marginal_baseline(table),
    )  # fmt: skip
    assert result.real is not None
    more: Breakdown = {"n": result.real.n, "cap_protection": _protection(result.real.rate)}
    if result.holdout is not None:
        more["n_validation"] = result.holdout.n
        risk = _risk_of(result)
        if not math.isnan(risk.value):
            return _score(
                risk, **more, baseline_protection=_protection(result.holdout.rate), baseline=_STRANGERS,
                p_value=result.p_value, verdict=result.verdict, notes=list(result.notes),
            )  # fmt: skip
    attacked = (table.o > 0) & ~np.isnan(scores)
    blind, moved_by, what = blind_chances(table, attacked)
    people = table.o[attacked]
    risk = residual_over(Outcomes(scores[attacked], people), blind, moved_by, LEVEL)
    if result.holdout is not None:
        what += _NO_STRANGERS
    return _score(risk, **more, baseline_protection=_protection(Outcomes(blind, people).rate), baseline=what)


def _protection(rate: float | None) -> float:
    return math.nan if rate is None else 1 - rate


def blind_chances(table: ContingencyTable, attacked: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float, str]:
    """Return how often a guess without the keys is right about the people of some cells.

    It is the better of two ways to guess: in proportion to the frequency of each sensitive value among the other people
    of these cells, or in proportion to its frequency in the synthetic table. The second way is the attack without the
    keys, so its success is not due to them.

    Parameters
    ----------
    table, attacked
        The counts, and for each cell whether its people are attacked, shape (n_cells,).

    Returns
    -------
    chances, moved_by, what
        Success rates of shape (n_attacked_cells,), nan for a single person; for `moved_by` see `residual_over`; a
        description of the way to guess.
    """
    people, target = table.o[attacked], table.target[attacked]
    n = int(people.sum())
    margin = np.bincount(target, weights=people, minlength=table.n_targets)
    others = (margin - 1) / (n - 1) if n > 1 else np.full(len(margin), math.nan)
    published = table.target_margin(table.s) / max(1, table.n_s)
    if Outcomes(published[target], people).rate > Outcomes(others[target], people).rate:
        return published[target], 1.0, _PUBLISHED
    return others[target], 2.0, _MARGINAL


# ---------------------------------------------------------------- distances


def overfitting_sound(
    real_training_data: Any,
    synthetic_data: Any,
    real_validation_data: Any,
    metadata: Any,
    table_name: str | None = None,
    num_rows_subsample: int | None = None,
    num_iterations: int = 1,
) -> Breakdown:
    """Return the sound counterpart of DCROverfittingProtection."""
    check_draws(num_rows_subsample, num_iterations)
    roles = {
        "real_training_data": real_training_data,
        "synthetic_data": synthetic_data,
        "real_validation_data": real_validation_data,
    }
    case, columns = measured_tables(roles, metadata, table_name)
    return _of_rows(dcr.run(case, columns=columns)[0])


def new_rows_sound(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    numerical_match_tolerance: float = 0.01,
    synthetic_sample_size: int | None = None,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of NewRowSynthesis."""
    if real_validation_data is None:
        raise TypeError(
            'NewRowSynthesis: mode="sound" needs `real_validation_data`, people whom the synthesizer never saw: how '
            "many rows equal somebody by chance cannot be told without them. hint: divulge.copies(real, synthetic) "
            "counts copies without a verdict."
        )
    checked_tolerance(numerical_match_tolerance)
    checked_size(synthetic_sample_size)
    roles = {
        "real_data": real_data,
        "synthetic_data": synthetic_data,
        "real_validation_data": real_validation_data,
    }
    case, columns = measured_tables(roles, metadata, table_name)
    return _of_rows(identical_match_share.run(case, columns=columns))


def _of_rows(result: Result) -> Breakdown:
    """Return the breakdown of a measure that counts synthetic rows.

    On coarse data copies show only in part, because strangers share the copied records. So the excess is divided by the
    part of a full copy that would show, which gives the share of rows that are copied. nan where no part would show.
    """
    assert result.real is not None and result.holdout is not None
    shown, risk = result.context.get(SHOWN), _risk_of(result)
    shown = 1.0 if shown is None else shown
    copied = (
        Interval(*(min(1.0, x / shown) for x in (risk.value, risk.low, risk.high)))
        if shown > 0
        else Interval(math.nan, math.nan, math.nan)
    )
    members, strangers = result.real.counted[0], result.holdout.counted[0]
    share = members / (members + strangers) if members + strangers else math.nan
    return _score(
        copied,
        n=result.real.n,
        synthetic_data_percentages={"closer_to_training": share, "closer_to_holdout": 1 - share},
        closer_to_training_without_leak=result.context[TOWARDS],
        part_of_a_copy_that_would_show=shown,
        p_value=result.p_value,
        verdict=result.verdict,
        notes=list(result.notes),
    )


def measured_tables(roles: Mapping[str, Any], metadata: Any, table_name: str | None) -> tuple[Case, list[str] | None]:
    """Return the case of the tables, with datetimes parsed and kinds from the metadata, and the columns to compare.

    Keys and personal information are not compared: they differ between any two people and hide the other columns.
    Without metadata kinds are inferred, and all columns that can be compared are compared.

    Raises
    ------
    ValueError
        A table lacks a column that another has, or no column is left.
    """
    tables = [first_table(t) for t in roles.values()]
    frames = [frame_of(t, role) for t, role in zip(tables, roles, strict=True)]
    chosen, schema, columns = table_metadata(metadata, table_name), None, None
    wanted = list(dict.fromkeys(name for f in frames for name in f.names))
    entries: dict[Hashable, Any] = {}
    if chosen is not None:
        entries = columns_of(chosen)
        wanted = [n for n in wanted if n in entries]
    for role, frame in zip(roles, frames, strict=True):
        lacking = [str(n) for n in wanted if n not in frame.columns]
        if lacking:
            raise ValueError(
                f"`{role}` lacks columns that another table has: {', '.join(lacking)}. hint: all tables must have the "
                "columns that are compared; leave a column out of the metadata to leave it out."
            )
    if chosen is not None:
        entries = {n: entries[n] for n in wanted}
        dates = [n for n in wanted if entries[n].get("sdtype") == "datetime"]
        tables = [_with_dates(t, f, dates, entries) for t, f in zip(tables, frames, strict=True)]
        columns = [str(n) for n in compared(entries, chosen) if entries[n].get("sdtype") in _MEASURED]
        if not columns:
            raise ValueError(
                "No column is left to compare. hint: keys, ids and personal columns are left out; the others must be "
                "numerical, datetime, categorical, boolean or ordinal in the metadata."
            )
        schema = schema_from_sdv({**chosen, "columns": entries})
    case = build_case(*tables, schema=schema, level=LEVEL).collected("distances need every row")
    _warn_of_overlap(case)
    return case, columns


def _with_dates(table: Any, frame: Frame, dates: Sequence[Hashable], entries: Mapping[Hashable, Any]) -> Any:
    text = {n: as_datetimes(n, frame[n], entries[n]).values for n in dates if frame[n].kind != "M"}
    if not text:
        return table
    import polars as pl

    from divulge.tables.frames import collect, table_of

    read = collect(table_of(table, "table"))
    columns = {n: read.series(n) for n in read.columns}
    return pl.DataFrame({**columns, **{str(n): pl.Series(v) for n, v in text.items()}})
