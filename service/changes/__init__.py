"""Changes of tables: their rows, whether they can be made, and how the log stores them."""
