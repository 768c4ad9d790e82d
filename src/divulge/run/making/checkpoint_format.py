"""The bytes of a kept test: its results as MessagePack, compressed, under a seal.

The seal is a keyed hash. Its key is the hash of the tables and settings that the results depend on, and stands in no
file: who does not hold the tables cannot make a file that is read. Reading builds numbers, texts, arrays and the
structs below, each field of its type, and executes nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import math
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, Union, get_origin, get_type_hints

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.distance.nearest_people import Nearness
from divulge.attacks.membership.results import Judgement
from divulge.core.coded_scores import CodedScores, Scores
from divulge.core.result import Individual, Result
from divulge.stats.attraction import Attraction
from divulge.stats.isolation import Isolation
from divulge.stats.pairing import Paired
from divulge.stats.two_sample import Comparison

__all__ = ["LARGEST", "Checkpoint", "fits", "from_bytes", "to_bytes"]

LARGEST = 2**29
"""Bytes of a file, and of its content, above which a test is neither kept nor read."""

_HEAD = b"divulge kept 4\n"
_BODY = len(_HEAD) + hashlib.sha256().digest_size
_COMPARISONS = (Comparison, Attraction, Isolation, Paired, Judgement, Nearness)
_DTYPES = ("<f8", "<i8", "|b1", "|u1", "<u2", "<u4")


class Checkpoint(NamedTuple):
    """What is kept of one test: its results, and the columns that had been coded by then."""

    results: tuple[Result, ...]
    coded: tuple[str, ...]


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scores of people, one by one or coded."""

    values: NDArray[np.float64]
    codes: NDArray[np.unsignedinteger[Any]] | None = None


class _Individual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    real: _Kept
    holdout: _Kept | None = None
    real_times: NDArray[np.integer[Any]] | None = None
    holdout_times: NDArray[np.integer[Any]] | None = None
    once: bool = False


