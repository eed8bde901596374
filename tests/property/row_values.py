"""Comparisons of rows of two values, and what they mean spelled out: the first pair that differs decides."""

from __future__ import annotations

ROW_TESTS = (
    ("(({}, {}) = ({}, {}))", "({0} = {2} AND {1} = {3})"),
    ("(ROW({}, {}) <> ROW({}, {}))", "({0} <> {2} OR {1} <> {3})"),
    ("(({}, {}) < ({}, {}))", "({0} < {2} OR ({0} = {2} AND {1} < {3}))"),
    ("(({}, {}) <= ({}, {}))", "({0} < {2} OR ({0} = {2} AND {1} <= {3}))"),
    ("(({}, {}) > ({}, {}))", "({0} > {2} OR ({0} = {2} AND {1} > {3}))"),
    ("(({}, {}) >= ({}, {}))", "({0} > {2} OR ({0} = {2} AND {1} >= {3}))"),
    ("(({}, {}) IN (({}, {})))", "({0} = {2} AND {1} = {3})"),
    ("(({}, {}) NOT IN (({}, {})))", "(NOT ({0} = {2} AND {1} = {3}))"),
    ("(({}, {}) IS DISTINCT FROM ({}, {}))", "({0} IS DISTINCT FROM {2} OR {1} IS DISTINCT FROM {3})"),
    (
        "(({0}, {1}) BETWEEN ({2}, {3}) AND ({2}, {1}))",
        "(({0} > {2} OR ({0} = {2} AND {1} >= {3})) AND ({0} < {2} OR ({0} = {2} AND {1} <= {1})))",
    ),
)
"""Texts of PostgreSQL's, and DuckDB's, whose rows are structs."""
