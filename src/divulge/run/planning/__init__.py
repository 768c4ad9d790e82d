"""Which attacks a run makes, with which settings, on whom."""
