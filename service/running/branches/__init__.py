"""Branches: timelines that part from another one, and what can be asked of them."""
