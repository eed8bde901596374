"""PostgreSQL's functions over its catalogs, as templates of DuckDB's SQL.

A template has `{0}`, `{1}`, ... for the arguments, and `{session:user}` and its like for what the session
says. It reads lookups: `value(name, key)` is the `#value` that the lookup `#name` has for a key. Functions
about objects that Freshet does not have (triggers, rules, partitions) are NULL for every OID.
"""

from __future__ import annotations

from collections.abc import Mapping

Templates = Mapping[int, str]
"""By the number of arguments."""

_TEXT = "CAST(NULL AS VARCHAR)"
_NUMBER = "CAST(NULL AS BIGINT)"
_MOMENT = "CAST(NULL AS TIMESTAMPTZ)"


def value(lookup: str, key: str, column: str = "#value") -> str:
    """The value of a key in a lookup; NULL if it has none."""
    return f'(SELECT "{column}" FROM pg_catalog."#{lookup}" WHERE "#key" = {key})'


def number_of(kind: str, given: str) -> str:
    """The OID that an OID or a name means. A name that nothing has fails, as in PostgreSQL.

    Here as in all templates, an argument stands once, so that nested calls stay small.
    """
    what = _OBJECTS.get(kind, kind.removeprefix("reg"))
    missing = f"CAST(catalog_missing('{what}', CAST(\"#given\" AS VARCHAR)) AS UINTEGER)"
    return _number(kind, given, f', "#value", {missing}')


def known_number_of(kind: str, given: str) -> str:
    """The same; NULL for a name that nothing has."""
    return _number(kind, given, ', "#value"')


def _number(kind: str, given: str, otherwise: str) -> str:
    return (
        f'(SELECT coalesce(TRY_CAST("#given" AS UINTEGER){otherwise}) '
        f'FROM (SELECT {given} AS "#given") AS given '
        f'LEFT JOIN pg_catalog."#to_{kind}" ON "#key" = CAST("#given" AS VARCHAR))'
    )


def name_of(kind: str, number: str) -> str:
    """The name under which an OID is printed."""
    return (
        '(SELECT CASE WHEN "#given" = 0 THEN \'-\' ELSE coalesce("#value", CAST("#given" AS VARCHAR)) END '
        f'FROM (SELECT {number} AS "#given") AS given LEFT JOIN pg_catalog."#{kind}" ON "#key" = "#given")'
    )


def _relation_privilege(role: str, relation: str, privilege: str) -> str:
    return (
        '(SELECT CASE WHEN "#relation" IS NOT NULL THEN EXISTS (SELECT 1 '
        'FROM pg_catalog."#relation_privileges" '
        'WHERE "#role" = "#asking" AND "#key" = "#relation" AND list_contains("#asked", "#value")) END '
        f'FROM (SELECT {number_of("regclass", relation)} AS "#relation", '
        f'CAST({role} AS VARCHAR) AS "#asking", '
        f"list_transform(string_split(upper({privilege}), ','), lambda each: trim(each)) "
        'AS "#asked") AS given)'
    )


def _privileges(names: str, form: str) -> dict[str, Templates]:
    """Functions that are asked about the session's user, or about another; `{object}` and `{asked}` stand
    for the object and the privilege."""
    with_role = form.replace("{role}", "{0}").replace("{object}", "{1}").replace("{asked}", "{2}")
    own = form.replace("{role}", "{session:user}").replace("{object}", "{0}").replace("{asked}", "{1}")
    return {name: {2: own, 3: with_role} for name in names.split()}


def _column_privileges() -> Templates:
    return {
        3: _relation_privilege("{session:user}", "{0}", "{2}"),
        4: _relation_privilege("{0}", "{1}", "{3}"),
    }


def _own_session(column: str) -> str:
    return f"(SELECT {column} FROM pg_catalog.pg_stat_activity WHERE pid = {{session:pid}})"


def _nothing(names: str, form: str, *counts: int) -> dict[str, Templates]:
    return {name: dict.fromkeys(counts, form) for name in names.split()}


