"""Point reads answer as DuckDB does over all rows: whatever the types, the values, the epoch, the indexes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from service.reading import picked_rows
from service.reading.point_reads import PointRead
from service.settings.settings import Settings
from service.sql.prepared import PreparedStatements
from tests.seeds import each_seed, few, steps
from tests.service.client import Client

VALUES = {
    "BIGINT": ["1", "2", "3", "-7", "9007199254740993", "9223372036854775807"],
    "INTEGER": ["1", "2", "3", "2147483647"],
    "SMALLINT": ["1", "2", "-3"],
    "TEXT": ["'a'", "'b'", "''", "'01'", "'1'", "'ä€😀'", "'A'"],
    "NUMERIC(12, 2)": ["1", "1.50", "-0.01", "1234567890.12"],
    "NUMERIC(30, 4)": ["1", "1.5", "12345678901234567890123456.7891", "-12345678901234567890.5"],
    "DOUBLE PRECISION": ["1", "1.5", "'NaN'", "'-0.0'", "0", "'Infinity'", "0.1", "1e300"],
    "REAL": ["1", "1.5", "'NaN'", "0.1"],
    "DATE": ["'2020-01-01'", "'1969-12-31'", "'0001-01-01'"],
    "TIMESTAMP": ["'2020-01-01 00:00:00'", "'2020-01-01 12:34:56.789'"],
    "TIMESTAMPTZ": ["'2020-01-01 00:00:00+00'", "'2020-01-01 12:34:56.789+02'"],
    "TIME": ["'00:00:00'", "'12:34:56.789'"],
    "BOOLEAN": ["TRUE", "FALSE"],
    "UUID": ["'00000000-0000-0000-0000-000000000001'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
}
"""Types of columns, with some values as SQL writes them."""
ODD: list[object] = [
    *(None, 0, 1, 2, 3, -7, 10**18, 10**20, 9007199254740993, 1.0, 1.5, 0.1, -0.0, 1e300, 1e16, 3.0000001),
    *(
        True,
        False,
        "",
        "a",
        "01",
        "1",
        "1.0",
        " 1",
        "1.5",
        "1.505",
        "NaN",
        "abc",
        "-0.0",
        "1e0",
        "true",
        "TRUE",
    ),
    *(
        "2020-01-01",
        "2020-01-01 00:00:00",
        "2020-01-01T12:34:56.789",
        "2020-01-01 12:34:56.789+02",
        "2020-1-1",
    ),
    *(
        "2020-01-01 00:00:00+00:00",
        "2020-01-01T10:34:56.789Z",
        "12:34:56.789",
        "0:00:00",
        "2020-02-30",
        "ä€😀",
    ),
    *(
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "1234567890.12",
        "-0.010",
    ),
    {"type": "BIGINT", "value": 1},
    {"type": "SMALLINT", "value": 2},
    {"type": "TEXT", "value": "a"},
    {"type": "DOUBLE", "value": 1.0},
    {"type": "DOUBLE", "value": "NaN"},
    {"type": "REAL", "value": 0.1},
    {"type": "NUMERIC(5, 1)", "value": "1.5"},
    {"type": "NUMERIC(12, 2)", "value": "1.5"},
    {"type": "NUMERIC(30, 4)", "value": "12345678901234567890123456.7891"},
    {"type": "DATE", "value": "2020-01-01"},
    {"type": "TIMESTAMP", "value": "2020-01-01T00:00:00"},
    {"type": "TIMESTAMPTZ", "value": "2020-01-01T00:00:00Z"},
    {"type": "BOOLEAN", "value": True},
    {"type": "UUID", "value": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
    {"type": "BIGINT", "value": None},
]
"""Parameters, most of which do not fit."""
LISTS: list[object] = [
    {"type": "DATE[]", "value": ["2020-01-01", None]},
    {"type": "BIGINT[]", "value": [1, 2]},
    {"type": "TEXT[]", "value": ["a"]},
    *[[1, 2], [], [3], ["a", "01"], [1, None], [1, "a"], [1.0, 2.5], ["2020-01-01"], None, 5],
]


@contextmanager
def without_lookups() -> Iterator[None]:
    """All rows are given to DuckDB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PreparedStatements, "kept", lambda *args: (True, None))
        patch.setattr(picked_rows, "find_rows", lambda *args: None)
        yield


