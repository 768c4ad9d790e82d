"""What a synthetic table keeps of the real one."""
