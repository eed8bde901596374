"""DuckDB's SQL: templates of it, documents and patterns in it, and questions about functions and types."""
