"""Scripts are cut where the dialect says, and everything keeps its place."""

from collections.abc import Callable

import pytest
from sqlglot import exp
from sqlglot.tokens import Tokenizer

from planner.errors import InvalidSyntax
from planner.parsing.parse import parse_query
from planner.parsing.script import Excerpt, place_of, split


def sources(script: str, dialect: str = "postgres") -> list[str]:
    return [piece.source for piece in split(script, dialect)]


def test_statements_end_at_semicolons_outside_quotes_and_comments():
    script = "SELECT ';' ; -- a ; b\nSELECT $$;$$; /* ; */ SELECT \";\";;"
    assert sources(script) == ["SELECT ';'", "SELECT $$;$$", 'SELECT ";"']


def test_words_that_swallow_text_are_cut_all_the_same():
    assert sources("EXPLAIN SELECT ';'; SHOW TABLES; EXPLAIN ANALYZE SELECT 'a;b'") == [
        "EXPLAIN SELECT ';'",
        "SHOW TABLES",
        "EXPLAIN ANALYZE SELECT 'a;b'",
    ]


def test_a_script_may_be_empty():
    assert split("") == split(" ;; -- nothing\n") == ()


def test_dialects_quote_in_their_own_way():
    assert sources("SELECT `a;b`; SELECT 1", "mysql") == ["SELECT `a;b`", "SELECT 1"]
    assert sources("SELECT [a;b]; SELECT 1", "tsql") == ["SELECT [a;b]", "SELECT 1"]


def test_a_piece_knows_its_number_and_place():
    pieces = split("SELECT 1;\n\n  SELECT\n 2")
    assert [(piece.index, *piece.place()) for piece in pieces] == [(0, 1, 1), (1, 3, 3)]
    assert pieces[1].place(1) == (4, 2)


@pytest.mark.parametrize(
    ("script", "line", "column"),
    [
        ("SELECT 1;\nSELECT 'a", 2, 8),
        ("SELECT 'x', \"y", 1, 13),
        ("SELECT 'a \" b", 1, 8),
        ("SELECT 1 /* x", 1, 10),
    ],
)
def test_what_is_never_closed_is_placed(script: str, line: int, column: int):
    with pytest.raises(InvalidSyntax) as refused:
        split(script)
    assert (refused.value.line, refused.value.column) == (line, column)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("klingon", "GET /v1/dialects lists the dialects"),
        ("mssql", "its name is tsql here"),
        ("postgress", "did you mean postgres?"),
    ],
)
@pytest.mark.parametrize("read", [split, parse_query])
def test_an_unknown_dialect_is_named(read: Callable[[str, str], object], name: str, hint: str):
    with pytest.raises(InvalidSyntax, match=f"unknown SQL dialect {name}") as refused:
        read("SELECT 1", name)
    assert refused.value.hint == hint


def test_a_syntax_error_is_placed_in_the_script():
    piece = split("SELECT 1;\n SELECT 1 FROM t WHERE )")[1]
    with pytest.raises(InvalidSyntax, match=r'at or near "\)"') as refused:
        piece.parse()
    assert (refused.value.line, refused.value.column) == (2, 24)


def test_an_excerpt_places_what_is_found_in_it():
    script = "SELECT 1;\n  SELECT a,\n b"
    excerpt = split(script)[1].excerpt(0)
    assert excerpt == Excerpt("SELECT a,\n b", 2, 3)
    assert excerpt.place(1, 8) == place_of(script, script.index("a,"))
    assert excerpt.place(2, 2) == place_of(script, script.index("b"))
    error = InvalidSyntax("no", line=1, column=8)
    excerpt.relocate(error)
    assert (error.line, error.column) == (2, 10)


@pytest.mark.parametrize(
    "dialect", ["postgres", "duckdb", "spark", "mysql", "snowflake", "tsql", "sqlite", "trino"]
)
def test_versions_are_read_in_every_dialect(dialect: str):
    (piece,) = split(
        "SELECT * FROM t VERSION AS OF 12 AS x JOIN u TIMESTAMP AS OF '2026-01-01' ON TRUE", dialect
    )
    versions = [table.args["version"].sql() for table in piece.parse().find_all(exp.Table)]
    assert versions == ["FOR VERSION AS OF 12", "FOR TIMESTAMP AS OF '2026-01-01'"]


@pytest.mark.parametrize("table", ["t AS x VERSION AS OF 12", "t VERSION AS OF 12", "t FOR VERSION AS OF 12"])
def test_bigquery_puts_the_version_behind_the_alias(table: str):
    (piece,) = split(f"SELECT * FROM {table}", "bigquery")
    assert piece.parse().find(exp.Table).args["version"].expression.name == "12"


def test_a_column_may_be_called_version():
    (piece,) = split("SELECT version AS of, timestamp AS x FROM t")
    assert piece.parse().named_selects == ["of", "x"]


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "snowflake", "bigquery", "spark"])
@pytest.mark.parametrize("word", ["SHOW TABLES", "EXPLAIN SELECT ';' AS a", "DESCRIBE t"])
def test_commands_are_tokens_with_their_places(dialect: str, word: str) -> None:
    script = f"-- first\n{word};\n {word}; SELECT 1"
    pieces = split(script, dialect)
    assert [piece.source for piece in pieces] == [word, word, "SELECT 1"]
    assert [piece.place() for piece in pieces] == [(2, 1), (3, 2), (3, 4 + len(word))]


def test_a_script_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many commands it has."""
    read: list[int] = []
    tokenize = Tokenizer.tokenize

    def counted(self: Tokenizer, sql: str) -> list:
        read.append(len(sql))
        return tokenize(self, sql)

    monkeypatch.setattr(Tokenizer, "tokenize", counted)
    script = "SHOW TABLES; EXPLAIN SELECT 1;" * 200
    assert len(split(script)) == 400
    assert read == [len(script)]


def test_the_place_of_an_open_quote_in_a_long_script_is_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.parsing.script_tokens._SEARCHED", 1_000)
    script = "SELECT " + "'x', " * 500 + "'open"
    with pytest.raises(InvalidSyntax, match="not closed") as error:
        split(script)
    assert (error.value.line, error.value.column) == (1, len(script) - 4)
