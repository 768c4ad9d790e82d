"""divulge against SDMetrics 0.32.0: `sdmetrics.json` holds its values, `remake_sdmetrics.py` writes them anew.

SDMetrics gives a protection, 1 less the mean CAP. Its three variants are the three words of `unseen`; its nan is our
rate None. DisclosureProtection agrees with divulge everywhere, because it turns missing values into a category first.
Its older metrics leave missing values to the equality of Python: None is None, but nan in a column of floats is
unequal to itself, so that a missing key is never found and a missing target never right. Both compare the number 1
and the text "1" as different; divulge compares such columns as numbers. Those cases carry a word in `Case.differs`.
"""

import json
from pathlib import Path

import polars as pl
import pytest
from sdmetrics_cases import CASES, Case

import divulge
from divulge.core.schema import Column, Schema

GOLDEN = json.loads(Path(__file__).with_name("sdmetrics.json").read_text())["cases"]
AGREE = [name for name, case in CASES.items() if not case.differs]
MISSING = [name for name, case in CASES.items() if "nan" in case.differs]
WORDS = ("skip", "zero", "nearest")
TWO = "two targets"


def frames(case: Case) -> tuple[pl.DataFrame, pl.DataFrame, str]:
    """Return both tables and the target; several targets become one column of text."""
    real, synthetic = (pl.DataFrame(t, strict=False) for t in (case.real, case.synthetic))
    if len(case.targets) == 1:
        return real, synthetic, case.targets[0]
    joined = pl.concat_str(case.targets, separator="|").alias("joined")
    return real.with_columns(joined), synthetic.with_columns(joined), "joined"


def cap_of(name: str, unseen: str) -> divulge.Result:
    real, synthetic, target = frames(CASES[name])
    # every column a category: nothing is binned, and no kind is inferred
    schema = Schema(tuple(Column(c, "categorical") for c in real.columns))
    return divulge.cap(real, synthetic, keys=CASES[name].keys, target=target, unseen=unseen, schema=schema)


def same(rate: float | None, protection: float | None) -> bool:
    if rate is None or protection is None:
        return rate is protection
    return abs(1 - rate - protection) < 1e-9


def test_every_case_has_its_golden_values():
    assert list(GOLDEN) == list(CASES)
    assert len(AGREE) >= 8


@pytest.mark.first(15)
@pytest.mark.parametrize("unseen", WORDS)
@pytest.mark.parametrize("name", AGREE)
def test_cap_equals_the_categorical_metrics(name, unseen):
    assert same(cap_of(name, unseen).real.rate, GOLDEN[name]["Categorical"][unseen])


@pytest.mark.first(15)
@pytest.mark.parametrize("unseen", WORDS)
@pytest.mark.parametrize("name", [*AGREE, *MISSING])
def test_cap_equals_disclosure_protection(name, unseen):
    assert same(cap_of(name, unseen).real.rate, GOLDEN[name]["DisclosureProtection"][unseen])


@pytest.mark.parametrize("name", [n for n in (*AGREE, *MISSING) if n != TWO])
def test_the_uniform_guess_equals_the_baseline_of_disclosure_protection(name):
    uniform = cap_of(name, "zero").context["baseline: uniform"]
    assert uniform == pytest.approx(1 - GOLDEN[name]["baseline_protection"], abs=1e-9)


def test_nan_of_sdmetrics_is_a_rate_of_none():
    nans = [n for n in AGREE if GOLDEN[n]["Categorical"]["skip"] is None]
    assert nans == ["all keys unseen", "one row each, unseen"]
    for name in nans:
        result = cap_of(name, "skip").real
        assert (result.rate, result.n) == (None, 0)


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_float_is_a_value_here_and_unequal_to_itself_there(name):
    ours, theirs = cap_of(name, "zero").real.rate, GOLDEN[name]["Categorical"]["zero"]
    assert 1 - ours < theirs - 0.05


def test_numbers_beside_text_match_here_and_not_there():
    assert GOLDEN["numbers beside text"]["Categorical"]["skip"] is None
    assert cap_of("numbers beside text", "skip").real.n == 60
