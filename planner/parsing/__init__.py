"""From SQL text to sqlglot's trees: scripts, statements and queries, in every dialect."""
