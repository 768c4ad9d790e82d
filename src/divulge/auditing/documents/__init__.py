"""The documents of an audit."""
