"""DuckDB's SQL: templates of it, and questions to DuckDB about functions and types."""
