"""Rows of PostgreSQL's views over its catalogs: tables and views by name, statistics and settings.

Statistics that nobody counts are zero or NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

from service.definitions.seeing import text_now
from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import OWNING_ROLE, CatalogDescription, DescribedRelation
from service.pgcatalog.server_settings import OF_CLIENT, SERVER_SETTINGS


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
    known = {
        name: given.pop(name.lower(), own.get(name, setting.default))
        for name, setting in SERVER_SETTINGS.items()
    }
    return known | given


def _settings(catalog: CatalogDescription) -> Iterator[Row]:
    for name, value in settings_of(catalog).items():
        setting = SERVER_SETTINGS.get(name, OF_CLIENT)
        if not setting.is_listed:
            continue
        yield {
            "name": name,
            "setting": value,
            "unit": setting.unit,
            "category": setting.category,
            "short_desc": setting.description,
            "extra_desc": setting.details,
            "context": setting.context,
            "vartype": setting.vartype,
            "min_val": setting.least,
            "max_val": setting.most,
            "enumvals": setting.values,
            "source": "default" if value == setting.default else "session",
            "boot_val": setting.default,
            "reset_val": setting.default,
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


def _maintained_views(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        if relation.is_view:
            yield {
                "schemaname": relation.schema,
                "matviewname": relation.name,
                "matviewowner": OWNING_ROLE,
                "hasindexes": bool(relation.indexes),
                "ispopulated": True,
                "definition": view_text(relation),
            }


def view_text(relation: DescribedRelation) -> str:
    """The query of a view, as `pg_get_viewdef` ends it."""
    return f"{text_now(relation.definition).strip().rstrip(';')};"


def _sequences(catalog: CatalogDescription) -> Iterator[Row]:
    for relation in catalog.relations:
        for sequence in relation.sequences:
            yield {
                "schemaname": relation.schema,
                "sequencename": sequence.name,
                "sequenceowner": OWNING_ROLE,
                "data_type": catalog.type_number(relation.columns[sequence.column - 1].type),
                "start_value": sequence.start,
                "min_value": 1,
                "max_value": (1 << 63) - 1,
                "increment_by": sequence.increment,
                "cycle": False,
                "cache_size": 1,
            }


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
    "pg_matviews": _maintained_views,
    "pg_sequences": _sequences,
    "pg_settings": _settings,
    "pg_stat_all_tables": _statistics,
    "pg_stat_user_tables": _statistics,
    "pg_timezone_names": _time_zones,
}
FRESH = frozenset({"pg_stat_all_tables", "pg_stat_user_tables", "pg_settings"})
"""Relations whose rows change with the rows of tables, or with the session."""
