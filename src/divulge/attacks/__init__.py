"""A folder for each family, a file for each attack; `catalogue.py` has them all, in the order of a run."""
