"""Python generators for processes of their own: a module that imports nothing, so that a training costs little."""


def leaky(table, seed):
    """Return what it was trained on."""
    return table


def failing(table):
    """Fail with a message that quotes a person."""
    raise ValueError(f"no training on {table[0]}")


def hanging(table, seed):
    """Never come back."""
    import time

    time.sleep(600)
