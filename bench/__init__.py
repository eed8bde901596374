"""Benchmarks: engine, DuckDB from scratch and service over HTTP, in one table (`python -m bench -h`)."""
