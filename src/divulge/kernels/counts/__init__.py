"""Contingency tables, binning, and nearest keys under the Hamming distance."""
