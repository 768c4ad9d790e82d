"""Distances between synthetic rows and people."""
