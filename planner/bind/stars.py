"""Expands the select list: `*` and `t.*` with EXCLUDE, REPLACE and RENAME, and COLUMNS(...)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from planner.bind.name_scope import NameScope
from planner.bind.refuse import refuse_unsupported
from planner.errors import InvalidQuery, UnknownColumn
from planner.identifiers import column_of, fold, parts_of
from planner.ir import Attribute, Expression
from planner.limits import check_columns
from planner.positions import fail
from planner.suggestions import did_you_mean


@dataclass(frozen=True)
class OutputColumn:
    """A column of the select list: its name, its node, and its value if it is known."""

    name: str
    node: exp.Expression
    value: Expression | None = None


@dataclass(frozen=True)
class SelectList:
    """An expanded select list, over the scope of its FROM clause."""

    outputs: list[OutputColumn]
    scope: NameScope


def select_list(nodes: Iterable[exp.Expression], scope: NameScope) -> list[OutputColumn]:
    """The columns that the list stands for. Raises TooManyColumns."""
    found = [output for node in nodes for output in _outputs(node, scope)]
    check_columns(len(found))
    return found


def _outputs(node: exp.Expression, scope: NameScope) -> Iterator[OutputColumn]:
    star = node.this if isinstance(node, exp.Column | exp.Like | exp.ILike) else node
    fields = _fields(node, scope)
    if fields is not None:
        yield from fields
        return
    if isinstance(star, exp.Star):
        yield from _starred(node, star, scope)
        return
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    some = next((part for part in inside if isinstance(part, exp.Columns)), None)
    if some is None:
        yield OutputColumn(_name(node, scope), node)
        return
    for column in _chosen(some, scope):
        yield _with_column(node, some, column, scope)


def _fields(node: exp.Expression, scope: NameScope) -> list[OutputColumn] | None:
    """The fields that `struct.*`, `(struct).*` or `(table.struct).field.*` stands for; None for others."""
    names: list[exp.Identifier] = []
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
        of = node.this.unnest()
        while isinstance(of, exp.Dot) and isinstance(of.expression, exp.Identifier):
            names.insert(0, of.expression)
            of = of.this.unnest()
        names = [*parts_of(of), *names] if isinstance(of, exp.Column) else []
    elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star) and not scope.is_table(node.table):
        names = parts_of(node)
    struct = scope.struct(names) if names else None
    if struct is None:
        return None
    whole: exp.Expression = column_of(names[:4])
    for name in names[4:]:
        whole = exp.Dot(this=whole, expression=name.copy())
    return [
        OutputColumn(
            field.name,
            exp.Dot(this=whole.copy(), expression=exp.to_identifier(field.name, quoted=True)),
        )
        for field in struct.fields
    ]


def _starred(node: exp.Expression, star: exp.Star, scope: NameScope) -> Iterator[OutputColumn]:
    """The columns of a star, in order."""
    columns = scope.table(node).columns if isinstance(node, exp.Column) and node.table else scope.star
    if not columns:
        fail(InvalidQuery("* needs a FROM clause"), node)
    if isinstance(node, exp.Like | exp.ILike):
        columns = _like(columns, node.expression, isinstance(node, exp.ILike))
    replaced = {alias.alias.lower(): alias for alias in star.args.get("replace") or ()}
    renamed = {alias.this.name.lower(): alias for alias in star.args.get("rename") or ()}
    for name, alias in {**replaced, **renamed}.items():
        if all(column.name.lower() != name for column in columns):
            fail(UnknownColumn(f'* has no column "{name}"', did_you_mean(name, _names(columns))), alias)
    for column in _left(star, columns):
        name = column.name.lower()
        if name in replaced:
            yield OutputColumn(column.name, replaced[name])
        else:
            yield OutputColumn(
                fold(renamed[name].args["alias"]) if name in renamed else column.name, node, column.ref
            )


def _left(star: exp.Star, columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """The columns that the star does not exclude."""
    if star.args.get("ilike"):
        columns = _like(columns, star.args["ilike"], True)
    without = {part.name.lower(): part for part in star.args.get("except_") or ()}
    for name, part in without.items():
        if all(column.name.lower() != name for column in columns):
            fail(UnknownColumn(f'* has no column "{part.name}"', did_you_mean(name, _names(columns))), part)
    return tuple(column for column in columns if column.name.lower() not in without)


def _names(columns: tuple[Attribute, ...]) -> list[str]:
    return [column.name for column in columns]


def _like(columns: tuple[Attribute, ...], pattern: exp.Expression, any_case: bool) -> tuple[Attribute, ...]:
    """The columns whose names are LIKE the pattern."""
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        refuse_unsupported("* LIKE a pattern that is not a constant", pattern)
    wild = {"%": ".*", "_": "."}
    shape = "".join(wild.get(letter) or re.escape(letter) for letter in pattern.this)
    test = re.compile(shape, re.IGNORECASE | re.DOTALL if any_case else re.DOTALL)
    return tuple(column for column in columns if test.fullmatch(column.name))


def _chosen(node: exp.Columns, scope: NameScope) -> tuple[Attribute, ...]:
    """The columns of COLUMNS: those of a star, or those whose names match a pattern."""
    if isinstance(node.this, exp.Star):
        return _left(node.this, scope.star)
    if not (isinstance(node.this, exp.Literal) and node.this.is_string):
        refuse_unsupported("COLUMNS of anything but * or a pattern", node)
    try:
        pattern = re.compile(node.this.this)
    except re.error as error:
        fail(InvalidQuery(f"COLUMNS has an invalid pattern: {error}"), node)
    found = tuple(column for column in scope.star if pattern.search(column.name))
    if not found:
        fail(InvalidQuery(f"no column's name matches {node.this.this!r}"), node)
    return found


def _with_column(
    node: exp.Expression, some: exp.Columns, column: Attribute, scope: NameScope
) -> OutputColumn:
    """The item with one column in place of COLUMNS, under its alias or else the column's name."""
    owners = (t.alias for t in scope.tables if any(c.id == column.id for c in t.columns))
    one = exp.column(exp.to_identifier(column.name, quoted=True), table=next(owners, None) or None)
    item = node.transform(lambda part: one.copy() if part == some else part)
    return OutputColumn(fold(item.args["alias"]) if isinstance(item, exp.Alias) else column.name, item)


def _name(node: exp.Expression, scope: NameScope) -> str:
    """The column's name: its alias, the column's own name, else its text."""
    if isinstance(node, exp.Alias):
        return fold(node.args["alias"])
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        return fold(node.expression)
    if isinstance(node, exp.Column):
        found = (s.local(node) for s in scope.chain())
        return next((column.name for column in found if column is not None), fold(node.this))
    return node.sql("duckdb", comments=False, normalize_functions="lower")
