"""The verdict of a run, what nothing compared, and the exposure of each record."""
