"""The edition to pass on: rounded numbers, masked names, known sentences."""
