"""Writing: one thread that makes every change, an epoch at a time."""
