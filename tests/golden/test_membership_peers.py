"""Membership scores against the DOMIAS package: `membership.json` has its numbers, `remake_membership.py` writes them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
from membership_cases import CLOUD, LINE

import divulge
from divulge.core.schema import Column, Schema
from divulge.kernels.densities import log_density_ratio

GOLDEN = json.loads(Path(__file__).with_name("membership.json").read_text())


def scores(name):
    real, synthetic, holdout = (
        pl.DataFrame(LINE[r], schema=["x"], orient="row") for r in ("real", "synthetic", "holdout")
    )
    (found,) = divulge.membership(
        real, synthetic, holdout=holdout, scores=[name], schema=Schema((Column("x", "numeric"),))
    )
    return np.r_[found.individual.real, found.individual.holdout]


def test_monte_carlo_counts_are_those_of_the_package():
    """The package counts rows nearer than the median, divulge those up to it: the row that sets it is one more."""
    theirs = np.round(np.array(GOLDEN["monte carlo"]) * len(LINE["synthetic"]))
    people, synthetic = np.array(LINE["real"] + LINE["holdout"]), np.array(LINE["synthetic"])
    nearest = np.abs(people - synthetic.T).min(axis=1)
    assert (scores("monte carlo") - theirs).tolist() == (nearest == np.median(nearest)).astype(float).tolist()


def test_the_distance_difference_is_calibrated_gan_leaks():
    """The package takes squared distances through a logistic function; other people are its reference."""
    people, synthetic = np.array(LINE["real"] + LINE["holdout"]), np.array(LINE["synthetic"])
    to_synthetic = -scores("dcr") * np.ptp(people)
    to_person = scores("dcr difference") * np.ptp(people) + to_synthetic
    theirs = np.array(GOLDEN["calibrated"])
    np.testing.assert_allclose(1 / (1 + np.exp(to_synthetic**2 - to_person**2)), theirs, rtol=1e-9)
    assert synthetic.min() > people.min() - np.ptp(people)  # no distance is cut at the range


def test_domias_is_the_log_of_the_packages_density_ratio():
    def whitened(points):
        centred = points - points.mean(axis=0)
        values, vectors = np.linalg.eigh(np.cov(centred.T))
        return centred @ vectors @ np.diag(values**-0.5) @ vectors.T

    synthetic, reference = (whitened(np.array(CLOUD[name])) for name in ("synthetic", "reference"))
    ours = []
    for person in CLOUD["asked"]:  # the reference of a person is all others
        people = np.vstack([reference, person])
        ours.append(log_density_ratio(people, synthetic, np.arange(len(people)))[0][-1])
    np.testing.assert_allclose(ours, np.log(GOLDEN["domias"]), rtol=1e-9)
