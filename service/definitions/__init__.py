"""Definitions of tables and views: made, altered, dropped, and read again at a start."""
