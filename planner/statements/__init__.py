"""Statements other than queries: their contents and their places."""
