"""Our errors: they say what was asked, what was found and what to do, and never show a data value."""

__all__ = ["ColumnError", "DivulgeError", "FrameError", "SettingError", "TableError"]


class DivulgeError(Exception):
    """Any mistake in the input that the user can mend; the command line turns it into one message."""


class FrameError(DivulgeError, TypeError):
    """A table of a kind that cannot be read."""


class TableError(DivulgeError, ValueError):
    """A table that was read but cannot be used: empty, broken, wrong encoding."""


class ColumnError(DivulgeError, ValueError):
    """A column that is absent, named twice, or of a kind that does not fit its role."""


class SettingError(DivulgeError, ValueError):
    """An option outside its range, or options that contradict each other."""
