"""Reconstruction: attacks that solve for the secrets of all members at once, from counts of the synthetic table."""
