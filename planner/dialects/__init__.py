"""What functions mean in the dialects, where neither sqlglot's translation nor DuckDB's names say it.

`translated` gives a node that does, made of DuckDB's functions. Date functions are read as they are written
(`reading`), and each means what the table of its dialect says (`tables`); one that the table has not is
refused. Types decide where a function is an overload.
"""

from planner.dialects.meaning import in_duckdb, translated

__all__ = ["in_duckdb", "translated"]
