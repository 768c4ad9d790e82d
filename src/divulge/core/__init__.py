"""The words that all others use: errors, schema, threat model, records, results, hashes, the version."""

__all__ = ["__version__"]

__version__ = "0.1.0"
"""In its one place: hatch reads it from this file when the package is built."""
