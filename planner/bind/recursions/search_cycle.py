"""SEARCH and CYCLE of a recursive name, rewritten as columns that its base and its step compute.

    base   →   SELECT b.*, <first values> FROM (base) AS b
    step   →   SELECT s.*, <next values> FROM (step, with the columns of its row of the name) AS s
               WHERE NOT <the row of the name closed a cycle>

The column of SEARCH is an array that orders as PostgreSQL's rows do: for DEPTH FIRST the values on the path,
for BREADTH FIRST the depth and the values of the row. The path of CYCLE is an array of texts, each as
PostgreSQL prints the row of the tracked columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from engine.schema import Kind, Type
from planner.bind.refuse import refuse_unsupported
from planner.bind.working_table import body_of, references
from planner.errors import InvalidQuery
from planner.identifiers import fold
from planner.native.templates import with_parts
from planner.parsing.dialect_parsers import trees
from planner.parsing.recursion_clauses import CLAUSES
from planner.positions import fail, refuse

_ROW = "__row"
"""The alias of the base and of the step below the columns that are added."""
_PLAIN = frozenset({Kind.DATE, Kind.TIME, Kind.TIMETZ, Kind.UUID, Kind.BIT})
"""Kinds besides the numbers whose texts PostgreSQL prints in a row without quotes."""
_UNPRINTED = frozenset({Kind.INTERVAL, Kind.ARRAY})
_QUOTED = r"""coalesce(CASE WHEN {text} = '' OR {text} ~ '["\\(),[:space:]]'
    THEN '"' || replace(replace({text}, '\', '\\'), '"', '""') || '"' ELSE {text} END, '')"""


@dataclass(frozen=True)
class _Added:
    """A column that a clause adds: its name, its value in the base, and in the step."""

    name: str
    first: exp.Expr
    next: exp.Expr


def has_clauses(cte: exp.CTE) -> bool:
    """Whether the recursive name has SEARCH or CYCLE."""
    return any(cte.args.get(part) is not None for part in CLAUSES)


def traversed(cte: exp.CTE, types: Mapping[str, Type]) -> exp.CTE:
    """The recursive name without its clauses, with their columns after its own, which are `types` in order.

    Raises InvalidQuery or Unsupported at the clause or the step.
    """
    body = body_of(cte)
    clause = next(c for part in CLAUSES if (c := cte.args.get(part)) is not None)
    step = body.expression if isinstance(body, exp.Union) else None
    if not isinstance(step, exp.Select) or not isinstance(body.this, exp.Query | exp.Values):
        fail(InvalidQuery(f"{_word(clause)} needs a base UNION a step that is a SELECT"), clause.this)
    added, going = _columns(cte, types)
    result = cte.copy()
    for part in CLAUSES:
        result.set(part, None)
    names = [*types, *(column.name for column in added)]
    alias = result.args["alias"]
    alias.set("columns", [exp.to_identifier(name, quoted=True) for name in names])
    base = _around(body.this.copy(), list(types), [column.first for column in added])
    rows = _with_last(step.copy(), cte.alias.lower(), added, clause)
    following = _around(rows, names, [column.next for column in added], len(types))
    if going is not None:
        following = following.where(going, copy=False)
    union = with_parts(body, this=base, expression=following)
    result.set("this", union)
    return result


def _columns(cte: exp.CTE, types: Mapping[str, Type]) -> tuple[list[_Added], exp.Expr | None]:
    """The columns of the clauses, and the condition under which the step goes on from a row."""
    search, cycle = (cte.args.get(part) for part in CLAUSES)
    added, going = [], None
    if search is not None:
        added.append(_searched(search, types))
    if cycle is not None:
        marks, going = _cycled(cycle, types)
        added += marks
    taken = set(types)
    for column in added:
        if column.name in taken:
            clause = next(c for c in (search, cycle) if c is not None)
            fail(InvalidQuery(f'column "{column.name}" is already in "{cte.alias}"'), clause.this)
        taken.add(column.name)
    return added, going


def _searched(clause: exp.RecursiveWithSearch, types: Mapping[str, Type]) -> _Added:
    name = fold(clause.args["expression"])
    by = [(column, _element(types[column], clause)) for column in _tracked(clause, types)]
    values = [exp.Cast(this=_column(column), to=kind) for column, kind in by]
    if any(kind != by[0][1] for _, kind in by):
        hint = "cast the columns to one type in the recursive query"
        refuse(clause.this, "SEARCH BY columns of several types is not supported", hint)
    last = _column(name)
    if clause.args["kind"] == "DEPTH":
        row = exp.Array(expressions=values)
        place = row if len(values) == 1 else exp.Array(expressions=[row])
        return _Added(name, place, _joined(last, place.copy()))
    level = "lpad(CAST({depth} AS TEXT), 19, '0')" if types[by[0][0]].kind is Kind.TEXT else "{depth}"
    first = _filled(level, depth=_filled("CAST(0 AS BIGINT)"))
    deeper = _filled(level, depth=_filled("CAST({last}[1] AS BIGINT) + 1", last=last))
    return _Added(
        name,
        exp.Array(expressions=[first, *(value.copy() for value in values)]),
        exp.Array(expressions=[deeper, *values]),
    )


def _element(type: Type, clause: exp.RecursiveWithSearch) -> exp.DataType:
    """The type of a column's values in the array."""
    if type.is_integer:
        return exp.DataType.build("BIGINT")
    if type.kind is not Kind.TEXT and clause.args["kind"] == "BREADTH":
        refuse_unsupported(f"SEARCH BREADTH FIRST BY a {type}", clause.this, "cast it to BIGINT or TEXT")
    return exp.DataType.build(str(type), dialect="postgres")


def _cycled(clause: exp.RecursiveWithSearch, types: Mapping[str, Type]) -> tuple[list[_Added], exp.Expr]:
    """The mark and the path, and the condition on the row that the step goes on from."""
    mark, path = fold(clause.args["expression"]), fold(clause.args["using"])
    closed, open = (clause.args.get(part) for part in ("to", "default"))
    closed = exp.true() if closed is None else closed
    open = exp.false() if open is None else open
    row = _row_text(_tracked(clause, types), types, clause)
    is_closed = _filled(
        "CASE WHEN {row} = ANY({path}) THEN {closed} ELSE {open} END",
        row=row,
        path=_column(path),
        closed=closed,
        open=open,
    )
    place = exp.Array(expressions=[row])
    longer = _joined(_column(path), place.copy())
    going = exp.NEQ(this=_column(mark), expression=closed.copy())
    return [_Added(mark, open.copy(), is_closed), _Added(path, place, longer)], going


def _row_text(columns: Sequence[str], types: Mapping[str, Type], clause: exp.RecursiveWithSearch) -> exp.Expr:
    """The values of a row as PostgreSQL prints them: (1,two,"and three",)."""
    fields = [_field_text(_column(column), types[column], clause) for column in columns]
    comma = exp.Literal.string(",")
    parts: list[exp.Expr] = [part for field in fields for part in (comma.copy(), field)][1:]
    ends = (exp.Literal.string("("), exp.Literal.string(")"))
    return exp.Paren(this=reduce(_joined, [ends[0], *parts, ends[1]]))


def _field_text(column: exp.Expr, type: Type, clause: exp.RecursiveWithSearch) -> exp.Expr:
    if type.kind in _UNPRINTED:
        refuse_unsupported(f"CYCLE with a column of type {type}", clause.this, "cast it to TEXT")
    if type.kind is Kind.BOOLEAN:
        return _filled("CASE {column} WHEN true THEN 't' WHEN false THEN 'f' ELSE '' END", column=column)
    text = exp.Cast(this=column, to=exp.DataType.build("TEXT"))
    is_plain = type.is_integer or type.is_float or type.kind in _PLAIN
    return _filled("coalesce({text}, '')" if is_plain else _QUOTED, text=text)


def _joined(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=left, expression=right, safe=True)


def _tracked(clause: exp.RecursiveWithSearch, types: Mapping[str, Type]) -> list[str]:
    """The names of the clause's columns, which are columns of the recursive query."""
    names = [fold(identifier) for identifier in clause.this.expressions]
    for name, identifier in zip(names, clause.this.expressions, strict=True):
        if name not in types:
            error = f'{_word(clause)} names "{name}", which is no column of the recursive query'
            fail(InvalidQuery(error), identifier)
    return names


def _with_last(
    step: exp.Select, name: str, added: Sequence[_Added], clause: exp.RecursiveWithSearch
) -> exp.Select:
    """The step with the added columns of the row of the name that it goes on from."""
    found = [table for table in references(name, step) if table.parent_select is step]
    grouped = [part for part in ("distinct", "group", "having", "limit", "offset") if step.args.get(part)]
    if len(found) != 1 or grouped:
        error = f"{_word(clause)} needs a step that is a plain SELECT with the recursive name in its FROM"
        fail(InvalidQuery(error), clause.this)
    names = [exp.to_identifier(column.name, quoted=True) for column in added]
    table = found[0].alias_or_name
    for star in [star for item in step.expressions for star in _stars(item, table)]:
        star.set("except_", [*(star.args.get("except_") or ()), *(each.copy() for each in names)])
    columns = [exp.Column(this=each, table=exp.to_identifier(table)) for each in names]
    return step.select(*columns, copy=False)


def _stars(item: exp.Expr, table: str) -> list[exp.Star]:
    """The star of an item of the select list, if it has the columns of the table."""
    if isinstance(item, exp.Column) and item.table.lower() == table.lower():
        item = item.this
    return [item] if isinstance(item, exp.Star) else []


def _around(
    query: exp.Expr, names: Sequence[str], values: Sequence[exp.Expr], kept: int | None = None
) -> exp.Select:
    """The rows of the query under these names: the first `kept`, all unless given, and the values."""
    alias = exp.TableAlias(
        this=exp.to_identifier(_ROW), columns=[exp.to_identifier(name, quoted=True) for name in names]
    )
    rows = exp.Subquery(this=query, alias=alias)
    return exp.select(*map(_column, names[:kept]), *values).from_(rows)


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(_ROW, quoted=True))


def _filled(template: str, **parts: exp.Expr) -> exp.Expr:
    """The expression of the template with each {name} replaced by its part."""
    text = template.format(**{name: f"__{name}" for name in parts})
    (select,) = trees(f"SELECT {text}", "postgres")
    assert isinstance(select, exp.Select)
    expression = exp.Paren(this=select.expressions[0])
    for column in list(expression.find_all(exp.Column)):
        column.replace(parts[column.name.removeprefix("__")].copy())
    return expression


def _word(clause: exp.RecursiveWithSearch) -> str:
    return "CYCLE" if clause.args["kind"] == "CYCLE" else "SEARCH"
