"""How much a run of the tests tries: a little by default, all of it where slow tests run."""

everything = False
"""Whether slow tests run; `conftest.py` sets it."""


def tries(most, least=6):
    """Return how many tables or examples a test draws: a sixteenth, but not below `least`; all where slow tests run."""
    return most if everything else min(most, max(least, most // 16))


def models():
    """Whether a run trains models for inference, as `assess` takes it: not by default, as usual where slow tests run."""
    return None if everything else False
