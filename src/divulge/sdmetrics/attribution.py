"""CategoricalCAP and its variants, DisclosureProtection and its estimate, as in SDMetrics 0.32.0."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from divulge.attacks.attribution.scores import Unseen, cap_scores
from divulge.kernels.counts.contingency import count, joint
from divulge.sdmetrics.columns import Codes, Column, Frame, drawn_rows, equal_codes, frame_of, same_dtype
from divulge.sdmetrics.discretize import binned, filled
from divulge.sdmetrics.fields import CATEGORICAL, attack_tables, check_allowed, check_names, settings_of
from divulge.sdmetrics.metadata import types_of

__all__ = [
    "METHODS",
    "cap_adapter",
    "check_counts",
    "check_disclosure",
    "disclosure",
    "disclosure_estimate",
    "disclosure_estimate_score",
]

METHODS: dict[str, Unseen] = {"CAP": "skip", "ZERO_CAP": "zero", "GENERALIZED_CAP": "nearest"}
_MANY = 10_000
_MOST_BINS = 1_000_000
_DEPRECATED = (
    "Computing CAP metrics directly is deprecated. For improved privacy metrics, "
    "please use the 'DisclosureProtection' and 'DisclosureProtectionEstimate' "
    "metrics instead."
)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Keys and sensitive fields of two tables as codes; codes are equal where values are equal for SDMetrics."""

    keys: tuple[list[Codes], list[Codes]]
    """Codes of each key column, for the real and the synthetic table."""
    sizes: list[int]
    sensitive: tuple[Codes, Codes]
    """Codes of all sensitive fields combined into one."""
    n_sensitive: int

    def protection(self, unseen: Unseen, real: Any = slice(None), synthetic: Any = slice(None)) -> float:
        """Return 1 less the mean CAP over some of the real rows, given some of the synthetic rows.

        nan without a real row that counts.

        Raises
        ------
        ZeroDivisionError
            The nearest rows are asked for and there is no synthetic row.
        """
        keys = [[k[rows] for k in part] for part, rows in zip(self.keys, (real, synthetic), strict=True)]
        sensitive = [part[rows] for part, rows in zip(self.sensitive, (real, synthetic), strict=True)]
        if not len(sensitive[0]):
            return math.nan
        if unseen == "nearest" and not len(sensitive[1]):
            raise ZeroDivisionError("the synthetic data has no rows, so that there is no nearest one.")
        none = np.zeros(0, dtype=np.int32)
        table = count([*keys, [none] * len(self.sizes)], self.sizes, [*sensitive, none], self.n_sensitive)
        scores = cap_scores(table, unseen)
        used = (table.o > 0) & ~np.isnan(scores)
        n = int(table.o[used].sum())
        return 1.0 - math.fsum((scores[used] * table.o[used]).tolist()) / n if n else math.nan


def coded(
    real: Frame, synthetic: Frame, keys: Sequence[Hashable], sensitive: Sequence[Hashable], unseen: Unseen
) -> Coded:
    """Return keys and sensitive fields as codes.

    A missing object is equal to itself where SDMetrics looks keys up in a dictionary, and unequal where it compares
    them one by one, for the Hamming distance.
    """
    key_codes, sizes = _codes(real, synthetic, keys, missing_equal=unseen != "nearest")
    codes, n_each = _codes(real, synthetic, sensitive, missing_equal=True)
    together, n = joint([[c[0] for c in codes], [c[1] for c in codes]], n_each)
    return Coded(([c[0] for c in key_codes], [c[1] for c in key_codes]), sizes, (together[0], together[1]), n)


def _codes(
    real: Frame, synthetic: Frame, names: Sequence[Hashable], missing_equal: bool
) -> tuple[list[list[Codes]], list[int]]:
    sides = [same_dtype([f[n] for n in names]) for f in (real, synthetic)]
    found = [equal_codes(parts, missing_equal=missing_equal) for parts in zip(*sides, strict=True)]
    return [c for c, _ in found], [max(1, n) for _, n in found]


def cap_adapter(unseen: Unseen) -> Callable[..., dict[str, Any]]:
    """Return the adapter of CategoricalCAP ("skip"), CategoricalZeroCAP ("zero") or CategoricalGeneralizedCAP."""

    def cap(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        key_fields: Sequence[Hashable] | None = None,
        sensitive_fields: Sequence[Hashable] | None = None,
        model_kwargs: Any = None,
        *,
        seed: int = 0,
    ) -> dict[str, Any]:
        warnings.warn(_DEPRECATED, DeprecationWarning, stacklevel=4)
        real, synthetic, keys, sensitive = attack_tables(
            real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, CATEGORICAL
        )
        settings_of("model_kwargs", model_kwargs)
        return {"score": coded(real, synthetic, keys, sensitive, unseen).protection(unseen)}

    return cap


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """The tables of DisclosureProtection, binned, filled and coded."""

    codes: Coded
    unseen: Unseen
    baseline: float
    n_real: int
    n_synthetic: int

    def breakdown(self, protection: float) -> dict[str, Any]:
        score = min(protection / self.baseline, 1) if self.baseline else math.nan
        return {"score": score, "cap_protection": protection, "baseline_protection": self.baseline}


