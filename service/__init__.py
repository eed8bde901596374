"""The service: tables and views over HTTP, kept in a catalog, changed epoch by epoch, read at any epoch."""
