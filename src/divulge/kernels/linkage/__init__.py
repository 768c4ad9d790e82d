"""Two lists that meet in a synthetic row."""
