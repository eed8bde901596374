"""Evaluates scalar expressions a batch of rows at a time."""
