"""Exact nearest records under one mixed distance."""
