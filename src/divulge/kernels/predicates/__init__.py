"""Counts and lists of the rows that meet several conditions."""
