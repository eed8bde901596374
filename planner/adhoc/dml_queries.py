"""INSERT, UPDATE and DELETE as queries: which rows they touch, and the new values.

The target table comes as its distinct rows, told apart by a column of their places. Every other relation
comes as in a query.

| statement | columns of the query |
|---|---|
| INSERT | the values, in the order of the columns that it names |
| UPDATE | the row's place, then the new value of each assigned column |
| DELETE | the row's place |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.scalar.written import readable
from engine.schema import Schema, Type
from planner.adhoc.adhoc_query import AdhocQuery, ChangeTarget, adhoc_query
from planner.adhoc.from_clauses import Relations
from planner.adhoc.portions import Portion, check_set, take_portion
from planner.dialects.as_written import dialect_of
from planner.dialects.systems.postgres_moments import as_moment
from planner.dialects.traits import Trait, has
from planner.dialects.whole_numbers import has_fraction
from planner.errors import InvalidQuery, InvalidSyntax, TypeMismatch, UnknownColumn
from planner.identifiers import column_name
from planner.positions import fail, refuse
from planner.sql_types import duckdb_type
from planner.statements.statements import Delete, Insert, Update
from planner.suggestions import did_you_mean


@dataclass(frozen=True)
class Assignments:
    """`columns` are the positions in the table of the columns that an UPDATE sets, in the query's order.

    The columns in `defaults` take their default, whatever the query gives. With `in_portion`, the last two
    are the moments from and until which a row changes.
    """

    columns: tuple[int, ...]
    query: AdhocQuery
    defaults: frozenset[int] = frozenset()
    in_portion: bool = False


def insert_columns(insert: Insert, schema: Schema) -> tuple[int, ...]:
    """The positions of the columns that an INSERT names; of all columns if it names none."""
    if not insert.columns:
        return tuple(range(len(schema)))
    nodes = insert.tree.this.expressions
    return tuple(
        position_of(name, insert.table, schema, node)
        for name, node in zip(insert.columns, nodes, strict=True)
    )


def insert_query(insert: Insert, relations: Relations) -> AdhocQuery:
    """The query of an INSERT ... SELECT. A constant text among its columns is read as in VALUES."""
    query = insert.tree.expression.copy()
    if isinstance(query, exp.Select) and insert.table in relations:
        schema = relations[insert.table].schema
        for item, place in zip(query.expressions, insert_columns(insert, schema), strict=False):
            value = item.unalias()
            value.replace(_readable(value, schema.types[place]))
    outer = insert.tree.args.get("with_")
    if outer is not None:
        if query.args.get("with_") is not None:
            refuse(
                query,
                "WITH before INSERT and before its query is not supported",
                "put all CTEs into one WITH",
            )
        query.set("with_", outer.copy())
    return adhoc_query(query, relations)


def values_query(values: exp.Values, types: Sequence[Type], relations: Relations) -> AdhocQuery:
    """The rows of an INSERT ... VALUES, each value cast to the type of its column."""
    rows = [
        exp.Tuple(
            expressions=[_cast(cell.copy(), type) for cell, type in zip(cells(row), types, strict=True)]
        )
        for row in values.expressions
    ]
    return adhoc_query(exp.Values(expressions=rows), relations)


def only_column(values: exp.Values, place: int) -> exp.Values:
    """The VALUES of the one column at `place`."""
    return exp.Values(expressions=[exp.Tuple(expressions=[cells(row)[place]]) for row in values.expressions])


def cells(row: exp.Expression) -> list[exp.Expression]:
    """The expressions of one row of VALUES."""
    found = row.expressions if isinstance(row, exp.Tuple) else [row]
    return [c.expressions[0] if isinstance(c, exp.Tuple) and len(c.expressions) == 1 else c for c in found]


def update_query(update: Update, schema: Schema, relations: Relations) -> Assignments:
    tree = update.tree.copy()
    columns, values = assignments(tree.expressions, update.table, schema)
    portion = take_portion(tree, update.table, relations)
    period = relations[update.table].period
    if portion is not None and period is not None:
        check_set(columns, period, schema, tree)
        columns, values = (*columns, *period), [*values, portion.since, portion.until]
        tree.set("where", _within(portion, tree))
    source = tree.args.get("from_")
    query = touched(tree, [source.this] if source is not None else [], schema, relations, values, whole=False)
    return Assignments(columns, query, defaulted(columns, values), portion is not None)


def assignments(
    nodes: Sequence[exp.Expression], table: str, schema: Schema
) -> tuple[tuple[int, ...], list[exp.Expression]]:
    """The positions of the columns that are set, and their new values."""
    pairs = [pair for assignment in nodes for pair in _pairs(assignment)]
    columns: list[int] = []
    for node, _ in pairs:
        if isinstance(node, exp.Column) and node.table.lower() in map(str.lower, schema.names):
            hint = "set the whole struct"
            refuse(node, f"SET of a field is not supported: {node.sql()}", hint)
        name = column_name(exp.column(node.this) if isinstance(node, exp.Column) else node)
        position = position_of(name, table, schema, node)
        if position in columns:
            fail(InvalidQuery(f"column {name} is set twice"), node)
        columns.append(position)
    types = (schema.types[column] for column in columns)
    return tuple(columns), [_readable(value, type) for (_, value), type in zip(pairs, types, strict=True)]


def defaulted(columns: Sequence[int], values: Sequence[exp.Expression]) -> frozenset[int]:
    """The columns whose value is the word DEFAULT."""
    return frozenset(c for c, value in zip(columns, values, strict=True) if is_default(value))


def delete_query(delete: Delete, schema: Schema, relations: Relations) -> Assignments:
    """The rows that are deleted; with `in_portion`, no others come in their place."""
    tree = delete.tree.copy()
    portion = take_portion(tree, delete.table, relations)
    period, values = relations[delete.table].period or (), []
    if portion is not None:
        values = [portion.since, portion.until]
        tree.set("where", _within(portion, tree))
    query = touched(tree, tree.args.get("using") or [], schema, relations, values, whole=False)
    return Assignments(period if portion is not None else (), query, in_portion=portion is not None)


def _within(portion: Portion, tree: exp.Expression) -> exp.Where:
    """The tree's condition, for the rows of a portion."""
    where = tree.args.get("where")
    parts = [portion.condition] if where is None else [where.this, portion.condition]
    return exp.Where(this=exp.and_(*parts))


