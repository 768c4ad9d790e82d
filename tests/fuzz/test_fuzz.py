"""Hostile triples of tables end in a result or in one clear sentence; `python tests/fuzz --n 10000` tries many more."""

import os
import warnings

import polars as pl
import pytest
from judge import judged
from triples import CANARY, triple

import divulge
from divulge.core.errors import SettingError

N = 200
BLOCK = 20


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, N, BLOCK))
def test_each_triple_ends_in_a_result_or_a_sentence(first):
    faults = []
    for seed in range(first, first + BLOCK):
        given = triple(seed)
        outcome = judged(given)
        if outcome.kind == "fault":
            faults.append(f"{given}: {outcome.why}")
    assert not faults, "\n".join(faults)


@pytest.mark.full
def test_ten_thousand_triples_end_in_a_result_or_a_sentence():
    faults = [f"{seed}: {o.why}" for seed in range(10_000) if (o := judged(triple(seed))).kind == "fault"]
    assert not faults, "\n".join(faults)


def test_a_seed_is_one_triple():
    for seed in range(10):
        assert str(triple(seed)) == str(triple(seed))


def _raising(error):
    def assess(*_, **__):
        raise error

    return assess


def _warned(*_, **__):
    warnings.warn("noise", RuntimeWarning, stacklevel=1)
    raise SettingError("x. hint: y.")


def _spoilt(report, **parts):
    import msgspec

    result = msgspec.structs.replace(report.assessment.results[0], **parts)
    return lambda *_, **__: report.replaced(results=(result, *report.assessment.results[1:]))


FAULTS = {
    "a traceback": lambda report: _raising(ValueError("x")),
    "a panic": lambda report: _raising(pl.exceptions.PanicException("x")),
    "an exit": lambda report: _raising(SystemExit(0)),
    "no hint": lambda report: _raising(SettingError("x")),
    "a value": lambda report: _raising(SettingError(f"{CANARY}. hint: x.")),
    "two lines": lambda report: _raising(SettingError("x\ny. hint: z.")),
    "a warning": lambda report: _warned,
    "a value in a note": lambda report: lambda *_, **__: report.replaced(notes=(CANARY,)),
    "an attack that failed": lambda report: (
        lambda *_, **__: report.replaced(
            failed=(divulge.report.model.Failure(attack="cap", why="ValueError inside the attack; please report it"),)
        )
    ),
    "a p-value of 2": lambda report: _spoilt(report, p_value=2.0),
    "a score of 101": lambda report: _spoilt(report, score=101.0),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_sees(fault, unsearched, monkeypatch):
    seed = next(
        s for s in range(200) if (t := triple(s)).way == "assess" and set(t.kinds) <= {"polars", "pandas", "none"}
    )
    monkeypatch.setitem(vars(divulge), "assess", FAULTS[fault](unsearched))  # and not there afterwards
    assert judged(triple(seed)).kind == "fault"


def test_the_judge_ends_what_does_not_end(monkeypatch):
    import judge

    monkeypatch.setattr(judge, "SECONDS", 0.05)
    monkeypatch.setattr(judge, "_called", lambda given: [os.getpid() for _ in iter(int, 1)])
    assert "no end" in judged(triple(0)).why
