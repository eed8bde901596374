"""What a dialect leaves out or names in its own way: RECURSIVE, the columns of VALUES and UNPIVOT, digits.

WITH t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t)   →  WITH RECURSIVE t AS ...
FROM (VALUES (1, 'a'))                                    →  FROM (VALUES (1, 'a')) AS v(column1, column2)
UNPIVOT (sold FOR month IN (jan))                         →  UNPIVOT (sold FOR month IN (jan AS "JAN"))
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native.templates import with_parts
from planner.positions import fail, refuse

_RECURRING = frozenset({"oracle", "snowflake", "sqlite", "tsql"})
"""Systems in which a query in WITH is recursive if it names itself behind UNION ALL."""
_VALUES = {
    **dict.fromkeys(("databricks", "spark", "spark2"), ("col", 1)),
    **dict.fromkeys(("doris", "mysql", "singlestore", "starrocks"), ("column_", 0)),
    **dict.fromkeys(("snowflake", "sqlite"), ("column", 1)),
    **dict.fromkeys(("athena", "presto", "trino"), ("_col", 0)),
}
"""The columns of VALUES before their number, and the number of the first."""
_DECIMALS = {
    "bigquery": (38, 9),
    "databricks": (10, 0),
    "oracle": (38, 10),
    "redshift": (18, 0),
    "spark": (10, 0),
    "tsql": (18, 0),
}
"""The digits of a NUMERIC without any, where they are others than here."""
_MONEY = {exp.DType.MONEY: (19, 4), exp.DType.SMALLMONEY: (10, 4)}
"""The digits of T-SQL's money."""
_BITS = frozenset({"fabric", "tsql"})
"""Dialects in which a BIT is a truth value."""
_DIGITS_OF_TEXTS = frozenset({"trino"})
"""Dialects in which DECIMAL '10.3' has the digits that the text has, and another DECIMAL no fraction."""
_DECIMAL_TEXT = re.compile(r"[-+]?(\d*)\.?(\d*)")
_MOST_DIGITS = 38
_ORDER_BY_ALL = frozenset({"clickhouse", "databricks", "snowflake", "spark"})
_ALL_ROWS = str(2**64 - 1)
_UPPER = frozenset({"oracle", "snowflake"})
"""Systems that write names without quotes in upper case."""


def dialect_query(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The node in the words of all dialects; None for any other node."""
    match node:
        case exp.With() if dialect in _RECURRING and not node.args.get("recursive"):
            return _recursive(node)
        case exp.Values() if dialect in _VALUES:
            return _with_columns(node, *_VALUES[dialect])
        case exp.Pivot() if dialect in _UPPER and node.args.get("unpivot"):
            return _with_labels(node)
        case exp.Ordered(this=exp.Column() as column) if dialect in _ORDER_BY_ALL and _is_named(
            column, "all"
        ):
            return with_parts(node, this=exp.var("ALL"))
        case exp.Group(expressions=[exp.Column() as column]) if dialect == "trino" and _is_named(
            column, "auto"
        ):
            return exp.Group(all=True)
        case exp.Anonymous(expressions=[exp.Values() as rows]) if node.name.upper() == "ALL":
            return exp.All(this=exp.Subquery(this=rows.copy()))
        case exp.Select() if str(node.args.get("kind")).upper() == "STRUCT":
            refuse(node, "SELECT AS STRUCT is not supported", "select the columns themselves")
        case exp.DataType(this=exp.DType.DECIMAL, expressions=[]) if dialect in _DECIMALS:
            return _decimal(*_DECIMALS[dialect])
        case exp.DataType(this=exp.DType.BIT, expressions=[]) if dialect in _BITS:
            return exp.DataType.build("boolean")
        case exp.DataType(this=exp.DType.MONEY | exp.DType.SMALLMONEY as money) if dialect == "tsql":
            return _decimal(*_MONEY[money])
        case exp.DataType(this=exp.DType.DECIMAL, expressions=[]) if dialect in _DIGITS_OF_TEXTS:
            return _decimal(_MOST_DIGITS, _fraction_digits(node.parent))
        case exp.Select() | exp.SetOperation() if _has_no_limit(node.args.get("limit"), dialect):
            return _without(node, "limit")
        case exp.Join() if node.kind == "STRAIGHT_JOIN":
            return _without(node, "kind")  # which only tells MySQL what to read first
        case exp.Any(this=exp.Tuple(expressions=[])) | exp.All(this=exp.Tuple(expressions=[])):
            fail(InvalidQuery("ANY and ALL take a list that is not empty"), node.parent or node)
        case exp.Column(this=exp.Parameter()):
            refuse(node, "a column by its place in its table is not supported", "write its name")
    return None


def _decimal(precision: int, scale: int) -> exp.DataType:
    digits = [exp.DataTypeParam(this=exp.Literal.number(number)) for number in (precision, scale)]
    return exp.DataType(this=exp.DType.DECIMAL, expressions=digits)


def _fraction_digits(cast: exp.Expr | None) -> int:
    """The digits behind the point of a text that is cast; 0 for any other value."""
    value = cast.this if isinstance(cast, exp.Cast) else None
    if not isinstance(value, exp.Literal) or not value.is_string:
        return 0
    written = _DECIMAL_TEXT.fullmatch(value.name.strip())
    return len(written[2]) if written else 0


def _has_no_limit(limit: exp.Expression | None, dialect: str) -> bool:
    """Whether a LIMIT means all rows: -1 in SQLite, MySQL's greatest number, and ALL."""
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if dialect == "sqlite":
        return isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal)
    if dialect == "flink":
        return isinstance(count, exp.Column) and _is_named(count, "all")
    return dialect == "mysql" and isinstance(count, exp.Literal) and count.name == _ALL_ROWS