_OBJECTS = {"regclass": "relation", "regnamespace": "schema", "regproc": "function"}
_DEFINES = (
    'EXISTS (SELECT 1 FROM pg_catalog."#definers" WHERE "#value" = CAST({role} AS VARCHAR)) '
    "OR NOT list_has_any(string_split(upper(replace({asked}, ' ', '')), ','), ['CREATE'])"
)
_DIGITS = "'(' || ((\"#modifier\" - 4) >> 16) || ',' || ((\"#modifier\" - 4) & 65535) || ')'"
_TYPE_NAME = (
    '(SELECT CASE WHEN "#given" = 0 THEN \'-\' WHEN "#given" IS NOT NULL THEN coalesce("#value" || CASE '
    f'WHEN "#form" = \'digits\' AND "#modifier" >= 4 THEN {_DIGITS} '
    "WHEN \"#form\" = 'length' AND \"#modifier\" >= 4 THEN '(' || (\"#modifier\" - 4) || ')' "
    "WHEN \"#form\" = 'seconds' AND \"#modifier\" >= 0 THEN '(' || \"#modifier\" || ')' ELSE '' END "
    '|| "#end", \'???\') END FROM (SELECT {0} AS "#given", {1} AS "#modifier") AS given '
    'LEFT JOIN pg_catalog."#format_type" ON "#key" = "#given")'
)
_DEFAULT_RIGHTS = (
    '(SELECT CASE "#kind" '
    + " ".join(
        f"WHEN '{kind}' THEN [{everybody}\"#owner\" || '={owners}/' || \"#owner\"]"
        for kind, everybody, owners in (
            ("r", "", "arwdDxt"),
            ("s", "", "rwU"),
            ("d", "'=Tc/' || \"#owner\", ", "CTc"),
            ("f", "'=X/' || \"#owner\", ", "X"),
            ("l", "'=U/' || \"#owner\", ", "U"),
            ("L", "", "rw"),
            ("n", "", "UC"),
            ("p", "", "sA"),
            ("t", "", "C"),
            ("F", "", "U"),
            ("S", "", "U"),
            ("T", "'=U/' || \"#owner\", ", "U"),
        )
    )
    + " WHEN 'c' THEN CAST([] AS VARCHAR[]) END "
    'FROM (SELECT CAST({0} AS VARCHAR) AS "#kind", {1} AS "#number") AS given '
    'LEFT JOIN (SELECT "#key", "#value" AS "#owner" FROM pg_catalog."#regrole") AS roles '
    'ON "#key" = "#number")'
)
"""The rights that everybody and the owner of an object have, by the letter of its kind."""
_INDEX_DEFINITION = (
    f"CASE WHEN {{2}} THEN regexp_replace({value('index_definitions', '{0}')}, "
    "' ON (public|pg_catalog)\\.', ' ON ') "
    f"ELSE {value('index_definitions', '{0}')} END"
)
_SETTING = value("settings", "lower({0})")
_UNKNOWN_SETTING = "catalog_missing('setting', {0})"
_QUOTED = "'\"' || replace(\"#given\", '\"', '\"\"') || '\"'"

