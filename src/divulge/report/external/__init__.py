"""The external edition of a report: rounded numbers, masked names, known sentences."""
