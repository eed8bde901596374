"""Translates the dialects' functions where sqlglot's translation or DuckDB's names give another meaning.

`translated` returns a node made of DuckDB's functions. Date functions keep their written name and arguments
(`as_written`), and the table of their dialect gives their meaning (`date_tables`); a function that the table
lacks is refused. Where the meaning depends on a type, the function becomes an overload (`overloads`).
"""

from planner.dialects.meaning import Told, in_duckdb, translated

__all__ = ["Told", "in_duckdb", "translated"]
