"""Chapters in sentences."""
