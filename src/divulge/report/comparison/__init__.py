"""The report on several candidate tables."""
