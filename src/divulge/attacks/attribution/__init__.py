"""What a synthetic table says of a target, given keys."""
