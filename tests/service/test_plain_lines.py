"""NDJSON by columns: the changes are those of the same lines one by one, and so are the errors."""

from __future__ import annotations

import random
from collections.abc import Callable

import orjson
import pytest

from engine.codec.json import decode_rows
from engine.errors import InvalidValue
from engine.state.dictionary import Dictionary
from service.decoding.parsing import LINE, NDJSON, of_objects, parse
from service.decoding.pieces import WHOLE, parsed_lines
from service.decoding.plain_lines import pieces_of_lines, plain_changes
from service.definitions.definition import Definition
from service.errors import BadRequest, Invalid
from service.settings.budget import Budget
from tests.seeds import each_seed
from tests.service.client import Client

PLENTY = Budget(10**9, 10**12)
VALUES: dict[str, tuple[str, ...]] = {
    "BIGINT": ("0", "-7", "9223372036854775807"),
    "SMALLINT": ("1", "-32768"),
    "NUMERIC(12, 2)": (
        '"1.50"',
        "1.5",
        "-3",
        '"-0.25"',
        '"12e1"',
        "0.1",
        "0.10000000000000000001",
        '"00012.10"',
    ),
    "NUMERIC(30, 2)": ('"1.50"', '"1234567890123456789012.25"', "7"),
    "DOUBLE PRECISION": ("0.1", "1", "-1e300", '"NaN"', "5e-324"),
    "REAL": ("0.1", "1.5"),
    "BOOLEAN": ("true", "false"),
    "TEXT": (
        '""',
        '"plain"',
        r'"\"\\\/\b\f\n\r\t"',
        r'"\u00e9\u2713\ud83d\ude00"',
        '"naïve ✓ 😀"',
        '" , : { } "',
    ),
    "DATE": ('"2024-02-29"', '"0001-01-01"', '"infinity"', '"+12024-01-01"'),
    "TIME": ('"10:11:12.5"', '"10:11"'),
    "TIMESTAMP": (
        '"2024-01-01T10:11:12.123456"',
        '"2024-01-01 10:11:12"',
        '"2024-01-01T10:11:12Z"',
        '"2024-01-01"',
    ),
    "TIMESTAMPTZ": ('"2024-01-01T10:11:12Z"', '"2024-01-01T10:11:12+02:00"', '"2024-01-01T10:11:12"'),
    "INTERVAL": ('"P1DT2H"', '"-PT1S"'),
    "BYTEA": ('"YWI="', '""'),
    "UUID": ('"f47ac10b-58cc-4372-a567-0e02b2c3d479"', '"F47AC10B-58CC-4372-A567-0E02B2C3D479"'),
    "JSON": ('{"a": [1, "}"], "b": null}', "[ ]", '"x"', "5", "true", "1.50"),
    "ENUM('sad', 'ok')": ('"sad"', '"ok"'),
    "INTEGER[]": ("[1, null]", "[]"),
}
SPACES = ("", " ", "\t", "  ")


@pytest.fixture
def known(client: Client) -> Definition:
    client.table("t", {f"c{i}": type for i, type in enumerate(VALUES)})
    return client.runtime.definition("t", view=False)


def one_by_one(body: bytes, definition: Definition, dictionary: Dictionary) -> tuple[list, list]:
    ops: list[int] = []
    rows: list[tuple] = []
    for places, values in parsed_lines(body):
        changes = of_objects(values, definition, dictionary, places, LINE)
        ops += changes.ops.tolist()
        rows += decode_rows(changes.words, definition.schema, dictionary)
    return ops, rows


def line(random_: random.Random, plainest: bool) -> str:
    """A line in any order, with any spaces. Members may be missing or null."""
    space = lambda: random_.choice(SPACES)  # noqa: E731
    members = []
    for number, values in enumerate(VALUES.values()):
        if random_.random() < 0.8:
            value = values[0] if plainest else random_.choice([*values, "null"])
            members.append(f'"c{number}"{space()}:{space()}{value}{space()}')
    if not plainest:
        random_.shuffle(members)
    op = random_.choice(["insert", "delete", "upsert"])
    row = f"{{{space()}{f',{space()}'.join(members)}}}"
    return f'{space()}{{{space()}"{op}":{space()}{row}{space()}}}{space()}' + random_.choice(["", "\r", "\n"])


