"""Backups: all that a service stores at one epoch, written while it runs, and restored elsewhere."""
