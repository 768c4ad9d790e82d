"""Sections of the report as sentences and tables, shared by its documents."""
