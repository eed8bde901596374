"""Constructs of other systems, beside DuckDB's queries for the same rows."""

from __future__ import annotations

import pytest

from tests.property.examples import SQL, hold

TABLES = ("t(id INTEGER, k TEXT, x INTEGER, ts TIMESTAMP)", "u(id INTEGER, s TEXT)")
ROWS = "WITH e AS (SELECT id, k, ts + x * INTERVAL '90 minutes' AS ts FROM t WHERE id IS NOT NULL) "
"""Times near each other, and before 1970 too."""
COLUMNS = "id, k, ts, window_start, window_end"


def floored(at: str, minutes: int) -> str:
    """The last multiple of the minutes that is not after a time, by whole microseconds."""
    size = minutes * 60_000_000
    return f"make_timestamp(epoch_us({at}) - ((epoch_us({at}) % {size}) + {size}) % {size})"


TUMBLED = (
    f"{ROWS}SELECT id, k, ts, {floored('ts', 60)} AS window_start, "
    f"{floored('ts', 60)} + INTERVAL '1 hour' AS window_end FROM e"
)
HOPPED = (
    f"{ROWS}SELECT id, k, ts, w, w + INTERVAL '3 hours' AS window_end "
    f"FROM (SELECT *, {floored('ts', 60)} - n * INTERVAL '1 hour' AS w FROM e, range(4) AS r(n)) "
    "WHERE w + INTERVAL '3 hours' > ts"
)
SESSIONS = (
    f"{ROWS}SELECT id, k, ts, "
    "(SELECT max(b.ts) FROM e AS b WHERE b.k IS NOT DISTINCT FROM a.k AND b.ts <= a.ts AND NOT EXISTS "
    "(FROM e AS c WHERE c.k IS NOT DISTINCT FROM a.k AND c.ts < b.ts AND c.ts >= b.ts - INTERVAL '2 "
    "hours')) AS window_start, "
    "(SELECT min(b.ts) FROM e AS b WHERE b.k IS NOT DISTINCT FROM a.k AND b.ts >= a.ts AND NOT EXISTS "
    "(FROM e AS c WHERE c.k IS NOT DISTINCT FROM a.k AND c.ts > b.ts AND c.ts <= b.ts + INTERVAL '2 hours')) "
    "+ INTERVAL '2 hours' AS window_end FROM e AS a"
)
HOUR, HOURS = "INTERVAL '1 hour'", "INTERVAL '3 hours'"
WINDOWS: list[SQL] = [
    (f"{ROWS}SELECT {COLUMNS} FROM TUMBLE(e, ts, {HOUR})", TUMBLED),
    (f"{ROWS}SELECT {COLUMNS} FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS w", TUMBLED),
    (
        f"{ROWS}SELECT w.* FROM TABLE(TUMBLE(DATA => TABLE e, TIMECOL => DESCRIPTOR(ts), SIZE => "
        f"{HOUR})) AS w",
        TUMBLED,
    ),
    (
        f"{ROWS}SELECT window_start, k, count(*) AS n FROM TUMBLE(e, ts, {HOUR}) GROUP BY window_start, k",
        f"SELECT window_start, k, count(*) AS n FROM ({TUMBLED}) GROUP BY window_start, k",
    ),
    (
        f"{ROWS}SELECT id, window_start FROM TUMBLE(e, ts, {HOUR}, INTERVAL '20 minutes')",
        ROWS
        + f"SELECT id, {floored('''(ts - INTERVAL '20 minutes')''', 60)} + INTERVAL '20 minutes' AS s FROM e",
    ),
    (f"{ROWS}SELECT {COLUMNS} FROM HOP(e, ts, {HOUR}, {HOURS})", HOPPED),
    (f"{ROWS}SELECT {COLUMNS} FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), {HOUR}, {HOURS}))", HOPPED),
    (
        f"{ROWS}SELECT {COLUMNS} FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), "
        f"INTERVAL '2' HOUR))",
        SESSIONS,
    ),
    (
        f"{ROWS}SELECT u.s, count(w.id) AS n FROM u LEFT JOIN TUMBLE(e, ts, {HOUR}) AS w ON w.id = "
        f"u.id GROUP BY s",
        ROWS + "SELECT u.s, count(e.id) AS n FROM u LEFT JOIN e ON e.id = u.id GROUP BY s",
    ),
]
PAIRED = 'struct_pack("start" := {0}, "end" := {0} + INTERVAL \'{1}\') AS w'
"""A window as Spark has it."""
SPARK_WINDOWS: list[SQL] = [
    (
        f"{ROWS}SELECT window, k, count(*) AS n FROM e GROUP BY window(ts, '1 hour'), k",
        f"SELECT {PAIRED.format('window_start', '1 hour')}, k, count(*) AS n FROM ({TUMBLED}) "
        "WHERE ts IS NOT NULL GROUP BY ALL",
    ),
    (
        f"{ROWS}SELECT window.start, max(id) AS m FROM e WHERE id > 1 "
        "GROUP BY window(ts, '3 hours', '1 hour')",
        f"SELECT w, max(id) AS m FROM ({HOPPED}) WHERE id > 1 GROUP BY w",
    ),
    (
        f"{ROWS}SELECT u.s, window.end, count(*) AS n FROM u JOIN e ON e.id = u.id "
        "GROUP BY u.s, window(e.ts, '3 hours', '1 hour') HAVING count(*) > 1",
        f"SELECT s, window_end, count(*) AS n FROM u JOIN ({HOPPED}) AS h ON h.id = u.id "
        "GROUP BY ALL HAVING count(*) > 1",
    ),
    (
        f"{ROWS}SELECT *, window_time(window(ts, '60 minutes', '1 hour', '20 minutes')) AS t FROM e",
        f"{ROWS}SELECT *, {floored('at', 60)} + INTERVAL '80 minutes' ".replace(
            "at)", "(ts - INTERVAL '20 minutes'))"
        )
        + "- INTERVAL '1 microsecond' AS t FROM e WHERE ts IS NOT NULL",
    ),
    (
        f"{ROWS}SELECT k, session_window, count(*) AS n FROM e GROUP BY k, session_window(ts, '2 hours')",
        'SELECT k, struct_pack("start" := window_start, "end" := window_end) AS w, count(*) AS n '
        f"FROM ({SESSIONS}) WHERE ts IS NOT NULL GROUP BY ALL",
    ),
    (
        f"{ROWS}SELECT session_window.start, session_window.end, 1, count(*) AS n FROM u JOIN "
        "(SELECT k, ts FROM e) AS d ON d.k = u.s WHERE d.ts < TIMESTAMP_NTZ '2024-02-01' "
        "GROUP BY 3, session_window(d.ts, '2 hours')",
        "SELECT window_start, window_end, 1, count(*) AS n FROM ("
        + SESSIONS.replace("FROM t WHERE", "FROM u JOIN t ON t.k = u.s WHERE")
        .replace("SELECT id, k, ts +", "SELECT t.id, 'one' AS k, ts +", 1)
        .replace("id IS NOT NULL", "t.id IS NOT NULL AND ts + x * INTERVAL '90 minutes' < '2024-02-01'")
        + ") GROUP BY ALL",
    ),
]
ARRAYS: list[SQL] = [
    (
        "SELECT u.id, ARRAY(SELECT x FROM t WHERE t.id = u.id ORDER BY ts DESC, x, k) AS xs FROM u",
        "SELECT u.id, coalesce((SELECT list(x ORDER BY ts DESC NULLS FIRST, x NULLS LAST, k NULLS "
        "LAST) FROM t "
        "WHERE t.id = u.id), []) AS xs FROM u",
    ),
    (
        "SELECT ARRAY(SELECT DISTINCT k FROM t ORDER BY k DESC) AS ks",
        "SELECT coalesce(list(DISTINCT k ORDER BY k DESC NULLS FIRST), []) AS ks FROM t",
    ),
    (
        "SELECT ARRAY(SELECT id FROM t WHERE id > 1 UNION SELECT id FROM u ORDER BY 1 LIMIT 2) AS ids",
        "SELECT list(id ORDER BY id)[:2] AS ids FROM (SELECT id FROM t WHERE id > 1 UNION SELECT id FROM u) "
        "HAVING count(*) > 0 UNION ALL SELECT [] WHERE NOT EXISTS (FROM t WHERE id > 1) AND NOT "
        "EXISTS (FROM u)",
    ),
    (
        "SELECT ARRAY(SELECT cardinality(ARRAY(SELECT w.x FROM TUMBLE(t, ts, INTERVAL '1 day') AS w "
        "WHERE w.id = u.id ORDER BY x)) FROM u ORDER BY u.id, u.s) AS xs",
        "SELECT coalesce(list(n ORDER BY id, s), []) AS xs FROM (SELECT id, s, (SELECT count(*) FROM t "
        "WHERE t.id = u.id) AS n FROM u)",
    ),
]
SPLITS: list[SQL] = [
    (
        "SELECT u.id, m.x FROM u, regexp_split_to_table(u.s, '[ab]') AS m(x)",
        "SELECT id, unnest(regexp_split_to_array(s, '[ab]')) AS x FROM u",
    ),
    (
        "SELECT u.id, part FROM u LEFT JOIN string_to_table(u.s, 'b') AS part ON true",
        "SELECT u.id, p.part FROM u LEFT JOIN (SELECT s, unnest(string_split(s, 'b')) AS part "
        "FROM (SELECT DISTINCT s FROM u WHERE s <> '')) AS p ON p.s = u.s",
    ),
    ("SELECT u.id, l.x FROM u, LATERAL upper(u.s) AS l(x)", "SELECT id, upper(s) AS x FROM u"),
    ("SELECT u.id, n FROM u JOIN abs(-5) AS n ON n > u.id", "SELECT id, 5 AS n FROM u WHERE id < 5"),
]
LISTED: list[SQL] = [
    (
        "SELECT id, string_to_table(s, 'a') AS part FROM u",
        "SELECT id, unnest(string_split(s, 'a')) AS part FROM u WHERE s <> ''",
    ),
    (
        "SELECT id, regexp_split_to_table(s, '[ab]') AS part FROM u",
        "SELECT id, unnest(regexp_split_to_array(s, '[ab]')) AS part FROM u",
    ),
    (
        "SELECT id, jsonb_array_elements_text(CAST(json_build_array(s, id) AS JSONB)) AS e FROM u",
        "SELECT id, unnest([s, CAST(id AS VARCHAR)]) AS e FROM u",
    ),
    (
        "SELECT u.id, e.value, n FROM u, jsonb_array_elements_text(CAST(json_build_array(s, 'x') AS JSONB)) "
        "WITH ORDINALITY AS e(value, n)",
        "SELECT id, unnest([s, 'x']) AS e, unnest([1, 2]) AS n FROM u",
    ),
    (
        "SELECT u.id, e.key, e.value FROM u, jsonb_each_text(CAST(json_build_object('s', s, '$.x', id) AS "
        "JSONB)) AS e",
        "SELECT id, unnest(['s', '$.x']) AS k, unnest([s, CAST(id AS VARCHAR)]) AS v FROM u",
    ),
    (
        "SELECT u.id, k FROM u LEFT JOIN jsonb_object_keys(CAST(json_build_object('a', s) AS JSONB)) AS k "
        "ON true",
        "SELECT id, 'a' AS k FROM u",
    ),
    (
        "SELECT u.id, generate_subscripts(string_to_array(s, 'a'), 1) AS i FROM u",
        "SELECT id, unnest(range(1, len(string_split(s, 'a')) + 1)) AS i FROM u WHERE s <> ''",
    ),
]
LATERALS: list[SQL] = [
    "SELECT u.id, n FROM u, (SELECT count(*) AS n FROM t WHERE t.id = u.id)",
    "SELECT u.id, y, z FROM u, (SELECT u.id + 1 AS y) AS a, (SELECT a.y * 2 AS z) AS b",
    "SELECT u.id, m.x FROM u LEFT JOIN (SELECT max(x) AS x FROM t WHERE t.id < u.id) AS m ON m.x > 0",
    "SELECT id, (SELECT sum(y) FROM t, (SELECT t.x + u.id AS y)) AS s FROM u",
]
KEPT: list[SQL] = [
    (
        "SELECT k, MAX(x) KEEP (DENSE_RANK FIRST ORDER BY id, ts DESC) AS x FROM t GROUP BY k",
        "SELECT k, max(x) FILTER (WHERE r = 1) AS x FROM (SELECT *, "
        "rank() OVER (PARTITION BY k ORDER BY id NULLS LAST, ts DESC NULLS FIRST) AS r FROM t) GROUP BY k",
    ),
    (
        "SELECT k, MIN(x) KEEP (DENSE_RANK LAST ORDER BY id) AS x FROM t GROUP BY k",
        "SELECT k, min(x) FILTER (WHERE r = 1) AS x FROM (SELECT *, "
        "rank() OVER (PARTITION BY k ORDER BY id DESC NULLS FIRST) AS r FROM t) GROUP BY k",
    ),
    (
        "SELECT id, MAX(x) KEEP (DENSE_RANK LAST ORDER BY ts) OVER (PARTITION BY k) AS x FROM t",
        "SELECT id, max(x) FILTER (WHERE r = 1) OVER (PARTITION BY k) AS x FROM (SELECT *, "
        "rank() OVER (PARTITION BY k ORDER BY ts DESC NULLS FIRST) AS r FROM t)",
    ),
]
RANKED = (
    "(SELECT *, rank() OVER (PARTITION BY k ORDER BY id {first}) AS r, "
    "rank() OVER (PARTITION BY k ORDER BY ts {last}) AS s FROM t WHERE x IS NOT NULL)"
)
FIRST_LAST = RANKED.format(first="NULLS LAST", last="DESC NULLS FIRST")
KEPT += [
    (
        "SELECT k, SUM(x) KEEP (DENSE_RANK FIRST ORDER BY id) AS a, COUNT(*) KEEP (DENSE_RANK LAST ORDER "
        "BY ts) AS b, MAX(x) AS c FROM t WHERE x IS NOT NULL GROUP BY k",
        "SELECT k, sum(x) FILTER (WHERE r = 1), count(*) FILTER (WHERE s = 1), max(x) "
        f"FROM {FIRST_LAST} GROUP BY k",
    ),
    (
        "SELECT id, AVG(x) KEEP (DENSE_RANK LAST ORDER BY ts) OVER (PARTITION BY k) AS a FROM t "
        "WHERE x IS NOT NULL",
        f"SELECT id, avg(x) FILTER (WHERE s = 1) OVER (PARTITION BY k) FROM {FIRST_LAST}",
    ),
    (
        "SELECT u.s, COUNT(t.x) KEEP (DENSE_RANK FIRST ORDER BY t.ts DESC) AS a FROM t JOIN u ON t.id = u.id "
        "GROUP BY u.s HAVING SUM(t.x) KEEP (DENSE_RANK FIRST ORDER BY t.ts DESC) > 0",
        "SELECT s, count(x) FILTER (WHERE r = 1) FROM (SELECT u.s, t.x, rank() OVER (PARTITION BY u.s "
        "ORDER BY t.ts DESC NULLS FIRST) AS r FROM t JOIN u ON t.id = u.id) GROUP BY s "
        "HAVING sum(x) FILTER (WHERE r = 1) > 0",
    ),
    (
        "SELECT SUM(x) KEEP (DENSE_RANK FIRST ORDER BY id) AS a FROM t WHERE 1 = 0",
        "SELECT sum(x) AS a FROM t WHERE false",
    ),
]
ALL = "id NULLS LAST, k NULLS LAST, x NULLS LAST, ts NULLS LAST"
NUMBERED = f"row_number() OVER (ORDER BY x DESC NULLS FIRST, {ALL})"
COUNTED: list[SQL] = [
    ("SELECT id, k, x, ts FROM t WHERE ROWNUM <= 3", f"SELECT id, k, x, ts FROM t ORDER BY {ALL} LIMIT 3"),
    ("SELECT id, k, x, ts FROM t WHERE 3 > ROWNUM AND x > 0", f"FROM t WHERE x > 0 ORDER BY {ALL} LIMIT 2"),
    (
        "SELECT sum(x) AS s FROM (SELECT x, id, k, ts FROM t ORDER BY x DESC, id) WHERE ROWNUM < 4",
        f"SELECT sum(x) AS s FROM (FROM t ORDER BY x DESC NULLS FIRST, {ALL} LIMIT 3)",
    ),
    (
        "SELECT id, n FROM (SELECT a.*, ROWNUM AS n FROM (SELECT id, x, k, ts FROM t ORDER BY x DESC, id, k, "
        "ts) a WHERE ROWNUM <= 5) WHERE n >= 2",
        f"SELECT id, n FROM (SELECT id, {NUMBERED} AS n FROM t) WHERE n BETWEEN 2 AND 5",
    ),
    (
        "SELECT ROWNUM, s FROM (SELECT k, sum(x) AS s FROM t GROUP BY k ORDER BY sum(x) DESC, k)",
        "SELECT row_number() OVER (ORDER BY s DESC NULLS FIRST, k NULLS LAST), s "
        "FROM (SELECT k, sum(x) AS s FROM t GROUP BY k)",
    ),
    (
        "SELECT count(*) AS n FROM t, u WHERE t.id = u.id AND ROWNUM <= 2",
        "SELECT least(2, count(*)) AS n FROM t JOIN u ON t.id = u.id",
    ),
    ("SELECT id FROM t WHERE ROWNUM <= NULL", "SELECT id FROM t WHERE false"),
    (
        "SELECT x FROM (SELECT x FROM t ORDER BY x) WHERE ROWNUM <= 2.9",
        "SELECT x FROM t ORDER BY x NULLS LAST LIMIT 2",
    ),
    ("SELECT dummy, 1 AS one FROM dual", "SELECT 'X' AS dummy, 1 AS one"),
    ("SELECT LEVEL AS n FROM dual CONNECT BY LEVEL <= 4", "SELECT n FROM range(1, 5) AS r(n)"),
]
PLACED = "(SELECT *, row_number() OVER (ORDER BY {order}) AS r, count(*) OVER () AS n FROM {rows})"
PERCENT: list[str] = [
    "SELECT id, k, x, ts FROM t ORDER BY x DESC NULLS LAST, id, k, ts LIMIT 40%",
    "SELECT id, s FROM u ORDER BY id, s LIMIT 50 PERCENT OFFSET 1",
    "SELECT id FROM t UNION ALL SELECT id FROM u ORDER BY id LIMIT 33%",
    "SELECT k, sum(x) AS total FROM t GROUP BY k ORDER BY sum(x) + 1, k LIMIT 60%",
    "SELECT id, s FROM u ORDER BY ALL DESC LIMIT 50%",
]
CORRELATED: list[SQL] = [
    (
        "SELECT u.id, (SELECT count(*) FROM (SELECT x FROM t WHERE t.id = u.id ORDER BY x LIMIT 50%)) AS n "
        "FROM u",
        "SELECT u.id, (SELECT floor(count(*) / 2) FROM t WHERE t.id = u.id) AS n FROM u",
    )
]
CEILED: list[SQL] = [
    (
        "SELECT id FROM t ORDER BY id FETCH FIRST 30 PERCENT ROWS ONLY",
        f"SELECT id FROM {PLACED.format(order='id NULLS LAST', rows='t')} WHERE r <= ceil(n * 0.3)",
    ),
    (
        "SELECT id, x FROM t ORDER BY id FETCH FIRST 30 PERCENT ROWS WITH TIES",
        "SELECT id, x FROM (SELECT *, rank() OVER (ORDER BY id NULLS LAST) AS r, count(*) OVER () AS n "
        "FROM t) WHERE r <= ceil(n * 0.3)",
    ),
]
HASH = "md5(concat_ws(chr(31), '{}', {}))"
SAMPLES: list[SQL] = [
    (
        "SELECT id, k FROM t TABLESAMPLE BERNOULLI (50) REPEATABLE (7) WHERE x > 0",
        f"SELECT id, k FROM t WHERE left({HASH.format(7, 'id, k, x, ts')}, 8) < '80000000' AND x > 0",
    ),
    (
        "SELECT a.s, b.k FROM u AS a TABLESAMPLE SYSTEM (100) REPEATABLE (1) JOIN t AS b TABLESAMPLE "
        "BERNOULLI (25) REPEATABLE (3) ON a.id = b.id",
        f"SELECT s, k FROM u JOIN (FROM t WHERE left({HASH.format(3, 'id, k, x, ts')}, 8) < '40000000') AS b "
        "ON u.id = b.id",
    ),
]
SAMPLED: list[SQL] = [
    (
        "SELECT id, s FROM u USING SAMPLE 3 ROWS (reservoir, 42)",
        f"SELECT id, s FROM u ORDER BY {HASH.format(42, 'id, s')} LIMIT 3",
    ),
    (
        "SELECT k, s FROM (SELECT * FROM t JOIN u USING (id)) USING SAMPLE 50 PERCENT (bernoulli, 5)",
        f"SELECT k, s FROM (SELECT id, k, x, ts, s FROM t JOIN u USING (id)) "
        f"WHERE left({HASH.format(5, 'id, k, x, ts, s')}, 8) < '80000000'",
    ),
]
LAST: list[SQL] = [
    (
        f"SELECT id, NTH_VALUE(id, 2) FROM LAST OVER (PARTITION BY k ORDER BY id{frame}) AS n FROM t",
        f"SELECT id, list(id ORDER BY id NULLS LAST) OVER (PARTITION BY k ORDER BY id NULLS "
        f"LAST{frame})[-2] AS n FROM t",
    )
    for frame in ("", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", " RANGE UNBOUNDED PRECEDING")
]

MARKS: list[SQL] = [
    (
        "SELECT t.id, t.k, u.s FROM t, u WHERE t.id = u.id(+) AND t.x > 0",
        "SELECT t.id, t.k, u.s FROM t LEFT JOIN u ON t.id = u.id WHERE t.x > 0",
    ),
    (
        "SELECT a.id, b.x, u.s FROM u, t b, t a WHERE (b.id = u.id(+) AND a.x = b.id(+)) AND u.s(+) > 'a'",
        "SELECT a.id, b.x, u.s FROM t AS a LEFT JOIN t AS b ON a.x = b.id "
        "LEFT JOIN u ON b.id = u.id AND u.s > 'a'",
    ),
    (
        "SELECT a.id, c.s FROM t a, u c, u d WHERE a.id = c.id(+) AND d.id = 1",
        "SELECT a.id, c.s FROM t AS a LEFT JOIN u AS c ON a.id = c.id CROSS JOIN u AS d WHERE d.id = 1",
    ),
]
WAREHOUSE: list[SQL] = [
    (
        "SELECT id, RATIO_TO_REPORT(x) OVER (PARTITION BY k) AS share FROM t",
        "SELECT id, x / CAST(nullif(sum(x) OVER (PARTITION BY k), 0) AS DOUBLE) AS share FROM t",
    ),
    (
        "SELECT id, CONDITIONAL_TRUE_EVENT(x > 1) OVER (ORDER BY id, k, x, ts) AS n FROM t",
        "SELECT id, CAST(count(*) FILTER (WHERE x > 1) OVER (ORDER BY id NULLS LAST, k NULLS LAST, x NULLS "
        "LAST, ts NULLS LAST ROWS UNBOUNDED PRECEDING) AS BIGINT) AS n FROM t",
    ),
    (
        "WITH r (n) AS (SELECT min(id) FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
        "WITH RECURSIVE r (n) AS (SELECT min(id) FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 5) "
        "SELECT n FROM r",
    ),
    (
        "SELECT id, column2 FROM t JOIN (VALUES (1, 'a'), (2, 'b')) ON column1 = id",
        "SELECT id, b FROM t JOIN (VALUES (1, 'a'), (2, 'b')) AS v(a, b) ON a = id",
    ),
    (
        "SELECT * FROM (SELECT id, x FROM t) UNPIVOT (v FOR c IN (x))",
        "SELECT id, 'X' AS c, x AS v FROM t WHERE x IS NOT NULL",
    ),
    (
        "SELECT * FROM (SELECT k, id, x FROM t) PIVOT (SUM(x) FOR id IN (1, 2) DEFAULT ON NULL (0))",
        "SELECT k, coalesce(sum(x) FILTER (WHERE id = 1), 0) AS a, "
        "coalesce(sum(x) FILTER (WHERE id = 2), 0) AS b FROM t GROUP BY k",
    ),
    (
        "SELECT id, k LIKE ANY ('a%', '%b') AS l, ARRAY_GENERATE_RANGE(id, 3) AS r FROM t",
        "SELECT id, k LIKE 'a%' OR k LIKE '%b' AS l, range(id, 3) AS r FROM t",
    ),
]


@pytest.mark.parametrize(
    ("views", "dialect"),
    [
        (WINDOWS, "postgres"),
        (WINDOWS, "risingwave"),
        (SPARK_WINDOWS, "spark"),
        (ARRAYS, "postgres"),
        (SPLITS, "postgres"),
        (LISTED, "postgres"),
        (LATERALS, "duckdb"),
        (KEPT, "oracle"),
        (COUNTED, "oracle"),
        ([*((sql, sql) for sql in PERCENT), *CORRELATED], "duckdb"),
        (CEILED, "oracle"),
        (SAMPLES, "postgres"),
        (SAMPLED, "duckdb"),
        (LAST, "oracle"),
        (MARKS, "oracle"),
        (MARKS, "snowflake"),
        (WAREHOUSE, "snowflake"),
    ],
)
def test_views_hold_what_duckdb_says(views: list[SQL], dialect: str) -> None:
    hold(TABLES, views, dialect=dialect)
