"""Suites: tables and views that others wrote down, kept up to date beside DuckDB's answers."""
