"""The verdict of an audit, and what failed trainings do to it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from divulge.auditing.model import Trained
from divulge.auditing.result import AuditRecord, AuditResult, Epsilon, Run
from divulge.core.result import Verdict
from divulge.report.formatting import several
from divulge.report.order import ORDER
from divulge.report.verdicts import RISK

__all__ = ["MOST_FAILED", "counted", "judged", "too_many_failed", "verdict_of"]

MOST_FAILED = 0.1
"""Share of failed trainings above which nothing is concluded: failing may depend on whose secret is where."""


def counted(runs: Sequence[Run], seconds: float) -> Trained:
    """Return how many trainings there were."""
    status = [r.status for r in runs]
    return Trained(
        planned=len(runs), done=status.count("done"), failed=status.count("failed"),
        left_out=status.count("left out"), seconds=seconds,
    )  # fmt: skip


def too_many_failed(trained: Trained) -> bool:
    """Return whether so many trainings failed that nothing is concluded."""
    return trained.failed > MOST_FAILED * (trained.done + trained.failed)


def judged(results: Sequence[AuditResult], trained: Trained) -> tuple[AuditResult, ...]:
    """Return the results, "cannot tell" where too many trainings failed."""
    if not too_many_failed(trained):
        return tuple(results)
    note = (
        f"{trained.failed} of {trained.done + trained.failed} trainings failed: whether a training fails may depend on "
        "what it was trained on, and the numbers are of those that did not"
    )
    return tuple(r if r.verdict is None else replace(r, verdict="cannot tell", notes=(note, *r.notes)) for r in results)


def verdict_of(
    results: Sequence[AuditRecord], trained: Trained, mend: str = "Mend what fails, and continue with --resume."
) -> tuple[Verdict, str]:
    """Return the verdict of an audit and its sentence; `mend` is what to do where too many trainings failed.

    Examples
    --------
    >>> found = AuditResult(test="swapped_secrets", n=10, verdict="none found", sentence="5 of 10 pairs.")
    >>> verdict_of([found], Trained(planned=1, done=1, failed=0, left_out=0, seconds=1.0))[0]
    'none found'
    """
    verdicts = [r.verdict for r in results if r.verdict is not None]
    verdict: Verdict = min(verdicts, key=ORDER.__getitem__, default="cannot tell")
    claimed = next((r.epsilon for r in results if r.epsilon is not None and r.epsilon.claim is not None), None)
    sentence = (RISK[verdict].of_audit or RISK["cannot tell"].of_audit) if claimed is None else _about_claim(claimed)
    made = trained.done + trained.failed
    if too_many_failed(trained):
        sentence = (
            f"Nothing is concluded: {trained.failed} of {several(made, 'training')} failed, and whether one fails may "
            f"depend on what it was trained on. {mend}"
        )
    return verdict, sentence


def _about_claim(found: Epsilon) -> str:
    """Return what a bound says of the claim that it was made for."""
    claim = f"the claim that epsilon is at most {found.claim:g}"
    if found.rejected and found.low is not None:
        return (
            f"{claim.capitalize()} is contradicted: it is at least {found.low:.2f} ({100 * found.level:g}% confidence)."
        )
    if found.low is None or found.ceiling is None:
        return f"{claim.capitalize()} is not contradicted, which does not confirm it."
    if not found.power:
        return f"This audit cannot contradict {claim}: no epsilon above {found.ceiling:.2f} can be shown by it."
    shown = f"epsilon is at least {found.low:.2f}" if found.low > 0 else "no epsilon above 0 was shown"
    return (
        f"{claim.capitalize()} is not contradicted, which does not confirm it: {shown}, and this audit could have "
        f"shown {found.ceiling:.2f}."
    )
