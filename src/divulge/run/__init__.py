"""Runs attacks on tables."""