@contextmanager
def counted() -> Iterator[list[bool]]:
    """Whether each point read that ran has answered."""
    answered: list[bool] = []
    run = PointRead.run

    def counting(self, *args):
        found = run(self, *args)
        answered.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PointRead, "run", counting)
        yield answered


def answer(client: Client, body: dict) -> tuple:
    """What a client sees of an answer: columns and rows, or the error."""
    got = client.post("/v1/sql", body)
    assert got.status_code < 500, got.text
    document = got.json()
    if got.status_code != 200:
        return document["code"], document["detail"]
    (result,) = document["results"]
    rows = Counter(map(repr, result["rows"]))
    return result["epoch"], result["columns"], rows, result["rows"] if "ORDER BY" in body["sql"] else None


class Story:
    """Random relations with a random history."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client = client
        self.rng = rng = random.Random(seed)
        self.indexes: list[str] = []
        self.paths: list[tuple[str, list[str]]] = []
        """Relations with columns by which their rows are found."""
        self.number = 0
        types = list(VALUES)
        self.types = {f"c{i}": rng.choice(types) for i in range(5)}
        self.types["k"] = rng.choice(
            ["BIGINT", "TEXT", "DATE", "INTEGER", "UUID", "DOUBLE PRECISION", "NUMERIC(12, 2)"]
        )
        columns = ", ".join(f"{name} {type}" for name, type in self.types.items())
        key = rng.choice(["k", "k, c0", "c1, k"])
        self.sql(f"CREATE TABLE t ({columns}, PRIMARY KEY ({key}))")
        self.sql(f"CREATE TABLE b ({columns})")
        self.sql("CREATE VIEW v AS SELECT c1, k, count(*) AS n, max(c2) AS m FROM b GROUP BY k, c1")
        self.sql("CREATE VIEW w AS SELECT k, c0, c3, c4 FROM t")
        self.relations = {
            "t": list(self.types),
            "b": list(self.types),
            "v": ["c1", "k", "n"],
            "w": ["k", "c0", "c3"],
        }

        self.paths += [("t", key.split(", ")), ("b", ["c0"]), ("v", ["c1"]), ("w", ["k"])]

    def sql(self, text: str) -> bool:
        return self.client.post("/v1/sql", {"sql": text}).status_code == 200

    def value(self, column: str) -> str:
        type = self.types.get(column, "BIGINT")
        return f"CAST({self.rng.choice(VALUES[type])} AS {type})"

    def row(self) -> str:
        free = ("c2", "c3", "c4")
        values = ("NULL" if c in free and self.rng.random() < 0.15 else self.value(c) for c in self.types)
        return f"({', '.join(values)})"

    def change(self) -> None:
        rng = self.rng
        table = rng.choice("tb")
        match rng.randrange(6):
            case 0:
                column = rng.choice(list(self.types))
                self.sql(f"DELETE FROM {table} WHERE {column} = {self.value(column)}")
            case 1:
                column = rng.choice(["c2", "c3", "c4"])
                self.sql(f"UPDATE {table} SET {column} = {self.value(column)} WHERE k = {self.value('k')}")
            case _:
                rows = ", ".join(self.row() for _ in range(rng.randrange(1, 6)))
                ignore = " ON CONFLICT DO NOTHING" if table == "t" else ""
                self.sql(f"INSERT INTO {table} VALUES {rows}{ignore}")

    def define(self) -> None:
        rng = self.rng
        if self.indexes and rng.random() < 0.3:
            self.sql(f"DROP INDEX {self.indexes.pop(rng.randrange(len(self.indexes)))}")
            return
        relation = rng.choice(list(self.relations))
        columns = rng.sample(self.relations[relation], rng.randrange(1, 3))
        self.number += 1
        name = f"i{self.number}"
        include = rng.choice(["", f" INCLUDE ({rng.choice(self.relations[relation])})"])
        unique = "UNIQUE " if relation == "t" and rng.random() < 0.2 else ""
        if self.sql(f"CREATE {unique}INDEX {name} ON {relation} ({', '.join(columns)}){include}"):
            self.indexes.append(name)
            self.paths.append((relation, columns))

    def question(self, epoch: int) -> dict:
        rng = self.rng
        relation, path = rng.choice(self.paths)
        columns = self.relations[relation]
        parameters: list[object] = []

        def term(column: str) -> str:
            if rng.random() < 0.5:
                return self.value(column)
            if rng.random() < 0.3:
                return rng.choice(VALUES[self.types.get(column, "BIGINT")])
            own = [plain(text) for text in VALUES[self.types.get(column, "BIGINT")]]
            parameters.append(rng.choice(own if rng.random() < 0.5 else ODD))
            return f"${len(parameters)}{rng.choice(['', '', '', '', '::bigint', '::text'])}"

        conditions = []
        for column in path if rng.random() < 0.8 else ():
            values = VALUES[self.types.get(column, "BIGINT")]
            if rng.random() < 0.5:
                parameters.append(plain(rng.choice(values)))
                conditions.append(f"{column} = ${len(parameters)}")
            else:
                known = ", ".join(self.value(column) for _ in range(rng.randrange(1, 4)))
                conditions.append(f"{column} IN ({known})")
        for column in rng.sample(columns, rng.randrange(0 if conditions else 1, 3)):
            match rng.randrange(8):
                case 0:
                    conditions.append(
                        f"{column} IN ({', '.join(term(column) for _ in range(rng.randrange(1, 4)))})"
                    )
                case 1:
                    parameters.append(rng.choice(LISTS))
                    conditions.append(f"{column} = ANY(${len(parameters)})")
                case 2:
                    conditions.append(f"{term(column)} = {column}")
                case 3:
                    conditions.append(f"{column} {rng.choice(['<', '>=', '<>'])} {term(column)}")
                case 4:
                    conditions.append(f"{column} IS {rng.choice(['', 'NOT '])}NULL")
                case _:
                    conditions.append(f"{column} = {term(column)}")
        shown = rng.choice(
            [
                "*",
                "x.*",
                ", ".join(columns),
                "k, 1 + 1 AS two",
                "c1, coalesce(k, k) AS kk",
                "k::text AS kt, c1" if relation in "tbv" else "k",
            ]
        )
        if relation == "w":
            shown = shown.replace("c1", "c0")
        text = f"SELECT {shown} FROM {relation} AS x WHERE {' AND '.join(conditions)}"
        if rng.random() < 0.4:
            keys = rng.sample(columns, len(columns))
            everything = "*" in shown or shown == ", ".join(columns)
            text += " ORDER BY " + ", ".join(
                f"{k} {rng.choice(['', 'DESC', 'NULLS FIRST', 'ASC NULLS LAST'])}" for k in keys
            )
            if everything and relation != "v" and relation != "w" and rng.random() < 0.5:
                text += f" LIMIT {rng.randrange(0, 4)} OFFSET {rng.randrange(0, 2)}"
        body: dict = {"sql": text}
        if parameters:
            body["parameters"] = parameters
        if rng.random() < 0.3:
            body["as_of"] = rng.randrange(max(0, epoch - 4), epoch + 1)
        return body


def plain(text: str) -> object:
    """A value as JSON has it."""
    if text.startswith("'"):
        return text[1:-1]
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    return float(text) if "." in text or "e" in text else int(text)


def compare(client: Client, questions: Sequence[dict]) -> tuple[int, int]:
    """How many of the questions point reads have answered, and how many they could have. Each is asked
    twice, so that the second answer is of a prepared statement."""
    with counted() as answered:
        first = [answer(client, question) for question in questions]
        assert [answer(client, question) for question in questions] == first
    with without_lookups():
        for question, given in zip(questions, first, strict=True):
            assert given == (wanted := answer(client, question)), (question, given, wanted)
    return sum(answered), len(answered)


def run(settings: Settings, seed: int, rounds: int, asked: int) -> tuple[int, int]:
    """Compares that many questions a round. Returns how many point reads have answered, and have tried."""
    rng = random.Random(seed)
    total = [0, 0]
    with Client(replace(settings, spark="never")) as client:
        story = Story(client, seed)
        for _ in range(rounds):
            for _ in range(rng.randrange(1, 5)):
                story.change()
            if rng.random() < 0.6:
                story.define()
            epoch = client.runtime.snapshot.upper - 1
            for place, number in enumerate(compare(client, [story.question(epoch) for _ in range(asked)])):
                total[place] += number
        questions = [story.question(epoch) for _ in range(asked)]
        before = [answer(client, question) for question in questions]
    with Client(replace(settings, spark="never")) as client:  # its files are mapped
        assert [answer(client, question) for question in questions] == before
        compare(client, questions)
    return total[0], total[1]


@each_seed(few(2))
def test_answers_are_duckdbs(settings: Settings, seed: int) -> None:
    answered, _ = run(settings, seed, rounds=4, asked=steps(12))
    assert answered
