"""Linear reconstruction inside a run: which secrets are attacked, what the report says, and why it was not made."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.multiplicity import correct
from divulge.attacks.reconstruction import linear_reconstruction
from divulge.case.asked import asked_of
from divulge.case.case import build_case
from divulge.report.external.known_sentences import is_ours
from divulge.report.prose.reconstruction import reconstruction_in_words
from divulge.run.planning.options import Attacker, RunOptions
from divulge.run.planning.people import FEWER, people_of_run
from divulge.run.planning.plan import plan_of

SHARES = {"even": 0.5, "third": 0.33, "tenth": 0.1, "fifth": 0.2}


def people(seed, n=60):
    rng = np.random.default_rng(seed)
    coins = {name: np.where(np.arange(n) < share * n, "yes", "no") for name, share in SHARES.items()}
    return pl.DataFrame({"three": rng.choice(["a", "b", "c"], n)} | coins)


def planned(real, synthetic, holdout=None, **attacker):
    plan = plan_of(build_case(real, synthetic, holdout), Attacker(**attacker), RunOptions())
    made = [t.settings for t in plan.tasks if t.attack == "linear_reconstruction"]
    return made, {n.attack: n.why for n in plan.not_run}.get("linear_reconstruction")


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
    not_two, too_many = "no target has two values only", "people are too many for the time it takes"
    assert planned(people(0), people(1), people(2), targets=["three"]) == ([], not_two)
    monkeypatch.setattr(linear_reconstruction, "_PEOPLE", 119)
    assert planned(people(0), people(1), people(2)) == ([], too_many)
    assert planned(people(0), people(1), people(2), targets=["three"]) == ([], not_two)  # fewer people would not help
    assert is_ours(not_two)  # an external edition may say it
    assert is_ours(too_many)


def test_a_run_asks_at_most_so_many_people_and_says_so(monkeypatch):
    """The result is that of the sample alone, corrected with it; the scores of all others are not a number."""
    entry = dataclasses.replace(CATALOGUE["linear_reconstruction"], most=40)
    monkeypatch.setitem(CATALOGUE, "linear_reconstruction", entry)
    case = build_case(people(0), people(1), people(2, 50))
    drawn = asked_of(case, 40)
    asked = people_of_run(case, None)
    assert asked.of("linear_reconstruction") is drawn.case
    assert asked.of("exposure") is case
    made = [entry.run(drawn.case, target=target) for target in ("even", "third")]
    assert made[0].real.n == made[0].holdout.n == 40
    corrected = asked.corrected(made, 0.05, 1)
    assert corrected == correct(drawn.case, made, 0.05, 1)
    scores = asked.of_everybody(corrected[0]).individual
    assert np.flatnonzero(~np.isnan(scores.real)).tolist() == drawn.real.tolist()
    assert (len(scores.real), len(scores.holdout), np.isfinite(scores.holdout).sum()) == (60, 50, 40)
    told = "linear_reconstruction asks a random sample, for the time that it takes: 40 of 60 members and 40 of 50 strangers"
    assert asked.notes(["exposure", "linear_reconstruction"]) == [told]
    assert asked.notes(["exposure"]) == []
    few = people_of_run(case, 30)
    assert few.of("linear_reconstruction") is few.of("cap") is asked_of(case, 30).case
    assert people_of_run(case, 45).of("linear_reconstruction") is drawn.case


def test_an_external_edition_may_say_how_many_were_asked():
    told = f"{FEWER.format('linear_reconstruction')}: 5,000 of 39,032 members and 5,000 of 9,758 strangers"
    assert is_ours(told)


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
    sides = {role: SimpleNamespace(rate=r, hits=None, n=100, units=None) for role, r in rate.items()}
    result = SimpleNamespace(
        attack="linear_reconstruction", target="ill", verdict="excess found", risk=None, context=context, **sides
    )
    return SimpleNamespace(results=[result])


def test_its_family_is_attribution():
    assert CATALOGUE["linear_reconstruction"].family == "attribution"
