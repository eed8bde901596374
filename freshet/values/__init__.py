"""Values and rows: from Python, Arrow, pandas and Polars into bodies and SQL, and back."""
