"""Rows of PostgreSQL's views over its catalogs: tables and views by name, activity, statistics and settings.

Statistics that nobody counts are zero or NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

from service.pgcatalog.builtin_objects import Row, system_relations
from service.pgcatalog.catalog_description import OWNING_ROLE, CatalogDescription, DescribedRelation
from service.pgcatalog.object_numbers import DATABASE

VERSION = "15.0"
"""The release whose protocol and catalogs clients find; drivers look at the number alone."""
VERSION_NUMBER = "150000"
SETTINGS: dict[str, tuple[str, str]] = {
    "application_name": ("", "Reporting and Logging / What to Log"),
    "bytea_output": ("hex", "Client Connection Defaults / Statement Behavior"),
    "client_encoding": ("UTF8", "Client Connection Defaults / Locale and Formatting"),
    "client_min_messages": ("notice", "Client Connection Defaults / Statement Behavior"),
    "DateStyle": ("ISO, MDY", "Client Connection Defaults / Locale and Formatting"),
    "default_table_access_method": ("heap", "Client Connection Defaults / Statement Behavior"),
    "default_tablespace": ("", "Client Connection Defaults / Statement Behavior"),
    "default_transaction_isolation": ("repeatable read", "Client Connection Defaults / Statement Behavior"),
    "default_transaction_read_only": ("off", "Client Connection Defaults / Statement Behavior"),
    "extra_float_digits": ("1", "Client Connection Defaults / Locale and Formatting"),
    "integer_datetimes": ("on", "Preset Options"),
    "in_hot_standby": ("off", "Preset Options"),
    "IntervalStyle": ("postgres", "Client Connection Defaults / Locale and Formatting"),
    "jit": ("off", "Query Tuning / Other Planner Options"),
    "is_superuser": ("off", "Preset Options"),
    "lc_collate": ("C.UTF-8", "Preset Options"),
    "lc_ctype": ("C.UTF-8", "Preset Options"),
    "lock_timeout": ("0", "Client Connection Defaults / Statement Behavior"),
    "max_connections": ("100", "Connections and Authentication / Connection Settings"),
    "max_identifier_length": ("63", "Preset Options"),
    "max_index_keys": ("32", "Preset Options"),
    "port": ("5433", "Connections and Authentication / Connection Settings"),
    "row_security": ("on", "Client Connection Defaults / Statement Behavior"),
    "search_path": ("public", "Client Connection Defaults / Statement Behavior"),
    "server_encoding": ("UTF8", "Preset Options"),
    "server_version": (VERSION, "Preset Options"),
    "server_version_num": (VERSION_NUMBER, "Preset Options"),
    "session_authorization": ("", "Preset Options"),
    "standard_conforming_strings": ("on", "Version and Platform Compatibility"),
    "ssl": ("off", "Connections and Authentication / SSL"),
    "statement_timeout": ("0", "Client Connection Defaults / Statement Behavior"),
    "TimeZone": ("UTC", "Client Connection Defaults / Locale and Formatting"),
    "transaction_deferrable": ("off", "Client Connection Defaults / Statement Behavior"),
    "transaction_isolation": ("repeatable read", "Client Connection Defaults / Statement Behavior"),
    "transaction_read_only": ("off", "Client Connection Defaults / Statement Behavior"),
    "wal_level": ("minimal", "Write-Ahead Log / Settings"),
}
"""What a session has that has set nothing, and the setting's category. Settings in a session replace them."""
_OTHER = "", "Customized Options"


def settings_of(catalog: CatalogDescription) -> dict[str, str]:
    """The settings of the session by their names."""
    session = catalog.session
    owner = catalog.role(session.user)
    own = {
        "search_path": ", ".join(session.search_path),
        "session_authorization": session.user,
        "is_superuser": "on" if owner is not None and owner.is_superuser else "off",
    }
    given = {name.lower(): value for name, value in session.settings.items()}
    known = {name: given.pop(name.lower(), own.get(name, value)) for name, (value, _) in SETTINGS.items()}
    return known | given


