"""DUAL: the table of one row of Oracle and of MySQL.

SELECT 1 FROM dual   →   SELECT 1 FROM (SELECT 'X' AS dummy) AS dual
"""

from __future__ import annotations

from sqlglot import exp

_DIALECTS = frozenset({"clickhouse", "doris", "mysql", "oracle", "singlestore", "snowflake", "starrocks"})


def dual_table(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query of the one row; None for any other table, also of a CTE with that name."""
    if (
        dialect not in _DIALECTS
        or not isinstance(node, exp.Table)
        or not isinstance(node.this, exp.Identifier)
    ):
        return None
    if dialect == "clickhouse" and (node.db.lower(), node.name.lower()) == ("system", "one"):
        row = exp.select(exp.alias_(exp.Literal.number(0), "dummy"))
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("one"))
        return exp.Subquery(this=row, alias=alias, joins=node.args.get("joins"))
    if node.name.lower() != "dual" or node.args.get("db") or _is_cte(node):
        return None
    row = exp.select(exp.alias_(exp.Literal.string("X"), "dummy"))
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("dual"))
    return exp.Subquery(this=row, alias=alias, joins=node.args.get("joins"))


def _is_cte(node: exp.Table) -> bool:
    return any(cte.alias.lower() == "dual" for cte in node.root().find_all(exp.CTE))
