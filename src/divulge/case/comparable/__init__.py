"""Checks of whether members and strangers are a fair comparison: overlap, exchangeability, what the synthesizer saw."""
