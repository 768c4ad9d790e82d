"""Sequences told apart, or classified, by the recurrent network that SDMetrics trains; it needs torch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.relations import order_of
from divulge.sdmetrics.base import TimeSeriesMetric
from divulge.sdmetrics.columns import Column, Frame, equal_codes, frame_of
from divulge.sdmetrics.computed import computed_by, refused
from divulge.sdmetrics.metadata import checked_pair, table_metadata

__all__ = [
    "LSTMClassifierEfficacy",
    "LSTMDetection",
    "TimeSeriesClassificationEfficacyMetric",
    "TimeSeriesDetectionMetric",
    "TimeSeriesEfficacyMetric",
    "lstm_accuracy",
]

_NO_NULL = (
    "a network cannot be fitted again to hundreds of permuted labels. hint: divulge.transitions, autocorrelation and "
    "static_by_dynamic(real, synthetic, sequence_key=..., sequence_index=...) measure sequences beside fresh ones."
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_HIDDEN, _EPOCHS, _RATE = 32, 1024, 1e-2


# ---------------------------------------------------------------- the network


def _torch(metric: str) -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise ImportError(f"{metric} trains a recurrent network. hint: pip install 'divulge[torch]'") from None
    return torch


@contextmanager
def _seeded(torch: Any, seed: int) -> Iterator[None]:
    """Draw first weights from a seed; torch's own state is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def lstm_accuracy(
    torch: Any, train: Sequence[Floats], test: Sequence[Floats], train_target: Ints, test_target: Ints
) -> float:
    """Return the share of test sequences that the network classifies rightly.

    One layer of 32 cells and a linear one, 1,024 steps of Adam over all training sequences, as in SDMetrics.

    Parameters
    ----------
    torch
        The package.
    train, test
        Sequences, shape (n_rows, n_features) each.
    train_target, test_target
        Classes, 0 to n_classes - 1.
    """
    n_classes = int(train_target.max()) + 1
    lstm, linear = torch.nn.LSTM(train[0].shape[1], _HIDDEN), torch.nn.Linear(_HIDDEN, n_classes)
    packed, target = _packed(torch, train), torch.as_tensor(train_target)
    optimizer = torch.optim.Adam([*lstm.parameters(), *linear.parameters()], lr=_RATE)
    for _ in range(_EPOCHS):
        _, (state, _) = lstm(packed)
        loss = torch.nn.functional.cross_entropy(linear(state[0]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        _, (state, _) = lstm(_packed(torch, test))
        guesses = linear(state[0]).argmax(dim=1).numpy()
    return float((guesses == test_target).mean())


def _packed(torch: Any, sequences: Sequence[Floats]) -> Any:
    tensors = [torch.as_tensor(s.astype(np.float32)) for s in sequences]
    return torch.nn.utils.rnn.pack_sequence(tensors, enforce_sorted=False)


# ---------------------------------------------------------------- columns as numbers


def _encoder(name: Hashable, column: Column) -> Callable[[Column], Floats]:
    """Return a function that makes features of a column, fitted on the real one: numbers, or one per category."""
    kind = column.kind
    if kind == "O":
        kind = _kind_of_objects(column)
    if kind in "iufmM":
        mean = float(np.nanmean(_as_floats(column))) if (~column.missing).any() else 0.0
        return lambda other: _filled(other, mean)
    if kind == "b":
        values = _as_floats(column)
        mode = float(np.nanmean(values) > 0.5) if (~column.missing).any() else 0.0
        return lambda other: _filled(other, mode)
    return lambda other: _one_hot(column, other)


def _kind_of_objects(column: Column) -> str:
    present = column.values[~column.missing]
    if len(present) and all(isinstance(v, (bool, np.bool_)) for v in present):
        return "b"
    numbers = len(present) and all(isinstance(v, (int, float, np.number)) for v in present)
    return "f" if numbers else "O"


def _as_floats(column: Column) -> Floats:
    values = np.full(len(column), np.nan)
    present = ~column.missing
    own = column.values[present]
    values[present] = own.view(np.int64) if own.dtype.kind in "mM" else own.astype(np.float64)
    return values


def _filled(column: Column, value: float) -> Floats:
    return np.nan_to_num(_as_floats(column), nan=value)[:, None]


def _one_hot(fitted: Column, other: Column) -> Floats:
    """Return one feature for each value of the fitted column; a value that it lacks has none."""
    (known, own), _ = equal_codes([fitted, other])
    levels = np.unique(known)
    return np.asarray(own[:, None] == levels[None, :], dtype=np.float64)


# ---------------------------------------------------------------- sequences


@dataclass(frozen=True, slots=True)
class _Side:
    """The sequences of one table: features, row after row, and the rows of each sequence."""

    features: Floats
    rows: tuple[Ints, ...]

    def sequences(self) -> list[Floats]:
        return [self.features[rows] for rows in self.rows]


def _sides(
    metric: str, real: Any, synthetic: Any, metadata: Any, table_name: Any, sequence_key: Any, target: str | None = None
) -> tuple[Frame, Frame, _Side, _Side]:
    entry = table_metadata(metadata, table_name)
    frames = frame_of(real, "real_data"), frame_of(synthetic, "synthetic_data")
    own, other, _ = checked_pair(*frames, entry)
    given = sequence_key or (entry or {}).get("sequence_index")
    keys = list(given) if isinstance(given, (list, tuple)) else [given]
    for name in (*keys, *([target] if target else [])):
        if name not in own.columns:
            raise ValueError(f"{metric}: no column {name!r}. hint: `sequence_key` names the columns of a sequence.")
    features = [n for n in own.names if n not in keys and n != target]
    if not features:
        raise ValueError(f"{metric}: no column is left beside keys and target. hint: pass a table with more columns.")
    encoders = {n: _encoder(n, own[n]) for n in features}
    made = [
        _Side(np.hstack([encoders[n](f[n]) for n in features]), tuple(order_of(_keys(f, keys)))) for f in (own, other)
    ]
    return own, other, made[0], made[1]


def _keys(frame: Frame, names: Sequence[Hashable]) -> Ints:
    codes = np.zeros(len(frame), dtype=np.int64)
    for name in names:
        own, n = equal_codes([frame[name]])
        codes = np.unique(codes * (n + 1) + own[0], return_inverse=True)[1].astype(np.int64)
    codes[np.any([frame[name].missing for name in names], axis=0)] = -1
    return codes


def _split(n: int, seed: int, classes: Ints | None = None) -> tuple[Ints, Ints]:
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(n), shuffle=True, stratify=classes, random_state=seed)
    return train, test


# ---------------------------------------------------------------- metrics


def detection(
    real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: Any = None, sequence_key: Any = None,
    seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Return the breakdown of `LSTMDetection`."""
    torch = _torch("LSTMDetection")
    _, _, real, synthetic = _sides("LSTMDetection", real_data, synthetic_data, metadata, table_name, sequence_key)
    both = [*real.sequences(), *synthetic.sequences()]
    target = np.repeat([0, 1], [len(real.rows), len(synthetic.rows)]).astype(np.int64)
    train, test = _split(len(both), seed, target)
    parts = [both[i] for i in train], [both[i] for i in test]
    with _seeded(torch, seed):
        return {"score": 1 - lstm_accuracy(torch, *parts, target[train], target[test])}


def efficacy(
    real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: Any = None, sequence_key: Any = None,
    target: Any = None, seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Return the breakdown of `LSTMClassifierEfficacy`."""
    torch = _torch("LSTMClassifierEfficacy")
    target = (table_metadata(metadata, table_name) or {}).get("target", target)
    if target is None:
        raise TypeError("`target` must be passed either directly or inside `metadata`")
    own, other, real, synthetic = _sides(
        "LSTMClassifierEfficacy", real_data, synthetic_data, metadata, table_name, sequence_key, target
    )
    codes, _ = equal_codes([own[target], other[target]])
    first = [np.array([c[rows[0]] for rows in s.rows]) for c, s in zip(codes, (real, synthetic), strict=True)]
    train, test = _split(len(real.rows), seed)
    ours, theirs = real.sequences(), synthetic.sequences()
    held_out = [ours[i] for i in test]

    def accuracy(sequences: list[Floats], classes: Ints) -> float:
        known, ranked = np.unique(classes, return_inverse=True)
        place = {int(c): i for i, c in enumerate(known)}
        truth = np.array(
            [place.get(int(c), -1) for c in first[0][test]]
        )  # a class that was not learnt is never guessed
        return lstm_accuracy(torch, sequences, held_out, ranked.astype(np.int64), truth)

    with _seeded(torch, seed):
        of_real, of_synthetic = accuracy([ours[i] for i in train], first[0][train]), accuracy(theirs, first[1])
    score = of_synthetic / of_real if of_real else float("nan")
    return {"score": score, "real": of_real, "synthetic": of_synthetic}


class TimeSeriesDetectionMetric(TimeSeriesMetric):
    """Metrics in which a model tells real sequences from synthetic ones."""


class TimeSeriesEfficacyMetric(TimeSeriesMetric):
    """Metrics in which a model learns from synthetic sequences and is tested on real ones."""


class TimeSeriesClassificationEfficacyMetric(TimeSeriesEfficacyMetric):
    """Metrics in which the model learns classes."""


@computed_by(detection, sound=refused("LSTMDetection", _NO_NULL))
class LSTMDetection(TimeSeriesDetectionMetric):
    """1 less the share of sequences that a recurrent network tells apart; about 0.5 for a perfect generator.

    It needs torch (`pip install 'divulge[torch]'`).

    Parameters
    ----------
    real_data, synthetic_data
        Frames of any kind with the same columns.
    metadata, table_name
        None, or SDV metadata of the table.
    sequence_key
        Columns that name the sequences. Without it, as in SDMetrics, the metadata's sequence_index is taken.
    seed
        Seed of the split and of the first weights.
    """

    name = "TimeSeries Detection"


@computed_by(efficacy, sound=refused("LSTMClassifierEfficacy", _NO_NULL), max_value=np.inf)
class LSTMClassifierEfficacy(TimeSeriesClassificationEfficacyMetric):
    """Accuracy of a recurrent network that learnt from synthetic sequences over one that learnt from real ones.

    It needs torch (`pip install 'divulge[torch]'`).

    Parameters
    ----------
    real_data, synthetic_data
        Frames of any kind with the same columns.
    metadata, table_name
        None, or SDV metadata of the table; its "target" goes before the argument.
    sequence_key
        Columns that name the sequences. Without it, as in SDMetrics, the metadata's sequence_index is taken.
    target
        The column to predict; each sequence has the value of its first row.
    seed
        Seed of the split and of the first weights.
    """

    name = "TimeSeries Efficacy"
