"""A run: plan the attacks, make them, correct the results and give one verdict."""
