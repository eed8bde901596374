"""Long texts of SQL: planned in processes of their own, because they make millions of objects.

What comes back is small: a plan keeps a list of literals as one constant, and an ad-hoc query is a text. A
short text is planned where it is asked for, because a process costs some milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from engine.processes import children
from engine.processes.apart import CallEnded, CallLimits, CallTimeout, apart
from engine.schema import Schema
from planner.adhoc.adhoc_query import AdhocQuery, adhoc_query
from planner.adhoc.from_clauses import Relations
from planner.adhoc.translating import Translation, translate
from planner.errors import InvalidQuery
from planner.limits import PlanningLimits, current, out_of_memory, out_of_time, within
from planner.lower.planned_query import PlannedQuery
from planner.parsing.namespace import Namespace
from planner.parsing.parameters import Parameters
from planner.parsing.parse import spelled_names
from planner.parsing.script import Piece, split
from planner.planning import plan_query
from planner.relation import Catalog, Watermark
from planner.rewriting.closed_windows import watermark_of
from planner.rewriting.open_pivots import PivotLists
from planner.statements.row_statements import is_query
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import Select

T = TypeVar("T")
LONG = 1 << 15
"""Characters of a long text."""
_TURNS = threading.Semaphore(2)
"""So many are planned at a time, because each may take much memory."""
children.preload("planner.long_texts")


def plan_text(
    sql: str,
    catalog: Catalog,
    dialect: str,
    limits: PlanningLimits,
    named: bool = False,
    lists: PivotLists = (),
) -> PlannedQuery:
    """The same as `plan_query`."""
    if len(sql) < LONG:
        return plan_query(sql, catalog, dialect, limits, named, lists)
    return _apart(limits, plan_query, sql, catalog, dialect, limits, named, lists)


def translate_text(sql: str, dialect: str, limits: PlanningLimits) -> Translation:
    """The same as `translate`."""
    if len(sql) < LONG:
        return translate(sql, dialect, limits)
    return _apart(limits, translate, sql, dialect, limits)


def is_long_query(piece: Piece) -> bool:
    """Whether a statement is a query with a long text, or a long one in place of calls of functions."""
    if not is_query(piece):
        return False
    replaced = () if piece.length >= LONG else spelled_names(piece.source, piece.dialect, piece.names)
    return piece.length + sum(len(text) for *_, text in replaced) >= LONG


def long_query(piece: Piece, relations: Relations) -> AdhocQuery:
    """The ad-hoc query of a statement for which `is_long_query`, under the limits of the caller's block."""
    limits = current()
    columns = {
        name: _Columns(relation.schema, watermark_of(relation), relation.period)
        for name, relation in relations.items()
    }
    of_piece = (piece.script, piece.index, piece.dialect, piece.parameters, piece.names)
    return _apart(limits, _read, *of_piece, columns, limits)


@dataclass(frozen=True)
class _Columns:
    """What an ad-hoc query has to know of a relation."""

    schema: Schema
    watermark: Watermark | None
    period: tuple[int, int] | None


def _read(
    script: str,
    index: int,
    dialect: str,
    parameters: Parameters,
    names: Namespace,
    relations: Mapping[str, _Columns],
    limits: PlanningLimits,
) -> AdhocQuery:
    with within(limits):
        statement = parse_statement(split(script, dialect, parameters, names)[index])
        if not isinstance(statement, Select):
            raise InvalidQuery("the statement is not a query", line=statement.line, column=statement.column)
        return adhoc_query(statement.query, relations)


def _apart(limits: PlanningLimits, call: Callable[..., T], *arguments: object) -> T:
    """A call under the limits. Raises a PlannerError."""
    try:
        with _TURNS:
            return apart(CallLimits(limits.memory, limits.seconds), call, *arguments)
    except (MemoryError, CallEnded):
        raise out_of_memory(limits) from None
    except CallTimeout:
        raise out_of_time(limits) from None
