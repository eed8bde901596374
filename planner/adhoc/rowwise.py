"""Expressions of DEFAULT, GENERATED and CHECK, made computable over one row.

They are planned as a query over the table, so they mean the same as in a view. The current time, which a
DEFAULT and a CHECK may read, is a column under a name that nobody can write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, OneOf
from engine.plan.nodes import Map, Node, Source
from engine.schema import BOOLEAN, TIMESTAMP, Column, Schema, Type
from planner.errors import InvalidQuery, PlannerError, Unsupported
from planner.identifiers import relation_node
from planner.lower.planned_query import PlannedQuery
from planner.planning import plan_query
from planner.relation import Relation
from planner.sql_types import UNTYPED, duckdb_type
from planner.statements.table_rules import Text

_NOW = "\0now"
_MOMENT = Schema((Column(_NOW, TIMESTAMP, False),))
MOMENT = Relation(_NOW, _MOMENT, Source(_NOW, _MOMENT))
"""One row: the time of a statement, in UTC."""
_TABLE = "\0table"
_CLOCKS: dict[type[exp.Expression], str | None] = {
    exp.CurrentTimestamp: None,
    exp.CurrentDatetime: None,
    exp.Localtimestamp: None,
    exp.CurrentDate: "DATE",
}
_CLOCK_NAMES = frozenset({"now", "statement_timestamp", "transaction_timestamp", "clock_timestamp"})


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Puts the place of an error before a planner's message."""
    try:
        yield
    except PlannerError as error:
        raise type(error)(f"{what}: {error.message}", error.hint) from None


def row_expressions(
    texts: Sequence[Text], types: Sequence[Type], relation: Relation
) -> tuple[Expression, ...]:
    """The expressions over the columns of a relation, each cast to its type. Raises a PlannerError."""
    return tuple(_planned(text, type, relation) for text, type in zip(texts, types, strict=True))


def with_types(schema: Schema, generated: Mapping[str, Text]) -> Schema:
    """The columns of a table, with their expressions' types for generated ones that are UNTYPED. Raises a
    PlannerError."""
    known = Schema(tuple(column for column in schema.columns if column.type is not UNTYPED))
    if len(known) == len(schema):
        return schema
    source = Relation(_TABLE, known, Source(_TABLE, known))

    def typed(column: Column) -> Column:
        if column.type is not UNTYPED:
            return column
        text = generated[column.name]
        with naming(f"generated column {column.name}"):
            if text.columns() & generated.keys():
                raise InvalidQuery("it reads a generated column", "repeat that column's expression")
            return replace(column, type=_plan(text.tree(), source, text.dialect).schema.types[0])

    return Schema(tuple(map(typed, schema.columns)))


def default_expression(text: Text, type: Type) -> Expression:
    """A DEFAULT as an expression over the columns of MOMENT."""
    tree = text.tree().transform(_clock)
    if any(column.name != _NOW for column in tree.find_all(exp.Column)):
        raise InvalidQuery("a DEFAULT cannot read columns", "use GENERATED ALWAYS AS (...) STORED instead")
    return _planned(Text(tree.sql(text.dialect), text.dialect), type, MOMENT)


def condition_expression(text: Text, relation: Relation) -> Expression:
    """A CHECK as an expression over the columns of a relation; behind them is that of MOMENT if it `moves`.
    Raises a PlannerError."""
    if not moves(text):
        return _planned(text, BOOLEAN, relation)
    _check_alone(text.tree(), text.dialect)
    schema = Schema((*relation.schema.columns, *_MOMENT.columns))
    timed = Relation(relation.name, schema, Source(relation.name, schema))
    return _planned(Text(text.tree().transform(_clock).sql(text.dialect), text.dialect), BOOLEAN, timed)


def moves(text: Text) -> bool:
    """Whether the value of a DEFAULT or a CHECK depends on the time."""
    return any(_clock(node) is not node for node in text.tree().walk())


def _clock(node: exp.Expr) -> exp.Expr:
    """The column of the time, if the node asks for the time; else the node."""
    now = exp.column(exp.to_identifier(_NOW, quoted=True))
    if isinstance(node, exp.Anonymous) and node.name.lower() in _CLOCK_NAMES:
        return now
    for kind, type in _CLOCKS.items():
        if isinstance(node, kind):
            return now if type is None else exp.cast(now, type)
    return node


def _planned(text: Text, type: Type, relation: Relation) -> Expression:
    value = exp.cast(text.tree(), exp.DataType.build(duckdb_type(type), dialect="duckdb"))
    return _only(_plan(value, relation, text.dialect).plan, relation.plan, text)


def _plan(value: exp.Expression, relation: Relation, dialect: str) -> PlannedQuery:
    """The query of a value over the rows of a relation."""
    _check_alone(value, dialect)
    query = exp.Select(expressions=[exp.alias_(value, "value")]).from_(relation_node(relation.name))
    try:
        return plan_query(query, {relation.name: relation}, dialect)
    except PlannerError as error:
        error.line = error.column = None
        raise


def _check_alone(value: exp.Expr, dialect: str) -> None:
    """Raises Unsupported for a value that is of more than one row."""
    beyond = value.find(exp.Query, exp.AggFunc, exp.Window)
    if beyond is not None:
        raise Unsupported(
            f"{beyond.sql(dialect)} in a DEFAULT, GENERATED or CHECK is not supported",
            "use the columns of the row alone",
        )


def _only(plan: Node, source: Node, text: Text) -> Expression:
    """The one column of a plan that maps the rows of `source`."""
    expressions = columns_over(plan, source)
    if expressions is None:
        raise Unsupported(f"{text.sql} is not a function of one row")
    (expression,) = expressions
    return expression


def columns_over(plan: Node, source: Node) -> tuple[Expression, ...] | None:
    """The columns of a plan as expressions over the rows of `source`; None if it does more than map them."""
    if plan == source:
        return tuple(ColumnRef(i, type) for i, type in enumerate(source.schema.types))
    below = columns_over(plan.input, source) if isinstance(plan, Map) else None
    if not isinstance(plan, Map) or below is None:
        return None
    return tuple(_over(expression, below) for expression in plan.expressions)


def _over(expression: Expression, below: Sequence[Expression]) -> Expression:
    """The expression with its columns replaced by the expressions `below`."""
    match expression:
        case ColumnRef(index=index):
            return below[index]
        case Cast(arg=arg, type=type, lenient=lenient):
            return Cast(_over(arg, below), type, lenient)
        case Call(op=op, args=args, type=type):
            return Call(op, tuple(_over(arg, below) for arg in args), type)
        case Foreign(template=template, args=args, type=type):
            return Foreign(template, tuple(_over(arg, below) for arg in args), type)
        case Case(branches=branches, otherwise=otherwise, type=type):
            taken = tuple((_over(condition, below), _over(value, below)) for condition, value in branches)
            return Case(taken, _over(otherwise, below), type)
        case OneOf(arg=arg, values=values):
            return OneOf(_over(arg, below), values)
    return expression
