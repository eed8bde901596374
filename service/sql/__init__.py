"""SQL scripts: their statements, prepared and run."""