def _without(node: exp.Expression, part: str) -> exp.Expression:
    found = node.copy()
    found.set(part, None)
    return found


def _is_named(column: exp.Column, word: str) -> bool:
    """Whether the column is this word, without quotes and a table."""
    name = column.this
    return (
        isinstance(name, exp.Identifier)
        and not column.table
        and not name.quoted
        and name.name.lower() == word
    )


def _recursive(node: exp.With) -> exp.With | None:
    if not any(_recurs(cte) for cte in node.expressions):
        return None
    return with_parts(node, recursive=True)


def _recurs(cte: exp.CTE) -> bool:
    """Whether the query is a UNION ALL whose second side alone reads the query itself."""
    query = cte.this
    if not isinstance(query, exp.Union) or query.args.get("distinct"):
        return False
    first, second = (_names(side) for side in (query.this, query.expression))
    return cte.alias.lower() in second - first


def _names(query: exp.Expression) -> set[str]:
    return {table.name.lower() for table in query.find_all(exp.Table) if not table.args.get("db")}


def _with_columns(node: exp.Values, name: str, first: int) -> exp.Values | None:
    """VALUES in FROM with names for its columns, unless it has some."""
    holder = node if isinstance(node.parent, exp.From | exp.Join) else node.parent
    if not isinstance(holder, exp.Values | exp.Subquery | exp.Table) or not node.expressions:
        return None
    if not isinstance(holder.parent, exp.From | exp.Join):
        return None
    alias = node.args.get("alias") or holder.args.get("alias")
    if alias is not None and alias.columns:
        return None
    row = node.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    columns = [exp.to_identifier(f"{name}{place}") for place in range(first, first + width)]
    target = node.copy()
    named = alias.this.copy() if alias is not None else exp.to_identifier("values")
    if alias is not None and not node.args.get("alias"):
        alias.set("columns", columns)  # of the parentheses around it
        return None
    target.set("alias", exp.TableAlias(this=named, columns=columns))
    return target


def _with_labels(node: exp.Pivot) -> exp.Pivot | None:
    """UNPIVOT with the labels of columns without quotes in upper case."""
    found = node.copy()
    for field in found.args.get("fields") or ():
        for part in list(field.expressions):
            name = part.args.get("alias") if isinstance(part, exp.PivotAlias) else part.this
            if not isinstance(name, exp.Identifier) or name.args.get("quoted"):
                continue
            column = part.this if isinstance(part, exp.PivotAlias) else part
            label = exp.to_identifier(name.name.upper(), quoted=True)
            part.replace(exp.PivotAlias(this=column.copy(), alias=label))
    return found
