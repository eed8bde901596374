"""What DuckDB may do for clients: which text it runs (`check`) and which functions that text calls
(`open_functions`).

DuckDB's own parser reads the very text that runs, so nothing can hide in a difference between two parsers.
Whatever is not known to be harmless is refused.
"""
