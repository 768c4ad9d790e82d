"""Distance: copies of people's records, and distances between synthetic rows and people."""