@each_seed(3)
def test_the_changes_of_plain_lines(known: Definition, seed: int) -> None:
    random_ = random.Random(seed)
    for plainest in (True, False):
        body = "\n".join(line(random_, plainest) for _ in range(200)).encode()
        dictionary = Dictionary()
        changes = plain_changes(body, known, dictionary)
        assert changes is not None
        found = changes.ops.tolist(), decode_rows(changes.words, known.schema, dictionary)
        assert repr(found) == repr(one_by_one(body, known, dictionary))


ODD = (
    '{"insert": {"c0": 1, "c0": 2}}',
    '{"insert": {"C0": 1}}',
    r'{"insert": {"\u0063\u0030": 1}}',
    '{"insert": {"c7": "\\ud83d"}}',
    '{"insert": {"c15": {"a" 1}}}',
    '{"insert": {"c0": 01}}',
    '{"insert": {"c0": 1.0}}',
    '{"insert": {"c0": "1"}}',
    '{"insert": {"c2": 1.005}}',
    '{"insert": {"c1": 32768}}',
    '{"insert": {"c7": 5}}',
    '{"insert": {"c8": "2023-02-29"}}',
    '{"insert": {"nothing": 5}}',
    '{"insert": {}, "delete": {}}',
    '{"remove": {}}',
    '{"insert": []}',
    '{"insert": {"c0": 1}} x',
    '{"insert": {"c0": 1}',
    '{"insert": {"c0": 1,}}',
    '{"insert": {"c7": "a\tb"}}',
    '{"insert": {"c7": "\xff"}}'.encode("latin-1"),
    "[]",
    "5",
)


def outcome(work: Callable[[], object]) -> str:
    try:
        return repr(work())
    except (BadRequest, Invalid, InvalidValue) as error:
        return f"{type(error).__name__}: {error.message} {error.hint}"


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_lines_that_are_not_plain(known: Definition, odd: str | bytes) -> None:
    """The changes, or the error with its line, are those of lines that are read one by one."""
    plain = b'{"insert": {"c0": 1}}\n'
    body = plain * 30 + (odd if isinstance(odd, bytes) else odd.encode()) + b"\n" + plain * 30
    assert plain_changes(body, known, Dictionary()) is None
    dictionary = Dictionary()

    def by_columns() -> tuple[list, list]:
        changes = parse(body, NDJSON, known, dictionary, PLENTY)
        return changes.ops.tolist(), decode_rows(changes.words, known.schema, dictionary)

    assert outcome(by_columns) == outcome(lambda: one_by_one(body, known, dictionary))


def test_lines_of_a_long_body_are_numbered_from_its_begin(known: Definition) -> None:
    lines = [orjson.dumps({"insert": {"c0": number, "c7": "x" * 100}}) for number in range(30_000)]
    assert parse(b"\n".join(lines), NDJSON, known, Dictionary(), PLENTY).words[0].tolist() == list(
        range(30_000)
    )
    assert len(list(pieces_of_lines(b"\n".join(lines)))) > 2
    lines[25_000] = b'{"insert": {"c0": "x"}}'
    with pytest.raises(InvalidValue, match="line 25001: column c0: "):
        parse(b"\n".join(lines), NDJSON, known, Dictionary(), PLENTY)
    assert len(b"\n".join(lines)) > 2 * WHOLE


def test_left_out_columns_have_their_defaults(client: Client) -> None:
    client.post("/v1/sql", {"sql": "CREATE TABLE d (a BIGINT, b TEXT DEFAULT 'x', c BIGINT DEFAULT 7)"})
    definition = client.runtime.definition("d", view=False)
    body = b'{"insert": {"a": 1}}\n{"insert": {"b": null, "a": 2}}\n' * 20
    dictionary = Dictionary() if definition.filling is None else client.runtime.dictionary
    changes = plain_changes(body, definition, dictionary)
    assert changes is not None
    rows = decode_rows(changes.words, definition.schema, dictionary)
    assert rows == [(1, "x", 7), (2, None, 7)] * 20
