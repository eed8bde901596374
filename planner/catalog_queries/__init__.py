"""Queries of PostgreSQL's system catalogs, rewritten into queries that DuckDB answers.

`with_catalog` names the catalogs that a query reads as relations, and replaces what only PostgreSQL has:
its functions over catalogs, casts between names and OIDs, its operators' long form, and system columns.
"""

from planner.catalog_queries.backend_signals import Signal, SignalColumn, refuse_signals, take_signals
from planner.catalog_queries.catalog_functions import MACROS
from planner.catalog_queries.catalog_rewriting import catalog_relation, reads_catalog, with_catalog
from planner.catalog_queries.system_catalog import CatalogSession, SystemCatalog
from planner.relation_names import CATALOG, is_system

__all__ = [
    "CATALOG",
    "MACROS",
    "CatalogSession",
    "Signal",
    "SignalColumn",
    "SystemCatalog",
    "catalog_relation",
    "is_system",
    "reads_catalog",
    "refuse_signals",
    "take_signals",
    "with_catalog",
]
