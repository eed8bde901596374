"""Calls of SQL functions, as the parser finds them, and what stands in the text for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.errors import PlannerError, SqlTooLarge, Unsupported
from planner.parsing.namespace import DEFAULT
from planner.parsing.script import split
from planner.parsing.sql_functions import FunctionParameter, SqlFunction
from planner.parsing.vocabulary import Vocabulary, kept_text, spelled_out, with_vocabulary


def _macro(name: str, parameters: str, body: str, is_table: bool = False) -> SqlFunction:
    named = tuple(FunctionParameter(each) for each in parameters.split())
    return SqlFunction(name, named, body, "postgres", is_table, is_macro=True)


FUNCTIONS = (
    _macro("inc", "x", "SELECT x + 1"),
    _macro("twice", "x", "SELECT inc(x) + inc(x)"),
    _macro("total", "x", "SELECT sum(x)"),
    _macro("near", "n", "SELECT a FROM public.t WHERE a < n", is_table=True),
    _macro("app.inc", "x", "SELECT x + 100"),
)
VOCABULARY = Vocabulary(functions={function.name: (function,) for function in FUNCTIONS})
NEAR = "(SELECT a FROM public.t WHERE a < {})"
CASES = [
    ("SELECT inc(a), 1 + inc(2), (inc(3))", 'SELECT ((a) + 1) AS "inc", 1 + (2 + 1), ((3 + 1))'),
    ("SELECT inc(inc(a)) AS b, app.inc(1)", 'SELECT (((a) + 1) + 1) AS b, (1 + 100) AS "inc"'),
    ("SELECT twice(a)", 'SELECT (((a) + 1) + ((a) + 1)) AS "twice"'),
    ("SELECT total(a) OVER (ORDER BY b)", "SELECT sum((a)) OVER (ORDER BY b)"),
    ("SELECT inc(\n  1), b", 'SELECT (1 + 1)\n AS "inc", b'),
    ("SELECT (SELECT inc(a)) FROM t", 'SELECT (SELECT ((a) + 1) AS "inc") FROM t'),
    ("SELECT extract(year FROM inc(a)) FROM t", "SELECT extract(year FROM ((a) + 1)) FROM t"),
    ("SELECT a IS DISTINCT FROM inc(1)", "SELECT a IS DISTINCT FROM (1 + 1)"),
    # names of tables, aliases and columns are no calls
    ("WITH inc(a) AS (SELECT 1) SELECT a FROM inc AS inc(a)", None),
    ("INSERT INTO inc (a) VALUES (1)", None),
    ("SELECT x.inc FROM near AS x(inc)", None),
    ("SELECT * FROM near(3)", f'SELECT * FROM {NEAR} AS "near"'.format("3")),
    ("SELECT * FROM t, near(3) AS n(b)", f"SELECT * FROM t, LATERAL {NEAR} AS n(b)".format("3")),
    (
        "SELECT 1 FROM t JOIN near(3) ON true",
        f'SELECT 1 FROM t JOIN LATERAL {NEAR} AS "near" ON true'.format("3"),
    ),
    ("SELECT * FROM t GROUP BY inc(a)", "SELECT * FROM t GROUP BY ((a) + 1)"),
    ("DELETE FROM t RETURNING inc(a)", 'DELETE FROM t RETURNING ((a) + 1) AS "inc"'),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_call_is_found_where_the_parser_reads_one(text: str, expected: str | None) -> None:
    assert spelled_out(text, "postgres", VOCABULARY) == (expected or text)


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_the_tree_is_that_of_the_text(text: str, expected: str | None) -> None:
    (piece,), (same,) = split(text), split(expected or text)
    assert with_vocabulary(piece, VOCABULARY).parse() == same.parse()


def test_a_column_that_is_more_than_a_call_is_named_as_in_the_whole_text() -> None:
    (piece,) = split("SELECT (inc(1)), inc(1) + 1, (SELECT count(*) FROM near(inc(1)))")
    names = with_vocabulary(piece, VOCABULARY).parse().named_selects
    assert names == ["?column?", "?column?", "count"]


def test_a_kept_text_has_the_schemas_of_arguments_too() -> None:
    names = replace(DEFAULT, path=("app", "public"), schemas=("app", "public"), relations=("app.t", "u"))
    text = kept_text("SELECT a FROM t WHERE inc((SELECT b FROM u)) = inc(a)", "postgres", VOCABULARY, names)
    assert text.text == 'SELECT a FROM "app".t WHERE ((SELECT b FROM u) + 100) = ((a) + 100)'


def test_the_statements_of_a_text_are_read_one_by_one() -> None:
    found = spelled_out("SELECT inc(a); SELECT (((a)) + 1)", "postgres", VOCABULARY)
    assert found == 'SELECT ((a) + 1) AS "inc"; SELECT (((a)) + 1)'


def test_an_error_has_the_place_of_its_call() -> None:
    (piece,) = split("SELECT 1;\nSELECT a,\n  inc(1, 2)")[1:]
    with pytest.raises(PlannerError) as failed:
        with_vocabulary(piece, VOCABULARY).parse()
    assert (failed.value.line, failed.value.column) == (3, 3)


def test_functions_do_not_grow_without_end() -> None:
    wide = _macro("wide", "x", f"SELECT {' + '.join('x' * 64)}")
    grown = Vocabulary(functions={"wide": (wide,)})
    with pytest.raises(SqlTooLarge):
        spelled_out(f"SELECT {'wide(' * 6}1{')' * 6}", "postgres", grown)
    again = _macro("again", "x", "SELECT again(x)")
    with pytest.raises(Unsupported, match="call itself"):
        spelled_out("SELECT again(1)", "postgres", Vocabulary(functions={"again": (again,)}))


def test_functions_call_each_other_in_a_row() -> None:
    first = _macro("c0", "x", "SELECT x")
    chain = (first, *(_macro(f"c{i}", "x", f"SELECT c{i - 1}(x)") for i in range(1, 40)))
    known = Vocabulary(functions={function.name: (function,) for function in chain})
    assert spelled_out("SELECT c30(7) AS a", "postgres", known).count("7") == 1
    with pytest.raises(PlannerError, match="too deeply"):
        spelled_out("SELECT c39(7)", "postgres", known)
