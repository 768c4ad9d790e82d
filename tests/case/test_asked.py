"""The people asked where an engine holds the tables stand in one order, whatever the synthetic table says."""

import polars as pl
import pytest

from divulge.case.asked import ask_where_they_are, asked_of, people_told
from divulge.case.case import build_case
from divulge.case.code_files import CodeFolder

REAL = pl.DataFrame(
    {
        "age": [18, 25, 25, 31, 44, 44, 60, 61] * 5,
        "job": ["b", "d", None, "f", "d", "b", "f", "d"] * 5,
        "home": [str(i // 2) for i in range(40)],
    }
)
HOLDOUT = REAL.with_columns(pl.col("age") + 1, home=pl.col("home") + "x").head(23)
SYNTHETIC = [
    REAL.head(20),
    # values before, between and after those of people
    pl.DataFrame({"age": [1.0, 19.0, 26.0, 99.0], "job": ["a", "c", "e", "g"], "home": ["00", "1y", "5y", "z"]}),
]


def said(case):
    """Return what the people of a case say, one by one in their order."""
    return [
        list(zip(*(case.pooled(c).levels.extend_constant(None, 1).gather(case.codes(c, binned=False)[i] - 1).to_list()
                   for c in case.columns), strict=True))
        for i in case.encoded.people
    ]  # fmt: skip


@pytest.mark.parametrize("unit", [None, "home"])
@pytest.mark.parametrize("people", [11, 500])
def test_people_stand_in_one_order_whatever_the_synthetic_table(unit, people, tmp_path):
    asked = [
        ask_where_they_are(
            build_case(real, synthetic, holdout, unit=unit, engine="polars"), people, CodeFolder(tmp_path)
        ).case
        for synthetic in SYNTHETIC
        for real, holdout in ((REAL, HOLDOUT), (REAL.reverse(), HOLDOUT.reverse()))
    ]
    codes = [case.codes("job", binned=False)[0].tolist() for case in asked]
    assert codes[0] != codes[2]
    assert all(said(case) == said(asked[0]) for case in asked)
    assert len({people_told(case) for case in asked}) == 1


def test_other_people_are_told_apart():
    case = build_case(REAL, SYNTHETIC[0], HOLDOUT)
    other = build_case(REAL.with_columns(pl.col("age") * 2), SYNTHETIC[0], HOLDOUT)  # the same places, other numbers
    fewer = asked_of(case, 15)
    assert fewer is not None
    assert len({people_told(c) for c in (case, other, fewer.case, build_case(HOLDOUT, SYNTHETIC[0], REAL))}) == 4
