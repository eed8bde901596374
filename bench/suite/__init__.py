"""Suites: published tables and views, kept up to date and compared with DuckDB's answers."""
