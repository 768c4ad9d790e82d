"""Record linkage of two lists through synthetic rows."""
