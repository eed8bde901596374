"""Hostile requests against a service in a process of its own: `python -m tests.hostile` prints the table."""
