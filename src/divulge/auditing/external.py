"""The external edition of an audit: what the recipient of a synthetic table may read, by the rules of a report's.

It is built field by field: a field that is not named here is left out.

Numbers. Pairs and canaries that were guessed about, and right guesses, are multiples of 5, or withheld below 13 and
where fewer than 13 were wrong; rate, limits, risk and the bound of epsilon are made of these. Limits and bounds hold
for every count that would be shown, or withheld, in the same way. Left out are p-values, e-values, people named, single
trainings, seeds, hashes, the command, rules, further numbers, and all numbers about one person (`target`), of values
that one person has (`domain`), and of scores (`halves`).

Decisions. Verdicts and claims contradicted or not are the custodian's. Where one of them would not be the same for
every count that would be shown in the same way, it stays and the counts go. Rules are left out: several of them on one
number would narrow it.

Names. Columns are "column 1" and so on in the order of the table, unless `reveal` names "columns".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from divulge.auditing.canaries import CANARIES, verdict_on_bound
from divulge.auditing.hits import counted, verdict_on
from divulge.auditing.model import Audit, AuditedTable
from divulge.auditing.result import AuditRecord, Epsilon, Findable, Interval, PerTraining
from divulge.auditing.sentences import about_canaries, about_pairs
from divulge.auditing.verdict import too_many_failed, verdict_of
from divulge.core.errors import SettingError
from divulge.core.result import Risk, Verdict
from divulge.report.external.edition import checked_reveal
from divulge.report.external.masking import HIDDEN, Names
from divulge.report.external.rounding import BASE, alike, count, nearest, rounded, size
from divulge.report.model import ANY_COUNT
from divulge.stats.epsilon import game_ceiling, one_run_epsilon, pairs_epsilon
from divulge.stats.fair_coins import smallest_rate

__all__ = ["external_audit"]

_SETTINGS = ("level", "share", "strata")
_NOTES = re.compile(
    r"the claim is contradicted at [\d.]+%|the claim is not contradicted, which does not confirm it"
    r"|a lower bound of epsilon near 0 says that nothing was found, not that nothing is there"
    r"|cannot tell: about [\d,]+ (?:guesses|people times trainings) would bring the upper limit to [\d.]+"
    r"|cannot tell: too few people alone have a value, or too few of these values differ"
    r"|no delta was named with the claim: .*|[\d,]+ of [\d,]+ trainings failed: .*"
)
"""Notes whose numbers are settings or numbers of trainings."""


def external_audit(audit: Audit, reveal: Sequence[str] = ()) -> Audit:
    """Return the external edition of an audit.

    Parameters
    ----------
    audit
        The custodian's audit, or an external edition, which stays as it is.
    reveal
        "columns" keeps the names of columns.

    Raises
    ------
    SettingError
        `reveal` names something else, or the audit is an external edition that shows other names.
    """
    shown = tuple(checked_reveal(reveal))
    if audit.edition == "external":
        if shown != audit.revealed:
            raise SettingError(
                "reveal: this is an external edition with other names. hint: start from the custodian's audit.json."
            )
        return audit
    names = Names.of(audit.table.columns, reveal="columns" in shown)
    results = tuple(_result(audit, r, names) for r in audit.results)
    table = audit.table
    return Audit(
        version=audit.version,
        edition="external",
        revealed=shown,
        started=audit.started,
        seconds=float(round(audit.seconds)),
        design=audit.design,
        settings=_settings(audit.settings, names),
        seed=None,
        level=audit.level,
        acceptable=audit.acceptable,
        generator="",
        table=AuditedTable(
            rows=None if table.unit else size(table.rows),  # rows of a person are not known here
            columns=tuple(map(names.name, table.columns)),
            unit=table.unit and names.name(table.unit),
            sha256=None,
        ),
        trainings=replace(audit.trainings, seconds=float(round(audit.trainings.seconds))),
        verdict=audit.verdict,
        sentence=verdict_of(results, audit.trainings, "")[1].strip(),
        outlook=(),
        results=results,
        runs=(),
        notes=(),
    )


def _settings(settings: dict[str, Any], names: Names) -> dict[str, Any]:
    out = {k: settings[k] for k in _SETTINGS if k in settings}
    if "secrets" in settings:
        out["secrets"] = names.several(settings["secrets"])
    return out


# ---------------------------------------------------------------- one result


@dataclass(frozen=True, slots=True)
class _Counts:
    """Guesses and right guesses as shown, and the smallest and largest that would be shown in the same way."""

    n: int
    hits: int | None
    fewest: tuple[int, int]
    """Most guesses and fewest right ones: what speaks least for a leak."""
    most: tuple[int, int]
    """Fewest guesses and most right ones."""


def _counts(r: AuditRecord) -> _Counts | None:
    """Return the counts of pairs or canaries; None where they are withheld."""
    n = size(r.n)
    if r.test not in _BOUNDS or r.n is None or r.hits is None or n is None:
        return None
    low, high = alike(r.hits, n) or (0.0, float(n))
    smallest, largest = n - BASE // 2, n + BASE // 2
    return _Counts(n, count(r.hits, n), (largest, int(-(-low // 1))), (smallest, min(int(high), smallest)))


def _result(audit: Audit, r: AuditRecord, names: Names) -> AuditRecord:
    target = r.target and (names.joined(r.target) or HIDDEN)
    found = _counts(r)
    if found is not None and not _settled(audit, r, found):
        found = None
    plain = AuditRecord(
        test=r.test,
        variant=r.variant,
        target=target,
        counts=r.counts,
        n=found.n if found else r.n if r.test == "target" else size(r.n) if r.test == "random_halves" else None,
        chance=r.chance,
        epsilon=_epsilon(r, found),
        findable=Findable(rate=smallest_rate(found.n, level=audit.level) if found else None,
                          needed=r.findable.needed) if r.findable else None,
        verdict=r.verdict,
        sentence=f"the numbers are withheld; the verdict is «{r.verdict}»",
        notes=tuple(note for note in r.notes if _NOTES.fullmatch(note)),
    )  # fmt: skip
    if found is None or found.hits is None:
        return plain
    n_runs = len(r.trainings)
    told = (about_pairs(target or "", found.n, found.hits, n_runs) if r.test == "swapped_secrets"
            else about_canaries(found.n, found.hits))  # fmt: skip
    return replace(plain, hits=float(found.hits), rate=rounded(found.hits / found.n, None), sentence=told,
                   **_limits(audit, r, found))  # fmt: skip


def _limits(audit: Audit, r: AuditRecord, found: _Counts) -> dict[str, Any]:
    """Return the interval of the rate and the risk, which hold for all counts that are shown like these."""
    tests = _tests(audit, r)
    low, high = (_fields(audit, *corner, tests) for corner in (found.fewest, found.most))
    rate = (found.hits or 0) / found.n
    return {
        "interval": Interval(
            low=rounded(low["interval"].low, 2, "down") or 0.0, high=rounded(high["interval"].high, 2, "up") or 0.0,
            level=audit.level, method=ANY_COUNT,
        ),
        "risk": Risk(
            value=rounded(2 * rate - 1, None), low=rounded(low["risk"].low, 2, "down"),
            high=rounded(high["risk"].high, 2, "up"), low_simultaneous=rounded(low["risk"].low_simultaneous, 2, "down"),
            high_simultaneous=rounded(high["risk"].high_simultaneous, 2, "up"), level=audit.level, method=ANY_COUNT,
        ),
    }  # fmt: skip


def _fields(audit: Audit, n: int, hits: int, tests: int) -> dict[str, Any]:
    return counted([PerTraining(run=0, n=n, hits=float(hits))], audit.level, tests, audit.acceptable)


def _tests(audit: Audit, r: AuditRecord) -> int:
    return sum(other.test == r.test for other in audit.results)


# ---------------------------------------------------------------- the bound of epsilon


def _epsilon(r: AuditRecord, found: _Counts | None) -> Epsilon | None:
    """Return the bound of the counts as shown; of withheld ones what was said of the claim."""
    e = r.epsilon
    if e is None:
        return None
    bound, low = _BOUNDS.get(r.test), None
    ceiling = game_ceiling(r.n, r.n, delta=e.delta, level=e.level) if r.test == "target" and r.n else None
    if found is not None and bound is not None:
        low = rounded(bound(r, *found.fewest), 2, "down")
        ceiling = rounded(bound(r, found.n, found.n), 2, "down")
    if e.rejected and e.claim is not None:
        low = max(low or 0.0, e.claim)
    power = None if e.claim is None or ceiling is None else float(ceiling > e.claim)
    return replace(e, low=low, ceiling=ceiling, power=power)


def _of_pairs(r: AuditRecord, n: int, hits: int) -> float:
    return pairs_epsilon(n, hits, level=r.epsilon.level) if r.epsilon else 0.0


def _of_canaries(r: AuditRecord, n: int, hits: int) -> float:
    m = max(nearest(r.context.get(CANARIES) or 0) + BASE, n)
    return one_run_epsilon(m, n, hits, delta=r.epsilon.delta, level=r.epsilon.level) if r.epsilon else 0.0


_BOUNDS: dict[str, Callable[[AuditRecord, int, int], float]] = {
    "swapped_secrets": _of_pairs, "canaries": _of_canaries,
}  # fmt: skip
"""Tests whose counts are shown, and the bound of epsilon that follows from guesses and right guesses."""


# ---------------------------------------------------------------- decisions beside counts


def _settled(audit: Audit, r: AuditRecord, found: _Counts) -> bool:
    """Return whether verdict and claim are the same for all counts that would be shown in the same way.

    What the adjustment for several secrets makes of a p-value lies between it and its product with their number.
    """
    ends = [_decided(audit, r, *corner, times) for corner in (found.fewest, found.most)
            for times in {1, _tests(audit, r)}]  # fmt: skip
    said = r.verdict if not too_many_failed(audit.trainings) else None
    return all(end == ends[0] for end in ends) and said in (None, ends[0][0])


def _decided(audit: Audit, r: AuditRecord, n: int, hits: int, times: int) -> tuple[Verdict, bool | None]:
    """Return the verdict for so many right guesses, and whether a claim is contradicted."""
    fields = _fields(audit, n, hits, _tests(audit, r))
    p = min(1.0, times * fields["p_value"])
    if r.test == "swapped_secrets":
        return verdict_on(fields, p, audit.level, audit.acceptable)[0], None
    epsilon = r.epsilon
    if epsilon is not None and epsilon.claim is not None:
        epsilon = replace(epsilon, rejected=_of_canaries(r, n, hits) > epsilon.claim)
    return verdict_on_bound(p, epsilon, audit.level)[0], None if epsilon is None else epsilon.rejected
