"""Scores of which few differ take a byte or two each, and come back to the last bit."""

import numpy as np
import pytest

from divulge.core import coded_scores
from divulge.core.coded_scores import CodedScores, coded, coded_by_cell, decoded
from divulge.core.distinct_values import distinct_values
from divulge.core.result import Individual

ODD = np.array([0.1, np.nan, -0.0, 0.0, 1.0, 5e-324, 1 / 3, -np.nan])


@pytest.fixture(autouse=True)
def from_one_person_on(monkeypatch):
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)


def same_bits(one, other):
    assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("n_values", [1, 3, 256, 257, 65_536])
def test_every_bit_comes_back(n_values):
    values = np.r_[ODD, (100 + np.arange(n_values)) / 7][:n_values]
    scores = np.random.default_rng(0).permutation(np.r_[values, values[:5]])
    found = coded(scores)
    assert isinstance(found, CodedScores)
    assert found.codes.dtype == (np.uint8 if n_values <= 256 else np.uint16)
    same_bits(decoded(found), scores)
    same_bits(found[3:9], scores[3:9])
    same_bits(found[np.array([0, 0])], scores[[0, 0]])
    assert len(found) == found.size == len(scores)


def test_a_column_does_not_keep_its_table(monkeypatch):
    table = np.random.default_rng(1).integers(0, 3, (50, 4)) / 2
    same_bits(decoded(coded(table[:, 1])), np.ascontiguousarray(table[:, 1]))
    monkeypatch.setattr(coded_scores, "_MOST", 2)
    assert coded(table[:, 1]).base is None


def test_scores_of_which_most_differ_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(coded_scores, "_MOST", 4)
    scores = np.arange(5.0)
    assert coded(scores) is scores
    monkeypatch.setattr(coded_scores, "_SAMPLED", 3)  # the first three tell nothing
    assert coded(scores) is scores
    same_bits(coded_by_cell(scores, np.array([4, 0, 1, 2, 3])), scores[[4, 0, 1, 2, 3]])


def test_few_people_are_not_coded(monkeypatch):
    monkeypatch.setattr(coded_scores, "CODED_FROM", 4)
    assert not isinstance(coded(np.zeros(3)), CodedScores) and isinstance(coded(np.zeros(4)), CodedScores)
    cells = np.zeros(3, dtype=np.int64)
    assert not isinstance(coded_by_cell(ODD, cells), CodedScores)
    assert isinstance(coded_by_cell(ODD, np.r_[cells, 1]), CodedScores)


@pytest.mark.parametrize("n_cells", [8, 300])
def test_people_have_the_score_of_their_cell(n_cells):
    rng = np.random.default_rng(2)
    scores = np.r_[ODD, rng.random(n_cells - 8)]
    cells = rng.integers(0, n_cells - 2, 1000)  # nobody is in the last two
    found = coded_by_cell(scores, cells)
    same_bits(found[:], scores[cells])
    of_people = scores[cells].view(np.int64)
    assert sorted(found.values.view(np.int64)) == sorted(set(of_people.tolist()))
    assert found.times().tolist() == [int((of_people == v).sum()) for v in found.values.view(np.int64)]


def test_individual_scores_are_arrays_whatever_is_kept():
    plain = Individual(real=ODD, holdout=ODD[:3], real_times=np.ones(8, dtype=np.int64))
    small = plain.coded()
    assert all(isinstance(s, CodedScores) for s in small.kept)
    same_bits(small.real, ODD)
    same_bits(small.holdout, ODD[:3])
    assert small.real_times is plain.real_times and small.holdout_times is None
    assert small.coded().kept == small.kept
    assert Individual(real=ODD).coded().holdout is None


@pytest.mark.parametrize("values", [[], [3, 1, 3], [2.5, -1.0, 2.5, np.inf]], ids=["none", "whole", "fractions"])
def test_distinct_values_are_those_of_numpy(values):
    given = np.array(values, dtype=None if values else np.int64)
    same_bits(distinct_values(given), np.unique(given))
