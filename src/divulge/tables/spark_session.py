"""Questions to a Spark session, classic or of Spark Connect: what is asked, held and fetched."""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import polars as pl

from divulge.core.errors import SizeError

__all__ = ["asked", "fetched", "held", "let_go"]

_T = TypeVar("_T")

_ROWS = 2_000_000  # fetched at once at most
_LARGEST = 2**30  # bytes of answers that Spark lets a driver fetch, where it does not say
_LATER, _PAUSE = 20, 0.5  # how often jobs are cancelled after an interrupt, and the seconds between
_BYTES = 16  # of an entry, with what Arrow and Spark add to it
_numbers = itertools.count()


def asked(session: Any, ask: Callable[[], _T]) -> _T:
    """Return an answer of Spark; where the question is interrupted, the jobs that it began are cancelled."""
    tag = f"divulge-{os.getpid()}-{next(_numbers)}"
    add, cancel, remove = _tagging(session)
    with suppress(Exception):
        add(tag)
    try:
        return ask()
    except BaseException as error:
        if not isinstance(error, Exception):
            _cancel(cancel, tag)
        raise
    finally:
        with suppress(Exception):
            remove(tag)


def _cancel(cancel: Callable[[str], Any], tag: str) -> None:
    """Cancel the jobs with a tag, and those that Spark still plans and begins within the next seconds."""

    def once() -> None:
        with suppress(Exception):
            cancel(tag)

    def later() -> None:
        for _ in range(_LATER):
            time.sleep(_PAUSE)
            once()

    once()
    threading.Thread(target=later, daemon=True).start()


def _tagging(session: Any) -> tuple[Callable[[str], Any], Callable[[str], Any], Callable[[str], Any]]:
    """Return how jobs get a tag, are cancelled by it, and get it no longer."""
    try:
        context = session.sparkContext
    except Exception:  # Spark Connect has none
        return session.addTag, session.interruptTag, session.removeTag
    # a classic session knows its tags by the thread in the JVM, and an interrupt ends the connection to that thread
    return context.addJobTag, context.cancelJobsWithTag, context.removeJobTag


def held(frame: Any) -> Any:
    """Return a frame that Spark holds once it was made; where Spark holds nothing (serverless), it is made again."""
    with suppress(Exception):
        return frame.persist()
    return frame


def let_go(frame: Any) -> None:
    """Let Spark forget what it holds; a session that has ended holds none."""
    with suppress(Exception):
        frame.unpersist()


def fetched(frame: Any, most: int | None, by: Sequence[str], *, is_held: bool = False) -> pl.DataFrame:
    """Return the rows of a Spark frame; many are counted first, and come in parts of a hash that the driver may fetch.

    Parameters
    ----------
    most
        How many rows it may have; None where that is not known.
    by
        Columns whose hash says in which part a row comes; no two rows have the same values there.
    is_held
        Whether Spark holds the frame already, and goes on to hold it.
    """
    session, rows = frame.sparkSession, _rows_at_once(frame)
    if most is not None and most <= rows:
        return _here(session, frame)
    from pyspark.sql import functions as f

    known = frame if is_held else held(frame)
    try:
        n_parts = -(-int(asked(session, known.count)) // rows)
        part = f.pmod(f.xxhash64(*by), f.lit(n_parts))
        some = [_here(session, known.where(part == f.lit(i))) for i in range(n_parts)]
    finally:
        if not is_held:
            let_go(known)
    return pl.concat(some) if some else _here(session, frame)


def _rows_at_once(frame: Any) -> int:
    """Return how many rows of a frame a driver may fetch at once: half of what Spark allows it."""
    told = ""
    with suppress(Exception):  # some services do not tell their settings
        told = str(frame.sparkSession.conf.get("spark.driver.maxResultSize", str(_LARGEST)))
    found = re.fullmatch(r"(\d+)\s*([kmgt]?)b?", told.strip().lower())
    most = int(found[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[found[2]] if found else _LARGEST
    return max(1, min(_ROWS, (most or _LARGEST) // 2 // (_BYTES * len(frame.columns))))


def _here(session: Any, frame: Any) -> pl.DataFrame:
    try:
        found = pl.from_arrow(asked(session, frame.toArrow))
    except Exception as error:
        if "spark.driver.maxResultSize" in str(error):
            raise SizeError(
                "spark: an answer is larger than Spark lets the driver fetch. hint: raise spark.driver.maxResultSize."
            ) from None
        raise
    assert isinstance(found, pl.DataFrame)
    return found
