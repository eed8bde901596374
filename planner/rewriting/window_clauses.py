"""ksqlDB's WINDOW as a call in FROM, whose windows are keys of the groups.

    SELECT k, WINDOWSTART, count(*) FROM t WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k
    →  SELECT k, window_start AS windowstart, count(*) FROM TUMBLE(t, at, INTERVAL '1' HOUR)
       GROUP BY k, window_start, window_end

The time of a row is the column of the table's watermark, or its only TIMESTAMP: until the table is known, a
column that no table has stands there, and `with_times` replaces it. A session of ksqlDB ends with its last
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlglot import exp

from engine.schema import TIMESTAMP, Schema
from planner.errors import InvalidQuery
from planner.identifiers import relation_name
from planner.native import templates
from planner.positions import fail, refuse
from planner.rewriting.closed_windows import watermark_of
from planner.rewriting.enclosed_rows import own
from planner.rewriting.window_tables import END, START

WINDOWS = {"TUMBLING": "TUMBLE", "HOPPING": "HOP", "SESSION": "SESSION"}
_FORMS = {
    "TUMBLING": "WINDOW TUMBLING (SIZE 1 HOUR)",
    "HOPPING": "WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 5 MINUTES)",
    "SESSION": "WINDOW SESSION (10 MINUTES)",
}
_TIME = "the time of a row"
_NAMES = {"WINDOWSTART": START, "WINDOWEND": END}


class Timed(Protocol):
    """A relation with a schema."""

    @property
    def schema(self) -> Schema: ...


def with_windows(query: exp.Select, window: exp.Anonymous) -> exp.Select:
    """The query with the call. Raises InvalidQuery and Unsupported."""
    kind, lengths = window.name, window.expressions
    table = query.args["from_"].this
    group = query.args.get("group")
    if len(lengths) != (2 if kind == "HOPPING" else 1):
        fail(InvalidQuery(f"WINDOW {kind} takes other lengths", _FORMS[kind]), window)
    if group is None:
        fail(InvalidQuery(f"WINDOW {kind} needs a GROUP BY", "GROUP BY what the windows are of"), window)
    if (
        not isinstance(table, exp.Table)
        or not isinstance(table.this, exp.Identifier)
        or query.args.get("joins")
    ):
        hint = f"write FROM {WINDOWS[kind]}(table, time, ...)"
        refuse(window, f"WINDOW {kind} of other rows than those of one table is not supported", hint)
    if kind == "SESSION" and query.args.get("where"):
        hint = "filter the rows in a view, and read that"
        refuse(window, "WINDOW SESSION with WHERE is not supported", hint)
    query.set("windows", None)
    name = table.alias or table.name
    source = exp.Column(this=table.this, table=table.args.get("db"), db=table.args.get("catalog"))
    arguments = [source, exp.column(_TIME, quoted=True), *reversed(lengths)]
    if kind == "SESSION":
        arguments.append(exp.Tuple(expressions=[_key(key) for key in group.expressions]))
    call = exp.Anonymous(this=WINDOWS[kind], expressions=arguments)
    table.replace(exp.Table(this=call, alias=exp.TableAlias(this=exp.to_identifier(name))))
    _name_windows(query, name, lengths[0] if kind == "SESSION" else None)
    group.set("expressions", [*group.expressions, exp.column(START, name), exp.column(END, name)])
    return query


def with_times(tree: exp.Expression, relations: Mapping[str, Timed]) -> None:
    """Put the columns that have the times of rows in their places. Raises InvalidQuery for a table in which
    it is not clear which one that is."""
    for column in list(tree.find_all(exp.Column)):
        if column.name != _TIME:
            continue
        select = column.find_ancestor(exp.Select)
        assert select is not None
        table = select.args["from_"].find(exp.Table)
        relation = relations.get(relation_name(table))
        if relation is not None:
            column.set("this", exp.to_identifier(_time_of(relation, table), quoted=True))


def _time_of(relation: Timed, table: exp.Table) -> str:
    watermark = watermark_of(relation)
    times = [column.name for column in relation.schema.columns if column.type == TIMESTAMP]
    if watermark is None and len(times) != 1:
        fail(
            InvalidQuery(
                f"table {table.name} has {len(times)} columns of TIMESTAMP, and WINDOW says none",
                "write FROM TUMBLE(table, time, ...), or declare WATERMARK FOR the time of rows",
            ),
            table,
        )
    return times[0] if watermark is None else watermark.column


def _key(key: exp.Expression) -> exp.Expression:
    if not isinstance(key, exp.Column):
        hint = "group by columns, computed in a view if need be"
        refuse(key, "WINDOW SESSION by an expression is not supported", hint)
    return exp.column(key.this.copy())


def _name_windows(query: exp.Select, name: str, gap: exp.Expression | None) -> None:
    """Replace WINDOWSTART and WINDOWEND; the end of a session is that of its last row."""
    for column in list(own(query, exp.Column)):
        meant = _NAMES.get(column.name.upper())
        if meant is None or column.table:
            continue
        is_item = column.parent is query and column.arg_key == "expressions"
        found: exp.Expression = exp.column(meant, name)
        if meant == END and gap is not None:
            found = exp.paren(templates.sql("{0} - {1}", (found, gap)))
        column.replace(exp.alias_(found, column.name.lower()) if is_item else found)
