"""Correction for multiplicity: results are corrected for the number of comparisons of their attack."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Any, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE, conclude, finite, first_records
from divulge.case.case import Case
from divulge.core.coded_scores import Scores
from divulge.core.result import Individual, Result, label
from divulge.stats import Comparison, Family, holm, max_t, resample
from divulge.stats.intervals import normal_quantile
from divulge.stats.isolation import Isolation
from divulge.stats.pairing import Paired

__all__ = ["correct", "family_of"]


def correct(
    case: Case, results: Sequence[Result], acceptable: float = ACCEPTABLE, n_families: int | None = None
) -> list[Result]:
    """Return the results with simultaneous bounds, adjusted p-values and verdicts, corrected within each family.

    `n_families` is the number of families that a finding is corrected for afterwards, None that of these results; what
    the verdict can find depends on it. Results that their attack has corrected already (`corrected`) keep their
    p-values and bounds.
    """
    out = list(results)
    families: dict[str, list[int]] = {}
    for i, result in enumerate(results):
        if result.comparison is None:
            continue
        if getattr(result.comparison, "corrected", False):
            out[i] = result.comparison.judged(result, acceptable, n_families or 1)
        else:
            families.setdefault(family_of(result), []).append(i)
    for members in families.values():
        family, comparisons = _family(case, _step(results[members[0]]), [results[i] for i in members])
        for j, i in enumerate(members):
            out[i] = _with_family(results[i], comparisons[j], family, j, acceptable, n_families or len(families))
    return out


def family_of(result: Result) -> str:
    """Return the family that a comparison is corrected in: its attack, or the attack's comparisons of paired rows.

    Paired rows have no strangers, so that labels cannot be permuted jointly with those of people. Each actor has
    families of its own; what several ask is in those of the first by name.
    """
    return ", ".join((_step(result), *result.actors[:1]))


def _step(result: Result) -> str:
    """Return the name of a family whoever asks it: an actor who is alone has the digits of a run without actors."""
    return f"{result.attack}, paired rows" if isinstance(result.comparison, Paired) else result.attack


def _family(case: Case, name: str, results: list[Result]) -> tuple[Family, list[Comparison]]:
    comparisons = [r.comparison for r in results]
    # tests are sorted by name, so that the result does not depend on column order
    order = sorted(range(len(results)), key=lambda i: label(results[i]))
    if all(isinstance(c, Isolation) for c in comparisons):
        return _permuted_family([cast(Isolation, c) for c in comparisons], case.level), comparisons
    if all(isinstance(c, Paired) for c in comparisons):
        return _holm_family(results, case.level), comparisons
    people = [results[i].individual for i in order]
    scores = [_counted(case, p) for p in people if p is not None]
    members, strangers = [m for m, _ in scores], [s for _, s in scores if s is not None]
    if len(strangers) < len(people):
        return _holm_family(results, case.level), comparisons
    clusters: dict[str, Any] = {"cluster_members": case.units("real"), "cluster_strangers": case.units("holdout")}
    if (first := people[0]) is not None:  # all results of an attack are about the same rows
        clusters |= {"count_members": first.real_times, "count_strangers": first.holdout_times}
    back = np.argsort(order)
    if any("normal limit" in c.method for c in comparisons):
        quick = [comparisons[i] for i in order]
        drawn = resample(members, strangers, quick, rng=case.rng(f"resample {name}"), **clusters)
        comparisons = [drawn[i] for i in back]
    family = max_t(members, strangers, level=case.level, rng=case.rng(f"family {name}"), **clusters)
    return Family(family.critical, family.level_each, family.p_adjusted[back], family.p_value[back]), comparisons


def _counted(case: Case, people: Individual) -> tuple[Scores, Scores | None]:
    """Return the scores of members and strangers; where a unit counts once, nan for all its records but the first."""
    if not people.once or case.unit is None:
        return people.kept

    def of_units(role: str, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        units = case.units(role)
        assert units is not None  # there is a unit, and such results hold scores of tables that are there
        return np.where(first_records(units), scores, np.nan)

    return of_units("real", people.real), None if people.holdout is None else of_units("holdout", people.holdout)


def _permuted_family(found: list[Isolation], level: float) -> Family:
    """Return the max-T correction of comparisons that were already permuted jointly."""
    from scipy.special import ndtr

    p = np.array([c.p_value for c in found])
    tested = np.isfinite(p)
    if not tested.any():
        return Family(normal_quantile(level), level, np.full(len(p), np.nan), p)
    largest = np.sort(np.max([np.abs(c.permuted) for c in found], axis=0))
    seen = np.array([c.z for c in found])
    together = (1 + len(largest) - np.searchsorted(largest, seen - 1e-9)) / (len(largest) + 1)
    place = min(len(largest), ceil(level * (len(largest) + 1) - 1e-9))
    critical = max(normal_quantile(level), float(largest[place - 1]))
    each = max(level, 1 - 2 * float(ndtr(-critical)))
    return Family(critical, each, np.where(tested, np.maximum(p, together), np.nan), p)


def _holm_family(results: list[Result], level: float) -> Family:
    """Return Holm's correction with Bonferroni intervals, for families that cannot be permuted jointly."""
    p = np.array([np.nan if r.p_value is None else r.p_value for r in results])
    each = 1 - (1 - level) / len(results)
    return Family(normal_quantile(each), each, holm(p), p)


def _with_family(
    result: Result, comparison: Comparison, family: Family, j: int, acceptable: float, n_families: int
) -> Result:
    difference, risk = comparison.at(family.level_each)
    band = comparison.leak_free(family.level_each)
    p, adjusted = float(family.p_value[j]), float(family.p_adjusted[j])
    assert result.risk is not None
    # a finding of a run has to survive Holm's correction over the attacks too: alone it pays for all of them
    detectable = comparison.detectable(1 - (1 - family.level_each) / n_families, family.level_each)
    result = replace(
        result,
        p_value=p if isfinite(p) else result.p_value,
        p_adjusted=adjusted if isfinite(adjusted) else None,
        smallest_detectable=finite(detectable),
        comparison=comparison,
        risk=replace(
            result.risk,
            low=finite(comparison.risk.low),
            high=finite(comparison.risk.high),
            method=comparison.method,
            leak_free_low=finite(band.low),
            leak_free_high=finite(band.high),
        ),
    )
    return conclude(result, difference, risk, acceptable)
