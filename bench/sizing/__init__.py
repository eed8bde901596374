"""Sizing: what rows, views and changes cost a service in memory, on disk and when it starts again."""
