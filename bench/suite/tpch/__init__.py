"""TPC-H: its tables, its 22 queries as views, and its refresh functions."""
