"""How many rows meet several conditions."""
