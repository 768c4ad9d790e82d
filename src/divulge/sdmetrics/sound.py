"""Floor 5: `mode="sound"`: the question that a metric of SDMetrics asks, answered by divulge's own measures.

All scores are 1 less a risk: the residual over what is right without the synthetic table, (p - b) / (1 - b). With
`real_validation_data`, people whom the synthesizer never saw, b is how often the attack is right about them. Without,
b is the success of guessing in proportion to the sensitive values' own distribution. The score is bounded to [0, 1]
so that it stays a score of SDMetrics; `risk` in the breakdown is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from divulge.attacks.attribution import Unseen, cap_scores
from divulge.attacks.common import SHOWN, marginal_baseline, outcomes, record_result
from divulge.attacks.distance import dcr, identical_match_share
from divulge.case import lay
from divulge.counts import ContingencyTable
from divulge.estimate import Interval, residual_over
from divulge.result import TOWARDS, Result
from divulge.schema import Bins, Column, Schema, schema_from_sdv
from divulge.sdmetrics.attribution import METHODS, check_disclosure
from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.fields import attack_tables
from divulge.sdmetrics.metadata import as_datetimes, columns_of, table_metadata

__all__ = ["LEVEL", "cap_sound", "disclosure_estimate_sound", "disclosure_sound", "new_rows_sound", "overfitting_sound"]

Breakdown = dict[str, Any]
LEVEL = 0.95
_MARGINAL = "guessing in proportion to how often each sensitive value occurs in the real data"
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
    risk = result.risk
    assert risk is not None
    value, low, high = (math.nan if x is None else x for x in (risk.value, risk.low, risk.high))
    return Interval(value, low, high)


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
    cut = {str(name) for name in continuous_column_names or ()}
    bins = Bins("quantile", num_discrete_bins)
    kinds = [
        Column(name, "numeric", bins=bins) if name in cut else Column(name, "categorical")
        for name in dict.fromkeys(map(str, [*known, *sensitive]))
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
    return disclosure_sound(
        real_data, synthetic_data, known_column_names, sensitive_column_names,
        computation_method, continuous_column_names, num_discrete_bins, real_validation_data=real_validation_data,
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
    tables = [_one(t) for t in (real_data, synthetic_data, holdout)]
    case = lay(*tables, schema=Schema(tuple(kinds)), level=LEVEL)
    names, targets = tuple(map(str, keys)), tuple(map(str, sensitive))
    table = case.contingency(names, targets)
    scores = cap_scores(table, unseen)
    result = record_result(
        case, table, scores, attack="cap", variant=unseen, keys=names, target=" + ".join(targets),
        baseline=marginal_baseline(table),
    )  # fmt: skip
    assert result.real is not None
    more = {"n": result.real.n, "cap_protection": _protection(result.real.rate)}
    if holdout is None:
        baseline = marginal_limits(table)
        risk = residual_over(outcomes(case, table, scores, "real"), baseline, LEVEL)
        return _score(risk, **more, baseline_protection=1 - baseline.value, baseline=_MARGINAL)
    assert result.holdout is not None
    strangers = _protection(result.holdout.rate)
    return _score(
        _risk_of(result), **more, baseline_protection=strangers, baseline=_STRANGERS, p_value=result.p_value,
        verdict=result.verdict,
    )  # fmt: skip


def _protection(rate: float | None) -> float:
    return math.nan if rate is None else 1 - rate


def marginal_limits(table: ContingencyTable) -> Interval:
    """Return the success of guessing in proportion to the sensitive values' shares, with normal limits.

    The sum of squared shares moves with each record by twice the share of the record's value.
    """
    share = table.target_margin(table.o) / table.n_o
    value = float((share**2).sum())
    spread = 2 * math.sqrt(max(0.0, float((share**3).sum()) - value**2) / table.n_o)
    return Interval(value, max(0.0, value - 1.96 * spread), min(1.0, value + 1.96 * spread))


def _one(data: Any) -> Any:
    """Return the first table of a dictionary of tables."""
    return next(iter(data.values())) if isinstance(data, Mapping) and data else data


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
    tables, schema, columns = _measured(
        [real_training_data, synthetic_data, real_validation_data], metadata, table_name
    )
    result = dcr(*tables[:2], holdout=tables[2], schema=schema, columns=columns)[0]
    return _of_rows(result)


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
    tables, schema, columns = _measured([real_data, synthetic_data, real_validation_data], metadata, table_name)
    return _of_rows(identical_match_share(*tables[:2], holdout=tables[2], schema=schema, columns=columns))


def _of_rows(result: Result) -> Breakdown:
    assert result.real is not None and result.holdout is not None
    counted = result.real.hits + result.holdout.hits
    share = result.real.hits / counted if counted else math.nan
    return _score(
        _risk_of(result),
        n=result.real.n,
        synthetic_data_percentages={"closer_to_training": share, "closer_to_holdout": 1 - share},
        closer_to_training_without_leak=result.context[TOWARDS],
        part_of_a_copy_that_would_show=result.context.get(SHOWN),
        p_value=result.p_value,
        verdict=result.verdict,
    )


def _measured(
    tables: Sequence[Any], metadata: Any, table_name: str | None
) -> tuple[list[Any], Schema | None, list[str] | None]:
    """Return the tables with datetimes read, their schema and the columns to compare, as the metadata says.

    Without metadata kinds are inferred, and all columns that can be compared are.
    """
    tables = [_one(t) for t in tables]
    chosen = table_metadata(metadata, table_name)
    if chosen is None:
        return tables, None, None
    frames = [frame_of(t, role) for t, role in zip(tables, ("real", "synthetic", "holdout"), strict=True)]
    shared = set.intersection(*(set(f.names) for f in frames))
    entries = {n: e for n, e in columns_of(chosen).items() if n in shared}
    dates = [n for n, e in entries.items() if e.get("sdtype") == "datetime"]
    tables = [_with_dates(t, f, dates, entries) for t, f in zip(tables, frames, strict=True)]
    columns = [str(n) for n, e in entries.items() if e.get("sdtype") in _MEASURED]
    return tables, schema_from_sdv({**chosen, "columns": entries}), columns


def _with_dates(table: Any, frame: Frame, dates: Sequence[Hashable], entries: Mapping[Hashable, Any]) -> Any:
    text = {n: as_datetimes(n, frame[n], entries[n]).values for n in dates if frame[n].kind != "M"}
    if not text:
        return table
    import polars as pl

    from divulge.frames import collect, table_of

    read = collect(table_of(table, "table"))
    columns = {n: read.series(n) for n in read.columns}
    return pl.DataFrame({**columns, **{str(n): pl.Series(v) for n, v in text.items()}})
