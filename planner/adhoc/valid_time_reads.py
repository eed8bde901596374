"""Relations with valid time in ad-hoc queries: as they are valid now, or as FOR VALID_TIME says.

A reference becomes a query of all of the relation's rows with their periods, which DuckDB answers as any
other. The table that a statement changes stays as it is: `planner.adhoc.portions` says what happens to its
rows.
"""

from __future__ import annotations

from sqlglot import exp

from planner.adhoc.from_clauses import Relations
from planner.adhoc.visible_ctes import tables_with_ctes
from planner.identifiers import fold, relation_name
from planner.positions import fail, refuse
from planner.rewriting.valid_times import (
    VALID_TIME,
    at_valid_time,
    has_no_valid_time,
    moments_left_out,
    valid_clause,
)

_NOW = exp.Version(this=VALID_TIME, kind="AS OF", expression=exp.CurrentTimestamp())


def with_valid_times(query: exp.Expression, relations: Relations, target: exp.Table | None) -> None:
    """Replace the references to relations with valid time, but not that to the `target` of a change.

    Raises InvalidQuery for FOR VALID_TIME behind any other relation, with its place.
    """
    if target is None:  # a change sees the moments of the rows that it changes
        _refuse_moments(query, relations)
    for table, ctes in tables_with_ctes(query):
        clause = valid_clause(table)
        if table is target or not isinstance(table.this, exp.Identifier):
            continue
        is_cte = table.args.get("db") is None and fold(table.this) in ctes
        known = None if is_cte else relations.get(relation_name(table))
        if clause is not None and (is_cte or (known is not None and known.period is None)):
            has_no_valid_time(table.name, clause)
        if known is None or known.period is None:
            continue
        if clause is not None and clause.args["kind"] == "PORTION":
            refuse(table, "FOR PORTION OF in a query is not supported", "write FOR VALID_TIME FROM")
        state = table.args.get("version") if clause is None else clause.args.get("state")
        if clause is not None and clause.args["kind"] == "ALL":
            table.set("version", state)
            continue
        names = known.schema.names
        since, until = known.period
        untimed = [name for place, name in enumerate(names) if place not in known.period]
        found = at_valid_time(table, clause or _NOW, untimed, (names[since], names[until]))
        (inner,) = found.find_all(exp.Table)
        inner.set("version", None if state is None else state.copy())
        inner.set("when", table.args.get("when"))
        table.replace(found)


def _refuse_moments(query: exp.Expression, relations: Relations) -> None:
    """Raise UnknownColumn for a moment that the only relation in FROM leaves out. Where something else may
    have a column of that name, DuckDB decides."""
    for select in query.find_all(exp.Select):
        source = select.args.get("from_")
        is_alone = source is not None and not any(
            part.args.get(key) for part in (select, source.this) for key in ("joins", "laterals")
        )
        outer = select.find_ancestor(exp.Select, exp.Query, exp.Update, exp.Delete, exp.Merge)
        if outer is not None or not is_alone or select.args.get("with_"):
            continue
        aliases = {each.alias.lower() for each in select.expressions if each.alias}
        for column in select.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is select and column.name.lower() not in aliases:
                error = moments_left_out(column, relations)
                if error is not None:
                    fail(error, column)
