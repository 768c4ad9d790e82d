"""Several candidate tables for one release."""
