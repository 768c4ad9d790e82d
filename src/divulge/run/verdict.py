"""The overall verdict of a run, and its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from msgspec.structs import replace

from divulge.attacks import CATALOGUE
from divulge.attacks.checks import hold_back
from divulge.core.result import FOUND, TOWARDS, Result, counts_guesses, counts_rows, label, number, percent
from divulge.run.budget import TIME_UP
from divulge.stats import holm


def overall(
    results: Sequence[Result],
    has_holdout: bool,
    level: float,
    failing: Sequence[str] = (),
    left_out: Sequence[dict[str, Any]] = (),
    planned: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the overall verdict and its sentence, about the finding or the limit with the worst simultaneous bound.

    The verdict is never "none found" if a planned headline attack gave no comparison, for whatever reason.
    """
    judged = [r for r in results if r.risk is not None and r.verdict is not None and _reaches_both(r)]
    untested = [a for a in dict.fromkeys(planned) if _is_needed(a) and all(r.attack != a for r in judged)]
    late = {o["attack"] for o in left_out if o["n"] == o["of"] and o["why"] == TIME_UP}
    why = f", as {TIME_UP}" if untested and late.issuperset(untested) else ""
    gap = f" Not tested{why}: {', '.join(untested)}." if untested else ""
    if not has_holdout:
        return {
            "verdict": "no holdout",
            "sentence": "No holdout was given: inference and disclosure are not separated, so no statement about "
            "disclosure is made. Give people whom the synthesizer never saw with --holdout.",
        }
    doubt = f" But a precondition fails ({', '.join(failing)}): see there before relying on this." if failing else ""
    if not judged:
        return {"verdict": "cannot tell", "sentence": "No attack could be compared with strangers." + gap + doubt}
    n = len(judged)
    found = [r for r in judged if r.verdict == "excess found"]
    if found:
        worst = max(found, key=lambda r: _bound(r, "low_simultaneous"))
        same = sum(r.attack == worst.attack for r in judged)
        return {"verdict": "excess found", "sentence": _found_sentence(worst, level, same) + doubt}
    if all(r.verdict == "none found" for r in judged) and untested:
        return {
            "verdict": "cannot tell",
            "sentence": f"None of {len(judged)} comparisons that were made shows an excess over strangers.{gap}",
        }
    if all(r.verdict == "none found" for r in judged):
        worst = max(judged, key=lambda r: _bound(r, "high_simultaneous"))
        return {
            "verdict": "none found",
            "sentence": f"None of {n} comparisons shows an excess over strangers; the largest simultaneous upper "
            f"limit of risk is {number(_bound(worst, 'high_simultaneous'))} ({label(worst)})."
            + (" No key set was tested." if all(not r.keys for r in judged) else "")
            + _cut_short(left_out),
        }
    if failing:
        return {
            "verdict": "cannot tell",
            "sentence": f"A precondition fails ({', '.join(failing)}): strangers are no fair comparison with the "
            "people of the real table, so that nothing follows either way. See the preconditions.",
        }
    open_ = [r for r in judged if r.verdict != "none found"]
    worst = max(open_, key=lambda r: _bound(r, "high_simultaneous"))
    return {
        "verdict": "cannot tell",
        "sentence": f"No excess over strangers was found, but {len(open_)} of {n} comparisons are too uncertain to "
        f"exclude one; the widest is {label(worst)}{_up_to(worst)}.{gap}{doubt}",
    }


def _is_needed(attack: str) -> bool:
    """Return whether an attack that was planned but gave no comparison keeps a run from "none found"."""
    headline = CATALOGUE[attack].headline
    return headline is not None and headline.needed


def _cut_short(left_out: Sequence[dict[str, Any]]) -> str:
    """Return a sentence on the tests that a verdict lacks; "" when it lacks none."""
    told = ", ".join(f"{o['n']:,} of {o['of']:,} of {o['attack']}" for o in left_out)
    return f" Tests were left out: {told}." if told else ""


