"""Whether a report follows from itself: what can be recomputed without the data is recomputed, and compared."""
