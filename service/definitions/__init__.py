"""Definitions of tables and views: creating, altering and dropping them, and restoring them at start."""
