"""What a claim of differential privacy allows, and whether a run contradicts it."""
