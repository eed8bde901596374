"""MySQL's rows of values: VALUES ROW(1, 2), ROW(3, 4)  →  VALUES (1, 2), (3, 4)."""

from __future__ import annotations

from sqlglot import exp


def value_rows(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rows in the standard's form; None where they have it."""
    if not isinstance(node, exp.Values) or not any(map(_is_row, node.expressions)):
        return None
    values = node.copy()
    rows = [row.expressions[0] if _is_row(row) else row for row in values.expressions]
    values.set("expressions", [exp.Tuple(expressions=row.expressions) for row in rows])
    return values


def _is_row(node: exp.Expr) -> bool:
    """Whether the row is ROW(...) alone."""
    inner = node.expressions[0] if isinstance(node, exp.Tuple) and len(node.expressions) == 1 else None
    return isinstance(inner, exp.Anonymous) and inner.name.upper() == "ROW"
