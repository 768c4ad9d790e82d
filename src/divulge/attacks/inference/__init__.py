"""Targets guessed from all that is known."""
