"""How much a run of the tests tries: a little by default, all of it with `--slow`. `conftest.py` sets it."""

_TENTH = 10
everything = False


def tries(most, least=10):
    """Return how many tables or examples a test draws: a tenth, but not below `least`; all with `--slow`."""
    return most if everything else min(most, max(least, most // _TENTH))


def models():
    """Whether a run trains models for inference, as `assess` takes it: not by default, as usual with `--slow`."""
    return None if everything else False
