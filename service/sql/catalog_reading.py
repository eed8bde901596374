"""Statements that read the system catalogs: their queries over the catalogs' relations.

Rows of the catalogs can become rows of a table. A statement that changes rows it finds by the catalogs is
refused, and so is a view: nothing tells when the catalogs change.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from planner.catalog_queries import catalog_relation, is_system, reads_catalog, refuse_signals, with_catalog
from planner.errors import Unsupported
from planner.parsing.column_names import POSTGRES
from planner.positions import fail
from planner.statements.statements import Delete, Insert, Merge, Update
from service.pgcatalog.system_tables import RELATIONS, SystemTables


def is_about_catalogs(query: exp.Expression | None, dialect: str) -> bool:
    """Whether a query reads the catalogs or has what only they give a meaning."""
    return query is not None and dialect == POSTGRES and reads_catalog(query, RELATIONS)


def over_catalogs(query: exp.Expression, system: SystemTables) -> exp.Expression:
    """The query over the relations of the catalogs. Raises Unsupported for one that signals sessions."""
    refuse_signals(query)
    return with_catalog(query, system)[0]


def inserts_catalogs(statement: Insert) -> bool:
    """Whether the rows of an INSERT come from a query of the catalogs."""
    parts = (statement.query, statement.tree.args.get("with_"))
    is_query = not isinstance(statement.query, exp.Values | None) and not is_system(statement.table)
    return is_query and any(is_about_catalogs(part, statement.piece.dialect) for part in parts)


def insert_over_catalogs(statement: Insert, system: SystemTables) -> Insert:
    """The INSERT with its query over the relations of the catalogs."""
    tree = statement.tree.copy()
    query, outer = tree.expression, tree.args.get("with_")
    if outer is not None and query.args.get("with_") is None:
        query.set("with_", outer.pop())
    query = over_catalogs(query.copy(), system)
    tree.set("expression", query)
    return replace(statement, query=query, tree=tree)


def check_no_catalogs(statement: Update | Delete | Merge) -> None:
    """Raises Unsupported if the statement finds its rows by the catalogs."""
    if statement.piece.dialect != POSTGRES:
        return
    table = catalog_relation(statement.tree, RELATIONS)
    if table is not None:
        word = type(statement).__name__.upper()
        fail(
            Unsupported(
                f"{word} cannot read the catalog {table.name}",
                f"keep its rows in a table: CREATE TABLE name AS SELECT ... FROM {table.name}, and read that",
            ),
            table,
        )
