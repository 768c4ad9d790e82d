"""Numbers that others printed and that need no file: the tables of the CAP paper, written out as records.

Source: Baillargeon and Charest, "A Closer Look at the CAP Risk Measure for Synthetic Datasets", sections 2 and 4.
`test_crosstab.py` checks the functions on crosstabs; here the same numbers come from frames, through the attacks.
synthpop's published numbers for SD2011 were compared by hand: that table is under the GPL and stays out.
"""

import polars as pl
import pytest
from cap_paper_tables import O1, O2, O3, O4, S_A, S_B, S_E, S_G, SMOKING_O, SMOKING_S

import divulge

ASK = {"keys": ["key"], "target": "target"}
VERSIONS = {"zero": 1, "skip": 2}  # the paper's versions of the mean, definitions 2 and 3


def frame(table):
    """Return one record for each count: targets in rows and keys in columns, as in the paper."""
    cells = [(f"K{j + 1}", f"T{i + 1}", n) for i, row in enumerate(table) for j, n in enumerate(row)]
    return pl.DataFrame([c[:2] for c in cells for _ in range(c[2])], schema=["key", "target"], orient="row")


@pytest.mark.parametrize("unseen", VERSIONS)
@pytest.mark.parametrize(
    ("o", "s", "printed"),
    [(O3, S_B, "0.31"), (O3, S_G, "0.35"), (O4, S_A, "0.318"), (O4, S_E, "0.309"), (O2, O2, "1")],
)
def test_mean_cap(o, s, printed, unseen):
    rate = divulge.cap(frame(o), frame(s), unseen=unseen, **ASK).real.rate
    assert f"{rate:.{len(printed.partition('.')[2])}f}" == printed


@pytest.mark.parametrize(
    ("s", "printed"),
    [
        (S_B, [[0.0515, 0.1773, 0.0649], [0.4850, 0.5567, 0.9221], [0.4635, 0.2660, 0.0130]]),
        (S_G, [[0.5811, 0.3615, 0.3311], [0.0090, 0.3456, 0.4916], [0.4099, 0.2929, 0.1773]]),
    ],
)
def test_individual_caps_of_o3(s, printed):
    real = frame(O3)
    scores = divulge.cap(real, frame(s), **ASK).individual.real
    found = real.with_columns(score=pl.Series(scores).round(4)).unique()
    for key, target, score in found.iter_rows():
        assert score == printed[int(target[1]) - 1][int(key[1]) - 1]
    assert found.height == 7  # the cells that O3 fills


@pytest.mark.parametrize(("table", "sick", "healthy"), [(SMOKING_O, 2 / 5, 3 / 5), (SMOKING_S, 8 / 33, 25 / 33)])
def test_individual_cap_of_the_smokers(table, sick, healthy):
    real = frame(SMOKING_O)
    scores = divulge.cap(real, frame(table), **ASK).individual.real
    smokers = real.with_columns(score=pl.Series(scores)).filter(key="K1").unique()
    assert dict(smokers.select("target", "score").iter_rows()) == pytest.approx({"T1": sick, "T2": healthy})


@pytest.mark.parametrize(("s", "printed"), [(S_A, 134), (S_E, 272)])
def test_records_of_o4_guessed_right_by_the_commonest_target(s, printed):
    assert divulge.modal_guess(frame(O4), frame(s), **ASK).real.hits == printed


@pytest.mark.parametrize("unseen", VERSIONS)
@pytest.mark.parametrize("o", [O1, O2, O3, O4, SMOKING_O])
def test_one_full_cell_has_the_smallest_mean_cap(o, unseen):
    """Theorems 2 and 3: the smallest cell of the original, or the one with the smallest share of its key."""
    keys = [sum(row[j] for row in o) for j in range(len(o[0]))]
    n = sum(keys)
    smallest = min(c / (n if unseen == "zero" else keys[j]) for row in o for j, c in enumerate(row))
    result = divulge.cap_minimum(frame(o), frame(o), unseen=unseen, **ASK)
    assert result.real.rate == pytest.approx(smallest, abs=1e-15)
    assert divulge.cap(frame(o), result.table, unseen=unseen, **ASK).real.rate == pytest.approx(smallest, abs=1e-15)
