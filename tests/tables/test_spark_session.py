"""Questions to a Spark session that is not there: what is cancelled."""

import time
from types import SimpleNamespace

import pytest

from divulge.tables import spark_session
from divulge.tables.spark_session import asked


def session(told):
    return SimpleNamespace(
        sparkContext=SimpleNamespace(
            addJobTag=lambda tag: told.append("add"),
            cancelJobsWithTag=lambda tag: told.append("cancel"),
            removeJobTag=lambda tag: told.append("remove"),
        )
    )


def stopped():
    raise KeyboardInterrupt


def test_jobs_that_begin_after_an_interrupt_are_cancelled_too(monkeypatch):
    monkeypatch.setattr(spark_session, "_PAUSE", 0.01)
    told = []
    with pytest.raises(KeyboardInterrupt):
        asked(session(told), stopped)
    assert told[:3] == ["add", "cancel", "remove"]
    until = time.monotonic() + 10
    while told.count("cancel") <= spark_session._LATER and time.monotonic() < until:
        time.sleep(0.01)
    assert told.count("cancel") == 1 + spark_session._LATER


def test_an_answer_or_an_error_cancels_nothing():
    told = []
    assert asked(session(told), lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        asked(session(told), lambda: 1 / 0)
    assert told == ["add", "remove"] * 2
