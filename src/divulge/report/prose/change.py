"""What changed since a previous run, and what a policy fixed, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.core.result import number
from divulge.report import formatting
from divulge.report.policy_model import AcceptedLimit, Changed, Moved, Policy

__all__ = ["accepted_line", "change_sentence", "fixed_lines"]


def change_sentence(
    rows: Sequence[Changed], verdict: Moved, started: str, same_people: bool, *, outside: bool = False
) -> str:
    """Return what changed, in words.

    Parameters
    ----------
    rows
        The comparisons that both runs made.
    started
        When the previous run began.
    outside
        Whether the rows are those of an external edition: some numbers withheld, the others rounded.
    """
    since = f"the run of {started[:10]}{'' if same_people else ' (of other people)'}"
    silent = sum(r.verdict == "cannot compare" for r in rows)
    if verdict == "cannot compare" and silent == len(rows):
        return f"No comparison of this run has a risk that {since} had too: nothing can be said about a change."
    if verdict == "cannot compare":
        first = formatting.label(next(r for r in rows if r.verdict == verdict), "->")
        return (
            f"{silent:,} of {len(rows):,} comparisons have no risk in this run or in {since}, as {first}: "
            "whether a risk changed cannot be told. No other risk changed for certain."
        )
    moved = [r for r in rows if r.verdict == verdict]
    shown = [r for r in moved if r.difference is not None]
    if verdict == "no change found":
        return _unchanged(f"No risk changed for certain since {since}, in {len(moved):,} comparisons", shown, outside)
    fell = sum(r.verdict == "fell" for r in rows) if verdict == "rose" else 0
    told = f"Since {since} the risk {verdict} in {len(moved):,} of {len(rows):,} comparisons"
    told += f" and fell in {fell:,}" if fell else ""
    told += f" ({silent:,} cannot be compared)" if silent else ""
    if not shown:
        return f"{told}; its numbers are withheld."
    most = max(shown, key=lambda r: abs(r.difference or 0.0))
    least = (most.low_simultaneous or 0.0) if verdict == "rose" else -(most.high_simultaneous or 0.0)
    at_least = f"of at least {number(max(0.0, least))}" if outside or least >= 0.0005 else "above 0"
    return (
        f"{told}, most{' of those shown here' if outside else ''} in {formatting.label(most, '->')}: from "
        f"{number(most.before)} to {number(most.now)}, a change {at_least}."
    )


def _unchanged(told: str, shown: Sequence[Changed], outside: bool) -> str:
    if not shown:
        return f"{told}."
    most = max(shown, key=lambda r: r.high_simultaneous or 0.0)
    if (most.high_simultaneous or 0.0) > 1:  # a risk is at most 1, but far below -1 where strangers are hardly missed
        return f"{told}; in {formatting.label(most, '->')} the simultaneous limits leave room for any rise."
    return (
        f"{told}; the largest rise that the simultaneous limits {'shown here ' if outside else ''}leave room for is "
        f"{number(most.high_simultaneous)} ({formatting.label(most, '->')})."
    )


def fixed_lines(policy: Policy) -> list[str]:
    """Return what a policy fixed about bounds, and what is known of when."""
    lines = [f"It asks for bounds of {', '.join(policy.primary)}."] if policy.primary else []
    lines += [f"{accepted_line(a)[:-1]}: {formatting.prose(a.why, 400)}." for a in policy.accepted]
    if policy.file_changed:
        lines.append(f"The file was last changed {policy.file_changed}, as the file system says.")
    if policy.known_since:
        lines.append(f"The first run that is known to have been judged by it began {policy.known_since}.")
    return lines


def accepted_line(a: AcceptedLimit) -> str:
    """Return who accepts which limit, and what is known of when."""
    return f"Accepted: {a.attack} up to {100 * a.limit:g}%, by {formatting.prose(a.by, 80)} on {a.on} ({a.known})."
