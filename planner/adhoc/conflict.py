"""ON CONFLICT in all its spellings: what happens to a row whose key another row has already.

| spelling | meaning |
|---|---|
| `ON CONFLICT [(columns) or ON CONSTRAINT name] DO NOTHING` | PostgreSQL's, SQLite's and DuckDB's |
| `ON CONFLICT ... DO UPDATE SET ... [WHERE ...]` | the same; `EXCLUDED` is the row that was to be inserted |
| `INSERT IGNORE`, `INSERT OR IGNORE` | DO NOTHING for any key |
| `ON DUPLICATE KEY UPDATE` | DO UPDATE for the one key; a statement may update a row several times |

The query of an update reads one relation: each stored row with the columns of the row that was to be inserted
behind its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from engine.schema import Column, Schema
from planner.adhoc.adhoc_query import AdhocQuery
from planner.adhoc.dml_queries import Assignments, assignments, defaulted, touched
from planner.adhoc.from_clauses import Relations
from planner.errors import UnknownColumn, Unsupported
from planner.identifiers import column_name, fold
from planner.positions import fail
from planner.statements.statements import Insert
from planner.suggestions import did_you_mean

_EXCLUDED = "excluded#"


@dataclass(frozen=True)
class OnConflict:
    """`target` are the named columns, or `constraint` is the named constraint; `update` is None for DO
    NOTHING.

    `again` says whether the statement may change a row that it has already changed.
    """

    target: tuple[str, ...] = ()
    constraint: str | None = None
    update: Assignments | None = None
    again: bool = False

    @property
    def queries(self) -> tuple[AdhocQuery, ...]:
        return () if self.update is None else (self.update.query,)


def on_conflict(insert: Insert, schema: Schema, relations: Relations) -> OnConflict | None:
    """The ON CONFLICT clause of an INSERT, or None. Raises a PlannerError with its place."""
    tree = insert.tree
    conflict = tree.args.get("conflict")
    if conflict is None:
        ignores = tree.args.get("ignore") or tree.args.get("alternative") == "IGNORE"
        return OnConflict() if ignores else None
    if conflict.args.get("index_predicate") is not None:
        reason = Unsupported(
            "ON CONFLICT (...) WHERE is not supported", "remove the WHERE: there are no partial indexes"
        )
        fail(reason, conflict)
    target = tuple(column_name(key) for key in conflict.args.get("conflict_keys") or ())
    constraint = conflict.args.get("constraint")
    name = None if constraint is None else fold(constraint)
    if not conflict.expressions:
        return OnConflict(target, name)
    update = _update(insert, conflict, schema, relations)
    return OnConflict(target, name, update, bool(conflict.args.get("duplicate")))


def with_excluded(schema: Schema) -> Schema:
    """The columns of a stored row, then those of the row that was to be inserted."""
    excluded = (Column(_EXCLUDED + column.name, column.type) for column in schema.columns)
    return Schema((*schema.columns, *excluded))


def _update(insert: Insert, conflict: exp.OnConflict, schema: Schema, relations: Relations) -> Assignments:
    table = insert.tree.this.this if isinstance(insert.tree.this, exp.Schema) else insert.tree.this
    update = exp.Update(this=table.copy(), expressions=[e.copy() for e in conflict.expressions])
    where = conflict.args.get("where")
    update.set("where", None if where is None else where.copy())
    tree = update.transform(_excluded)
    for column in tree.find_all(exp.Column):
        name = column.name.removeprefix(_EXCLUDED)
        if name != column.name and name not in schema.names:
            reason = f'table "{insert.table}" has no column "{name}"'
            known = f"it has {', '.join(schema.names)}"
            fail(UnknownColumn(reason, did_you_mean(name, schema.names, known)), column)
    columns, values = assignments(tree.expressions, insert.table, schema)
    query = touched(tree, [], with_excluded(schema), relations, values)
    return Assignments(columns, query, defaulted(columns, values))


def _excluded(node: exp.Expression) -> exp.Expression:
    """The column of the row that was to be inserted, for `EXCLUDED.a` and MySQL's `VALUES(a)`."""
    name = None
    if isinstance(node, exp.Column) and node.table.lower() == "excluded":
        name = fold(node.this)
    elif isinstance(node, exp.Anonymous) and node.name.upper() == "VALUES" and len(node.expressions) == 1:
        name = column_name(node.expressions[0])
    return node if name is None else exp.column(exp.to_identifier(_EXCLUDED + name, quoted=True))
