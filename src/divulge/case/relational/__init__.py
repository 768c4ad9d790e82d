"""Several tables with relations between them, and sequences of rows."""
