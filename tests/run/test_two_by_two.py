"""Any two candidates in words, from their ranking and their distances."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from divulge.cli.root import cli
from divulge.report.comparison.model import FidelityPair
from divulge.run.comparing.candidates import Ranked
from divulge.run.comparing.two_by_two import two_by_two
from divulge.stats.rank_intervals import Scores, rank


def ranked(shares, behind=(), attacks=1, n=600):
    """A ranking of tables that leak these shares, the first attack seeing all and the others nothing."""
    rng = np.random.default_rng(0)
    leaks = np.zeros((attacks, len(shares), 1))
    leaks[0, :, 0] = shares
    scores = [
        Scores((rng.random((len(shares), n)) < 0.3 + 0.7 * own) * 1.0, (rng.random((len(shares), n)) < 0.3) * 1.0)
        for own in leaks
    ]
    ranking = rank(scores, tables=[[i] for i in range(len(shares))], rng=np.random.default_rng(1), draws=499)
    names = [(f"attack {a}", "all", 1) for a in range(attacks)]
    return Ranked(ranking, [i in behind for i in range(len(shares))], names, [], [])


def distance(first, second, low, high, farther):
    return FidelityPair(
        first=first, second=second, difference=(low + high) / 2, low=low, high=high, farther=farther, paired=True
    )


def test_the_riskier_and_the_farther_one_are_named():
    far = [distance("a", "b", -0.3, -0.1, "b")]
    (found,) = two_by_two(["a", "b"], ranked([0.4, 0.0]), far)
    assert (found.riskier, found.farther, found.attack) == ("a", "b", "attack 0")
    assert found.sentence == "“a” is riskier than “b”. “b” is farther from the real table than “a”."
    assert 0 < found.risk_low < found.risk < found.risk_high
    assert (found.distance, found.distance_low, found.distance_high) == (-0.2, -0.3, -0.1)


def test_what_is_not_certain_is_not_told():
    (found,) = two_by_two(["a", "b"], ranked([0.1, 0.1]), [distance("a", "b", -0.1, 0.2, None)])
    assert (found.riskier, found.farther) == (None, None)
    assert found.sentence == "Cannot tell which is riskier. Cannot tell which is farther from the real table."
    near = two_by_two(["a", "b"], ranked([0.1, 0.1]), [distance("a", "b", 0.1, 0.2, None)])[0].sentence
    assert near.endswith("“b” is nearer to the real table, but “a” may be as near as another sample.")
    assert near == two_by_two(["a", "b"], ranked([0.1, 0.1]), [distance("a", "b", 0.1, 0.2, None)])[0].sentence


def test_a_finding_that_risks_do_not_show_is_told():
    (found,) = two_by_two(["a", "b"], ranked([0.1, 0.1], behind=[1]), [])
    assert found.sentence == ("“b” stands behind “a” by its verdict alone. Cannot tell which is riskier.")


def test_one_attack_alone_does_not_make_a_table_riskier_than_another():
    ranking = ranked([0.0, 0.0], attacks=2)
    low = ranking.ranking.difference_low
    low[0, 0, 1] = 0.1  # as if the first attack saw more through the first table
    (found,) = two_by_two(["a", "b"], ranking, [])
    assert found.sentence == ("Cannot tell which is riskier; under attack 0 “a” has more.")


def test_without_strangers_only_distances_are_told():
    (found,) = two_by_two(["a", "b"], None, [distance("a", "b", 0.1, 0.3, "a")])
    assert (found.riskier, found.risk, found.sentence) == (None, None, "“a” is farther from the real table than “b”.")
    assert two_by_two(["a", "b"], None, []) == ()


@pytest.mark.slow
def test_the_command_tells_which_of_two_is_farther(tmp_path):
    rng = np.random.default_rng(0)

    def people(n, torn):
        a = rng.integers(0, 4, n)
        b = np.where(rng.random(n) < 0.9 - torn, a, rng.integers(0, 4, n))
        return pl.DataFrame({"a": a, "b": b, "c": rng.integers(0, 3, n)}).cast(pl.String)

    files = {"real": 0.0, "near": 0.0, "torn": 0.9}
    for name, torn in files.items():
        people(300, torn).write_csv(tmp_path / f"{name}.csv")
    given = [str(tmp_path / f"{name}.csv") for name in files]
    found = CliRunner().invoke(cli, ["compare", *given, "--no-membership", "--out", str(tmp_path / "o")])
    assert found.exit_code == 0
    assert "“torn” is farther from the real" in found.output
    assert "“torn” is farther from the real table than “near”." in (tmp_path / "o" / "comparison.html").read_text()
    assert "two_by_two" in (tmp_path / "o" / "comparison.json").read_text()
