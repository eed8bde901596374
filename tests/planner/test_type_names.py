"""Named types: the parser reads a name wherever a type stands, and nowhere else."""

from __future__ import annotations

import pytest

from engine.schema import enumeration
from planner.errors import PlannerError
from planner.parsing.namespace import Namespace
from planner.parsing.script import split
from planner.parsing.vocabulary import Vocabulary, kept_text, spelled_out, with_vocabulary

DIALECTS = (
    *("bigquery", "clickhouse", "databricks", "duckdb", "flink", "materialize", "mysql", "oracle"),
    *("postgres", "redshift", "risingwave", "snowflake", "spark", "sqlite", "trino", "tsql"),
)
TYPES = Vocabulary({"mood": enumeration("sad", "ok"), "s.mood": enumeration("x"), "Odd": enumeration("q")})
MOOD = "ENUM('sad', 'ok')"


def tree(sql: str, dialect: str = "postgres", names: Namespace | None = None) -> str:
    (piece,) = split(sql, dialect, names=names or Namespace())
    found = with_vocabulary(piece, TYPES).parse()
    return found.sql(dialect, comments=False).replace("ENUM (", "ENUM(").replace("Enum(", "ENUM(")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'ok'::mood AS a", f"SELECT CAST('ok' AS {MOOD}) AS a"),
        ("SELECT CAST(x AS mood[]) AS a", f"SELECT CAST(x AS {MOOD}[]) AS a"),
        (
            "SELECT x::public.mood AS a, y::s.mood AS b",
            f"SELECT CAST(x AS {MOOD}) AS a, CAST(y AS ENUM('x')) AS b",
        ),
        ('SELECT x::Mood AS a, y::"Odd" AS b', f"SELECT CAST(x AS {MOOD}) AS a, CAST(y AS ENUM('q')) AS b"),
        ("SELECT mood AS a, f(mood) AS b FROM mood", "SELECT mood AS a, F(mood) AS b FROM mood"),
        ("SELECT a FROM f() AS t(a mood, mood INT)", f"SELECT a FROM F() AS t(a {MOOD}, mood INT)"),
        (
            "CREATE TABLE t (mood mood DEFAULT 'ok'::mood CHECK (mood > 'sad'::mood), z mood[])",
            f"CREATE TABLE t (mood {MOOD} DEFAULT CAST('ok' AS {MOOD}) "
            f"CHECK (mood > CAST('sad' AS {MOOD})), z {MOOD}[])",
        ),
        ("ALTER TABLE t ADD COLUMN mood mood", f"ALTER TABLE t ADD COLUMN mood {MOOD}"),
        ("ALTER TABLE t ALTER COLUMN a TYPE mood", f"ALTER TABLE t ALTER COLUMN a SET DATA TYPE {MOOD}"),
    ],
)
def test_a_name_is_read_where_a_type_stands(sql: str, expected: str) -> None:
    assert tree(sql) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_it(dialect: str) -> None:
    found = spelled_out("SELECT CAST(mood AS mood), mood(mood) FROM t", dialect, TYPES)
    assert found == f"SELECT CAST(mood AS {MOOD}), mood(mood) FROM t"
    assert "ENUM('sad', 'ok')" in tree("SELECT CAST(mood AS mood) AS a FROM t", dialect)


def test_columns_of_a_recursion_have_named_types() -> None:
    sql = "WITH MUTUALLY RECURSIVE q (a mood) AS (SELECT 'ok'::mood UNION SELECT a FROM q) SELECT a FROM q"
    assert spelled_out(sql, "postgres", TYPES) == sql.replace("(a mood)", f"(a {MOOD})").replace(
        "::mood", f"::{MOOD}"
    )


def test_a_name_without_a_schema_is_of_the_search_path() -> None:
    names = Namespace(("s", "public"), ("s", "public"))
    assert tree("SELECT x::mood AS a", names=names) == "SELECT CAST(x AS ENUM('x')) AS a"


def test_a_text_that_is_kept_has_the_definition_and_its_places() -> None:
    found = kept_text("SELECT 'a'::mood, 'b'::mood,\n y FROM t", "postgres", TYPES)
    assert found.text == f"SELECT 'a'::{MOOD}, 'b'::{MOOD},\n y FROM t"
    assert found.place(1, len("SELECT 'a'::") + len(MOOD) + 3) == (1, len("SELECT 'a'::mood") + 3)
    assert found.place(2, 2) == (2, 2)


def test_a_text_that_cannot_be_read_is_left_to_its_reader() -> None:
    assert spelled_out("SELECT 'a'::mood FROM (", "postgres", TYPES) == "SELECT 'a'::mood FROM ("


def test_an_error_has_its_place_in_the_text_as_it_was_written() -> None:
    (piece,) = split("SELECT 'a'::mood[], CAST(x AS) FROM t")
    with pytest.raises(PlannerError) as raised:
        with_vocabulary(piece, TYPES).parse()
    (plain,) = split("SELECT 'a'::text[], CAST(x AS) FROM t")
    with pytest.raises(PlannerError) as expected:
        plain.parse()
    assert (raised.value.line, raised.value.column) == (expected.value.line, expected.value.column)
