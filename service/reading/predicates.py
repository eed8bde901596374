"""`where` and `order_by` of a read: one SQL predicate, or sort keys, and nothing else.

Both are parsed alone, checked node by node, and written again for DuckDB, so that DuckDB runs what was
understood. They may use the relation's columns, literals, operators and scalar functions, but no subqueries,
aggregates, windows, parameters, or functions whose value depends on more than the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.schema import Kind, Schema
from planner.adhoc.column_types import types_of
from planner.adhoc.comparands import ColumnEquation, equation_of
from planner.adhoc.compared_texts import with_texts_of_columns
from planner.adhoc.demanded_rows import conjuncts
from planner.adhoc.untyped_literals import with_texts_over
from planner.allowed.check import check
from planner.allowed.open_functions import PURE
from planner.allowed.parse_tree import Closed
from planner.dialects import in_duckdb
from planner.dialects.as_written import remember_dialect
from planner.dialects.overloads import macro_names
from planner.errors import InvalidSyntax, UnknownColumn, UnknownFunction
from planner.identifiers import field_path, fold, parts_of
from planner.parsing.dialect_parsers import trees
from planner.suggestions import did_you_mean
from service.errors import Invalid

_REFUSED: tuple[tuple[type, str], ...] = (
    (exp.Query, "a subquery"),
    (exp.Subquery, "a subquery"),
    (exp.Table, "a table"),
    (exp.AggFunc, "an aggregate"),
    (exp.Window, "a window function"),
    (exp.Placeholder, "a parameter"),
    (exp.Parameter, "a parameter"),
    (exp.SessionParameter, "a parameter"),
    (exp.Star, "*"),
    (exp.Command, "a command"),
    (exp.UDTF, "a table function"),
    (exp.CurrentTimestamp, "the current time"),
    (exp.CurrentDate, "the current time"),
    (exp.CurrentTime, "the current time"),
    (exp.CurrentDatetime, "the current time"),
    (exp.CurrentUser, "the session"),
)
_READ = "postgres"
_OPEN = PURE | macro_names() | {"unnest"}
"""Functions of a row, those to which PostgreSQL's are translated, and UNNEST: DuckDB rewrites `x = ANY(list)`
to a query of the list's elements, and accepts no other UNNEST here."""


@dataclass(frozen=True)
class Clause:
    """A predicate or sort keys as DuckDB's SQL, and the columns that they read.

    A row that a predicate accepts satisfies its `equations`. If the predicate `is_equation`, it accepts all
    such rows.
    """

    sql: str
    columns: frozenset[int]
    equations: tuple[ColumnEquation, ...] = ()
    is_equation: bool = False


def predicate(text: str, schema: Schema) -> Clause:
    """The predicate `text` over `schema`. Raises InvalidSyntax, UnknownColumn or Invalid."""
    tree = _parse(f"SELECT 1 WHERE ({text}\n)", text, "where", schema)
    where = tree.args.get("where")
    _only(tree, {"expressions", "where"}, "where")
    if where is None or not isinstance(where.this, exp.Paren):
        raise InvalidSyntax("where is not one predicate")
    clause = _clause([where.this.this], schema, "where")
    found = [equation_of(condition, {}) for condition in conjuncts(where.this.this)]
    equations = tuple(ColumnEquation(schema.index(of[0].name), *of[1:]) for of in found if of is not None)
    is_equation = len({equation.column for equation in equations}) == len(found)
    return replace(clause, equations=equations, is_equation=is_equation)


def sort_keys(text: str, schema: Schema) -> Clause:
    """The sort keys `text`, as ORDER BY takes them. Raises InvalidSyntax, UnknownColumn or Invalid."""
    tree = _parse(f"SELECT 1 ORDER BY {text}", text, "order_by", schema)
    order = tree.args.get("order")
    _only(tree, {"expressions", "order"}, "order_by")
    if order is None:
        raise InvalidSyntax("order_by has no sort keys")
    keys = order.expressions
    for key in keys:
        if isinstance(key.this, exp.Literal):
            raise Invalid(
                "a sort key must be a column or an expression, not a number or a text", code="invalid_clause"
            )
    return _clause(keys, schema, "order_by")


def _parse(sql: str, text: str, what: str, schema: Schema) -> exp.Expression:
    try:
        statements = trees(sql, _READ)
    except (SqlglotError, ValueError, RecursionError):
        statements = []
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise InvalidSyntax(f"{what} cannot be parsed: {text}")
    tree = remember_dialect(statements[0], _READ)
    if not tree.args.get("from_"):
        with_texts_over(statements[0], schema, _READ)
    return in_duckdb(tree)


def _only(tree: exp.Expression, parts: set[str], what: str) -> None:
    """Raises InvalidSyntax if the text continues with other clauses."""
    if any(value and name not in parts for name, value in tree.args.items()):
        raise InvalidSyntax(f"{what} continues after its end")


def _clause(trees: Sequence[exp.Expression], schema: Schema, what: str) -> Clause:
    columns: set[int] = set()
    for tree in trees:
        for node in list(tree.walk()):
            for kind, name in _REFUSED:
                if isinstance(node, kind):
                    raise Invalid(f"{what} contains {name}: {node.sql(_READ)}", code="invalid_clause")
            if isinstance(node, exp.Column):
                columns.add(_resolve(node, schema))
        with_texts_of_columns(tree, types_of(schema.columns), _READ)
    sql = ", ".join(tree.sql("duckdb", comments=False) for tree in trees)
    _check(f"SELECT 1 {'ORDER BY' if what == 'order_by' else 'WHERE'} {sql}", schema, what)
    return Clause(sql, frozenset(columns))


def _check(query: str, schema: Schema, what: str) -> None:
    """Raises Invalid or a PlannerError if the query calls anything but functions of a row."""
    try:
        check(query, _OPEN, columns=schema.names)
    except Closed as found:
        if not found.function or isinstance(found.error, UnknownFunction):
            raise found.error from None
        raise Invalid(
            f"{what} calls {found.function}, whose value depends on more than the row", code="invalid_clause"
        ) from None


def _resolve(node: exp.Column, schema: Schema) -> int:
    """The place of the column that the node names. Quotes the name in the node."""
    names = parts_of(node)
    struct = fold(names[0]) if len(names) > 1 else None
    if struct in schema.names and schema.types[schema.index(struct)].kind is Kind.STRUCT:
        field = field_path(names)
        node.replace(field)
        return _resolve(next(field.find_all(exp.Column)), schema)
    if node.args.get("table") is not None or not isinstance(node.this, exp.Identifier):
        raise UnknownColumn(f"{node.sql(_READ)} is not a column of the relation")
    name = fold(node.this)
    if name not in schema.names:
        known = f"its columns are {', '.join(schema.names)}"
        raise UnknownColumn(f"there is no column {name}", did_you_mean(name, schema.names, known))
    node.set("this", exp.to_identifier(name, quoted=True))
    return schema.index(name)
