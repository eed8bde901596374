"""WITH MUTUALLY RECURSIVE: read, kept on copies, written back; and what cannot be read."""

from __future__ import annotations

import pytest
from sqlglot import exp

from engine.plan.nodes import OnLimit
from engine.schema import INTEGER, TEXT, numeric
from planner.errors import InvalidSyntax
from planner.parsing.canonical_text import sql_text
from planner.parsing.mutually import Declaration, declaration_of
from planner.parsing.parse import parse_query

TWO = (
    "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 7) a(x INT, y NUMERIC(10, 2)) AS (SELECT x, y "
    "FROM b), "
    "b(x INT, y NUMERIC(10, 2)) AS (SELECT 1, 2) SELECT * FROM a"
)


def declared(tree: exp.Expression) -> list[Declaration | None]:
    return [declaration_of(with_) for with_ in tree.find_all(exp.With)]


def test_declarations() -> None:
    types = (INTEGER, numeric(10, 2))
    assert declared(parse_query(TWO)) == [Declaration(7, OnLimit.ERROR, (types, types))]
    (returning,) = declared(parse_query(TWO.replace("ERROR AT", "return at")))
    assert returning is not None and returning.on_limit is OnLimit.RETURN
    (bare,) = declared(parse_query(TWO.replace("ERROR AT ", "")))
    assert bare is not None and (bare.limit, bare.on_limit) == (7, OnLimit.ERROR)


def test_nested_and_plain_ones_are_told_apart() -> None:
    tree = parse_query(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n FROM r) SELECT * FROM r, "
        "(WITH MUTUALLY RECURSIVE s (t text) AS (SELECT 'x') SELECT t FROM s) q"
    )
    assert sorted(declared(tree), key=str) == sorted(
        [None, Declaration(None, OnLimit.ERROR, ((TEXT,),))], key=str
    )


def test_copies_keep_it_and_text_has_it() -> None:
    tree = parse_query(TWO)
    text = sql_text(tree.copy())
    assert text.startswith(
        "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 7) a(x INTEGER, y NUMERIC(10, 2)) AS"
    )
    assert sql_text(parse_query(text)) == text


def test_places_stay() -> None:
    tree = parse_query("WITH MUTUALLY RECURSIVE r\n (n numeric(10, 2)) AS (SELECT 1)\nSELECT zz FROM r")
    column = next(c for c in tree.find_all(exp.Column) if c.name == "zz")
    assert (column.this.meta["line"], column.this.meta["col"]) == (3, 9)


@pytest.mark.parametrize(
    ("sql", "near", "hint", "column"),
    [
        ("WITH MUTUALLY RECURSIVE r AS (SELECT 1) SELECT 1", "AS", "the columns and their types", 27),
        ("WITH MUTUALLY RECURSIVE r (n) AS (SELECT 1) SELECT 1", ")", "the column's type is expected", 29),
        ("WITH MUTUALLY RECURSIVE r (n foo) AS (SELECT 1) SELECT 1", "foo", "foo is not a type", 30),
        ("WITH MUTUALLY RECURSIVE (STOP) r (n int) AS (SELECT 1) SELECT 1", "(", "limit is not valid", 25),
        ("WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 0) r (n int) AS (SELECT 1) SELECT 1", "(",
         "limit is not valid", 25),
        ("WITH MUTUALLY RECURSIVE r (n int) (SELECT 1) SELECT 1", "(", "AS is expected", 35),
        ("WITH MUTUALLY RECURSIVE r (n int) AS SELECT 1", "SELECT", "a query in parentheses", 38),
        ("WITH MUTUALLY RECURSIVE r (n int) AS (SELECT 1), SELECT 1", "SELECT", "a name is expected", 50),
    ],
)  # fmt: skip
def test_what_cannot_be_read(sql: str, near: str, hint: str, column: int) -> None:
    with pytest.raises(InvalidSyntax) as caught:
        parse_query(sql)
    error = caught.value
    assert error.message == f'syntax error at or near "{near}"'
    assert hint in error.hint and "WITH MUTUALLY RECURSIVE [(RETURN" in error.hint
    assert (error.line, error.column) == (1, column)


def test_mutually_is_a_name_too() -> None:
    sql = "WITH MUTUALLY RECURSIVE mutually (recursion int) AS (SELECT 1 AS mutually) SELECT * FROM mutually"
    (declaration,) = declared(parse_query(sql))
    assert declaration is not None and declaration.types == ((INTEGER,),)
    assert declared(parse_query("WITH mutually AS (SELECT 1) SELECT * FROM mutually")) == [None]
