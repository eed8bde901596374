"""Random queries over relations with indexes: what they answer when each relation is read by its conditions,
and when it is given to DuckDB whole. `python -m tests.service.picking_story 3000` asks so many."""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.reading import picked_rows
from service.settings.settings import Settings
from service.sql.prepared import PreparedStatements
from tests.service.client import Client

VALUES = {
    "BIGINT": [str(n) for n in (*range(12), 300, -1)],
    "INTEGER": [str(n) for n in (*range(12), 70000, -1)],
    "SMALLINT": [str(n) for n in (*range(12), -1)],
    "TEXT": ["'a'", "'b'", "'ab'", "''", "'1'", "'ä'"],
    "DATE": [f"DATE '2020-01-{day:02}'" for day in range(1, 9)],
    "TIMESTAMP": [f"TIMESTAMP '2020-01-01 0{hour}:30:00'" for hour in range(6)],
    "TIMESTAMPTZ": [f"TIMESTAMPTZ '2020-01-01 0{hour}:30:00+00'" for hour in range(6)],
    "TIME": [f"TIME '0{hour}:30:00'" for hour in range(6)],
    "NUMERIC(8, 2)": ["0", "1", "1.5", "2.25", "-3.10", "11"],
    "DOUBLE PRECISION": ["0", "1", "1.5", "'NaN'::double precision", "-3.5", "'Infinity'::double precision"],
    "BOOLEAN": ["TRUE", "FALSE"],
    "UUID": [f"'00000000-0000-0000-0000-00000000000{n}'::uuid" for n in range(4)],
}
TABLES = {
    "a": {"k": "BIGINT", "x": "INTEGER", "d": "DATE", "s": "TEXT", "n": "NUMERIC(8, 2)"},
    "b": {"k": "BIGINT", "x": "SMALLINT", "t": "TEXT", "f": "DOUBLE PRECISION", "m": "TIMESTAMP"},
    "c": {"i": "INTEGER", "s": "TEXT", "z": "TIMESTAMPTZ", "h": "TIME", "u": "UUID", "o": "BOOLEAN"},
    "e": {"d": "DATE", "n": "NUMERIC(8, 2)", "k": "BIGINT", "u": "UUID"},
    "v": {"x": "SMALLINT", "k": "BIGINT", "rows": "BIGINT"},
}
KEYS = {"a": "PRIMARY KEY (k)", "c": "PRIMARY KEY (s, i)"}
INDEXED = ["a (x)", "a (d, n)", "b (k, m)", "b (m)", "b (f)", "b (t)", "c (z)", "c (h)", "c (u)", "e (n)"]
INDEXED += ["e (k)", "e (d)", "v (k)", "v (rows)", "a (s) INCLUDE (n)", "e (u)", "c (o, z)"]
OPERATORS = ["<", "<=", ">", ">=", "="]


