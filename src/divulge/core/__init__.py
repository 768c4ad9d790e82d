"""The words that all others use: errors, schema, threat model, results, hashes."""
