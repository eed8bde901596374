"""MERGE as queries: one per WHEN, over the rows that no earlier WHEN has taken.

| WHEN | columns of its query |
|---|---|
| MATCHED THEN UPDATE | the row's place, then the new value of each assigned column |
| MATCHED THEN DELETE | the row's place |
| NOT MATCHED THEN INSERT | the values, in the order of the columns that it names |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.schema import Schema
from planner.adhoc.adhoc_query import AdhocQuery, ChangeTarget, adhoc_query
from planner.adhoc.dml_queries import Assignments, assignments, defaulted, is_default, position_of, row_column
from planner.adhoc.from_clauses import Relations
from planner.errors import InvalidQuery
from planner.identifiers import column_name
from planner.positions import fail, refuse
from planner.statements.statements import Merge


@dataclass(frozen=True)
class UpdateWhen:
    assignments: Assignments


@dataclass(frozen=True)
class DeleteWhen:
    query: AdhocQuery


@dataclass(frozen=True)
class InsertWhen:
    """`columns` are positions in the table; the query gives no value for those in `defaults`."""

    columns: tuple[int, ...]
    query: AdhocQuery
    defaults: frozenset[int]


When = UpdateWhen | DeleteWhen | InsertWhen


def whens(merge: Merge, schema: Schema, relations: Relations) -> tuple[When, ...]:
    """The actions of a MERGE, WHEN by WHEN, without those that do nothing. Raises a PlannerError with its
    place."""
    tree = merge.tree
    if relations[merge.table].period is not None:
        hint = "write UPDATE, DELETE and INSERT, with FOR PORTION OF VALID_TIME if they are not from now on"
        refuse(tree.this, "MERGE INTO a table with valid time is not supported", hint)
    if tree.args.get("using_cond"):
        refuse(tree.this, "MERGE ... USING (columns) is not supported", "write MERGE INTO t USING s ON ...")
    found: list[When] = []
    before: dict[tuple[bool, bool], list[exp.Expression]] = {}
    for when in tree.args["whens"].expressions:
        kind = (bool(when.args.get("matched")), bool(when.args.get("source")))
        taken = before.setdefault(kind, [])
        condition = when.args.get("condition")
        own = [] if condition is None else [condition]
        rows = _Rows(merge, schema, relations, kind, [*own, *map(_not, taken)])
        taken.append(exp.true() if condition is None else condition)
        found += _when(when.args["then"], rows)
    return tuple(found)


@dataclass(frozen=True)
class _Rows:
    """The rows that a WHEN takes: `kind` says whether they are matched, and whether they lack a source
    row."""

    merge: Merge
    schema: Schema
    relations: Relations
    kind: tuple[bool, bool]
    conditions: Sequence[exp.Expression]

    def query(self, values: Sequence[exp.Expression], place: bool) -> AdhocQuery:
        """The values of the rows, behind the place of the target's row if `place` is true."""
        tree = self.merge.tree.copy()
        table, source, on = tree.this, tree.args["using"], tree.args["on"]
        target = ChangeTarget(table, row_column(self.schema))
        alias = exp.to_identifier(table.alias or table.name, quoted=True)
        row = exp.column(exp.to_identifier(target.row, quoted=True), table=alias)
        select = exp.Select(expressions=[*([row] if place else []), *(value.copy() for value in values)])
        conditions = [condition.copy() for condition in self.conditions]
        if self.kind == (True, False):
            select.set("from_", exp.From(this=table))
            select.set("joins", [exp.Join(this=source, on=on)])
        else:
            here, there = (table, source) if self.kind[1] else (source, table)
            select.set("from_", exp.From(this=here))
            other = exp.Select(expressions=[exp.Literal.number(1)])
            other.set("from_", exp.From(this=there))
            other.set("where", exp.Where(this=on))
            conditions.append(exp.Not(this=exp.Exists(this=other)))
        if conditions:
            select.set("where", exp.Where(this=exp.and_(*conditions)))
        select.set("with_", tree.args.get("with_"))
        return adhoc_query(select, self.relations, target if place else None)


def _when(then: exp.Expression, rows: _Rows) -> list[When]:
    matched, by_source = rows.kind
    has_row = matched or by_source
    match then:
        case exp.Var() if then.name.upper() == "DO NOTHING":
            return []
        case exp.Var() if then.name.upper() == "DELETE" and has_row:
            return [DeleteWhen(rows.query([], True))]
        case exp.Update() if has_row and then.expressions:
            columns, values = assignments(then.expressions, rows.merge.table, rows.schema)
            left = [exp.Null() if is_default(value) else value for value in values]
            return [UpdateWhen(Assignments(columns, rows.query(left, True), defaulted(columns, values)))]
        case exp.Insert(expression=exp.Tuple() as values) if not has_row:
            return [_insert(then, values.expressions, rows)]
    word = then.sql(rows.merge.piece.dialect)
    refuse(then, f"MERGE ... THEN {word} here is not supported", "use UPDATE SET, DELETE or INSERT (...)")


def _insert(then: exp.Insert, values: list[exp.Expression], rows: _Rows) -> InsertWhen:
    schema, table = rows.schema, rows.merge.table
    named = then.this.expressions if isinstance(then.this, exp.Tuple) else []
    columns = tuple(position_of(column_name(node), table, schema, node) for node in named)
    columns = columns or tuple(range(len(schema)))
    if len(columns) != len(values):
        fail(InvalidQuery(f"{len(values)} values for {len(columns)} columns"), then)
    given = [exp.Null() if is_default(value) else value for value in values]
    return InsertWhen(columns, rows.query(given, False), defaulted(columns, values))


def _not(condition: exp.Expression) -> exp.Expression:
    """The condition is false or NULL."""
    return exp.Not(this=exp.Coalesce(this=condition.copy(), expressions=[exp.false()]))
