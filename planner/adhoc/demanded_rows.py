"""Demanded rows: what conditions such as `a = 1` and `b IN (...)` say about the rows that a query needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from planner.identifiers import fold

Values = tuple[int | str, ...]
"""Whole numbers and texts that a column is compared with."""

_PLAIN_KINDS = frozenset({"", "INNER", "CROSS", "OUTER"})
"""Joins that pair each row with each: whoever leaves out rows does not change what the others meet."""
_DECIDING = ("sample", "pivots", "laterals", "match")
"""Parts of a FROM that depend on rows which a condition refuses later."""


def conjuncts(tree: exp.Expression) -> Iterator[exp.Expression]:
    """The conditions that a predicate joins by AND."""
    match tree:
        case exp.Paren(this=inner):
            yield from conjuncts(inner)
        case exp.And(this=left, expression=right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield tree


def equation(condition: exp.Expression) -> tuple[exp.Column, Values] | None:
    """The column that a condition equates with whole numbers or texts, and these; or None."""
    match condition:
        case exp.EQ(this=exp.Column() as column, expression=literal):
            literals = [literal]
        case exp.EQ(this=literal, expression=exp.Column() as column):
            literals = [literal]
        case exp.In(this=exp.Column() as column, expressions=literals) if literals:
            pass
        case _:
            return None
    values = [_value(literal) for literal in literals]
    known = tuple(value for value in values if value is not None)
    return (column, known) if len(known) == len(values) else None


def demanded(table: exp.Table) -> Mapping[str, Values]:
    """By column, the values of which a row of the table needs one to matter to the SELECT that reads it."""
    source = table.parent
    select = source.parent if isinstance(source, exp.From | exp.Join) and source.this is table else None
    if not isinstance(select, exp.Select) or not select.args.get("where") or not _is_plain(select, table):
        return {}
    alias = fold(table.args["alias"].this) if table.alias else fold(table.this)
    is_alone = not _joins(select)
    found: dict[str, Values] = {}
    for condition in conjuncts(select.args["where"].this):
        told = equation(condition)
        if told is None or not isinstance(told[0].this, exp.Identifier):
            continue
        column, values = told
        owner = column.args.get("table")
        if is_alone if owner is None else fold(owner) == alias and column.args.get("db") is None:
            found[fold(column.this)] = values
    return found


def _is_plain(select: exp.Select, table: exp.Table) -> bool:
    alias = table.args.get("alias")
    has_parts = any(node.args.get(part) for node in (select, table) for part in _DECIDING)
    renames = alias is not None and bool(alias.args.get("columns"))
    return not has_parts and not renames and all(_pairs(join) for join in _joins(select))


def _joins(select: exp.Select) -> list[exp.Join]:
    joins = select.args.get("joins") or []
    sources = [select.args["from_"].this, *(join.this for join in joins)]
    return [*joins, *(join for source in sources for join in source.args.get("joins") or [])]


def _pairs(join: exp.Join) -> bool:
    return not join.args.get("method") and (join.args.get("kind") or "").upper() in _PLAIN_KINDS


def _value(tree: exp.Expression) -> int | str | None:
    if isinstance(tree, exp.Neg):
        value = _value(tree.this)
        return -value if isinstance(value, int) else None
    if not isinstance(tree, exp.Literal):
        return None
    if tree.is_string:
        return tree.this
    return int(tree.this) if tree.this.isdecimal() else None
