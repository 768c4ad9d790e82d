"""What the tests of SDMetrics' metrics share."""

import warnings

import pytest


@pytest.fixture
def deprecated_as_released():
    """CAP metrics warn at each call, as SDMetrics does; a test that is about something else does not look."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
