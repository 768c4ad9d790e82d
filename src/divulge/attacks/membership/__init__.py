"""Membership: people who are exposed, and people to whom a synthetic row is closer than expected."""
