"""Changes of tables: their rows, whether they can be made, and their bytes in the log."""
