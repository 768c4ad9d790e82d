"""The words that all others use: errors, schema, threat model, results, hashes, the version."""

from divulge.core._version import __version__

__all__ = ["__version__"]
