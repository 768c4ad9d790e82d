"""Counts of cells, bins, and keys that differ in few columns."""
