"""Literals of bits: numbers in MySQL's dialects and RisingWave's, and a type of their own in PostgreSQL's."""

from __future__ import annotations

from sqlglot import exp

from planner.positions import refuse
from planner.rewriting.json_calls import FAMILY


def bit_string(node: exp.Expression, dialect: str) -> None:
    """Raise Unsupported for bits where they would be read as a number."""
    if isinstance(node, exp.BitString) and dialect in FAMILY - {"postgres", "risingwave"}:
        refuse(node, "bits are not supported", f"write the text '{node.this}', or a number")
