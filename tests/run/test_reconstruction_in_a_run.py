"""Linear reconstruction inside a run: which secrets are attacked, what the report says, and why it was not made."""

import numpy as np
import polars as pl
import pytest

from divulge.attacks import CATALOGUE
from divulge.attacks.reconstruction import linear_reconstruction
from divulge.case.case import build_case
from divulge.report.prose.reconstruction import reconstruction_in_words
from divulge.run.options import Attacker, RunOptions
from divulge.run.plan import plan_of

SHARES = {"even": 0.5, "third": 0.33, "tenth": 0.1, "fifth": 0.2}


def people(seed, n=60):
    rng = np.random.default_rng(seed)
    coins = {name: np.where(np.arange(n) < share * n, "yes", "no") for name, share in SHARES.items()}
    return pl.DataFrame({"three": rng.choice(["a", "b", "c"], n)} | coins)


def planned(real, synthetic, holdout=None, **attacker):
    plan = plan_of(build_case(real, synthetic, holdout), Attacker(**attacker), RunOptions())
    made = [t.settings for t in plan.tasks if t.attack == "linear_reconstruction"]
    return made, {n["attack"]: n["why"] for n in plan.not_run}.get("linear_reconstruction")


def test_the_secrets_that_divide_people_most_evenly_are_attacked():
    made, why = planned(people(0), people(1), people(2))
    assert [settings["target"] for settings in made] == ["even", "third", "fifth"]
    assert why is None
    made, _ = planned(people(0), people(1), people(2), keys=["third", "three"], targets=["tenth"])
    assert made == [{"target": "tenth", "keys": ("third", "three")}]


def test_a_value_of_the_synthetic_table_alone_makes_no_third():
    made, _ = planned(people(0), people(1).with_columns(even=pl.lit("perhaps")), people(2))
    assert made[0] == {"target": "even"}


def test_where_it_does_not_fit_the_reason_is_told(monkeypatch):
    assert planned(people(0), people(1)) == ([], "it needs a holdout")
    none = "no target has two values, or people are too many for the time it takes"
    assert planned(people(0), people(1), people(2), targets=["three"]) == ([], none)
    monkeypatch.setattr(linear_reconstruction, "_PEOPLE", 119)
    assert planned(people(0), people(1), people(2)) == ([], none)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.02, 0.06, "+4.0 points (2.0 to 6.0), so that it adds to inference."),
        (-0.01, 0.09, "+4.0 points (-1.0 to 9.0), so that it does not clearly add to inference."),
    ],
)
def test_the_report_says_what_it_adds_over_inference(low, high, said):
    name = "right more often than the nearest record, members"
    context = {name: 0.04, f"{name}, lower limit": low, f"{name}, upper limit": high}
    (told,) = reconstruction_in_words(_told_about(context))
    assert told.startswith("Of “ill”: excess found; right about 90.0% of members and 80.0% of strangers (risk")
    assert told.endswith(f"Against the nearest record of inference, about the same members: {said}")


def test_in_an_external_edition_it_says_no_more_than_the_rates():
    (told,) = reconstruction_in_words(_told_about({}))
    assert told.endswith("(risk withheld).")


def _told_about(context):
    from types import SimpleNamespace

    rate = {"real": 0.9, "holdout": 0.8}
    sides = {role: SimpleNamespace(rate=r, hits=None, n=100) for role, r in rate.items()}
    result = SimpleNamespace(
        attack="linear_reconstruction", target="ill", verdict="excess found", risk=None, context=context, **sides
    )
    return SimpleNamespace(results=[result])


def test_its_family_is_attribution():
    assert CATALOGUE["linear_reconstruction"].family == "attribution"
