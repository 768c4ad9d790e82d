"""Sentences on what a test found, made of the numbers that an edition shows."""

from __future__ import annotations

from divulge.core.result import tidy

__all__ = ["about_canaries", "about_pairs"]


def about_pairs(secret: str, n: int, hits: float, n_runs: int) -> str:
    """Return what was found about pairs of people who exchanged a secret, or not.

    Examples
    --------
    >>> about_pairs("income", 500, 290, 1)[-68:]
    'the synthetic table tells for 58% which it was; 50% would be nothing'
    """
    where = "one training" if n_runs == 1 else f"{n_runs:,} trainings"
    return (
        f"of {n:,} pairs of people who exchanged {tidy(secret)!r} or not by a coin ({where}), the synthetic table "
        f"tells for {100 * hits / n:.0f}% which it was; 50% would be nothing"
    )


def about_canaries(n: int, hits: float) -> str:
    """Return what was found about canaries that were guessed to be in the training table.

    Examples
    --------
    >>> about_canaries(50, 40)
    'of 50 canaries that were guessed to be in the training table, 40 were; half would be nothing'
    """
    return f"of {n:,} canaries that were guessed to be in the training table, {hits:,.0f} were; half would be nothing"
