"""The settings that PostgreSQL's clients ask for: one list for the catalogs, for SHOW and for SET.

Source of names, defaults, categories, types and contexts: PostgreSQL 15's manual, "Server Configuration", and
what its `pg_settings` says.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "15.0"
"""The release whose protocol and catalogs clients find; drivers look at the number alone."""
VERSION_NUMBER = "150000"
_STATEMENTS = "Client Connection Defaults / Statement Behavior"
_FORMATS = "Client Connection Defaults / Locale and Formatting"
_PRESET = "Preset Options"
_PLANNER = "Query Tuning / Planner Method Configuration"
_PLANNING = "Query Tuning / Other Planner Options"
_OLDER = "Version and Platform Compatibility / Previous PostgreSQL Versions"
_CONNECTIONS = "Connections and Authentication / Connection Settings"
_LOG = "Write-Ahead Log / Settings"


@dataclass(frozen=True)
class ServerSetting:
    """`default` is the value of a session that has set nothing. Only settings whose `context` is `user` or
    `superuser` can be set in a session."""

    default: str
    category: str = "Customized Options"
    vartype: str = "string"
    context: str = "user"
    unit: str | None = None


SERVER_SETTINGS: dict[str, ServerSetting] = {
    "allow_system_table_mods": ServerSetting("off", "Developer Options", "bool", "superuser"),
    "application_name": ServerSetting("", "Reporting and Logging / What to Log"),
    "backslash_quote": ServerSetting("safe_encoding", _OLDER, "enum"),
    "bytea_output": ServerSetting("hex", _STATEMENTS, "enum"),
    "check_function_bodies": ServerSetting("on", _STATEMENTS, "bool"),
    "client_encoding": ServerSetting("UTF8", _FORMATS),
    "client_min_messages": ServerSetting("notice", _STATEMENTS, "enum"),
    "cursor_tuple_fraction": ServerSetting("0.1", _PLANNING, "real"),
    "DateStyle": ServerSetting("ISO, MDY", _FORMATS),
    "default_table_access_method": ServerSetting("heap", _STATEMENTS),
    "default_tablespace": ServerSetting("", _STATEMENTS),
    "default_transaction_deferrable": ServerSetting("off", _STATEMENTS, "bool"),
    "default_transaction_isolation": ServerSetting("read committed", _STATEMENTS, "enum"),
    "default_transaction_read_only": ServerSetting("off", _STATEMENTS, "bool"),
    "enable_hashagg": ServerSetting("on", _PLANNER, "bool"),
    "enable_hashjoin": ServerSetting("on", _PLANNER, "bool"),
    "enable_indexscan": ServerSetting("on", _PLANNER, "bool"),
    "enable_mergejoin": ServerSetting("on", _PLANNER, "bool"),
    "enable_nestloop": ServerSetting("on", _PLANNER, "bool"),
    "enable_seqscan": ServerSetting("on", _PLANNER, "bool"),
    "escape_string_warning": ServerSetting("on", _OLDER, "bool"),
    "extra_float_digits": ServerSetting("1", _FORMATS, "integer"),
    "geqo": ServerSetting("on", "Query Tuning / Genetic Query Optimizer", "bool"),
    "idle_in_transaction_session_timeout": ServerSetting("0", _STATEMENTS, "integer", "user", "ms"),
    "idle_session_timeout": ServerSetting("0", _STATEMENTS, "integer", "user", "ms"),
    "in_hot_standby": ServerSetting("off", _PRESET, "bool", "internal"),
    "integer_datetimes": ServerSetting("on", _PRESET, "bool", "internal"),
    "IntervalStyle": ServerSetting("postgres", _FORMATS, "enum"),
    "is_superuser": ServerSetting("off", _PRESET, "bool", "internal"),
    "jit": ServerSetting("off", _PLANNING, "bool"),
    "lc_collate": ServerSetting("C.UTF-8", _PRESET, "string", "internal"),
    "lc_ctype": ServerSetting("C.UTF-8", _PRESET, "string", "internal"),
    "lc_messages": ServerSetting("C", _FORMATS, "string", "superuser"),
    "lc_monetary": ServerSetting("C", _FORMATS),
    "lc_numeric": ServerSetting("C", _FORMATS),
    "lc_time": ServerSetting("C", _FORMATS),
    "lock_timeout": ServerSetting("0", _STATEMENTS, "integer", "user", "ms"),
    "maintenance_work_mem": ServerSetting("64MB", "Resource Usage / Memory", "integer"),
    "max_connections": ServerSetting("100", _CONNECTIONS, "integer", "postmaster"),
    "max_identifier_length": ServerSetting("63", _PRESET, "integer", "internal"),
    "max_index_keys": ServerSetting("32", _PRESET, "integer", "internal"),
    "plan_cache_mode": ServerSetting("auto", _PLANNING, "enum"),
    "port": ServerSetting("5433", _CONNECTIONS, "integer", "postmaster"),
    "quote_all_identifiers": ServerSetting("off", _OLDER, "bool"),
    "row_security": ServerSetting("on", _STATEMENTS, "bool"),
    "search_path": ServerSetting('"$user", public', _STATEMENTS),
    "server_encoding": ServerSetting("UTF8", _PRESET, "string", "internal"),
    "server_version": ServerSetting(VERSION, _PRESET, "string", "internal"),
    "server_version_num": ServerSetting(VERSION_NUMBER, _PRESET, "integer", "internal"),
    "session_authorization": ServerSetting("", _PRESET, "string", "internal"),
    "session_replication_role": ServerSetting("origin", _STATEMENTS, "enum", "superuser"),
    "ssl": ServerSetting("off", "Connections and Authentication / SSL", "bool", "sighup"),
    "standard_conforming_strings": ServerSetting("on", _OLDER, "bool"),
    "statement_timeout": ServerSetting("0", _STATEMENTS, "integer", "user", "ms"),
    "synchronize_seqscans": ServerSetting("on", _OLDER, "bool"),
    "synchronous_commit": ServerSetting("on", _LOG, "enum"),
    "tcp_keepalives_count": ServerSetting("0", _CONNECTIONS, "integer"),
    "tcp_keepalives_idle": ServerSetting("0", _CONNECTIONS, "integer", "user", "s"),
    "tcp_keepalives_interval": ServerSetting("0", _CONNECTIONS, "integer", "user", "s"),
    "tcp_user_timeout": ServerSetting("0", _CONNECTIONS, "integer", "user", "ms"),
    "TimeZone": ServerSetting("UTC", _FORMATS),
    "transaction_deferrable": ServerSetting("off", _STATEMENTS, "bool"),
    "transaction_isolation": ServerSetting("read committed", _STATEMENTS, "enum"),
    "transaction_read_only": ServerSetting("off", _STATEMENTS, "bool"),
    "wal_level": ServerSetting("minimal", _LOG, "enum", "postmaster"),
    "work_mem": ServerSetting("4MB", "Resource Usage / Memory", "integer"),
    "xmloption": ServerSetting("content", _STATEMENTS, "enum"),
}
OF_CLIENT = ServerSetting("")
"""A setting that a client has made up: its name has a dot."""
