"""Which values need no evaluation."""

import pytest

from engine.schema import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP, Type, numeric
from planner.adhoc.literals import plain_rows
from planner.statements.statement_reader import parse_script
from planner.statements.statements import Insert


def rows(values: str, *types: Type) -> list[list[object]] | None:
    (statement,) = parse_script(f"INSERT INTO t VALUES {values}")
    assert isinstance(statement, Insert)
    return plain_rows(statement.query, types, dialect="postgres")


def test_plain_rows():
    first = "(1, 'x', -2.50, 3, TRUE, '2026-01-02', '2026-01-02 03:04:05.5Z')"
    second = "(NULL, NULL, 7, 1.5, NULL, NULL, NULL)"
    types = (INTEGER, TEXT, numeric(5, 2), DOUBLE, BOOLEAN, DATE, TIMESTAMP)
    assert rows(f"{first}, {second}", *types) == [
        [1, "x", "-2.50", 3.0, True, "2026-01-02", "2026-01-02 03:04:05.5Z"],
        [None, None, 7, 1.5, None, None, None],
    ]


def test_numbers_beside_nan_are_plain():
    wide = numeric(38, 2)
    values = (
        "('NaN'), (99999999999999999999), (-12345678901234567890.5), ('-7.25'), ('+1'), ('Infinity'::numeric)"
    )
    found = rows(values, wide)
    assert found is not None and str(found[0][0]) == "nan"
    assert found[1:] == [[10**20 - 1], ["-12345678901234567890.5"], ["-7.25"], [1], [float("inf")]]
    assert rows("('1.005')", wide) is rows("('--1')", wide) is rows("('')", wide) is None


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("'5'", INTEGER),
        ("1.0", INTEGER),
        ("1 + 1", INTEGER),
        ("12345678901234567890", INTEGER),
        ("1.005", numeric(9, 2)),
        ("1e3", DOUBLE),
        ("1", TEXT),
        ("1", BOOLEAN),
        ("'t'", BOOLEAN),
        ("'today'", DATE),
        ("'2026-01-02 BC'", DATE),
        ("'2026-01-02T23:59:59.9999999'", TIMESTAMP),
        ("DATE '2026-01-02'", DATE),
    ],
)
def test_anything_else_is_for_the_database(value: str, type: Type):
    assert rows(f"({value})", type) is None
