"""Membership of a whole person, of whom several linked tables have rows."""
