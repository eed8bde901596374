"""Spark: sessions, and epochs that run on it."""
