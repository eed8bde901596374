"""Full names, and what names without a schema mean under a search path."""

from __future__ import annotations

import pytest

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt, split
from planner.parsing.search_path import namespace, search_path
from planner.relation_names import full_name, own_name, schema_of, schema_pattern, split_name

PARTS = ["a", "A", "a.b", '"', '"a"', 'a"b', ".", "a b", "public", "é", "*", '"."', '".', '."', '""']


def test_each_pair_has_one_full_name() -> None:
    pairs = [(schema, name) for schema in PARTS for name in PARTS]
    assert [split_name(full_name(*pair)) for pair in pairs] == pairs
    assert len({full_name(*pair) for pair in pairs}) == len(pairs)


def test_names_of_public_read_as_they_did() -> None:
    for name in ("orders", "Orders", "a b", 'a"b', "*"):
        assert full_name("public", name) == name and (schema_of(name), own_name(name)) == ("public", name)
    assert full_name("public", "a.b") == '"a.b"'
    assert schema_pattern("public", "*") == "public.*" != full_name("public", "*")


NAMES = Namespace(("a", "public"), {"a", "b", "public"}, {"a.t", "a.v", "u", "b.t"})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM t", 'SELECT * FROM "a".t'),
        ("SELECT * FROM u, b.t, nope", "SELECT * FROM u, b.t, nope"),
        ("WITH t AS (SELECT 1 AS x) SELECT * FROM t", "WITH t AS (SELECT 1 AS x) SELECT * FROM t"),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", 'WITH t AS (SELECT * FROM "a".t) SELECT * FROM t'),
        (
            "WITH x AS (SELECT * FROM v), v AS (SELECT * FROM x) SELECT * FROM v",
            'WITH x AS (SELECT * FROM "a".v), v AS (SELECT * FROM x) SELECT * FROM v',
        ),
        (
            "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT * FROM t, v",
            'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n FROM t) SELECT * FROM t, "a".v',
        ),
        (
            "SELECT 1 AS x WHERE EXISTS (SELECT 1 AS y FROM t)",
            'SELECT 1 AS x WHERE EXISTS(SELECT 1 AS y FROM "a".t)',
        ),
        ("SELECT a.t.x FROM t", 'SELECT t.x FROM "a".t'),
        ("WITH t AS (SELECT 1 AS x) INSERT INTO t SELECT * FROM t", None),
        ("UPDATE t SET x = 1 FROM v", 'UPDATE "a".t SET x = 1 FROM "a".v'),
        ("DELETE FROM t USING v", 'DELETE FROM "a".t USING "a".v'),
        ("TRUNCATE TABLE t, u", 'TRUNCATE TABLE "a".t, u'),
        ("DROP TABLE t, u", 'DROP TABLE "a".t, u'),
        ("CREATE TABLE n (x INT REFERENCES n (x))", 'CREATE TABLE "a".n (x INT REFERENCES "a".n (x))'),
        ("CREATE TABLE b.n (x INT REFERENCES t (x))", 'CREATE TABLE b.n (x INT REFERENCES "a".t (x))'),
    ],
)
def test_names_get_the_schema_that_they_mean(sql: str, expected: str | None) -> None:
    (piece,) = split(sql, names=NAMES)
    text = piece.parse().sql("postgres")
    if expected is None:  # the target of an INSERT is never a CTE
        assert 'INSERT INTO "a".t' in text and text.endswith("FROM t")
    else:
        assert text == expected


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "SELECT x,\n y FROM t JOIN u ON true", 'SELECT x,\n y FROM "a".t JOIN u ON true'),
        ("postgres", 'SELECT * FROM "t" /* t */', 'SELECT * FROM "a"."t" /* t */'),
        ("mysql", "SELECT * FROM `t`, u", "SELECT * FROM `a`.`t`, u"),
        ("bigquery", "SELECT * FROM t", "SELECT * FROM `a`.t"),
        ("tsql", "SELECT * FROM [t]", "SELECT * FROM [a].[t]"),
        (
            "postgres",
            "WITH MUTUALLY RECURSIVE q (n INT) AS (SELECT x FROM t UNION SELECT n FROM q) TABLE q",
            'WITH MUTUALLY RECURSIVE q (n INT) AS (SELECT x FROM "a".t UNION SELECT n FROM q) TABLE q',
        ),
    ],
)
def test_a_text_that_is_kept_has_the_schemas(dialect: str, text: str, expected: str) -> None:
    found = qualified_text(Excerpt(text), dialect, NAMES)
    assert found.text == expected
    for line, (new, old) in enumerate(zip(expected.split("\n"), text.split("\n"), strict=True), start=1):
        assert found.place(line, len(new)) == (line, len(old))


def test_a_search_path_passes_over_what_does_not_exist() -> None:
    schemas = {"public": 0, "a": 1, "ada": 2}
    assert search_path('A, "B c", \'d\', main, "$user"') == ("a", "B c", "d", "public", "$user")
    for path, found in [
        (("public",), ("public",)),
        (("nope", "public"), ("public",)),
        (("$user", "public"), ("ada", "public")),
        (("a", "nope", "a"), ("a",)),
        (("nope",), ("nope",)),
    ]:
        assert namespace(path, "ada", schemas, tuple, dict).path == found


@pytest.mark.parametrize("text", ["a b", "a,", ",", "a,,b", "'a"])
def test_what_is_no_search_path(text: str) -> None:
    with pytest.raises(PlannerError):
        search_path(text)
