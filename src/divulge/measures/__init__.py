"""Fidelity measures: how much of the real table a synthetic table keeps."""
