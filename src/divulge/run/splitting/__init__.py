"""A table is split into people to train on and a holdout."""
