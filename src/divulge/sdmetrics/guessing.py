"""The metrics in which attackers guess categories: one attacker each, or the vote of several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

import numpy as np

from divulge.sdmetrics.attackers import (
    Guesses,
    Ints,
    PrivacyAttackerModel,
    distinct_rows,
    guesses_of,
    most_frequent,
    tuples_of,
)
from divulge.sdmetrics.classifiers import (
    CategoricalKNNAttacker,
    CategoricalNBAttacker,
    CategoricalRFAttacker,
    CategoricalSklearnAttacker,
    CategoricalSVMAttacker,
)
from divulge.sdmetrics.columns import Column, Frame, first_table
from divulge.sdmetrics.fields import CATEGORICAL, attack_tables, settings_of

__all__ = ["METRICS", "CategoricalEnsembleAttacker", "categorical_adapter", "categorical_ensemble"]


class CategoricalEnsembleAttacker(PrivacyAttackerModel):
    """Guess the value that most attackers guess.

    Parameters
    ----------
    attackers
        Classes of attackers, called without arguments. Of guesses named equally often, the one that the attackers,
        taken in this order, name so often first. An attacker without a guess has no vote.
    """

    def __init__(self, attackers: Iterable[Callable[[], Any]] = ()) -> None:
        given = list(attackers)
        for attacker in given:
            if not callable(attacker):
                raise TypeError(
                    f"`attackers` holds a value of type {type(attacker).__name__}; it must be a list of classes, such "
                    "as CategoricalKNNAttacker."
                )
        self.attackers = [attacker() for attacker in given]

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Let each attacker learn the synthetic table."""
        for attacker in self.attackers:
            attacker.fit(synthetic_data, key_fields, sensitive_fields)

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key, or None where no attacker has one."""
        return most_frequent(attacker.predict(key_data) for attacker in self.attackers)

    def predict_many(self, keys: list[Column]) -> Guesses:
        """Return the guesses for many keys, given by columns."""
        place: dict[Any, int] = {}
        votes = np.full((len(self.attackers), len(keys[0])), -1, dtype=np.int64)
        for i, attacker in enumerate(self.attackers):
            which, outcomes = guesses_of(attacker, keys)
            places = [place.setdefault(o, len(place)) for o in outcomes]
            votes[i] = np.array([*places, -1], dtype=np.int64)[which]
        return Guesses(_majorities(votes), list(place))


def _majorities(votes: Ints) -> Ints:
    """Return for each column the most frequent value; in ties the one that reaches the number first. -1 is no vote."""
    best, most = np.full(votes.shape[1], -1, dtype=np.int64), np.zeros(votes.shape[1], dtype=np.int64)
    for i, vote in enumerate(votes):
        so_far = (votes[: i + 1] == vote).sum(axis=0)
        better = (vote >= 0) & (so_far > most)
        best[better], most[better] = vote[better], so_far[better]
    return best


def categorical_adapter(
    attacker_class: Callable[..., Any], unusable: Callable[[Any], Any] = lambda model_kwargs: None
) -> Callable[..., dict[str, Any]]:
    """Return the metric of an attacker: 1 less the share of real rows whose sensitive fields are all guessed.

    Parameters
    ----------
    attacker_class
        Called with `model_kwargs`.
    unusable
        Returns what the score is in place of a number where `model_kwargs` do not do, else None.

    Returns
    -------
    callable
        Takes the arguments of SDMetrics' `compute` and `seed`, gives {"score": float}. It raises what
        `fields.attack_tables` and the attacker raise, and ZeroDivisionError where there are no real rows.
    """

    def breakdown(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        key_fields: Any = None,
        sensitive_fields: Any = None,
        model_kwargs: Any = None,
        *,
        seed: int = 0,
    ) -> dict[str, Any]:
        problem = unusable(model_kwargs)
        if problem is not None:
            return {"score": problem}
        real, _, keys, sensitive = attack_tables(
            real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, CATEGORICAL
        )
        attacker = attacker_class(**settings_of("model_kwargs", model_kwargs))
        _draw_from(attacker, np.random.RandomState(seed))
        attacker.fit(first_table(synthetic_data), keys, sensitive)
        return {"score": 1.0 - _share_guessed(attacker, real, keys, sensitive)}

    return breakdown


def _draw_from(attacker: Any, random: np.random.RandomState) -> None:
    """Let all models draw from one generator, as they share numpy's in SDMetrics."""
    if isinstance(attacker, CategoricalSklearnAttacker):
        attacker._random = random
    if isinstance(attacker, CategoricalEnsembleAttacker):
        for part in attacker.attackers:
            _draw_from(part, random)


def _share_guessed(attacker: Any, real: Frame, keys: list[Hashable], sensitive: list[Hashable]) -> float:
    if len(real) == 0:
        raise ZeroDivisionError("`real_data` has no rows, so there is no share of them.")
    key, which_key = distinct_rows(real, keys)
    truth, which_truth = distinct_rows(real, sensitive)
    guesses = guesses_of(attacker, key)
    place = {t: i for i, t in enumerate(tuples_of(truth))}
    as_truth = np.array([*(place.get(o, -1) for o in guesses.outcomes), -1], dtype=np.int64)
    return int((as_truth[guesses.which][which_key] == which_truth).sum()) / len(real)


def _no_attackers(model_kwargs: Any) -> ValueError | None:
    """Return the error that SDMetrics gives as the score, and does not raise, where there are no attackers."""
    given: Any = model_kwargs if isinstance(model_kwargs, Collection) else settings_of("model_kwargs", model_kwargs)
    if "attackers" not in given:
        return ValueError("No attackers specified.")
    if not isinstance(given["attackers"], list) or len(given["attackers"]) == 0:
        return ValueError("Zero attackers specified")
    return None


categorical_ensemble = categorical_adapter(CategoricalEnsembleAttacker, _no_attackers)


METRICS: tuple[tuple[str, str, Callable[..., dict[str, Any]], str], ...] = (
    (
        "CategoricalKNN",
        "K-Nearest Neighbors",
        categorical_adapter(CategoricalKNNAttacker),
        "How hard it is to guess sensitive fields by a vote of the five synthetic rows with the nearest keys.",
    ),
    (
        "CategoricalNB",
        "Categorical NaiveBayesian",
        categorical_adapter(CategoricalNBAttacker),
        "How hard it is to guess sensitive fields by naive Bayes, learnt from the synthetic table.",
    ),
    (
        "CategoricalRF",
        "Categorical Random Forest",
        categorical_adapter(CategoricalRFAttacker),
        "How hard it is to guess sensitive fields by a random forest, learnt from the synthetic table.",
    ),
    (
        "CategoricalSVM",
        "Support Vector Classifier",
        categorical_adapter(CategoricalSVMAttacker),
        "How hard it is to guess sensitive fields by support vector machines, learnt from the synthetic table.",
    ),
    (
        "CategoricalEnsemble",
        "Ensemble",
        categorical_ensemble,
        "How hard it is to guess sensitive fields by a vote of attackers, the classes given in "
        '`model_kwargs={"attackers": [...]}`. Without them the score is a ValueError, returned and not raised.',
    ),
)
"""Of each metric: name, title, adapter and first paragraph."""
