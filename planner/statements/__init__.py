"""Statements other than queries: what each one says, and where it stands."""
