"""Ad-hoc queries, INSERT, UPDATE, DELETE and MERGE as DuckDB's SQL over snapshots."""
