"""Three tables with one schema and shared codes."""
