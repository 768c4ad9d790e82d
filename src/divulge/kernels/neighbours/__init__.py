"""Exact nearest neighbours under the mixed (Gower) distance."""
