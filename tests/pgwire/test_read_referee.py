"""Reads over PostgreSQL's protocol, in blocks and out of them: what they answer is what they answer over
whole relations. `python -m tests.pgwire.test_read_referee 1000` asks so many random queries."""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import psycopg

from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.seeds import SEED
from tests.service.picking_story import Story, picks, whole
from tests.service.test_point_reads import counted

KEYS: dict[str, list[object]] = {
    "BIGINT": [1, -7, 2**62, 5],
    "INTEGER": [1, -7, 70000],
    "SMALLINT": [1, -3],
    "TEXT": ["a", "", "ä€😀", "1"],
    "NUMERIC(12, 2)": [Decimal("1.50"), Decimal("-0.01"), Decimal(7)],
    "NUMERIC(30, 4)": [Decimal("12345678901234567890123456.7891"), Decimal(1)],
    "DOUBLE PRECISION": [1.5, -0.0, float("nan"), float("-inf"), 1e300],
    "DATE": [date(2020, 1, 1), date(1969, 12, 31)],
    "TIME": [time(12, 34, 56, 789000), time(0)],
    "TIMESTAMP": [datetime(2020, 1, 1), datetime(2020, 1, 1, 12, 34, 56, 789)],
    "TIMESTAMPTZ": [datetime(2020, 1, 1, tzinfo=UTC), datetime(1999, 1, 1, 1, tzinfo=UTC)],
    "UUID": [UUID(int=1), UUID(int=2**127 + 5)],
    "BOOLEAN": [True, False],
}


def answer(connection: psycopg.Connection, sql: str, *parameters: object) -> object:
    """The rows in any order, or the error; a failed statement leaves its block as it was."""
    in_block = connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
    if in_block:
        connection.execute("SAVEPOINT asked")
    try:
        return Counter(map(repr, connection.execute(sql, parameters or None).fetchall()))
    except psycopg.Error as error:
        if in_block:
            connection.execute("ROLLBACK TO asked")
        return error.sqlstate


def compare(connection: psycopg.Connection, sql: str, *parameters: object) -> object:
    found = answer(connection, sql, *parameters)
    with whole():
        assert found == (wanted := answer(connection, sql, *parameters)), (sql, parameters, found, wanted)
    return found


def test_keys_of_every_type_in_text_and_in_binary(door: PostgresDoor) -> None:
    rng = random.Random(SEED)
    with door.connect() as connection:
        for number, (type, values) in enumerate(KEYS.items()):
            connection.execute(f"CREATE TABLE key{number} (k {type} PRIMARY KEY, n BIGINT)")
            for place, value in enumerate(values[:-1]):
                connection.execute(f"INSERT INTO key{number} VALUES (%s, {place})", (value,))
        connection.execute("BEGIN")
        connection.execute("UPDATE key0 SET n = n + 1")
        with counted() as answered:
            for number, values in enumerate(KEYS.values()):
                format = rng.choice("bt")
                for value in values:
                    found = compare(connection, f"SELECT * FROM key{number} WHERE k = %{format}", value)
                    assert found == {} or (isinstance(found, Counter) and value is not values[-1]), value
        connection.execute("ROLLBACK")
    assert sum(answered) >= 20


def compared(door: PostgresDoor, seed: int, count: int) -> tuple[int, int]:
    """Compares so many random queries. Returns how many have rows, and how often a path was taken."""
    filled = 0
    rng = random.Random(seed)
    with door.connect() as connection, picks() as found:
        story = Story(seed, lambda sql: connection.execute(sql))
        for _ in range(count // 6):
            connection.execute(rng.choice(["BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL SERIALIZABLE"]))
            for step in range(6):
                if step == 3:
                    answer(connection, story.statement())
                result = compare(connection, story.query())
                filled += isinstance(result, Counter) and bool(result)
            connection.execute(rng.choice(["ROLLBACK", "COMMIT"]))
        return filled, len(found)


def test_blocks_answer_as_over_whole_relations(door: PostgresDoor) -> None:
    filled, taken = compared(door, SEED, 36)
    assert filled > 5 and taken > 5


if __name__ == "__main__":
    for number in range(-(-int(sys.argv[1]) // 300)):
        with tempfile.TemporaryDirectory() as directory:
            settings = Settings(data=Path(directory) / "data", spark="never")
            with PostgresDoor(settings) as postgres:
                shown = "of the last 300, {} had rows; {} paths were taken".format(
                    *compared(postgres, number, 300)
                )
            print(f"{300 * (number + 1)} queries in blocks are right; {shown}", flush=True)


def test_a_pivot_is_described_with_the_columns_of_its_data(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE pivoted (k INTEGER, x INTEGER)")
    connection.execute("INSERT INTO pivoted VALUES (1, 5), (2, 6)")
    pivot = "PIVOT pivoted ON k USING sum(x)"
    for prepare in (False, True, True):
        answer = connection.execute(pivot, prepare=prepare)
        assert [column.name for column in answer.description or ()] == ["1", "2"]
        assert answer.fetchall() == [(5, 6)]
