"""Identity: people who are unique, singled out or linked, and measures of anonymity."""