FUNCTIONS: Mapping[str, Templates] = {
    # The session
    "version": {0: "{session:version}"},
    "current_database": {0: "{session:database}"},
    "current_catalog": {0: "{session:database}"},
    "current_user": {0: "{session:user}"},
    "session_user": {0: "{session:user}"},
    "current_role": {0: "{session:user}"},
    "user": {0: "{session:user}"},
    "current_schema": {0: "{session:schema}"},
    "current_schemas": {1: "CASE WHEN {0} THEN {session:whole_path} ELSE {session:path} END"},
    "current_setting": {
        1: f"coalesce({_SETTING}, {_UNKNOWN_SETTING})",
        2: f"coalesce({_SETTING}, CASE WHEN NOT {{1}} THEN {_UNKNOWN_SETTING} END)",
    },
    "set_config": {3: "CAST({1} AS VARCHAR)"},
    "pg_backend_pid": {0: "{session:pid}"},
    "inet_client_addr": {0: _own_session("client_addr")},
    "inet_client_port": {0: _own_session("client_port")},
    "pg_postmaster_start_time": {0: "{session:started}"},
    "pg_conf_load_time": {0: "{session:started}"},
    "pg_is_in_recovery": {0: "FALSE"},
    "pg_advisory_unlock_all": {0: "''"},  # nobody has such a lock
    "pg_is_wal_replay_paused": {0: "FALSE"},
    "pg_my_temp_schema": {0: "CAST(0 AS UINTEGER)"},
    "pg_is_other_temp_schema": {1: "FALSE"},
    "pg_client_encoding": {0: "'UTF8'"},
    "getdatabaseencoding": {0: "'UTF8'"},
    "pg_encoding_to_char": {1: "CASE {0} WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END"},
    "pg_char_to_encoding": {1: "CASE WHEN upper({0}) IN ('UTF8', 'UNICODE') THEN 6 ELSE -1 END"},
    "txid_current": {0: "1"},
    "age": {1: "CASE WHEN {0} IS NOT NULL THEN 0 END"},
    # Names
    "quote_ident": {
        1: '(SELECT CASE WHEN "#value" IS NULL AND regexp_full_match("#given", \'[a-z_][a-z0-9_]*\') '
        f'THEN "#given" ELSE {_QUOTED} END FROM (SELECT CAST({{0}} AS VARCHAR) AS "#given") AS given '
        'LEFT JOIN pg_catalog."#reserved" ON "#key" = "#given")'
    },
    "parse_ident": {
        1: 'list_transform(regexp_extract_all({0}, \'"(?:[^"]|"")*"|[^.]+\'), '
        "lambda part: CASE WHEN part[1] = '\"' "
        "THEN replace(part[2:-2], '\"\"', '\"') ELSE lower(trim(part)) END)"
    },
    "quote_literal": {1: "'''' || replace(CAST({0} AS VARCHAR), '''', '''''') || ''''"},
    "quote_nullable": {1: "coalesce('''' || replace(CAST({0} AS VARCHAR), '''', '''''') || '''', 'NULL')"},
    "format_type": {2: _TYPE_NAME, 1: _TYPE_NAME.replace("{1}", "NULL")},
    "pg_get_userbyid": {
        1: f"coalesce({value('regrole', '{0}')}, 'unknown (OID=' || CAST({{0}} AS VARCHAR) || ')')"
    },
    **{
        f"to_{kind}": {1: known_number_of(kind, "{0}")}
        for kind in ("regclass", "regtype", "regproc", "regnamespace", "regrole")
    },
    # Definitions
    "pg_get_viewdef": {
        1: value("definitions", number_of("regclass", "{0}")),
        2: value("definitions", number_of("regclass", "{0}")),
    },
    "pg_get_indexdef": {
        1: value("index_definitions", "{0}"),
        3: f"CASE WHEN {{1}} = 0 THEN {_INDEX_DEFINITION} ELSE {value('index_columns', '{0}')}[{{1}}] END",
    },
    "pg_get_constraintdef": {
        1: value("constraint_definitions", "{0}"),
        2: f"CASE WHEN {{1}} THEN regexp_replace({value('constraint_definitions', '{0}')}, "
        "'^CHECK \\(\\((.*)\\)\\)$', 'CHECK (\\1)') ELSE "
        f"{value('constraint_definitions', '{0}')} END",
    },
    "pg_get_expr": {2: "CAST({0} AS VARCHAR)", 3: "CAST({0} AS VARCHAR)"},
    "pg_get_serial_sequence": {
        2: f'(SELECT "#value" FROM pg_catalog."#serials" WHERE "#key" = {number_of("regclass", "{0}")} '
        f'AND "#column" = {{1}})'
    },
    "obj_description": {
        1: '(SELECT any_value("#value") FROM pg_catalog."#comments" WHERE "#key" = {0} AND "#column" = 0)',
        2: '(SELECT "#value" FROM pg_catalog."#comments" '
        'WHERE "#key" = {0} AND "#column" = 0 AND "#catalog" = {1})',
    },
    "col_description": {
        2: '(SELECT "#value" FROM pg_catalog."#comments" '
        'WHERE "#key" = {0} AND "#column" = {1} AND "#column" <> 0)'
    },
    "shobj_description": {2: _TEXT},
    # Sight
    "pg_table_is_visible": {1: value("visible_relations", "{0}")},
    "pg_type_is_visible": {1: value("visible_types", "{0}")},
    **_nothing(
        "pg_function_is_visible pg_operator_is_visible pg_opclass_is_visible pg_opfamily_is_visible "
        "pg_collation_is_visible pg_conversion_is_visible pg_statistics_obj_is_visible "
        "pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible",
        "{0} IS NOT NULL",
        1,
    ),
    # Privileges
    **_privileges(
        "has_table_privilege has_any_column_privilege", _relation_privilege("{role}", "{object}", "{asked}")
    ),
    "has_column_privilege": _column_privileges(),
    **_privileges("has_schema_privilege has_database_privilege", _DEFINES),
    **_privileges(
        "has_function_privilege has_language_privilege has_type_privilege has_tablespace_privilege "
        "has_sequence_privilege has_foreign_data_wrapper_privilege has_server_privilege",
        "{object} IS NOT NULL",
    ),
    "pg_has_role": {
        2: 'EXISTS (SELECT 1 FROM pg_catalog."#memberships" WHERE "#key" = {session:user} '
        'AND "#value" = CAST({0} AS VARCHAR))',
        3: 'EXISTS (SELECT 1 FROM pg_catalog."#memberships" WHERE "#key" = CAST({0} AS VARCHAR) '
        'AND "#value" = CAST({1} AS VARCHAR))',
    },
    # Sizes
    **_nothing(
        "pg_relation_size pg_table_size pg_total_relation_size",
        f"coalesce({value('sizes', number_of('regclass', '{0}'))}, 0)",
        1,
        2,
    ),
    "pg_indexes_size": {1: "0"},
    "pg_database_size": {1: '(SELECT CAST(coalesce(sum("#value"), 0) AS BIGINT) FROM pg_catalog."#sizes")'},
    "pg_tablespace_size": {1: '(SELECT CAST(coalesce(sum("#value"), 0) AS BIGINT) FROM pg_catalog."#sizes")'},
    "pg_relation_filenode": {1: number_of("regclass", "{0}")},
    # Functions
    "pg_get_function_result": {1: value("function_results", "{0}")},
    **_nothing(
        "pg_get_function_arguments pg_get_function_identity_arguments", value("function_arguments", "{0}"), 1
    ),
    # Arrays
    "array_upper": {2: "CASE WHEN {1} = 1 THEN nullif(len({0}), 0) END"},
    "array_lower": {2: "CASE WHEN {1} = 1 AND len({0}) > 0 THEN 1 END"},
    "array_ndims": {1: "CASE WHEN len({0}) > 0 THEN 1 END"},
    "array_remove": {2: "list_filter({0}, lambda each: each IS DISTINCT FROM {1})"},
    "_pg_expandarray": {1: "unnest(list_transform({0}, lambda x, n: {'x': x, 'n': n}))"},
    # What Freshet has none of
    **_nothing(
        "pg_get_triggerdef pg_get_ruledef pg_get_statisticsobjdef pg_get_statisticsobjdef_columns "
        "pg_get_statisticsobjdef_expressions pg_get_partkeydef pg_get_partition_constraintdef "
        "pg_get_functiondef pg_get_function_sqlbody pg_get_function_arg_default "
        "pg_relation_filepath pg_collation_actual_version pg_describe_object",
        _TEXT,
        1,
        2,
        3,
    ),
    **_nothing(
        "inet_server_addr pg_current_wal_lsn pg_last_wal_receive_lsn "
        "pg_last_wal_replay_lsn pg_current_logfile pg_export_snapshot",
        _TEXT,
        0,
    ),
    **_nothing("pg_last_xact_replay_timestamp", _MOMENT, 0),
    **_nothing("inet_server_port", "CAST(NULL AS INTEGER)", 0),
    **_nothing("pg_sequence_last_value pg_get_replica_identity_index pg_partition_root", _NUMBER, 1),
    **_nothing("pg_index_column_has_property pg_indexam_has_property pg_index_has_property", "FALSE", 2, 3),
    "pg_partition_ancestors": {1: "unnest(CAST([] AS UINTEGER[]))"},
    "pg_relation_is_publishable": {1: "FALSE"},
    "pg_relation_is_updatable": {2: "28"},
    "pg_column_is_updatable": {3: "TRUE"},
    "pg_tablespace_location": {1: "CASE WHEN {0} IS NOT NULL THEN '' END"},
    "acldefault": {2: _DEFAULT_RIGHTS},
    "pg_blocking_pids": {1: "CAST([] AS INTEGER[])"},
    **_nothing(
        "pg_stat_get_numscans pg_stat_get_live_tuples pg_stat_get_dead_tuples pg_stat_get_tuples_inserted "
        "pg_stat_get_tuples_updated pg_stat_get_tuples_deleted pg_stat_get_db_numbackends",
        "0",
        1,
    ),
}
"""By lower-case name."""

