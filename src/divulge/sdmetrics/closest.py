"""SDMetrics' two metrics of the distance to the closest record (DCR)."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.gower import Floats
from divulge.sdmetrics.columns import Column, Frame, drawn_rows, equal_codes, frame_of
from divulge.sdmetrics.gaps import in_seconds, measured_columns, searched, share_nearer
from divulge.sdmetrics.metadata import columns_of, table_metadata
from divulge.sdmetrics.readings import hashable

__all__ = ["baseline", "check_draws", "overfitting"]

Ints = NDArray[np.int64]
Values = NDArray[Any]

# ---------------------------------------------------------------- the two metrics


def overfitting(
    real_training_data: Any,
    synthetic_data: Any,
    real_validation_data: Any,
    metadata: Any,
    table_name: str | None = None,
    num_rows_subsample: int | None = None,
    num_iterations: int = 1,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of DCROverfittingProtection.

    The share p of synthetic rows that are nearer to the training table than to the validation table; a tie is not
    nearer. The score is 2 (1 - p), at most 1.

    Parameters
    ----------
    real_training_data, synthetic_data, real_validation_data
        Frames of at least one row, or dictionaries whose first table is taken.
    metadata, table_name
        Dictionary of either shape, and which table of it.
    num_rows_subsample, num_iterations
        How many rows of each table to draw, and how often; None draws none. Score and shares are means over the draws.
    seed
        Draws follow `numpy.random.RandomState(seed)` in SDMetrics' order.

    Returns
    -------
    dict
        "score", and "synthetic_data_percentages" with "closer_to_training" and "closer_to_holdout".

    Raises
    ------
    TypeError
        No frame, no dictionary, or a numerical column that holds something else.
    ValueError
        An empty table, no column to measure, or a number of rows or iterations that does not fit.

    Examples
    --------
    >>> import polars as pl
    >>> a, b, s = (pl.DataFrame({"age": ages}) for ages in ([20, 30, 40], [25, 35, 45], [21, 29, 40, 37]))
    >>> overfitting(a, s, b, {"columns": {"age": {"sdtype": "numerical"}}})["score"]
    0.5
    """
    roles = {
        "real_training_data": real_training_data,
        "synthetic_data": synthetic_data,
        "real_validation_data": real_validation_data,
    }
    frames, entries, size, times = _checked(
        roles,
        metadata,
        table_name,
        num_rows_subsample,
        num_iterations,
        "All of {}, {}, and {} must be of type pandas.DataFrame.",
    )
    training, synthetic, validation = frames
    columns = measured_columns(entries, (synthetic, training, validation))
    state = np.random.RandomState(seed)
    score = near = far = 0.0
    for _ in range(times):
        rows = [_drawn_rows(state, size, frame) for frame in (synthetic, training, validation)]
        share = share_nearer(searched(columns, (0, 1), rows), searched(columns, (0, 2), rows))
        score += min((1.0 - share) * 2, 1.0)
        near += share
        far += 1 - share
    return {
        "score": score / times,
        "synthetic_data_percentages": {"closer_to_training": near / times, "closer_to_holdout": far / times},
    }


