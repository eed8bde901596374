"""ClickHouse's functions that sqlglot and DuckDB do not have, or have with another meaning.

A table for each kind of value; `clickhouse_calls` has all of them, and the nodes that mean something else.
Examples are the manual's, https://clickhouse.com/docs/sql-reference/functions/.
"""
