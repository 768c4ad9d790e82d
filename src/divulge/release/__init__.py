"""Conditions of a release: policies, rules, and the change since a previous run."""