def touched(
    tree: exp.Expression,
    sources: Sequence[exp.Expression],
    schema: Schema,
    relations: Relations,
    values: Sequence[exp.Expression],
    *,
    whole: bool = True,
) -> AdhocQuery:
    """The target's rows that meet the tree's condition, with `values`; a row may match several source rows.

    The places of rows are among all rows, or without `whole` among those that matter to the query.
    """
    target = ChangeTarget(tree.this, row_column(schema), whole)
    alias = tree.this.alias or tree.this.name
    row = exp.column(exp.to_identifier(target.row, quoted=True), table=exp.to_identifier(alias, quoted=True))
    select = exp.Select(expressions=[row, *(_defaulted(value) for value in values)])
    if sources or tree.this.args.get("joins"):
        select.set("distinct", exp.Distinct())
    select.set("from_", exp.From(this=tree.this))
    select.set("joins", [exp.Join(this=source) for source in sources])
    select.set("where", tree.args.get("where"))
    select.set("with_", tree.args.get("with_"))
    return adhoc_query(select, relations, target)


def row_column(schema: Schema) -> str:
    """A name that no column of the table has."""
    name = "#"
    while name in schema.names:
        name += "#"
    return name


def _pairs(assignment: exp.Expression) -> list[tuple[exp.Expression, exp.Expression]]:
    """Column and value of `a = 1`; several pairs for `(a, b) = (1, 2)` or `(a, b) = (SELECT ...)`."""
    left, right = assignment.this, assignment.expression
    if isinstance(left, exp.Tuple) and isinstance(right, exp.Subquery):
        return _of_query(left, right)
    if not isinstance(assignment, exp.EQ) or right is None or _spreads(right):
        fail(InvalidSyntax(f"{assignment.sql()} is not an assignment", "write SET a = 1"), assignment)
    if not isinstance(left, exp.Tuple):
        return [(left, right)]
    if not isinstance(right, exp.Tuple) or len(left.expressions) != len(right.expressions):
        refuse(left, "the numbers of columns and of values differ", "write SET (a, b) = (1, 2)")
    return list(zip(left.expressions, right.expressions, strict=True))


