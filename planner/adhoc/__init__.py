"""Ad-hoc queries and changes of rows, as DuckDB's SQL over snapshots."""
