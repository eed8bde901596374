"""JSON as tables, in the words of five systems, beside DuckDB's queries for the same rows."""

from __future__ import annotations

from tests.property.examples import SQL, hold

TABLES = ("t(id INTEGER, j JSON)", "u(id INTEGER, k TEXT)")
ARRAYS = "(SELECT * FROM t WHERE json_type(j) = 'ARRAY')"
OBJECTS = "(SELECT * FROM t WHERE json_type(j) = 'OBJECT')"
_ARRAY = "CASE WHEN json_type(j) = 'ARRAY' THEN j END"
_RECORDS = "CAST(j AS TEXT) LIKE '[{%'"
_OBJECT = "CASE WHEN json_type(j) = 'OBJECT' THEN j END"
ELEMENTS = f"(SELECT id, unnest(json_extract(j, '$[*]')) AS e FROM {ARRAYS})"
MEMBERS = f"(SELECT id, unnest(json_keys(j)) AS k, unnest(json_extract(j, '$.*')) AS v FROM {OBJECTS})"

POSTGRES: list[SQL] = [
    (
        f"SELECT id, e FROM t, jsonb_array_elements({_ARRAY}) AS e",
        f"SELECT id, e FROM {ELEMENTS}",
    ),
    (
        f"SELECT id, e->>'a', value->'b' FROM t, jsonb_array_elements({_ARRAY}) AS e WHERE e->>'a' "
        f"IS NOT NULL",
        f"SELECT id, e->>'$.a', e->'$.b' FROM {ELEMENTS} WHERE e->>'$.a' IS NOT NULL",
    ),
    (
        f"SELECT id, v, n FROM t LEFT JOIN LATERAL json_array_elements_text({_ARRAY}) WITH ORDINALITY "
        "AS e(v, n) ON TRUE",
        f"SELECT id, v, n FROM t LEFT JOIN LATERAL (SELECT unnest(json_extract({_ARRAY}, '$[*]')) "
        f"->> '$' AS v, "
        f"generate_subscripts(json_extract({_ARRAY}, '$[*]'), 1) AS n) ON TRUE",
    ),
    (f"SELECT id, key, value FROM t, jsonb_each({_OBJECT})", f"SELECT * FROM {MEMBERS}"),
    (
        f"SELECT e.key, count(*), max(value) FROM t CROSS JOIN LATERAL jsonb_each_text({_OBJECT}) "
        f"AS e GROUP BY 1",
        f"SELECT k, count(*), max(v ->> '$') FROM {MEMBERS} GROUP BY k",
    ),
    (f"SELECT id, k FROM t, jsonb_object_keys({_OBJECT}) AS k", f"SELECT id, k FROM {MEMBERS}"),
    (
        f"SELECT id, jsonb_array_elements({_ARRAY}) AS e FROM t",
        f"SELECT id, e FROM {ELEMENTS}",
    ),
    (
        f"SELECT id, r.* FROM t, jsonb_to_recordset(CASE WHEN {_RECORDS} THEN j END) "
        "AS r(a text, xs integer[], b jsonb)",
        "SELECT id, e->>'$.a', CAST(e->'$.xs' AS INTEGER[]), e->'$.b' FROM "
        f"(SELECT id, unnest(json_extract(j, '$[*]')) AS e FROM t WHERE {_RECORDS})",
    ),
    (
        f'SELECT id, b, "a b" FROM t, jsonb_to_record({_OBJECT}) AS r(b text, "a b" boolean)',
        f"SELECT id, j->>'$.b', CAST(j->>'$.\"a b\"' AS BOOLEAN) FROM (SELECT id, {_OBJECT} AS j FROM t)",
    ),
    (
        f"SELECT id, f FROM t, jsonb_array_elements({_ARRAY}) AS e, jsonb_path_query(e, '$.xs[*]') AS f",
        f"SELECT id, unnest(json_extract(e, '$.xs[*]')) FROM {ELEMENTS}",
    ),
    (
        f"SELECT u.k, (SELECT count(*) FROM t, jsonb_array_elements({_ARRAY}) AS e WHERE e->>'b' = "
        f"u.k) FROM u",
        f"SELECT u.k, (SELECT count(*) FROM {ELEMENTS} WHERE e->>'$.b' = u.k) FROM u",
    ),
    (
        f"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM jsonb_array_elements({_ARRAY}) AS e WHERE "
        f"e->>'a' = '1')",
        f"SELECT id FROM t WHERE len(list_filter(json_extract({_ARRAY}, '$[*]'), "
        "lambda e: e->>'$.a' = '1')) > 0",
    ),
]
_A = "CASE WHEN json_type(e) = 'OBJECT' AND json_type(e->'$.a') NOT IN ('OBJECT', 'ARRAY') THEN e->>'$.a' END"
_ROOT = (
    "(SELECT id, unnest(json_extract(j, '$[*]')) AS e, "
    f"generate_subscripts(json_extract(j, '$[*]'), 1) AS n FROM {ARRAYS})"
)
STANDARD: list[SQL] = [
    (
        f"SELECT id, r.* FROM (SELECT id, {_ARRAY} AS j FROM t) AS t, "
        "JSON_TABLE(t.j, '$[*]' COLUMNS (n FOR ORDINALITY, a INTEGER PATH '$.a', b TEXT)) AS r",
        f"SELECT id, n, TRY_CAST({_A} AS INTEGER), "
        f"{_A.replace('$.a', '$.b')} FROM {_ROOT} WHERE json_type(e) <> 'ARRAY' "
        f"UNION ALL SELECT id, n, NULL, NULL FROM {_ROOT} WHERE json_type(e) = 'ARRAY'",
    ),
    (
        f"SELECT id, r.* FROM (SELECT id, {_ARRAY} AS j FROM t) AS t, "
        "JSON_TABLE(t.j, '$[*]' COLUMNS (n FOR ORDINALITY, NESTED PATH '$.xs[*]' COLUMNS (x TEXT PATH '$', "
        "k FOR ORDINALITY), NESTED '$.d[*]' AS p COLUMNS (d JSONB PATH '$'))) AS r",
        "SELECT id, n, x, k, d FROM (SELECT id, n, e, json_type(e) = 'OBJECT' AS o FROM " + _ROOT + ") "
        "LEFT JOIN LATERAL (SELECT x ->> '$' AS x, k, NULL::JSON AS d FROM (SELECT "
        "unnest(json_extract(e, '$.xs[*]')) AS x, generate_subscripts(json_extract(e, '$.xs[*]'), 1) AS k) "
        "UNION ALL SELECT NULL, NULL, unnest(json_extract(e, '$.d[*]'))) ON TRUE",
    ),
    (
        "SELECT id, r.* FROM t, JSON_TABLE(t.j, '$' COLUMNS (there BOOLEAN EXISTS PATH '$.a', "
        "b TEXT PATH '$.b' DEFAULT 'none' ON EMPTY, c INTEGER PATH '$.b' DEFAULT 5 ON ERROR)) AS r "
        "WHERE json_type(j) = 'OBJECT'",
        "SELECT id, json_exists(j, '$.a'), CASE WHEN json_exists(j, '$.b') THEN j->>'$.b' ELSE 'none' END, "
        f"CASE WHEN json_exists(j, '$.b') THEN 5 END FROM {OBJECTS}",
    ),
    (
        f"SELECT id, a FROM t, JSON_TABLE({_OBJECT}, '$.a.a' COLUMNS (a TEXT PATH '$')) AS r",
        f"SELECT id, unnest([j->>'$.a.a']) FROM {OBJECTS} WHERE json_exists(j, '$.a.a') UNION ALL "
        f"SELECT id, unnest(json_extract_string(j, '$.a[*].a')) FROM {OBJECTS}",
    ),
]
MYSQL: list[SQL] = [
    (
        "SELECT id, r.* FROM t, JSON_TABLE(t.j, '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a' "
        "DEFAULT '9' "
        "ON EMPTY, there INT EXISTS PATH '$.b')) AS r",
        f"SELECT id, n, CASE WHEN NOT json_exists(e, '$.a') THEN 9 ELSE TRY_CAST({_A} AS INTEGER) END, "
        f"CAST(json_exists(e, '$.b') AS INTEGER) FROM {_ROOT}",
    ),
]
TSQL: list[SQL] = [
    (
        f"SELECT id, o.[key], o.value, o.type FROM t CROSS APPLY OPENJSON({_OBJECT}) AS o",
        "SELECT id, k, v ->> '$', CASE json_type(v) WHEN 'NULL' THEN 0 WHEN 'VARCHAR' THEN 1 WHEN "
        "'BOOLEAN' THEN 3 "
        f"WHEN 'ARRAY' THEN 4 WHEN 'OBJECT' THEN 5 ELSE 2 END FROM {MEMBERS}",
    ),
    (
        f"SELECT id, o.* FROM t OUTER APPLY OPENJSON({_ARRAY}) WITH (b VARCHAR(9), whole "
        f"NVARCHAR(MAX) '$.xs' "
        "AS JSON) AS o",
        "SELECT id, CASE WHEN json_type(e->'$.b') NOT IN ('OBJECT', 'ARRAY') THEN e->>'$.b' END, "
        "CASE WHEN json_type(e->'$.xs') IN ('OBJECT', 'ARRAY') THEN CAST(e->'$.xs' AS VARCHAR) END "
        f"FROM t LEFT JOIN LATERAL (SELECT unnest(json_extract({_ARRAY}, '$[*]')) AS e) ON TRUE",
    ),
]
SNOWFLAKE: list[SQL] = [
    (
        "SELECT id, f.key, f.path, f.index, f.value, f.this FROM t, LATERAL FLATTEN(INPUT => t.j) AS f",
        f"SELECT id, k, CASE WHEN k = 'a b' THEN '[''a b'']' ELSE k END, NULL, v, j FROM (SELECT id, j, "
        f"unnest(json_keys(j)) AS k, unnest(json_extract(j, '$.*')) AS v FROM {OBJECTS}) UNION ALL "
        f"SELECT id, "
        "NULL, '[' || n || ']', n, e, j FROM (SELECT id, j, unnest(json_extract(j, '$[*]')) AS e, "
        f"generate_subscripts(json_extract(j, '$[*]'), 1) - 1 AS n FROM {ARRAYS})",
    ),
    (
        "SELECT id, f.index, g.value FROM t, LATERAL FLATTEN(INPUT => t.j, PATH => 'xs', OUTER => "
        "TRUE) AS f, "
        "LATERAL FLATTEN(INPUT => f.value, PATH => 'zs') AS g",
        "SELECT id, n, unnest(json_extract(e, '$.zs[*]')) FROM (SELECT id, unnest(json_extract(j, "
        "'$.xs[*]')) "
        "AS e, generate_subscripts(json_extract(j, '$.xs[*]'), 1) - 1 AS n FROM t)",
    ),
    (
        "SELECT id, f.path FROM t, LATERAL FLATTEN(INPUT => t.j, PATH => 'xs', OUTER => TRUE) AS f",
        "SELECT id, CASE WHEN n > 0 THEN 'xs[' || (n - 1) || ']' END FROM t LEFT JOIN LATERAL (SELECT "
        "generate_subscripts(json_extract(j, '$.xs[*]'), 1) AS n) ON TRUE",
    ),
]


DUCKDB: list[SQL] = [
    "SELECT t.id, e.key, e.value, e.type, e.atom, e.fullkey, e.path FROM t, json_each(t.j) AS e",
    "SELECT t.id, key, count(*) FROM t LEFT JOIN json_each(t.j) ON TRUE GROUP BY ALL",
]


def test_json_each() -> None:
    hold(TABLES, DUCKDB, dialect="duckdb")


def test_postgresqls_functions() -> None:
    hold(TABLES, POSTGRES)


def test_json_table() -> None:
    hold(TABLES, STANDARD)


def test_mysqls_json_table() -> None:
    hold(TABLES, MYSQL, dialect="mysql")


def test_openjson() -> None:
    hold(TABLES, TSQL, dialect="tsql")


def test_flatten() -> None:
    hold(TABLES, SNOWFLAKE, dialect="snowflake")
