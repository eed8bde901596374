"""DuckDB's answers about types, constants and functions."""

from __future__ import annotations

import pytest

from engine.plan.expressions import Literal
from engine.schema import DOUBLE, INTEGER, SMALLINT, TEXT, numeric
from planner.errors import TypeMismatch, UnknownFunction, Unsupported
from planner.native.reference import common_type, constant, fill_places, literal_text, type_of, union_type
from planner.sql_types import UNTYPED


def test_types_depend_on_literals_as_they_are_written() -> None:
    assert type_of("{0} + {1}", (SMALLINT, "1")) == SMALLINT
    assert type_of("{0} + {1}", (SMALLINT, INTEGER)) == INTEGER
    assert type_of("{0} * {1}", (numeric(10, 2), "1.5")) == numeric(12, 3)
    assert type_of("sum({0})", (INTEGER,)) == numeric(38, 0)
    assert common_type(INTEGER, numeric(5, 2)) == numeric(12, 2)
    assert union_type(UNTYPED, DOUBLE) == DOUBLE


def test_refusals_are_duckdbs() -> None:
    with pytest.raises(TypeMismatch, match=r"upper does not take \(INTEGER\)"):
        type_of("upper({0})", (INTEGER,))
    with pytest.raises(UnknownFunction, match="nofun"):
        type_of("nofun({0})", (INTEGER,))
    with pytest.raises(Unsupported, match="type UNION"):
        type_of("union_value(a := {0})", (INTEGER,))


def test_constants() -> None:
    assert constant("CAST('7' AS INTEGER)") == (True, 7)
    assert constant("CAST('x' AS INTEGER)") == (False, None)
    assert literal_text(Literal("it's", TEXT)) == "'it''s'"
    assert fill_places("f({1}, {0}, {1})", ["a", "b"]) == "f(b, a, b)"
