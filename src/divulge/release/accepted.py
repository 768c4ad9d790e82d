"""What is known of when a policy was fixed: before or after a run of the same tables."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from divulge.core.result import tidy
from divulge.release.policy import Accepted, Policy
from divulge.report.model import Assessment
from divulge.report.policy_model import Accepted as Told

__all__ = ["AFTER", "BEFORE", "FUTURE", "LATER", "UNKNOWN", "same_tables", "since"]

UNKNOWN = "no earlier run of these tables is known"
LATER = "given after this run, whose verdict does not use it"
FUTURE = "dated after the day of this run"
AFTER = "accepted after a run of the same tables, or on its day: {}"
BEFORE = "dated before the earlier run of the same tables that is known: {}"


def since(data: Assessment, policy: Policy, previous: Assessment | None) -> dict[str, Any]:
    """Return what a report says of a policy beside its conditions: the list, accepted limits, what is known of when.

    Only dates that are written down can be compared: that of the limit, and those of this run and of the earlier one
    that was given. Nobody knows of other runs, and the time of a file is what the file system says.
    """
    earlier = previous if previous is not None and same_tables(data, previous) else None
    used = previous.policy if previous is not None else None
    first = None
    if previous is not None and used is not None and used.sha256 is not None and used.sha256 == policy.sha256:
        first = used.known_since or previous.started
    return {
        "primary": policy.primary,
        "accepted": tuple(
            Told(
                attack=name, limit=a.limit, why=tidy(a.why), by=tidy(a.by), on=a.on.isoformat(),
                known=_known(data, name, a, earlier),
            )
            for name, a in policy.accepted.items()
        ),
        "file_changed": policy.file_changed,
        "known_since": None if policy.sha256 is None else first or data.started,
    }  # fmt: skip


def same_tables(data: Assessment, other: Assessment) -> bool:
    """Return whether two runs were about the same three tables, by their hashes."""
    pairs = [(getattr(data.tables, t), getattr(other.tables, t)) for t in ("real", "synthetic", "holdout")]
    return all(
        (a is None) == (b is None) and (a is None or (a.sha256, a.hashed) == (b.sha256, b.hashed)) for a, b in pairs
    )


def _known(data: Assessment, attack: str, accepted: Accepted, earlier: Assessment | None) -> str:
    own = [b.acceptable for b in data.verdict.bounds if b.attack == attack]
    told = [LATER] if own and accepted.limit not in own else []
    today, before = _day(data), None if earlier is None else _day(earlier)
    if today is not None and accepted.on > today:
        told.append(FUTURE)
    if before is not None:
        told.append((AFTER if accepted.on >= before else BEFORE).format(before.isoformat()))
    return "; ".join(told) or UNKNOWN


def _day(data: Assessment) -> date | None:
    """Return the day on which a run began; None where its report states no time."""
    try:
        return datetime.fromisoformat(data.started).date()
    except ValueError:
        return None
