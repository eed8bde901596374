"""Judging rows that come from outside: which values a table's columns take, a column at a time."""
