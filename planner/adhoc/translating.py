"""Translates one query, or the query of a CREATE VIEW, without looking at any table.

What depends on the type of a column is a macro of ours in the text, which `before` creates. So the
translation runs in DuckDB after these statements, over tables of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.adhoc.adhoc_query import in_plain_duckdb
from planner.adhoc.clock_truncation import CLOCK_MACROS
from planner.adhoc.from_clauses import with_plain_rows
from planner.adhoc.reading_notes import NoteTaker, ReadingNote
from planner.dialects.overloads import overload
from planner.errors import InvalidQuery, InvalidSyntax, SqlTooDeep
from planner.limits import PlanningLimits, within
from planner.parsing.canonical_text import duckdb_text
from planner.parsing.parse import parse_query
from planner.positions import fail

_WHOLE_QUOTIENTS = "SET integer_division = true"


@dataclass(frozen=True)
class Translation:
    """`sql` is DuckDB's. The statements `before` are to run first. `notes` are in the order of the text."""

    sql: str
    before: tuple[str, ...]
    notes: tuple[ReadingNote, ...]


def translate(sql: str, dialect: str, limits: PlanningLimits) -> Translation:
    """The translation of a query. Raises a PlannerError with the place of what cannot be read or has no
    meaning here, and a PlanningLimit for a text that takes more than the limits allow."""
    try:
        with within(limits):
            return _translated(_query(parse_query(sql, dialect)), dialect)
    except RecursionError:
        raise SqlTooDeep.of() from None
    except UnicodeError:
        raise InvalidSyntax.of_escape() from None


def _query(tree: exp.Expression) -> exp.Expression:
    query = tree.expression if isinstance(tree, exp.Create) and tree.kind == "VIEW" else tree
    if isinstance(query, exp.Query) and isinstance(query, exp.Expression):
        return query
    fail(InvalidQuery("only queries are translated", "write a SELECT, or a CREATE VIEW of one"), tree)


def _translated(query: exp.Expression, dialect: str) -> Translation:
    taker = NoteTaker(query, dialect)
    with_plain_rows(query, dialect)
    found = in_plain_duckdb(query, taker.replaced)
    return Translation(duckdb_text(found), _before(found), taker.notes())


def _before(query: exp.Expression) -> tuple[str, ...]:
    """The setting and the macros that the query needs."""
    names = sorted({call.name for call in query.find_all(exp.Anonymous)})
    overloads = [macro.macro() for name in names if (macro := overload(name.lower()))]
    clocks = [CLOCK_MACROS[name] for name in names if name in CLOCK_MACROS]
    divides = any(division.args.get("typed") for division in query.find_all(exp.Div))
    return (*([_WHOLE_QUOTIENTS] if divides else []), *overloads, *clocks)
