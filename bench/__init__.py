"""Benchmarks: the engine, DuckDB from scratch and the service over HTTP, in one table (`python -m bench
-h`)."""
