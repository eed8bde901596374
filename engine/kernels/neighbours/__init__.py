"""Compiled loops over rows in order, each of which meets others of its group."""
