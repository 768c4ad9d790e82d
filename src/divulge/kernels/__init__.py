"""Compiled loops and plain numpy functions with the same results; arrays in, arrays out."""
