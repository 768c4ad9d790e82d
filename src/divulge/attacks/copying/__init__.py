"""Copies of people's records, and of parts of them: rows, values, spellings, words."""
