"""The tables of a SELECT as one table with a name, so that columns can be added to their rows.

SELECT a.x, y FROM a, b   →   SELECT "rows#"."a.x" AS x, "rows#"."y" AS y
                              FROM (SELECT a.x AS "a.x", y AS "y" FROM a, b) AS "rows#"

A single table keeps its name and all of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlglot import exp

from planner.positions import refuse

ROWS = "rows#"
_Node = TypeVar("_Node", bound=exp.Expr)
_BELOW = ("from_", "joins", "laterals")


def own(node: exp.Expr, *kinds: type[_Node]) -> Iterator[_Node]:
    """The nodes of these kinds that are not in a query inside."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query) and part is not node)
    return (part for part in inside if isinstance(part, kinds))


def conjuncts(where: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that a WHERE connects by AND."""
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def where_of(conditions: Sequence[exp.Expr]) -> exp.Where | None:
    """The WHERE of these conditions."""
    return exp.Where(this=exp.and_(*conditions)) if conditions else None


def alone(select: exp.Select) -> exp.Expr | None:
    """The one table of the SELECT; None if there are several, or none."""
    if select.args.get("joins") or select.args.get("laterals") or select.args.get("from_") is None:
        return None
    item = select.args["from_"].this
    return item if isinstance(item, exp.Table | exp.Subquery) and not item.args.get("joins") else None


def named(item: exp.Expr) -> exp.Identifier:
    """The name of a table of FROM, which it has from now on."""
    alias = item.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.this is not None:
        return alias.this
    is_table = isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier)
    name = item.this.copy() if is_table else exp.to_identifier(ROWS)
    columns = alias.columns if isinstance(alias, exp.TableAlias) else None
    item.set("alias", exp.TableAlias(this=name, columns=columns))
    return name


def star_of(table: exp.Identifier) -> exp.Column:
    """All columns of the table."""
    return exp.Column(this=exp.Star(), table=table.copy())


def enclose(
    select: exp.Select,
    added: Sequence[exp.Expr] = (),
    clauses: Sequence[str] = (),
    kept: frozenset[str] = frozenset(),
) -> None:
    """Put the tables of the SELECT, with these clauses, into one query, which has the added columns too.

    Names in `kept` are no columns of the tables. Raises Unsupported for `*` over several tables.
    """
    item = alone(select)
    if item is not None:
        columns: list[exp.Expr] = [star_of(named(item))]
        alias = named(item).copy()
    else:
        columns, alias = _listed(select, clauses, kept), exp.to_identifier(ROWS)
    rows = exp.Select(expressions=[*columns, *added])
    for part in (*_BELOW, *clauses):
        rows.set(part, select.args.get(part))
        select.set(part, None)
    hide(select, [column.alias for column in added])
    select.set("from_", exp.From(this=exp.Subquery(this=rows, alias=exp.TableAlias(this=alias))))


def hide(select: exp.Select, names: Sequence[str]) -> None:
    """Leave the columns out of every `*` in the select list."""
    for item in select.expressions if names else ():
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            hidden = [exp.to_identifier(name) for name in names]
            star.set("except_", [*(star.args.get("except_") or ()), *hidden])


def _listed(select: exp.Select, clauses: Sequence[str], kept: frozenset[str]) -> list[exp.Expr]:
    """The columns of several tables that the SELECT reads above them, each under one name, by which it reads
    them from now on."""
    found: dict[str, exp.Expr] = {}
    for item in select.expressions:
        if item.is_star:
            hint = "write the columns, or put the tables into a query in FROM"
            refuse(item, "* over several tables is not supported here", hint)
    items = [_with_name(item) for item in select.expressions]
    select.set("expressions", items)
    for column in list(_columns(select, {*_BELOW, *clauses})):
        if not column.table and column.name.lower() in kept:
            continue
        name = f"{column.table}.{column.name}" if column.table else column.name
        found.setdefault(name.lower(), exp.alias_(column.copy(), name.lower(), quoted=True))
        column.replace(exp.column(exp.to_identifier(name.lower(), quoted=True), ROWS))
    return list(found.values()) or [exp.alias_(exp.Literal.number(1), "one#")]


def _with_name(item: exp.Expr) -> exp.Expr:
    return exp.alias_(item, item.this.copy()) if isinstance(item, exp.Column) else item


def _columns(select: exp.Select, below: set[str]) -> Iterator[exp.Column]:
    """The columns that the SELECT reads above its tables; in a query inside, those that name a table."""
    tables = {item.alias_or_name.lower() for item in _tables(select)}
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
    for part, value in list(select.args.items()):
        for node in value if isinstance(value, list) else [value]:
            if part in below or not isinstance(node, exp.Expr):
                continue
            for column in node.find_all(exp.Column):
                is_inside = column.parent_select is not select
                if column.table.lower() in tables if column.table else not is_inside:
                    if part == "order" and not column.table and column.name.lower() in aliases:
                        continue
                    yield column


def _tables(select: exp.Select) -> Iterator[exp.Expr]:
    yield select.args["from_"].this
    for join in select.args.get("joins") or ():
        yield join.this
    yield from select.args.get("laterals") or ()
