"""Expands the select list: `*` and `t.*` with EXCLUDE, REPLACE and RENAME, and COLUMNS(...)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from engine.plan.expressions import ColumnRef
from planner.bind.name_scope import NameScope
from planner.bind.refuse import refuse_unsupported
from planner.errors import InvalidQuery, UnknownColumn
from planner.identifiers import column_of, fold, parts_of
from planner.ir import Attribute, Expression
from planner.limits import check_columns
from planner.native.column_choices import PATTERNS, chosen, expanded, matching
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
    fields = _fields(node, scope)
    if fields is not None:
        yield from fields
        return
    if isinstance(node, exp.Not) and isinstance(node.this, PATTERNS) and _star(node.this) is not None:
        node = node.this.copy()
        node.set("negate", True)
    if _star(node) is not None:
        yield from _starred(node, scope)
        return
    some = _columns_call(node)
    if some is None:
        yield OutputColumn(_name(node, scope), node)
    elif some.args.get("unpack"):
        yield OutputColumn(_name(node, scope), _unpacked(node, some, scope))
    else:
        for column in _chosen(some, scope):
            yield _with_column(node, some, column)


def every(node: exp.Expression, scope: NameScope) -> exp.Expression:
    """A condition with COLUMNS in it, which is to be true of each of these columns."""
    some = _columns_call(node)
    if some is None:
        return node
    if some.args.get("unpack"):
        return _unpacked(node, some, scope)
    conditions = (_with_column(node, some, column).node for column in _chosen(some, scope))
    return exp.Paren(this=exp.and_(*conditions))


def _columns_call(node: exp.Expression) -> exp.Columns | None:
    """The first COLUMNS in the node, outside of queries."""
    inside = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return next((part for part in inside if isinstance(part, exp.Columns)), None)


def _star(node: exp.Expr) -> exp.Star | None:
    """The star that the node is, or whose names it compares with a pattern."""
    inner = node.this if isinstance(node, (exp.Column, *PATTERNS)) else node
    inner = inner.this if isinstance(inner, exp.Column) else inner
    return inner if isinstance(inner, exp.Star) else None


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
            field.name, exp.Dot(this=whole.copy(), expression=exp.to_identifier(field.name, quoted=True))
        )
        for field in struct.fields
    ]


def _starred(node: exp.Expression, scope: NameScope) -> Iterator[OutputColumn]:
    """The columns of a star, in order."""
    star, owner = _star(node), node.this if isinstance(node, PATTERNS) else node
    assert star is not None
    columns = scope.table(owner).columns if isinstance(owner, exp.Column) and owner.table else scope.star
    if not columns:
        fail(InvalidQuery("* needs a FROM clause"), node)
    if isinstance(node, PATTERNS):
        columns = _of(columns, matching(node, _names(columns)))
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
        pattern = exp.ILike(this=star, expression=star.args["ilike"])
        columns = _of(columns, matching(pattern, _names(columns)))
    without = {part.name.lower(): part for part in star.args.get("except_") or ()}
    for name, part in without.items():
        if all(column.name.lower() != name for column in columns):
            fail(UnknownColumn(f'* has no column "{part.name}"', did_you_mean(name, _names(columns))), part)
    return tuple(column for column in columns if column.name.lower() not in without)


def _names(columns: tuple[Attribute, ...]) -> list[str]:
    return [column.name for column in columns]


def _of(columns: tuple[Attribute, ...], names: frozenset[str]) -> tuple[Attribute, ...]:
    return tuple(column for column in columns if column.name in names)


def _chosen(node: exp.Columns, scope: NameScope) -> list[OutputColumn]:
    """The columns of COLUMNS: those of a star, or those that its argument chooses by their names."""
    if _star(node.this) is not None:
        found = list(_starred(node.this, scope))
    else:
        columns = _of(scope.star, chosen(node, _names(scope.star)))
        found = [OutputColumn(column.name, node, column.ref) for column in columns]
    return [replace(output, node=_single(output, scope)) for output in found]


def _single(output: OutputColumn, scope: NameScope) -> exp.Expression:
    """The column as an expression."""
    if not isinstance(output.value, ColumnRef):
        return exp.Paren(this=output.node.unalias().copy())
    number = output.value.index
    owners = ((t.alias, c.name) for t in scope.tables for c in t.columns if c.id == number)
    name = next((column.name for column in scope.star if column.id == number), output.name)
    owner, name = next(owners, ("", name))
    return exp.column(exp.to_identifier(name, quoted=True), table=owner or None)


def _with_column(node: exp.Expression, some: exp.Columns, column: OutputColumn) -> OutputColumn:
    """The item with one column in place of COLUMNS, under its alias or else the column's name."""
    item = node.transform(lambda part: column.node.copy() if part == some else part)
    if not isinstance(item, exp.Alias):
        return OutputColumn(column.name, item)
    return OutputColumn(expanded(fold(item.args["alias"]), some, column.name), item)


def _unpacked(node: exp.Expression, some: exp.Columns, scope: NameScope) -> exp.Expression:
    """The item with all columns of *COLUMNS as arguments of the call around it."""
    call = some.parent
    if not isinstance(call, exp.Func) or some is node:
        fail(InvalidQuery("*COLUMNS stands for arguments of a call", "write COLUMNS for columns"), some)
    columns = [column.node.copy() for column in _chosen(some, scope)]
    whole = node.copy()
    place = next(part for part in whole.walk() if part == some)
    around, key = place.parent, place.arg_key
    assert around is not None and key is not None
    if key == "expressions":
        given = [part for e in around.expressions for part in (columns if e is place else [e])]
        around.set("expressions", given)
    elif around.is_var_len_args and len(columns) > 0:
        around.set(key, columns[0])
        around.set("expressions", [*columns[1:], *around.expressions])
    elif len(columns) == 1:
        around.set(key, columns[0])
    else:
        refuse_unsupported("*COLUMNS in a call with a fixed number of arguments", some, "write the columns")
    return whole


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
