"""Writing: one thread makes every change, an epoch at a time."""
