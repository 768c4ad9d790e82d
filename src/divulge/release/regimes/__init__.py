"""What a regime asks of a release, as data, and what a report says of each line."""
