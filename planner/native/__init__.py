"""DuckDB's SQL: templates of it, and DuckDB asked what a function or a type is."""
