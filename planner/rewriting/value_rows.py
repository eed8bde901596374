"""VALUES of other systems: MySQL's rows, and the names of the columns of a table of values.

VALUES ROW(1, 2), ROW(3, 4)   →   VALUES (1, 2), (3, 4)
FROM VALUES (1, 2) AS v       →   FROM VALUES (1, 2) AS v(column1, column2), as Snowflake names them
"""

from __future__ import annotations

from sqlglot import exp

_NAMES = {
    **dict.fromkeys(("snowflake", "sqlite"), ("column", 1)),
    **dict.fromkeys(("databricks", "spark", "spark2"), ("col", 1)),
    **dict.fromkeys(("doris", "mysql", "singlestore", "starrocks"), ("column_", 0)),
    **dict.fromkeys(("athena", "presto", "trino"), ("_col", 0)),
}
"""The name of a column before its number, and the first number."""


def value_rows(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The rows in the standard's form, under their system's names; None where they have it."""
    if not isinstance(node, exp.Values) or not node.expressions:
        return None
    rows = [_row(row) for row in node.expressions]
    values = node.copy()
    values.set("expressions", [row.copy() for row in rows])
    alias = values.args.get("alias")
    is_table = isinstance(node.parent, exp.From | exp.Join | exp.Table)
    if is_table and dialect in _NAMES and (alias is None or not alias.columns):
        name, first = _NAMES[dialect]
        width = len(rows[0].expressions) if isinstance(rows[0], exp.Tuple) else 1
        columns = [exp.to_identifier(f"{name}{number}") for number in range(first, first + width)]
        table = alias.this if alias is not None and alias.this is not None else exp.to_identifier("values#")
        values.set("alias", exp.TableAlias(this=table, columns=columns))
    return None if values == node else values


def _row(row: exp.Expr) -> exp.Expr:
    """The values of a row; of ROW(...) those inside."""
    inner = row.expressions[0] if isinstance(row, exp.Tuple) and len(row.expressions) == 1 else None
    if isinstance(inner, exp.Anonymous) and inner.name.upper() == "ROW":
        return exp.Tuple(expressions=inner.expressions)
    return row