def disclosure(
    real_data: Any,
    synthetic_data: Any,
    known_column_names: Sequence[Hashable],
    sensitive_column_names: Sequence[Hashable],
    computation_method: str = "cap",
    continuous_column_names: Sequence[Hashable] | None = None,
    num_discrete_bins: int = 10,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of DisclosureProtection."""
    made = _prepared(
        real_data, synthetic_data, known_column_names, sensitive_column_names,
        computation_method, continuous_column_names, num_discrete_bins, warn=True,
    )  # fmt: skip
    return made.breakdown(made.codes.protection(made.unseen))


def disclosure_estimate(
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
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of DisclosureProtectionEstimate. `verbose` has no effect: no progress bar is needed."""
    made = _prepared(
        real_data, synthetic_data, known_column_names, sensitive_column_names,
        computation_method, continuous_column_names, num_discrete_bins,
        counts={"num_rows_subsample": num_rows_subsample, "num_iterations": num_iterations},
    )  # fmt: skip
    draw = np.random.RandomState(seed)
    total = 0.0
    for _ in range(num_iterations):
        rows = [drawn_rows(draw, n, min(num_rows_subsample, n)) for n in (made.n_real, made.n_synthetic)]
        total += made.codes.protection(made.unseen, *rows)
    return made.breakdown(total / num_iterations)


NOT_READ = ("num_rows_subsample", "num_iterations", "verbose")


def disclosure_estimate_score(**arguments: Any) -> dict[str, Any]:
    """Return the result of `compute` of DisclosureProtectionEstimate, which ignores its last three arguments."""
    return disclosure_estimate(**{name: value for name, value in arguments.items() if name not in NOT_READ})


def _prepared(
    real_data: Any,
    synthetic_data: Any,
    known: Sequence[Hashable],
    sensitive: Sequence[Hashable],
    method: str,
    continuous: Sequence[Hashable] | None,
    n_bins: int,
    *,
    counts: dict[str, Any] | None = None,
    warn: bool = False,
) -> _Prepared:
    try:
        real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    except TypeError:
        raise ValueError("Real and synthetic data must be pandas DataFrames.") from None
    check_disclosure(real, synthetic, known, sensitive, method, continuous, n_bins)
    check_counts(**(counts or {}))
    if warn and max(len(real), len(synthetic)) > _MANY:
        warnings.warn(
            f"Data exceeds {_MANY} rows, perfomance may be slow. Consider using the `DisclosureProtectionEstimate` for "
            "faster computation.",
            stacklevel=5,
        )
    known, sensitive, unseen = list(known), list(sensitive), METHODS[method.upper()]
    for column in dict.fromkeys(() if continuous is None else continuous):
        a, b = binned(column, real[column], synthetic[column], n_bins)
        real, synthetic = real.with_column(column, a), synthetic.with_column(column, b)
    real, synthetic = filled(real, synthetic, dict.fromkeys([*known, *sensitive]))
    types = types_of(real)
    for column in [*known, *sensitive]:
        check_allowed(real, column, types[column], CATEGORICAL)
    n_values = math.prod(_n_distinct(real[c]) for c in sensitive)
    baseline = 1 - 1 / n_values if n_values else -math.inf
    return _Prepared(coded(real, synthetic, known, sensitive, unseen), unseen, baseline, len(real), len(synthetic))


def _n_distinct(column: Column) -> int:
    return len(np.unique(equal_codes([column])[0][0]))


def check_counts(**counts: Any) -> None:
    """Raise the `ValueError` of SDMetrics, with the argument's name, for a number that is no whole number above 0."""
    for name, value in counts.items():
        # True is a number of iterations, and no number of rows to numpy
        if not isinstance(value, int) or value <= 0 or (value is True and name == "num_rows_subsample"):
            raise ValueError(f"`{name}` must be an integer greater than zero.")


def check_disclosure(
    real: Frame,
    synthetic: Frame,
    known: Sequence[Hashable],
    sensitive: Sequence[Hashable],
    method: str,
    continuous: Sequence[Hashable] | None,
    n_bins: int,
) -> None:
    """Raise the `ValueError` of SDMetrics for invalid arguments of DisclosureProtection.

    Beyond SDMetrics, a `TypeError` for an argument of another type, and a `ValueError` for more than a million bins.
    """
    for what, title, names in (("known", "Known", known), ("sensitive", "Sensitive", sensitive)):
        _check_list(f"{what}_column_names", names)
        if len(names) == 0:
            raise ValueError(f"Must provide at least 1 {what} column name.")
        _check_present(f"{title} column(s)", names, real)
    if not isinstance(method, str):
        raise TypeError(
            f"`computation_method` is of type {type(method).__name__}. hint: one of 'cap', 'zero_cap', or "
            "'generalized_cap'."
        )
    if method.upper() not in METHODS:
        raise ValueError(
            f"Unknown computation method '{method}'. Please use one of 'cap', 'zero_cap', or 'generalized_cap'."
        )
    if continuous is not None:
        _check_list("continuous_column_names", continuous)
        _check_present("Continous column(s)", continuous, real)
    if not isinstance(n_bins, int) or n_bins <= 0:
        raise ValueError("`num_discrete_bins` must be an integer greater than zero.")
    if continuous is not None and len(continuous) and n_bins > _MOST_BINS:
        raise ValueError(f"`num_discrete_bins` is more than {_MOST_BINS}. hint: take fewer bins than there are rows.")
    if set(real.names) != set(synthetic.names):
        raise ValueError("`real_data` and `synthetic_data` must have the same columns")


def _check_list(argument: str, names: Any) -> None:
    if isinstance(names, str):
        raise TypeError(f"`{argument}` is a text. hint: pass a list, {argument}=[{names!r}].")
    if not isinstance(names, Collection):
        raise TypeError(f"`{argument}` is of type {type(names).__name__}; it must be a list of names of columns.")
    check_names(argument, names)


def _check_present(what: str, names: Sequence[Hashable], real: Frame) -> None:
    missing = [str(n) for n in dict.fromkeys(names) if n not in real.columns]
    if missing:
        listed = "', '".join(missing)
        raise ValueError(f"{what} '{listed}' are missing from the real data.")
