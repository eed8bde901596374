"""Functions whose values are beyond BIGINT: each is right to the last digit, or is closed."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest

from engine.codec.json import decode_rows
from engine.runtime.engine import Engine
from planner import plan_query
from planner.allowed.open_functions import PURE

WIDE = {"UBIGINT", "HUGEINT", "UHUGEINT"}
EXAMPLES = {
    "array_unique": ["array_unique([1, 2, 2])"],
    "binom": ["binom(120, 60)", "binom(10, 5)"],
    "cardinality": ["cardinality(map([1, 2], [3, 4]))"],
    "factorial": ["factorial(20)", "factorial(21)", "factorial(33)"],
    "hash": ["hash('a')", "hash('b')", "hash(1)", "hash('a', 1)", "hash(NULL)", "hash('a') % 7"],
    "json_array_length": ["json_array_length('[1, 2]')", "json_array_length('{\"a\": [1]}', '$.a')"],
    "list_unique": ["list_unique([1, 2, 2])"],
    "parse_formatted_bytes": ["parse_formatted_bytes('16000000 TiB')", "parse_formatted_bytes('1 kB')"],
    "list_sum": ["list_sum([1, 2])"],
    "list_aggregate": ["list_aggregate([9223372036854775807, 9223372036854775807], 'sum')"],
}


def test_every_function_with_such_a_value_has_an_example() -> None:
    rows = duckdb.connect().execute(
        "SELECT lower(function_name), return_type, parameter_types FROM duckdb_functions() "
        "WHERE function_type = 'scalar' AND return_type IS NOT NULL"
    )
    wide = {
        name
        for name, type, parameters in rows.fetchall()
        if type in WIDE and not {"UTINYINT", "USMALLINT", "UINTEGER", *WIDE} & set(parameters)
    }
    operators = {"!__postfix"}  # no dialect writes it
    assert wide & PURE - operators <= set(EXAMPLES)


@pytest.mark.parametrize("text", [text for texts in EXAMPLES.values() for text in texts])
def test_its_value_is_duckdbs(text: str) -> None:
    (wanted,) = duckdb.connect().execute(f"SELECT {text}").fetchall()[0]
    engine = Engine()
    engine.create_view("v", plan_query(f"SELECT {text} AS x", {}, "duckdb").plan)
    assert not engine.snapshot.errors("v", 0)
    words, _ = engine.snapshot.rows("v", 0)
    ((found,),) = decode_rows(words, engine.snapshot.schema("v"), engine.dictionary)
    assert found == wanted if wanted is None else Decimal(found) == Decimal(wanted)


def test_counts_stay_integers() -> None:
    plan = plan_query("SELECT json_array_length('[1]') AS a, list_sum([1, 2]) AS b", {}, "duckdb").plan
    assert [str(type) for type in plan.schema.types] == ["BIGINT", "BIGINT"]
