"""The SQL door: scripts, and the statements in them."""
