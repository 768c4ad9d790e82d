"""The version, in its one place: hatch reads it from this file when the package is built."""

__all__ = ["__version__"]

__version__ = "0.1.0"
