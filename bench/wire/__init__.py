"""The PostgreSQL door beside PostgreSQL itself: the same client, the same bytes, by turns on one machine."""
