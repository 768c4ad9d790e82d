"""The gate as an assertion, for those who test their synthesizer with pytest or unittest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from divulge.release.conditions import broken, judge_policy
from divulge.release.policy import Policy, read_policy
from divulge.report.content import assessment_of
from divulge.report.report import Report

__all__ = ["assert_policy"]


def assert_policy(
    report: Report | Mapping[str, Any] | str | PathLike[str],
    policy: Policy | str | PathLike[str] | None = None,
    fail_on: Sequence[str] = (),
) -> None:
    """Raise an AssertionError that lists the broken conditions, one a line, where a report does not keep a policy.

    Parameters
    ----------
    report
        What `divulge.assess` returns, its dictionary, or the path of an assessment.json.
    policy
        A policy or the path of its TOML file. None, with no rules, is the default policy: no excess found, a holdout,
        and every critical precondition holds; with rules, the rules alone.
    fail_on
        Rules that must not hold, as of --fail-on: "cap.high > 0.05".

    Raises
    ------
    AssertionError
        Some condition is not kept, or was not tested.
    SettingError
        A file cannot be read, or a rule is none.

    Examples
    --------
    >>> import polars as pl
    >>> import divulge
    >>> from random import Random
    >>> ages, ill = (Random(seed).choices(range(n), k=120) for seed, n in ((1, 7), (2, 2)))
    >>> people = pl.DataFrame({"age": ages, "ill": ill})
    >>> report = divulge.assess(people[:60], people[30:90], holdout=people[60:], search="off", models=False)
    >>> assert_policy(report, fail_on=["linkability.low > 0.5"])
    >>> assert_policy(report, fail_on=["cap.high > 0.05"])
    Traceback (most recent call last):
        ...
    AssertionError: the policy «--fail-on» is broken:
    - cap: simultaneous upper limit of risk at most 0.05: was not tested
    """
    __tracebackhide__ = True  # pytest then shows the caller's line, and not this function
    if isinstance(report, str | PathLike):
        report = Report.from_json(Path(report))
    data = report.assessment if isinstance(report, Report) else assessment_of(report)
    if policy is None and not fail_on:
        policy = Policy()
    judged = judge_policy(data, read_policy(policy) if isinstance(policy, str | PathLike) else policy, fail_on)
    if not judged.kept:
        raise AssertionError("\n- ".join([f"the policy «{judged.name}» is broken:", *broken(judged)]))
