"""Spark: sessions, and epochs that run as Spark jobs."""
