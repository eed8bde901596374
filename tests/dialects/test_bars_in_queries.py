"""The expressions of the bars in ad-hoc queries: DuckDB's answer is the manual's too, or an error."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from datetime import date, time

import pytest

from engine.errors import InvalidValue
from engine.schema import Kind, Type
from planner.adhoc.adhoc_query import adhoc_query
from planner.errors import PlannerError
from planner.parsing.parse import parse_query
from planner.sql_types import from_duckdb
from service.reading.duck import Duck
from tests.dialects.bar_cells import says
from tests.dialects.bar_file import Decision, Entry, bar
from tests.seeds import half

TOGETHER = 16
"""Expressions in a query."""
PROVEN = (
    "bigquery",
    "clickhouse",
    "databricks",
    "flink",
    "mysql",
    "oracle",
    "postgres",
    "redshift",
    "snowflake",
    "sqlite",
    "trino",
    "tsql",
)
FORMS = {
    "bigquery": {"JSON_QUERY_ARRAY('[1, 2, 3]')"},
    "mysql": {"JSON_EXTRACT('[10, 20, [30, 40]]', '$[2][*]')"},
    "postgres": {"0.00001234::real"},
    "trino": {"REAL '10.3'", "DECIMAL '1.0' / 3", "DECIMAL '2.0' / 3"},
}
"""Expressions whose answer has another type in a query: an array of JSON, where a view has JSON; more digits
of a REAL in Python; and a DOUBLE for a quotient of decimals, whose types only a view knows."""
APART = {
    "postgres": {
        "NULL || ARRAY['a']",
        "'[1, 2, 3]'::jsonb = '[1,2,3]'::jsonb",
        "cardinality(ARRAY[[1,2],[3,4]])",
    }
}
"""Answers that depart from those of views, because an ad-hoc query does not know the types."""


def asked(dialect: str) -> Iterator[Entry]:
    """The expressions that a view answers as the manual does."""
    for entry in bar(dialect).entries:
        if not entry.is_query and entry.decision is Decision.RIGHT and entry.rows is not None:
            yield entry


@pytest.mark.parametrize("dialect", PROVEN)
def test_an_answer_of_a_query_is_the_manuals(dialect: str) -> None:
    duck, answered, wrong = Duck(), 0, []
    known = FORMS.get(dialect, set()) | APART.get(dialect, set())
    entries = half(list(asked(dialect)))
    for start in range(0, len(entries), TOGETHER):
        for entry, value, type in _answers(duck, entries[start : start + TOGETHER], dialect):
            answered += 1
            if entry.sql not in known and not _says(entry, value, type, dialect):
                wrong.append(f"{entry.sql}: {entry.rows}, but {value!r}")
    duck.close()
    assert not wrong, "\n".join(wrong)
    assert answered > 100


def _answers(duck: Duck, entries: Sequence[Entry], dialect: str) -> Iterator[tuple[Entry, object, Type]]:
    """The answers of one query for all entries; of one for each half, if that fails."""
    items = ", ".join(f"{entry.sql} AS v{place}" for place, entry in enumerate(entries))
    try:
        answer = duck.run(adhoc_query(parse_query(f"SELECT {items}", dialect), {}), {})
    except (InvalidValue, PlannerError):
        answer = None
    if len(entries) > 1 and (answer is None or answer.table.shape != (1, len(entries))):
        middle = len(entries) // 2
        yield from _answers(duck, entries[:middle], dialect)
        yield from _answers(duck, entries[middle:], dialect)
    elif answer is not None:
        for place, entry in enumerate(entries):
            yield entry, answer.table.column(place)[0].as_py(), from_duckdb(answer.types[place])


def _says(entry: Entry, value: object, type: Type, dialect: str) -> bool:
    assert entry.rows is not None
    if type.kind is Kind.INTERVAL:
        return value is not None  # Arrow's intervals have no text
    if type.kind is Kind.JSON and value is not None:
        value = json.loads(str(value))
    return says(entry.rows[0][0], _plain(value), type, bar(dialect).truth)


def _plain(value: object) -> object:
    """The value as JSON has it."""
    match value:
        case date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case list():
            return [_plain(each) for each in value]
    return value
