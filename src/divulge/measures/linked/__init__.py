"""Measures of several tables with relations between them, and of sequences of rows."""