def _of_query(left: exp.Tuple, right: exp.Subquery) -> list[tuple[exp.Expression, exp.Expression]]:
    """Each column with a query for its value alone."""
    query = right.this
    if not isinstance(query, exp.Select) or len(query.expressions) != len(left.expressions):
        refuse(
            left,
            "several columns are set to a query that is not one SELECT of as many columns",
            "write SET a = (SELECT ...)",
        )
    pairs: list[tuple[exp.Expression, exp.Expression]] = []
    for column, value in zip(left.expressions, query.expressions, strict=True):
        alone = query.copy()
        alone.set("expressions", [value.copy()])
        pairs.append((column, exp.Subquery(this=alone)))
    return pairs


def _spreads(value: exp.Expression) -> bool:
    """Whether the value is `*` or `t.*`, alone or in a tuple, and so stands for several values."""
    parts = value.expressions if isinstance(value, exp.Tuple) else [value]
    return any(part.is_star for part in parts)


def position_of(name: str, table: str, schema: Schema, node: exp.Expression) -> int:
    """The position of a column of a table; UnknownColumn, with its place, if the table lacks it."""
    if name not in schema.names:
        fail(
            UnknownColumn(
                f'table "{table}" has no column "{name}"',
                did_you_mean(name, schema.names, f"it has {', '.join(schema.names)}"),
            ),
            node,
        )
    return schema.index(name)


def default_cells(values: exp.Values) -> list[tuple[int, int]]:
    """The places of DEFAULT in VALUES: the row, and the place in the row."""
    rows = [cells(row) for row in values.expressions]
    return [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if is_default(cell)]


def _cast(value: exp.Expression, type: Type) -> exp.Expression:
    return exp.cast(
        _defaulted(_readable(value, type)), exp.DataType.build(duckdb_type(type), dialect="duckdb")
    )


def _readable(value: exp.Expression, type: Type) -> exp.Expression:
    """The value; a text in the form that DuckDB reads for the type. Raises TypeMismatch for a text with a
    fraction as a whole number, in a dialect where it is none."""
    if isinstance(value, exp.Literal) and value.is_string:
        if (
            type.is_integer
            and has(dialect_of(value) or "", Trait.ROUNDS_NO_TEXTS)
            and has_fraction(value.name)
        ):
            fail(TypeMismatch(f"{value.sql()} is not a value of type {type}"), value)
        return exp.Literal.string(readable(_moment(value, type), type))
    return value


def _moment(value: exp.Literal, type: Type) -> str:
    """The text of a value; that of a moment as the dialect reads it."""
    try:
        return as_moment(value.name, type.kind, dialect_of(value) or "")
    except TypeMismatch as error:
        fail(error, value)


def _defaulted(value: exp.Expression) -> exp.Expression:
    """The value; NULL for DEFAULT, whose value is filled in later."""
    return exp.Null() if is_default(value) else value


def is_default(value: exp.Expression) -> bool:
    """Whether the value is the word DEFAULT."""
    name = value.name if isinstance(value, exp.Var) or _bare_column(value) else ""
    return name.upper() == "DEFAULT"


def _bare_column(value: exp.Expression) -> bool:
    return isinstance(value, exp.Column) and not value.table and not value.this.args.get("quoted")