MACROS = {
    "catalog_missing": "CREATE OR REPLACE MACRO catalog_missing(kind, name) AS "
    "error(kind || ' \"' || name || '\" does not exist')"
}
"""Statements that make the macros of templates, by name."""
NUMBER_KINDS = frozenset(
    {"regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole", "regoper", "regoperator"}
    | {"regcollation", "regconfig", "regdictionary"}
)
"""Types whose values are OIDs, written as names."""

ROWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pg_get_keywords": (
        'SELECT * FROM pg_catalog."#keywords"',
        ("word", "catcode", "barelabel", "catdesc", "baredesc"),
    ),
    "pg_show_all_settings": ("SELECT * FROM pg_catalog.pg_settings", ()),
    "pg_options_to_table": (
        f"SELECT {_TEXT} AS option_name, {_TEXT} AS option_value WHERE FALSE",
        ("option_name", "option_value"),
    ),
    "aclexplode": (
        "SELECT CAST(NULL AS UINTEGER) AS grantor, CAST(NULL AS UINTEGER) AS grantee, "
        f"{_TEXT} AS privilege_type, FALSE AS is_grantable WHERE FALSE",
        ("grantor", "grantee", "privilege_type", "is_grantable"),
    ),
    "_pg_expandarray": (
        "SELECT unnest({0}) AS x, generate_subscripts({0}, 1) AS n",
        ("x", "n"),
    ),
    "generate_subscripts": (
        "SELECT generate_subscripts({0}, 1) AS generate_subscripts",
        ("generate_subscripts",),
    ),
    "pg_available_extensions": ("SELECT * FROM pg_catalog.pg_available_extensions", ()),
    "pg_timezone_names": ("SELECT * FROM pg_catalog.pg_timezone_names", ()),
    "pg_lock_status": ("SELECT * FROM pg_catalog.pg_locks", ()),
    "pg_partition_ancestors": ("SELECT CAST(NULL AS UINTEGER) AS relid WHERE FALSE", ("relid",)),
    "pg_get_publication_tables": ("SELECT CAST(NULL AS UINTEGER) AS relid WHERE FALSE", ("relid",)),
    "pg_listening_channels": (
        f"SELECT {_TEXT} AS pg_listening_channels WHERE FALSE",
        ("pg_listening_channels",),
    ),
}
"""Functions in FROM: a query for their rows, and the names of its columns."""