def baseline(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any,
    table_name: str | None = None,
    num_rows_subsample: int | None = None,
    num_iterations: int = 1,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of DCRBaselineProtection.

    The median distance of synthetic rows to the real table, divided by that of rows drawn uniformly between the real
    minimum and maximum of each column (or among its categories), at most 1; nan where the latter is 0.

    Parameters
    ----------
    real_data, synthetic_data
        Frames of at least one row, or dictionaries whose first table is taken.
    metadata, table_name
        Dictionary of either shape, and which table of it.
    num_rows_subsample, num_iterations
        How many rows of each table to draw, and how often; None draws none. Score and medians are means over the draws.
    seed
        Of the random table (`numpy.random.default_rng(seed)`) and of its missing cells and the draws of rows
        (`numpy.random.RandomState(seed)`), in SDMetrics' order.

    Returns
    -------
    dict
        "score", and "median_DCR_to_real_data" with "synthetic_data" and "random_data_baseline".

    Raises
    ------
    TypeError, ValueError
        As in `overfitting`.
    OverflowError
        A column of floats that holds infinity has no range to draw from.

    Examples
    --------
    >>> import polars as pl
    >>> real, copy = (pl.DataFrame({"x": [0.0, 1.0, 4.0, 9.0]}) for _ in range(2))
    >>> baseline(real, copy, {"columns": {"x": {"sdtype": "numerical"}}})["score"]
    0.0
    """
    frames, entries, size, times = _checked(
        {"real_data": real_data, "synthetic_data": synthetic_data},
        metadata,
        table_name,
        num_rows_subsample,
        num_iterations,
        "Both {} and {} must be of type pandas.DataFrame.",
    )
    real, synthetic = frames
    state = np.random.RandomState(seed)
    random = _random_table(real, len(synthetic), np.random.default_rng(seed), state)
    columns = measured_columns(entries, (synthetic, random, real))
    score, of_synthetic, of_random = 0.0, 0.0, 0.0
    for _ in range(times):
        rows = [_drawn_rows(state, size, frame) for frame in (synthetic, random, real)]
        near, usual = (float(np.median(searched(columns, (i, 2), rows).distances)) for i in (0, 1))
        of_synthetic += near
        of_random += usual
        score += min(near / usual, 1.0) if usual != 0.0 else np.nan
    return {
        "score": float(score / times),
        "median_DCR_to_real_data": {
            "synthetic_data": of_synthetic / times,
            "random_data_baseline": of_random / times,
        },
    }


# ---------------------------------------------------------------- checks


def _checked(
    roles: Mapping[str, Any], metadata: Any, table_name: str | None, size: Any, times: Any, no_frame: str
) -> tuple[list[Frame], dict[Hashable, dict[str, Any]], int | None, int]:
    """Return the tables, the entries of the metadata, the number of rows to draw and the number of draws."""
    known = table_metadata(metadata, table_name)
    check_draws(size, times)
    frames = []
    for role, data in roles.items():
        try:
            frames.append(frame_of(data, role))
        except TypeError:
            raise TypeError(no_frame.format(*(f"{r} ({type(d)})" for r, d in roles.items()))) from None
    tables = dict(zip(roles, frames, strict=True))
    n_synthetic = len(tables["synthetic_data"])
    if size and size > n_synthetic:
        _warn(
            f"num_rows_subsample ({size}) is greater than the length of the synthetic data ({n_synthetic}). Ignoring "
            "the num_rows_subsample and num_iterations args."
        )
        size, times = None, 1
    if len(frames) > 2 and len(frames[0]) * 0.5 > len(frames[2]):
        _warn(
            f"Your real_validation_data contains {len(frames[2])} rows while your real_training_data contains "
            f"{len(frames[0])} rows. For most accurate results, we recommend that the validation data at least half "
            "the size of the training data."
        )
    if known is None:
        raise TypeError(
            "Expected a dictionary but received a 'NoneType' instead. For SDV metadata objects, please use the "
            "'to_dict' function to convert it to a dictionary."
        )
    for role, frame in tables.items():
        if not len(frame):
            raise ValueError(f"`{role}` has no rows, so that there is no distance to measure.")
        if size is not None and size > len(frame):
            raise ValueError(
                f"num_rows_subsample ({size}) is greater than the length of `{role}` ({len(frame)}). hint: rows are "
                "drawn without replacement from every table; ask for fewer."
            )
    entries = columns_of(known)
    for name, entry in entries.items():
        if "sdtype" not in entry:
            raise KeyError(f"Column {name!r} has no 'sdtype' in the metadata.")
    for message in dict.fromkeys(m for frame in frames for m in _columns_left_out(entries, frame)):
        _warn(message)
    return frames, entries, size, times


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=6)  # the caller of `compute`: base and adapter stand between


def check_draws(size: Any, times: Any) -> None:
    """Raise the `ValueError` that SDMetrics has for a number of rows or of iterations that makes no sense."""
    if size is not None:
        if not isinstance(size, int) or size < 1 or size is True:  # numpy draws no True rows
            raise ValueError(f"num_rows_subsample ({size}) must be an integer greater than 1.")
    elif not isinstance(times, (int, float, np.number)):
        raise TypeError(f"`num_iterations` is of type {type(times).__name__}; it must be a whole number.")
    elif times > 1:
        raise ValueError("num_iterations should not be greater than 1 if there is no subsampling.")
    if not isinstance(times, int) or times < 1:
        raise ValueError(f"num_iterations ({times}) must be an integer greater than 1.")


def _columns_left_out(entries: Mapping[Hashable, Any], frame: Frame) -> Iterable[str]:
    beyond = [n for n in frame.names if n not in entries]
    absent = [n for n in entries if n not in frame.columns]
    if beyond:
        names = "', '".join(sorted(map(str, beyond)))
        yield (
            f"The columns ('{names}') are not present in the metadata. They will not be included for further "
            "evaluation."
        )
    elif absent:
        names = "', '".join(sorted(map(str, absent)))
        yield f"The columns ('{names}') are in the metadata but they are not present in the data."


def _drawn_rows(state: np.random.RandomState, size: int | None, frame: Frame) -> Ints | None:
    return None if size is None else drawn_rows(state, len(frame), size)


# ---------------------------------------------------------------- the random table


def _random_table(real: Frame, m: int, rng: np.random.Generator, state: np.random.RandomState) -> Frame:
    """Return a table of m rows with independently drawn columns; cells are missing as often as in the real column.

    A column in which all is missing needs no values; SDMetrics fails on it.
    """
    columns = {}
    for name, column in real.columns.items():
        drawn = _random_column(name, column, m, rng)
        lost = state.rand(m) < column.missing.mean()
        if drawn.values.dtype == object:
            drawn.values[lost] = None  # text is yet to be read as instants
        columns[name] = Column(drawn.kind, drawn.values, lost)
    return Frame(columns, m)


def _random_column(name: Hashable, column: Column, m: int, rng: np.random.Generator) -> Column:
    column = hashable(column)
    known = column.values[~column.missing]
    nothing = np.zeros(m, dtype=bool)
    if not len(known):
        return Column(column.kind, np.zeros(m, dtype=column.values.dtype), nothing)
    if column.kind in "iu":
        low, high = int(known.min()), int(known.max())
        if low < np.iinfo(np.int64).min or high > np.iinfo(np.uint64).max:  # of 128 bits
            drawn = rng.integers(0, min(high - low, 2**63 - 1), size=m, endpoint=True)
            return Column("i", np.array([low + n for n in drawn.tolist()], dtype=object), nothing)
        dtype = np.uint64 if high > np.iinfo(np.int64).max else np.int64
        whole = rng.integers(low, high, size=m, dtype=dtype, endpoint=True)
        return Column(whole.dtype.kind, whole, nothing)
    if column.kind == "f":
        least, most = float(known.min()), float(known.max())
        if not np.isfinite(most - least):
            raise OverflowError(
                f"Column {name!r} has no finite range, so that no random numbers can be drawn from it. hint: replace "
                "infinite values."
            )
        return Column("f", rng.uniform(least, most, size=m), nothing)
    if column.kind == "M":
        instants = known.view(np.int64)
        first, span = int(instants.min()), int(instants.max()) - int(instants.min())
        seconds = rng.uniform(0, in_seconds(span), size=m)
        return Column("M", (first + _nanoseconds(seconds)).view("datetime64[ns]"), nothing)
    codes = equal_codes([Column(column.kind, known, np.zeros(len(known), dtype=bool), name)])[0][0]
    first_rows = np.sort(np.unique(codes, return_index=True)[1])
    return Column(column.kind, known[first_rows][rng.choice(len(first_rows), size=m)], nothing)


def _nanoseconds(seconds: Floats) -> Ints:
    """Return seconds as whole nanoseconds."""
    whole = seconds.astype(np.int64)
    return whole * 10**9 + (np.round(seconds - whole, 9) * 1e9).astype(np.int64)
