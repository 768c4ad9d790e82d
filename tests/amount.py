"""How much a run of the tests tries: a little by default, all of it where slow tests run."""

import pytest

everything = False
"""Whether slow tests run; `conftest.py` sets it."""


def tries(most, least=6):
    """Return how many tables or examples a test draws: a sixteenth, but not below `least`; all where slow tests run."""
    return most if everything else min(most, max(least, most // 16))


def models():
    """Whether a run trains models for inference, as `assess` takes it: not by default, as usual where slow tests run."""
    return None if everything else False


def some(values, plain, ids=None):
    """Return the values of a parametrized test, of which all but the first few run with slow tests alone."""
    values = list(values)
    names = [None] * len(values) if ids is None else list(map(str, ids))
    marks = [()] * plain + [pytest.mark.slow] * len(values)
    return [
        pytest.param(*(v if isinstance(v, tuple) else (v,)), id=n, marks=m)
        for v, n, m in zip(values, names, marks[: len(values)], strict=True)
    ]
