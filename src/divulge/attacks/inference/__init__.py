"""Inference: attacks that guess a target from all other columns that the attacker knows."""