def _reaches_both(result: Result) -> bool:
    """Return whether the attack reaches at least one member and one stranger; otherwise there is nothing to compare."""
    return bool(result.real and result.real.n and result.holdout and result.holdout.n)


def over_families(results: Sequence[Result], level: float) -> list[Result]:
    """Return the results; a finding that does not survive Holm's correction over the attacks becomes "cannot tell"."""
    smallest = {_family(r): 1.0 for r in results if r.comparison is not None or _is_alone(r)}
    for r in results:
        if r.verdict in FOUND and r.p_adjusted is not None:
            smallest[_family(r)] = min(smallest[_family(r)], r.p_adjusted)
    adjusted = dict(zip(smallest, holm(np.array(list(smallest.values()))), strict=True))

    def held(r: Result) -> Result:
        if r.verdict not in FOUND or adjusted[_family(r)] <= 1 - level:
            return r
        what = "an excess" if r.verdict == "excess found" else "a deficit"
        return hold_back(r, f"{what} was found within this attack, but not after correction for the number of attacks")

    return [held(r) for r in results]


def _is_alone(result: Result) -> bool:
    """Return whether a result is a family of its own."""
    entry = CATALOGUE.get(result.attack)
    return entry is not None and result.variant in entry.alone


def _family(result: Result) -> str:
    return f"{result.attack} ({result.variant})" if _is_alone(result) else result.attack


def in_doubt(results: Sequence[Result], failing: Sequence[str]) -> list[Result]:
    """Return the results; where members and strangers are not comparable, "none found" becomes "cannot tell".

    These results have no score.
    """
    if not failing:
        return list(results)
    why = f"a precondition fails ({', '.join(failing)}), so that strangers are no fair comparison"
    scoreless = [replace(r, score=None) for r in results]
    return [hold_back(r, why) if r.verdict == "none found" else r for r in scoreless]


def _bound(result: Result, which: str) -> float:
    bound = getattr(result.risk, which)
    return float("-inf") if bound is None else float(bound)


def _up_to(worst: Result) -> str:
    high = _bound(worst, "high_simultaneous")
    return f", risk up to {number(high)}" if isfinite(high) else ", whose risk is undefined: strangers are always hit"


def _found_sentence(worst: Result, level: float, n: int) -> str:
    assert worst.real is not None and worst.holdout is not None and worst.risk is not None
    how = f"{100 * level:.0f}% simultaneous over the {n} comparison(s) of this attack"
    if counts_rows(worst):
        share = worst.real.hits / max(worst.real.hits + worst.holdout.hits, 1e-300)
        return (
            f"Excess found: of the synthetic rows that {worst.attack}{f' ({worst.variant})' if worst.variant else ''} "
            f"counts, {percent(share)} lie nearest to a person of the real table, where leak-free data would give "
            f"{percent(worst.context.get(TOWARDS))}; {percent(worst.risk.value)} of the "
            f"synthetic table is copied by this measure, at least {percent(worst.risk.low_simultaneous)} ({how})."
        )
    knowing = f"knowing {' + '.join(worst.keys)}, " if worst.keys else ""
    about = f" about {worst.target}" if worst.target else ""
    name = f"{worst.attack}{f' ({worst.variant})' if worst.variant else ''}"
    people = f"{percent(worst.real.rate)} of the people in the table and {percent(worst.holdout.rate)} of strangers"
    hits = worst.hit
    said = f"{knowing}the attack {name} is right{about} for {people}"
    if hits != "right for":
        said = f"by {label(worst)}, {hits} {people}"
    if counts_guesses(worst):
        shares = f"{percent(worst.real.rate)} of the guesses", f"{percent(worst.holdout.rate)} exactly one stranger"
        said = f"by {label(worst)}, {shares[0]} single out exactly one person of the table and {shares[1]}"
    least = number(worst.risk.low_simultaneous)
    return f"Excess found: {said}; risk {number(worst.risk.value)}, at least {least} ({how})."
