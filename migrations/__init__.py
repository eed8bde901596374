"""Migrations of the catalog database, run by the service when it starts."""
