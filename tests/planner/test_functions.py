"""The functions of the dialects: `functions.txt` has expressions and what they are, by dialect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import plan_query

TABLE = Path(__file__).with_name("functions.txt")
DOCUMENT = Path(__file__).parents[2] / "docs/sql.md"


@dataclass(frozen=True)
class Use:
    """An expression of a dialect, what it means there, and what it is here."""

    dialect: str
    sql: str
    there: str
    here: str


def uses() -> Iterator[Use]:
    dialect = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("[") and " " not in line:
            dialect = line[1:-1]
        elif line and not line.startswith("#"):
            sql, there, *here = line.split(" => ")
            yield Use(dialect, sql, there, here[0] if here else there)


USES = tuple(uses())


def answers(dialect: str, expressions: list[str]) -> list[str]:
    """What a view of one row has for each of the expressions, as the table writes it."""
    items = ", ".join(f"{sql} AS v{number}" for number, sql in enumerate(expressions))
    engine = Engine()
    engine.create_view("v", plan_query(f"SELECT {items}", {}, dialect).plan)
    assert not engine.snapshot.errors("v", 0)
    words, _ = engine.snapshot.rows("v", 0)
    (row,) = decode_rows(words, engine.snapshot.schema("v"), engine.dictionary)
    return [_written(value) for value in row]


def _written(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | list | dict):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, str) and value.replace(".", "", 1).isdecimal() and "." in value:
        return f"{Decimal(value).normalize():f}"
    return str(value)


@pytest.mark.parametrize("dialect", dict.fromkeys(use.dialect for use in USES))
def test_functions_mean_what_the_table_says(dialect: str) -> None:
    mine = [use for use in USES if use.dialect == dialect]
    found = answers(dialect, [use.sql for use in mine])
    wrong = [
        (use.sql, use.here, got) for use, got in zip(mine, found, strict=True) if got != _number(use.here)
    ]
    assert not wrong


def _number(text: str) -> str:
    """Digits beyond those of a float's 15 say nothing."""
    return f"{float(text):.15g}" if text.count(".") == 1 and text.replace(".", "").isdecimal() else text


def test_the_reference_lists_what_differs() -> None:
    lines = [
        f"| `{use.dialect}` | `{use.sql.replace('|', chr(92) + '|')}` | `{use.there}` | `{use.here}` |"
        for use in USES
        if use.here != use.there
    ]
    assert "\n".join(lines) in DOCUMENT.read_text()
