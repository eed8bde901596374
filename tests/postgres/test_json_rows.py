"""Functions that give rows of JSON, against PostgreSQL: their rows, the names of their columns, "
"and errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg
import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import plan_query
from tests.postgres.server import Server

DOCUMENTS = """(VALUES
  (1, '[1, "two", null, {"a": 3, "b": [4], "c": "x"}, [5, [6]]]'::jsonb),
  (2, '{"a": 1, "b": {"a": 2}, "c": null, "d": "e", "f g": [true, 0.5]}'::jsonb),
  (3, '[]'::jsonb), (4, '{}'::jsonb), (5, NULL::jsonb),
  (6, '[{"a": "7", "b": null, "c": ""}, {"a": null}, {}, {"a": 8, "b": [9, 10], "c": {"d": 1}}]'::jsonb)
) AS t (id, j)"""
ARRAY = "CASE WHEN id IN (1, 3, 5, 6) THEN j END"
RECORDS = "CASE WHEN id IN (3, 5, 6) THEN j END"
OBJECT = "CASE WHEN id IN (2, 4, 5) THEN j END"
QUERIES = (
    f"SELECT id, e FROM {DOCUMENTS}, jsonb_array_elements({ARRAY}) AS e",
    f"SELECT id, e.* FROM {DOCUMENTS}, jsonb_array_elements({ARRAY}) AS e",
    f"SELECT id, value, e->>'a' AS a FROM {DOCUMENTS} LEFT JOIN LATERAL "
    f"jsonb_array_elements({ARRAY}) AS e ON true",
    f"SELECT id, value FROM {DOCUMENTS}, jsonb_array_elements({ARRAY})",
    f"SELECT id, jsonb_array_elements.value FROM {DOCUMENTS}, jsonb_array_elements({ARRAY})",
    f"SELECT * FROM {DOCUMENTS}, jsonb_array_elements_text({ARRAY}) WITH ORDINALITY",
    f"SELECT id, v, n FROM {DOCUMENTS}, jsonb_array_elements_text({ARRAY}) WITH ORDINALITY AS e(v, n)",
    f"SELECT * FROM {DOCUMENTS} CROSS JOIN jsonb_each({OBJECT})",
    f"SELECT id, m.k, m.value FROM {DOCUMENTS} CROSS JOIN jsonb_each_text({OBJECT}) AS m(k)",
    f"SELECT * FROM {DOCUMENTS}, jsonb_object_keys({OBJECT}) AS k",
    f"SELECT * FROM {DOCUMENTS}, jsonb_object_keys({OBJECT})",
    f"SELECT id, jsonb_array_elements({ARRAY}), jsonb_object_keys({OBJECT}) AS k FROM {DOCUMENTS}",
    f"SELECT * FROM {DOCUMENTS}, jsonb_to_recordset({RECORDS}) AS r(a integer, c text, b jsonb)",
    f'SELECT * FROM {DOCUMENTS}, jsonb_to_recordset({RECORDS}) AS r(b integer[], "A" text)',
    f"SELECT id, r.* FROM {DOCUMENTS}, jsonb_to_record({OBJECT}) AS r(a bigint, b jsonb, c boolean, d text)",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, '$.a') AS p",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, '$[*].b') AS p",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, 'lax $[last].b[*]') AS p",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, '$.*') AS p",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, '$.\"f g\"[0]') AS p",
    f"SELECT id, p FROM {DOCUMENTS}, jsonb_path_query(j, '$[1][0]') AS p",
    f"SELECT id, f FROM {DOCUMENTS}, jsonb_array_elements({RECORDS}) AS e, jsonb_path_query(e, "
    f"'$.b[*]') AS f",
    f"SELECT e, (SELECT count(*) FROM jsonb_each(e) AS m WHERE m.key > 'a') AS n "
    f"FROM {DOCUMENTS}, jsonb_array_elements({RECORDS}) AS e WHERE e ? 'a'",
    "SELECT e FROM (VALUES (1)) AS e(e), jsonb_array_elements('[2]'::jsonb) AS e2",
    "SELECT a FROM (VALUES (1)) AS t(a), jsonb_array_elements('[2]'::jsonb) AS a",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_rows_are_postgresqls(postgres: Server, sql: str) -> None:
    with postgres.connect() as connection:
        cursor = connection.execute(sql)
        expected, names = cursor.fetchall(), [column.name for column in cursor.description or ()]
    engine, planned = Engine(), plan_query(sql, {}, named=True)
    engine.create_view("v", planned.plan)
    words, counts = engine.snapshot.rows("v", 0)
    found = decode_rows(words, planned.schema, engine.dictionary)
    rows = [row for row, count in zip(found, counts.tolist(), strict=True) for _ in range(count)]
    assert not engine.snapshot.errors("v")
    assert _shown(rows) == _shown(expected)
    assert list(planned.schema.names) == names


def _shown(rows: Iterable[Sequence[object]]) -> list[str]:
    """The rows in an order; texts of documents have no spaces here."""
    return sorted(repr(tuple(row)).replace(" ", "") for row in rows)


@pytest.mark.parametrize(
    "call",
    [
        "jsonb_array_elements(j)",
        "jsonb_array_elements_text(j)",
        "jsonb_each(j)",
        "jsonb_object_keys(j)",
        "jsonb_to_recordset(j) AS r(a integer)",
        "jsonb_to_record(j) AS r(a integer)",
    ],
)
@pytest.mark.parametrize("document", ['{"a": 1}', "[1]", "7", '"x"', "null"])
def test_what_has_no_rows_is_an_error_of_its_row(postgres: Server, call: str, document: str) -> None:
    sql = f"SELECT 1 FROM (VALUES ('{document}'::jsonb)) AS t (j), {call}"
    with postgres.connect() as connection:
        try:
            connection.execute(sql)
            fails = False
        except psycopg.errors.InvalidParameterValue:
            fails = True
    engine = Engine()
    engine.create_view("v", plan_query(sql, {}).plan)
    assert bool(engine.snapshot.errors("v")) == fails
