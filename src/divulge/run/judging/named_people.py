"""People who are named in synthetic texts: conformal p-values of the words of their own that recur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.copying.one_column import WORDS_OF_TEXTS
from divulge.attacks.copying.own_words import OTHER_COLUMNS
from divulge.attacks.membership.exposure import flagged_at, highest_of_unit, p_values
from divulge.attacks.membership.recognised import FDR
from divulge.core.result import Result, label

__all__ = ["Named", "named_people"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Who of the members is named, one entry for each real record."""

    flagged: Bools
    """Flagged at the false discovery rate."""
    by: tuple[str, ...]
    """The rarest form of words that hits the record, and its column: "name of 'note'"; "" where none does."""


def named_people(results: Sequence[Result], real: Ints | None = None, holdout: Ints | None = None) -> Named | None:
    """Return who is named by the results of `named_in_texts`; None where there are none with strangers.

    A person's score is the sum, over the forms of words that hit the person, of minus the logarithm of the share of all
    people whom the form hits: a rare form tells more. No label enters it.

    Parameters
    ----------
    results
        Results of a run.
    real, holdout
        The unit of each record; None where each record is one. A unit scores as its highest record does.

    References
    ----------
    Bates et al. (2023), Testing for outliers with conformal p-values.
    """
    forms = [r for r in results if r.attack == WORDS_OF_TEXTS and r.variant != OTHER_COLUMNS]
    forms = [r for r in forms if r.individual is not None and r.individual.holdout is not None]
    if not forms:
        return None
    hits = [(r, *_hits(r)) for r in sorted(forms, key=label)]
    weights = [-np.log(max(1, a.sum() + b.sum()) / (len(a) + len(b))) for _, a, b in hits]
    members = np.sum([w * a for w, (_, a, _) in zip(weights, hits, strict=True)], axis=0)
    strangers = np.sum([w * b for w, (_, _, b) in zip(weights, hits, strict=True)], axis=0)
    flagged = flagged_at(p_values(members, highest_of_unit(strangers, holdout)), real, FDR) & (members > 0)
    rarest = np.argmax([w * a for w, (_, a, _) in zip(weights, hits, strict=True)], axis=0)
    names = [f"{r.variant} of {r.keys[0]!r}" for r, _, _ in hits]
    by = (names[i] if score > 0 else "" for i, score in zip(rarest.tolist(), members.tolist(), strict=True))
    return Named(flagged, tuple(by))


def _hits(result: Result) -> tuple[Bools, Bools]:
    assert result.individual is not None and result.individual.holdout is not None
    return result.individual.real >= 1, result.individual.holdout >= 1
