"""A run whose tables are in DuckDB, polars or Spark: what is counted there, and whose rows are read."""
