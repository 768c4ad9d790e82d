"""The tests of a run are made: in threads, with progress, kept on disk."""
