"""The settings that PostgreSQL's clients ask for: one list for the catalogs, for SHOW and for SET.

What PostgreSQL 15 says about each is in `builtin/pg_settings.tsv`.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.pgcatalog.builtin_objects import builtin_rows

VERSION = "15.0"
"""The release whose protocol and catalogs clients find; drivers look at the number alone."""
VERSION_NUMBER = "150000"
_TIMES = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
_SIZES = (("TB", 1 << 30), ("GB", 1 << 20), ("MB", 1 << 10), ("kB", 1))
UNITS = {"ms": _TIMES, "s": tuple((name, size // 1_000) for name, size in _TIMES[:-1]), "kB": _SIZES}
"""By the unit in which a setting is kept: the units in which it is written, the largest first."""


@dataclass(frozen=True)
class ServerSetting:
    """`default` is the value of a session that has set nothing. Only settings whose `context` is `user` or
    `superuser` can be set in a session. One that `is_listed` is in pg_settings and on SHOW ALL."""

    default: str
    category: str = "Customized Options"
    description: str = ""
    details: str | None = None
    vartype: str = "string"
    context: str = "user"
    unit: str | None = None
    least: str | None = None
    most: str | None = None
    values: tuple[str, ...] | None = None
    is_listed: bool = True

    def shown(self, value: str) -> str:
        """The value as SHOW prints it: in the largest unit of which it is a whole number."""
        if self.unit not in UNITS or not value.isdecimal() or int(value) == 0:
            return value
        number = int(value)
        name, size = next((name, size) for name, size in UNITS[self.unit] if number % size == 0)
        return f"{number // size}{name}"


DEFAULTS = {
    "allow_system_table_mods": "off",
    "application_name": "",
    "backslash_quote": "safe_encoding",
    "bytea_output": "hex",
    "check_function_bodies": "on",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "cursor_tuple_fraction": "0.1",
    "DateStyle": "ISO, MDY",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "enable_hashagg": "on",
    "enable_hashjoin": "on",
    "enable_indexscan": "on",
    "enable_mergejoin": "on",
    "enable_nestloop": "on",
    "enable_seqscan": "on",
    "escape_string_warning": "on",
    "extra_float_digits": "1",
    "geqo": "on",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "in_hot_standby": "off",
    "integer_datetimes": "on",
    "IntervalStyle": "postgres",
    "is_superuser": "off",
    "jit": "off",
    "lc_collate": "C.UTF-8",
    "lc_ctype": "C.UTF-8",
    "lc_messages": "C",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "lock_timeout": "0",
    "maintenance_work_mem": "65536",
    "max_connections": "100",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "plan_cache_mode": "auto",
    "port": "5433",
    "quote_all_identifiers": "off",
    "row_security": "on",
    "search_path": '"$user", public',
    "server_encoding": "UTF8",
    "server_version": VERSION,
    "server_version_num": VERSION_NUMBER,
    "session_authorization": "",
    "session_replication_role": "origin",
    "ssl": "off",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "synchronize_seqscans": "on",
    "synchronous_commit": "on",
    "tcp_keepalives_count": "0",
    "tcp_keepalives_idle": "0",
    "tcp_keepalives_interval": "0",
    "tcp_user_timeout": "0",
    "TimeZone": "UTC",
    "transaction_deferrable": "off",
    "transaction_isolation": "read committed",
    "transaction_read_only": "off",
    "wal_level": "minimal",
    "work_mem": "4096",
    "xmloption": "content",
}
"""The values of a session that has set nothing, in the units of the settings."""


def _settings() -> dict[str, ServerSetting]:
    known = {row["name"]: row for row in builtin_rows("pg_settings")}
    return {name: _setting(default, known.get(name)) for name, default in DEFAULTS.items()}


def _setting(default: str, known: dict | None) -> ServerSetting:
    if known is None:
        return ServerSetting(default, context="internal", is_listed=False)
    return ServerSetting(
        default,
        known["category"],
        known["short_desc"],
        known["extra_desc"],
        known["vartype"],
        known["context"],
        known["unit"],
        known["min_val"],
        known["max_val"],
        None if known["enumvals"] is None else tuple(known["enumvals"]),
    )


OWN_SETTINGS = {
    "branch": ServerSetting("main", description="The branch that statements read and change."),
}
"""Settings that PostgreSQL does not have."""
SERVER_SETTINGS = _settings() | OWN_SETTINGS
OF_CLIENT = ServerSetting("")
"""A setting that a client has made up: its name has a dot."""
