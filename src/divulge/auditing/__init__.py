"""Tests of a generator that can be run again: what is trained is drawn by divulge's own coins."""