class _Array(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    dtype: str
    shape: tuple[int, ...]
    data: bytes


def to_bytes(kept: Checkpoint, key: str) -> bytes:
    """Return the bytes of a test's file.

    Raises
    ------
    TypeError
        A result holds something other than numbers, texts, arrays and the known comparisons.
    ValueError
        The results are too large to keep.
    """
    entries = []
    for result in kept.results:
        if result.table is not None:
            raise TypeError("a table is not kept")
        msgspec.msgpack.encode(result.settings)  # a setting has no declared type, so an array would not come back
        found = None if result.comparison is None else _to_struct(result.comparison)
        entries.append((replace(result, comparison=None), found))
    plain = msgspec.msgpack.encode((entries, kept.coded), enc_hook=_encoded)
    content = zlib.compress(plain, level=1)
    if max(len(plain), len(content)) > LARGEST:
        raise ValueError("too large")
    return _HEAD + _seal(key, content) + content


def from_bytes(file: bytes, key: str) -> Checkpoint:
    """Return the content of a test's file, or raise a `ValueError`."""
    content = file[_BODY:]
    if not file.startswith(_HEAD) or not hmac.compare_digest(file[len(_HEAD) : _BODY], _seal(key, content)):
        raise ValueError("not a kept test, or a damaged one")
    try:
        unpacked = zlib.decompressobj()
        plain = unpacked.decompress(content, LARGEST)
        if not unpacked.eof or unpacked.unused_data:
            raise ValueError("not a kept test: too large")
        entries, coded = msgspec.msgpack.decode(plain, type=_content_type(), dec_hook=_decoded)
    except (msgspec.MsgspecError, zlib.error, RecursionError, MemoryError) as error:
        raise ValueError(f"not a kept test: {type(error).__name__}") from None
    if any(result.table is not None or result.comparison is not None for result, _ in entries):
        raise ValueError("not a kept test: other content")
    results = [replace(r, comparison=None if found is None else _from_struct(found)) for r, found in entries]
    return Checkpoint(tuple(results), coded)


def _seal(key: str, content: bytes) -> bytes:
    return hmac.digest(key.encode(), content, "sha256")


# ---------------------------------------------------------------- comparisons as structs


def _is_dataclass(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


@cache
def _struct_of(kind: Any) -> type[msgspec.Struct]:
    """Return a struct with the fields of a dataclass: msgspec leaves out a dataclass's fields with an underscore."""
    hints = get_type_hints(kind)
    types = {name: _struct_of(hint) if _is_dataclass(hint) else hint for name, hint in hints.items()}
    fields = [(f.name, types[f.name]) for f in dataclasses.fields(kind)]
    return msgspec.defstruct(kind.__name__, fields, tag=True, frozen=True, forbid_unknown_fields=True)


@cache
def _content_type() -> Any:
    comparison: Any = Union[(*map(_struct_of, _COMPARISONS), None)]
    return tuple[list[tuple[Result, comparison]], tuple[str, ...]]


@cache
def _kinds() -> dict[type[msgspec.Struct], type]:
    """Return the dataclass behind each struct, by way of the comparisons' fields."""
    found: dict[type[msgspec.Struct], type] = {}

    def add(kind: Any) -> None:
        if _is_dataclass(kind):
            found[_struct_of(kind)] = kind
            for hint in get_type_hints(kind).values():
                add(hint)

    for kind in _COMPARISONS:
        add(kind)
    return found


def _to_struct(value: Any) -> Any:
    kind: Any = type(value)
    if kind not in _kinds().values():
        return value
    struct = _struct_of(kind)
    return struct(**{name: _to_struct(getattr(value, name)) for name in struct.__struct_fields__})


def _from_struct(value: Any) -> Any:
    kind = _kinds().get(type(value))
    if kind is None:
        return value
    return kind(**{name: _from_struct(getattr(value, name)) for name in value.__struct_fields__})


# ---------------------------------------------------------------- arrays


def _encoded(value: Any) -> Any:
    """Return what msgspec can write in place of an array or a number of numpy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Individual):
        real, holdout = value.kept
        own = None if holdout is None else _kept(holdout)
        return _Individual(_kept(real), own, _narrow(value.real_times), _narrow(value.holdout_times), value.once)
    if isinstance(value, np.ndarray) and value.dtype.str in _DTYPES:
        return _Array(value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    raise TypeError(f"{type(value).__name__} is not kept")


def _decoded(kind: Any, value: Any) -> Any:
    """Return an array, or the scores of people, for a field that is declared as such."""
    if kind is Individual:
        of = msgspec.convert(value, _Individual, dec_hook=_decoded)
        holdout, times = None if of.holdout is None else _scores(of.holdout), (of.real_times, of.holdout_times)
        real_times, holdout_times = (None if t is None else t.astype(np.int64, copy=False) for t in times)
        return Individual(
            real=_scores(of.real), holdout=holdout, real_times=real_times, holdout_times=holdout_times, once=of.once
        )
    if get_origin(kind) is not np.ndarray:
        raise ValueError("no array is expected here")
    array = msgspec.convert(value, _Array)
    if array.dtype not in _DTYPES or min(array.shape, default=0) < 0:
        raise ValueError("not an array of a result")
    dtype = np.dtype(array.dtype)
    if len(array.data) != math.prod(array.shape) * dtype.itemsize:
        raise ValueError("an array of another size")
    return np.frombuffer(array.data, dtype=dtype).reshape(array.shape).copy()


def _kept(scores: Scores) -> _Kept:
    return _Kept(scores.values, scores.codes) if isinstance(scores, CodedScores) else _Kept(scores)


def _scores(kept: _Kept) -> Scores:
    if kept.codes is None:
        return kept.values
    plain = kept.values.ndim == kept.codes.ndim == 1 and kept.codes.dtype.kind == "u"
    if not plain or (kept.codes.size and kept.codes.max() >= len(kept.values)):
        raise ValueError("no codes of these scores")
    return CodedScores(kept.values, kept.codes)


def _narrow(times: NDArray[np.int64] | None) -> NDArray[Any] | None:
    """Return how many records each score stands for in as few bytes as hold them."""
    if times is None:
        return None
    fits_into = (d for d in (np.uint8, np.uint16, np.uint32) if times.max(initial=0) <= np.iinfo(d).max)
    return times.astype(next(fits_into, np.int64))


def fits(results: Sequence[Result], attack: str, n_real: int, n_holdout: int) -> bool:
    """Return whether results are of an attack, and have a score for each person, or for people of equal records."""
    return all(
        r.attack == attack and (r.individual is None or _fits(r.individual, (n_real, n_holdout))) for r in results
    )


def _fits(individual: Individual, n_rows: tuple[int, int]) -> bool:
    times = individual.real_times, individual.holdout_times
    return all(_is_of(s, t, n) for s, t, n in zip(individual.kept, times, n_rows, strict=True) if s is not None)


def _is_of(scores: Scores, times: NDArray[np.int64] | None, n: int) -> bool:
    """Return whether scores are of so many people."""
    if not isinstance(scores, CodedScores) and scores.ndim != 1:
        return False
    return len(scores) == n if times is None else times.shape == (len(scores),) and int(times.sum()) == n
