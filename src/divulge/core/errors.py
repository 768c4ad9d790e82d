"""The errors of divulge. Messages say what was asked, what was found and what to do, and never show a data value."""

__all__ = ["ColumnError", "DivulgeError", "FrameError", "SettingError", "TableError"]


class DivulgeError(Exception):
    """A mistake in the input that the user can correct; the command line prints it as one message."""


class FrameError(DivulgeError, TypeError):
    """A table of a kind that cannot be read."""


class TableError(DivulgeError, ValueError):
    """A table that was read but cannot be used: empty, broken, wrong encoding."""


class ColumnError(DivulgeError, ValueError):
    """A column that is missing, occurs twice, or has a kind that does not fit its role."""


class SettingError(DivulgeError, ValueError):
    """An option outside its range, or options that contradict each other."""