@contextmanager
def whole() -> Iterator[None]:
    """DuckDB gets all rows of all relations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PreparedStatements, "kept", lambda *args: (True, None))
        patch.setattr(picked_rows, "find_rows", lambda *args: None)
        yield


@contextmanager
def picks() -> Iterator[list[int]]:
    """The numbers of rows that paths have led to."""
    found: list[int] = []
    find_rows = picked_rows.find_rows

    def finding(*args):
        rows = find_rows(*args)
        if rows is not None:
            found.append(len(rows[1]))
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picked_rows, "find_rows", finding)
        yield found


class Story:
    """Relations that `run` makes and changes, and queries of them."""

    def __init__(self, seed: int, run: Callable[[str], object]) -> None:
        self.rng = random.Random(seed)
        self.run = run
        for table, columns in TABLES.items():
            if table != "v":
                parts = [f"{name} {type}" for name, type in columns.items()]
                run(
                    f"CREATE TABLE {table} ({', '.join([*parts, *([KEYS[table]] if table in KEYS else [])])})"
                )
        run("CREATE VIEW v AS SELECT x, k, count(*) AS rows FROM b GROUP BY k, x")
        for number, index in enumerate(self.rng.sample(INDEXED, 9)):
            run(f"CREATE INDEX i{number} ON {index}")
        for _ in range(6):
            self.change()

    def value(self, type: str) -> str:
        return self.rng.choice(VALUES[type])

    def row(self, table: str) -> str:
        values = []
        for name, type in TABLES[table].items():
            is_null = name not in KEYS.get(table, "")[12:] and self.rng.random() < 0.12
            values.append("NULL" if is_null else f"CAST({self.value(type)} AS {type})")
        return f"({', '.join(values)})"

    def change(self) -> None:
        self.run(self.statement())

    def statement(self) -> str:
        """A statement that changes a table."""
        rng = self.rng
        table = rng.choice("abce")
        column = rng.choice(list(TABLES[table]))
        if rng.random() < 0.25:
            return f"DELETE FROM {table} WHERE {column} = {self.value(TABLES[table][column])}"
        rows = [self.row(table) for _ in range(rng.randrange(1, 12))]
        rows += rng.sample(rows, len(rows) // 3)
        ignore = " ON CONFLICT DO NOTHING" if table in KEYS else ""
        return f"INSERT INTO {table} VALUES {', '.join(rows)}{ignore}"

    # Queries

    def query(self, depth: int = 0) -> str:
        rng = self.rng
        tables = [rng.choice(list(TABLES)) for _ in range(rng.choice([1, 1, 2, 2, 2, 3]))]
        sources = [(table, f"{table}{depth}{i}") for i, table in enumerate(tables)]
        from_ = f"{sources[0][0]} AS {sources[0][1]}"
        for i, (table, alias) in enumerate(sources[1:], 1):
            from_ += self.join(sources[:i], table, alias)
        conditions = [self.condition(sources, depth) for _ in range(rng.randrange(0, 4))]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        columns = [f"{alias}.{name}" for table, alias in sources for name in TABLES[table]]
        if depth:
            return f"SELECT {rng.choice(columns)} FROM {from_}{where}"
        match rng.randrange(5):
            case 0:
                return f"SELECT count(*), min({columns[0]}) FROM {from_}{where}"
            case 1:
                key = rng.choice(columns)
                return f"SELECT {key}, count(*), max({columns[-1]}) FROM {from_}{where} GROUP BY {key}"
            case 2:
                keys = ", ".join(columns)
                return f"SELECT {keys} FROM {from_}{where} ORDER BY {keys} LIMIT {rng.randrange(1, 6)}"
            case _:
                return f"SELECT {', '.join(columns)} FROM {from_}{where}"

    def join(self, before: Sequence[tuple[str, str]], table: str, alias: str) -> str:
        rng = self.rng
        kind = rng.choice(
            ["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","]
        )
        if kind == ",":
            return f", {table} AS {alias}"
        if kind == "CROSS JOIN":
            return f" CROSS JOIN {table} AS {alias}"
        common = [name for name in TABLES[table] if sum(name in TABLES[t] for t, _ in before) == 1]
        if common and rng.random() < 0.25:
            return f" {kind} {table} AS {alias} USING ({rng.choice(common)})"
        conditions = [self.equation(before, table, alias)]
        if rng.random() < 0.3:
            conditions.append(self.comparison([*before, (table, alias)]))
        return f" {kind} {table} AS {alias} ON {' AND '.join(conditions)}"

    def equation(self, before: Sequence[tuple[str, str]], table: str, alias: str) -> str:
        """A column equals another, of a type that fits."""
        integers = {"BIGINT", "INTEGER", "SMALLINT"}
        pairs = [
            f"{alias}.{name} = {other}.{column}"
            for name, type in TABLES[table].items()
            for of, other in before
            for column, its in TABLES[of].items()
            if type == its or {type, its} <= integers
        ]
        return self.rng.choice(pairs) if pairs else "true"

    def condition(self, sources: Sequence[tuple[str, str]], depth: int) -> str:
        rng = self.rng
        if len(sources) > 1 and rng.random() < 0.25:
            return self.equation(sources[:-1], *sources[-1])
        if depth < 1 and rng.random() < 0.1:
            inner = self.query(depth + 1)
            return rng.choice([f"EXISTS ({inner})", f"NOT EXISTS ({inner})"])
        if rng.random() < 0.1:
            return f"({self.comparison(sources)} OR {self.comparison(sources)})"
        if rng.random() < 0.08:
            return f"NOT {self.comparison(sources)}"
        return self.comparison(sources)

    def comparison(self, sources: Sequence[tuple[str, str]]) -> str:
        rng = self.rng
        table, alias = rng.choice(sources)
        name, type = rng.choice(list(TABLES[table].items()))
        one, other, third = (self.value(type) for _ in range(3))
        column = f"{alias}.{name}" if len(sources) > 1 or rng.random() < 0.7 else name
        match rng.randrange(9):
            case 0:
                return f"{column} IN ({one}, {other}, {third})"
            case 1:
                return f"{column} BETWEEN {one} AND {other}"
            case 2:
                return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
            case 3:
                return f"{column} = ANY(ARRAY[{one}, {other}])"
            case 4 | 5:
                return f"{column} = {one}"
            case 6:
                return f"{one} {rng.choice(OPERATORS)} {column}"
            case _:
                return f"{column} {rng.choice(OPERATORS)} {one}"


def compare(queries: Sequence[str], ask: Callable[[str], object]) -> int:
    """Raises AssertionError unless each query has the answer that it has over whole relations. Returns how
    many have rows."""
    filled = 0
    for query in queries:
        found = ask(query)
        with whole():
            assert found == (wanted := ask(query)), (query, found, wanted)
        filled += isinstance(found, Counter) and bool(found)
    return filled


def asking(client: Client, **body: object) -> Callable[[str], object]:
    def ask(query: str) -> object:
        answer = client.post("/v1/sql", {"sql": query, **body})
        assert answer.status_code < 500, answer.text
        document = answer.json()
        if answer.status_code != 200:
            return document["code"]
        (result,) = document["results"]
        return Counter(map(repr, result["rows"]))

    return ask


def compared(settings: Settings, seed: int, count: int, rounds: int = 4) -> tuple[int, int]:
    """Compares so many queries, over changes and at past epochs. Returns how many have rows, and how often a
    path was taken."""
    filled = 0
    with Client(settings) as client, picks() as found:
        story = Story(seed, lambda sql: client.post("/v1/sql", {"sql": sql}))
        for _ in range(rounds):
            story.change()
            epoch = client.runtime.snapshot.upper - 1
            for past in (None, max(epoch - 3, 0)):
                body = {} if past is None else {"as_of": past}
                filled += compare(
                    [story.query() for _ in range(count // (2 * rounds))], asking(client, **body)
                )
        return filled, len(found)


if __name__ == "__main__":
    total = int(sys.argv[1])
    for number in range(-(-total // 300)):
        with tempfile.TemporaryDirectory() as directory:
            found = compared(Settings(data=Path(directory) / "data", spark="never"), number, 300, 10)
            shown = "of the last 300, {} had rows; {} paths were taken".format(*found)
            print(f"{300 * (number + 1)} queries are right; {shown}", flush=True)
