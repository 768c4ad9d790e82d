"""Who is in the training table, and who is exposed."""
