"""`mode="sound"` of metrics whose score has no measure of its own: the same score of relabelled members beside it.

A member is a row, a sequence or a parent. With `real_validation_data`, people whom the synthesizer never saw, their
score stands beside it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.core.calls import with_signature
from divulge.measures.permuted_score import permuted_score
from divulge.measures.result import FidelityResult, HoldoutValue
from divulge.sdmetrics import sequences
from divulge.sdmetrics.column_pairs import comparisons as pairs
from divulge.sdmetrics.column_pairs import keys
from divulge.sdmetrics.inputs import column_of, two_columns
from divulge.sdmetrics.single_column import comparisons, formats, formulas, own
from divulge.sdmetrics.sound_columns import breakdown_of, pooled_codes, pooled_numbers

__all__ = ["of_members", "of_numbers", "of_pairs", "of_rule", "scored"]

Breakdown = dict[str, Any]
Ints = NDArray[np.int64]
Sound = Callable[..., Breakdown]
_ROLES = ("real_data", "synthetic_data", "real_validation_data")


def scored(score: Callable[[Any, Any], float], sides: Sequence[Any]) -> Breakdown:
    """Return the sound breakdown of a score of two samples.

    Parameters
    ----------
    score
        Takes members of both sides, as `sides` holds them, and returns a score.
    sides
        Arrays or frames of members: real, synthetic, and holdout where there is one.
    """
    sides = [_in_order(side) for side in sides]
    found = [_beside(score, sides[0], other, step) for step, other in enumerate(sides[1:], start=1)]
    result = found[0]
    if len(found) > 1 and result.value is not None:
        of = found[1]
        value = HoldoutValue(value=of.value, n=of.m, fresh_sample=of.fresh_sample, ruler=of.ruler, p_value=of.p_value)
        result = replace(result, holdout=value)
    return breakdown_of([result])


def _in_order(members: Any) -> Any:
    """Return the members in an order that depends on what they are, not on that of the rows."""
    if isinstance(members, pl.DataFrame):
        return members.sort(members.columns)
    if isinstance(members, pl.Series):
        return members.sort()
    if members.dtype != object:
        return np.sort(members)
    place = sorted(range(len(members)), key=lambda i: members[i].tolist())
    return members[place]


def _beside(score: Callable[[Any, Any], float], first: Any, second: Any, step: int) -> FidelityResult:
    n, m = len(first), len(second)
    both = (
        pl.concat([first, second]) if isinstance(first, pl.DataFrame | pl.Series) else np.concatenate([first, second])
    )

    def of_members(a: Ints, b: Ints) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the released score warns, of each relabelling too
            return float(score(both[a], both[b]))

    return permuted_score(of_members, n, m, np.random.default_rng([step, n, m]))


# ---------------------------------------------------------------- makers


def of_numbers(breakdown: Callable[..., Breakdown]) -> Sound:
    """Return the sound counterpart of a metric of a column of numbers or dates, with its own settings."""

    def sound(given: Sequence[tuple[str, Any]], **settings: Any) -> Breakdown:
        _refuse(breakdown, given, settings)
        columns = pooled_numbers([column_of(data, role) for role, data in given])
        return scored(lambda a, b: breakdown(a, b, **settings)["score"], columns)

    return _called(sound, breakdown)


def of_pairs(breakdown: Callable[..., Breakdown], *, numbers: bool) -> Sound:
    """Return the sound counterpart of a metric of two columns of numbers, or of categories."""

    def sound(given: Sequence[tuple[str, Any]]) -> Breakdown:
        _refuse(breakdown, given, {})
        columns = [two_columns(data, role)[1][:2] for role, data in given]
        pooled = pooled_numbers if numbers else pooled_codes
        sides = [pooled([table[j] for table in columns]) for j in range(2)]
        frames = [pl.DataFrame({"a": a, "b": b}) for a, b in zip(*sides, strict=True)]
        return scored(lambda a, b: breakdown(a, b)["score"], frames)

    return _called(sound, breakdown)


def of_rule(kept: Callable[..., NDArray[np.bool_]], *settings: str) -> Sound:
    """Return the sound counterpart of a share of rows that keep a rule: 1 less its difference from the real share.

    Parameters
    ----------
    kept
        Takes data, its role and the settings, and returns which rows keep the rule.
    *settings
        Names of the settings.
    """

    def sound(given: Sequence[tuple[str, Any]], **own: Any) -> Breakdown:
        sides = [kept(data, role, **own).astype(np.float64) for role, data in given]
        shares = [float(side.mean()) if len(side) else np.nan for side in sides]
        found = scored(lambda a, b: 1 - abs(float(a.mean()) - float(b.mean())) if len(a) and len(b) else np.nan, sides)
        return found | {"real": shares[0], "synthetic": shares[1]}

    return _called(sound, None, settings)


def of_members(
    members: Callable[..., Sequence[Any]], score: Callable[[Any, Any], float], like: Callable[..., Breakdown]
) -> Sound:
    """Return the sound counterpart of a score of parents or sequences.

    Parameters
    ----------
    members
        Takes the tables and the settings, and returns for each the array of its members.
    score
        Of members of two sides.
    like
        The released call, whose settings it takes.
    """
    return _called(lambda given, **own: scored(score, members([data for _, data in given], **own)), like)


def _refuse(breakdown: Callable[..., Breakdown], given: Sequence[tuple[str, Any]], settings: dict[str, Any]) -> None:
    """Raise what the released call raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        breakdown(given[0][1], given[1][1], **settings)


def _called(
    sound: Callable[..., Breakdown], like: Callable[..., Breakdown] | None, settings: Sequence[str] = ()
) -> Sound:
    """Return a call with the arguments of the released one, and `real_validation_data` by name."""
    kinds = inspect.Parameter
    if like is None:
        own = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in (*_ROLES[:2], *settings)]
    else:
        own = [p.replace(annotation=kinds.empty) for p in inspect.signature(like).parameters.values()]
    signature = inspect.Signature([*own, kinds(_ROLES[2], kinds.KEYWORD_ONLY, default=None)])

    def call(*args: Any, **kwargs: Any) -> Breakdown:
        arguments = signature.bind(*args, **kwargs).arguments
        given = [(role, arguments.pop(role)) for role in _ROLES if role in arguments]
        return sound([(role, data) for role, data in given if data is not None], **arguments)

    return with_signature(call, signature)


# ---------------------------------------------------------------- the counterparts, which classes of metrics name

range_coverage_sound = of_numbers(comparisons.range_coverage)
statistic_similarity_sound = of_numbers(comparisons.statistic_similarity)
outliers_sound = of_numbers(own.outliers)
smoothness_sound = of_numbers(own.smoothness)
continuous_divergence_sound = of_pairs(pairs.continuous_divergence, numbers=True)
discrete_divergence_sound = of_pairs(pairs.discrete_divergence, numbers=False)
datetime_format_sound = of_rule(formats.rows_of_format, "datetime_format")
regex_format_sound = of_rule(formats.rows_of_pattern, "regex_format")
key_uniqueness_sound = of_rule(comparisons.unique_keys)
referential_integrity_sound = of_rule(keys.found_keys)
cardinality_boundary_sound = of_members(
    keys.all_children, formulas.cardinality_boundary_adherence, keys.cardinality_boundary
)
sequence_length_sound = of_members(sequences.all_lengths, formulas.ks_complement, sequences.sequence_length)
statistic_msas_sound = of_members(sequences.all_statistics, formulas.ks_complement, sequences.statistic_msas)
inter_row_msas_sound = of_members(sequences.all_differences, sequences.score_of_differences, sequences.inter_row_msas)
