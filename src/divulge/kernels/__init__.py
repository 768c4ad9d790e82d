"""Compiled loops and their plain twins; arrays in, arrays out."""
