"""What a fresh sample scores in the quality report, against samples drawn by numpy."""

import json
import pickle

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from divulge.cli.root import cli
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport
from divulge.sdmetrics.reports.fresh_sample import matched_size

SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01])
METADATA = {"columns": {name: {"sdtype": "categorical"} for name in "abcd"}}


def people(rng, n):
    first = rng.choice(10, n, p=SHARES)
    columns = {"a": first, "b": np.where(rng.random(n) < 0.8, first, rng.choice(10, n, p=SHARES))}
    columns |= {name: rng.choice(10, n, p=SHARES) for name in "cd"}
    return columns


def frame(columns):
    return pl.DataFrame({name: np.char.add("v", values.astype(str)) for name, values in columns.items()})


def shapes(real, synthetic):
    """The mean over the columns of 1 less the total variation distance."""
    counts = [[np.bincount(t[name], minlength=10) / len(t[name]) for name in "abcd"] for t in (real, synthetic)]
    return 1 - np.abs(np.array(counts[0]) - counts[1]).sum(axis=1).mean() / 2


def pair(real, synthetic, one="a", other="b"):
    """The score of a pair of columns."""
    cells = [np.bincount(10 * t[one] + t[other], minlength=100) / len(t[one]) for t in (real, synthetic)]
    return 1 - np.abs(cells[0] - cells[1]).sum() / 2


def fresh(real, synthetic, **settings):
    report = QualityReport()
    report.generate(frame(real), frame(synthetic), METADATA, verbose=False)
    return report, report.get_fresh_sample(**settings)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(160, 160), (400, 100), (1000, 1000)])
def test_it_is_what_samples_drawn_by_numpy_score(n, m):
    rng = np.random.default_rng(n)
    drawn = [(people(rng, n), people(rng, m)) for _ in range(200)]
    truth = {
        name: np.array([score(*d) for d in drawn])
        for name, score in (("Column Shapes", shapes), ("Column Pair Trends", pair))
    }
    found = [fresh(*d)[1] for d in drawn[:6]]
    for name, scores in truth.items():
        mean = np.mean([f[name].mean for f in found])
        assert mean == pytest.approx(scores.mean(), abs=max(0.01, 0.15 * (1 - scores.mean())))
        low, high = (np.mean([getattr(f[name], side) for f in found]) for side in ("low", "high"))
        assert np.mean((scores >= low) & (scores <= high)) >= 0.9


@pytest.mark.slow
def test_a_worse_table_is_below_and_a_copy_above():
    rng = np.random.default_rng(0)
    real = people(rng, 200)
    worse = {name: rng.integers(0, 10, 200) for name in "abcd"}
    report, found = fresh(real, worse)
    assert report.get_score() < found[""].low and set(found) == {"", "Column Shapes", "Column Pair Trends"}
    copy, others = fresh(real, real)
    assert copy.get_score() == 1 > others[""].high
    assert others["Column Shapes"] == found["Column Shapes"]  # it depends on the real table and on sizes
    assert fresh(real, real, seed=1)[1] != others


def test_documents_have_it_once_it_was_asked_for(tmp_path):
    rng = np.random.default_rng(0)
    report, found = fresh(people(rng, 100), people(rng, 100))
    report.save(tmp_path / "r.json")
    again = QualityReport.load(tmp_path / "r.json")
    told = f"{found[''].mean:.4f} ({found[''].low:.4f} to {found[''].high:.4f})"
    assert told in report.to_html() and told in again.to_html() and again.get_fresh_sample() == {}
    report.generate(frame(people(rng, 100)), frame(people(rng, 100)), METADATA, verbose=False)
    assert "fresh sample of" not in report.to_html()
    saved = json.loads((tmp_path / "r.json").read_text())
    saved["info"]["fresh_sample"][""] = [0.5]
    (tmp_path / "r.json").write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="was changed"):
        QualityReport.load(tmp_path / "r.json")


def test_a_pickled_report_holds_no_value():
    rng = np.random.default_rng(0)
    report, _ = fresh(people(rng, 100), people(rng, 100))
    assert b"v0" not in pickle.dumps(report) and pickle.loads(pickle.dumps(report)).get_score() == report.get_score()
    assert report.get_fresh_sample()  # the report itself still knows the tables


def test_small_or_several_tables_have_none():
    rng = np.random.default_rng(0)
    assert fresh(people(rng, 79), people(rng, 100))[1] == {}
    tables = {name: frame(people(rng, 100)) for name in ("one", "two")}
    report = QualityReport()
    report.generate(tables, tables, {"tables": dict.fromkeys(tables, METADATA)}, verbose=False)
    assert report.get_fresh_sample() == {}
    assert not hasattr(DiagnosticReport(), "get_fresh_sample")


def test_equal_sizes_match_themselves():
    assert matched_size(50, 50) == pytest.approx(50)
    assert matched_size(10, 10**9) == pytest.approx(20)


@pytest.mark.slow
def test_the_command_says_it_beside_the_scores(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("real", "synthetic"):
        frame(people(rng, 100)).write_csv(tmp_path / f"{name}.csv")
    said = CliRunner().invoke(cli, ["quality", *(str(tmp_path / f"{n}.csv") for n in ("real", "synthetic"))]).output
    assert "A fresh sample of the real people, as large, scores 0." in said and "a fresh sample scores" in said
