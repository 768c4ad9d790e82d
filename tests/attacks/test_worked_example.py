"""A small example worked by hand: two keys, one target, 12 real, 10 synthetic and 6 holdout records."""

from fractions import Fraction as F

import polars as pl
import pytest

import divulge

REAL = "a0x a0x a0y a1y a1y b0z b0x b0z b1z b1x c0x c1y"
SYNTHETIC = "a0x a0x a0y a1y a1y b0z b0z b1x c0x d0y"
HOLDOUT = "a0x a1x b0z b1x c1z d0z"


def frame(rows: str) -> pl.DataFrame:
    return pl.DataFrame([tuple(r) for r in rows.split()], schema=["A", "B", "T"], orient="row")


R, S, C = frame(REAL), frame(SYNTHETIC), frame(HOLDOUT)
KEYS = {"keys": ["A", "B"], "target": "T"}


def rate(result):
    return result.real.rate


@pytest.mark.parametrize(
    ("unseen", "expected", "strangers"),
    [("zero", F(23, 36), F(4, 9)), ("skip", F(23, 33), None), ("nearest", F(49, 72), None)],
)
def test_mean_cap(unseen, expected, strangers):
    r = divulge.cap(R, S, holdout=C, unseen=unseen, **KEYS)
    assert rate(r) == pytest.approx(float(expected), abs=1e-15)
    if strangers:
        assert r.holdout.rate == pytest.approx(float(strangers), abs=1e-15)
        assert r.difference.value == pytest.approx(7 / 36, abs=1e-15)


def test_record_caps():
    scores = divulge.cap(R, S, unseen="skip", **KEYS).individual.real
    expected = [2 / 3, 2 / 3, 1 / 3, 1, 1, 1, 0, 1, 0, 1, 1, None]
    assert [None if x != x else x for x in scores] == pytest.approx(expected, abs=1e-15)


def test_cap_anchors():
    r = divulge.cap(R, S, **KEYS)
    assert r.context["original on itself"] == pytest.approx(25 / 36)
    assert r.baseline.rate == pytest.approx(25 / 72)
    assert r.context["baseline: commonest value"] == pytest.approx(5 / 12)
    assert r.context["baseline: uniform"] == pytest.approx(1 / 3)
    assert r.context["share of records whose key is in the synthetic table"] == pytest.approx(11 / 12)


def test_synthetic_on_itself():
    assert divulge.weap(R, S, **KEYS).value.synthetic == pytest.approx(13 / 15)


def test_modal_guess_of_the_nearest_rows():
    assert rate(divulge.modal_guess(R, S, unseen="nearest", **KEYS)) == pytest.approx(17 / 24)


def test_tcap_in_four_readings():
    found = {r.variant: rate(r) for r in divulge.tcap(R, S, **KEYS)}
    assert found == pytest.approx({"a": 6 / 11, "b": 3 / 4, "c": 29 / 36, "d": 1 / 2})


def test_disclosure_funnel():
    results = {r.variant: r for r in divulge.disco(R, S, holdout=C, **KEYS)}
    found = {v: rate(r) for v, r in results.items() if r.real}
    assert found == pytest.approx({"DiSCO": 1 / 2, "DiSDiO": 1 / 4, "DiS": 2 / 3, "iS": 11 / 12, "Dorig": 1 / 3})
    assert results["Dsyn"].value.synthetic == pytest.approx(7 / 10)


def test_uniques():
    results = {r.variant: r for r in divulge.replicated_uniques(R, S, keys=["A", "B"])}
    found = {v: rate(r) for v, r in results.items() if r.real}
    assert found == pytest.approx({"repU": 1 / 12, "UiO": 1 / 6, "UiOiS": 1 / 12})
    assert results["UiS"].value.synthetic == pytest.approx(3 / 10)


def test_exact_copies():
    (r,) = divulge.copies(R, S, holdout=C, variants=["exact"])
    assert (rate(r), r.holdout.rate, r.risk.value) == pytest.approx((3 / 4, 1 / 2, 1 / 2))


def test_t_closeness_of_the_real_table():
    assert divulge.t_closeness(R, S, **KEYS).value.real == pytest.approx(2 / 3)


def test_dcap_is_cap_less_its_baseline():
    r = divulge.dcap(R, S, holdout=C, **KEYS)
    assert (r.value.real, r.value.holdout) == pytest.approx((23 / 36 - 25 / 72, 4 / 9 - 25 / 72))