def _settings(catalog: CatalogDescription) -> Iterator[Row]:
    for name, value in settings_of(catalog).items():
        first, category = SETTINGS.get(name, _OTHER)
        yield {
            "name": name,
            "setting": value,
            "category": category,
            "short_desc": "",
            "context": "internal" if category == "Preset Options" else "user",
            "vartype": "string",
            "source": "default",
            "boot_val": first,
            "reset_val": first,
            "pending_restart": False,
        }


def _tables(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        if not relation.is_view:
            yield {
                "schemaname": relation.schema,
                "tablename": relation.name,
                "tableowner": OWNING_ROLE,
                "hasindexes": bool(relation.indexes),
                "hasrules": False,
                "hastriggers": any(c.kind == "f" for c in relation.constraints),
                "rowsecurity": False,
            }
    for system in system_relations().values():
        if system.kind == "r":
            yield {
                "schemaname": system.schema_name,
                "tablename": system.name,
                "tableowner": OWNING_ROLE,
                **dict.fromkeys(("hasindexes", "hasrules", "hastriggers", "rowsecurity"), False),
            }


def _system_views(catalog: CatalogDescription) -> Iterator[Row]:
    for system in system_relations().values():
        if system.kind == "v":
            yield {"schemaname": system.schema_name, "viewname": system.name, "viewowner": OWNING_ROLE}


def _maintained_views(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        if relation.is_view:
            yield {
                "schemaname": relation.schema,
                "matviewname": relation.name,
                "matviewowner": OWNING_ROLE,
                "hasindexes": False,
                "ispopulated": True,
                "definition": view_text(relation),
            }


def view_text(relation: DescribedRelation) -> str:
    """The query of a view, as `pg_get_viewdef` ends it."""
    return f"{relation.definition.sql.strip().rstrip(';')};"


def _sequences(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for sequence in relation.sequences:
            yield {
                "schemaname": relation.schema,
                "sequencename": sequence.name,
                "sequenceowner": OWNING_ROLE,
                "data_type": catalog.type_number(relation.columns[sequence.column - 1].type),
                "start_value": 1,
                "min_value": 1,
                "max_value": (1 << 63) - 1,
                "increment_by": 1,
                "cycle": False,
                "cache_size": 1,
            }


def _activity(catalog: CatalogDescription) -> Iterator[Row]:
    """The session that asks."""
    role = catalog.role(catalog.session.user)
    yield {
        "datid": DATABASE,
        "datname": catalog.session.database,
        "pid": 1,
        "usesysid": None if role is None else role.oid,
        "usename": catalog.session.user,
        "application_name": settings_of(catalog)["application_name"],
        "state": "active",
        "backend_type": "client backend",
    }


def _encryption(catalog: CatalogDescription) -> Iterator[Row]:
    yield {"pid": 1, "ssl": False}


def _statistics(catalog: CatalogDescription) -> Iterator[Row]:
    """The number of rows of each table and view; nothing else is counted."""
    for relation in catalog.relations:
        counted = ("seq_scan", "seq_tup_read", "n_tup_ins", "n_tup_upd", "n_tup_del", "n_dead_tup")
        yield {
            "relid": relation.oid,
            "schemaname": relation.schema,
            "relname": relation.name,
            "n_live_tup": catalog.size(relation.definition.name),
            **dict.fromkeys(counted, 0),
        }


def _time_zones(catalog: CatalogDescription) -> Iterator[Row]:
    now = datetime.now().astimezone()
    for name in sorted(available_timezones()):
        local = now.astimezone(ZoneInfo(name))
        yield {
            "name": name,
            "abbrev": local.tzname(),
            "utc_offset": local.utcoffset(),
            "is_dst": bool(local.dst()),
        }


VIEW_ROWS = {
    "pg_tables": _tables,
    "pg_views": _system_views,
    "pg_matviews": _maintained_views,
    "pg_sequences": _sequences,
    "pg_settings": _settings,
    "pg_stat_activity": _activity,
    "pg_stat_ssl": _encryption,
    "pg_stat_all_tables": _statistics,
    "pg_stat_user_tables": _statistics,
    "pg_timezone_names": _time_zones,
}
COUNTED = frozenset({"pg_stat_all_tables", "pg_stat_user_tables"})
"""Relations whose rows change with the rows of tables."""
