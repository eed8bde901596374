"""What DuckDB may do for clients: which text it is given (`query`), which functions that calls (`names`).

DuckDB's own parser reads the very text that is to run, so that nothing hides in a difference between two
parsers. What is not known to be harmless is refused.
"""
