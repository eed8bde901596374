"""The 22 queries of TPC-H with their validation parameters (specification, section 2.4), a file each."""

from __future__ import annotations

from bench.suite.queries import read

QUERIES = read(__file__)
"""SQL by name, `q01` to `q22`."""
