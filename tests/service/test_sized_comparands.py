"""Comparisons with a cast to a length or a precision: a lookup finds what a view of the comparison has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_bit_columns import ask

ROWS = (
    "(1, '5', B'101', TIMESTAMP '2026-01-05 12:00:00', TIME '12:00:00', 1.5),"
    "(2, 'abc', B'10111', TIMESTAMP '2026-01-05 12:00:00.4', TIME '12:00:00.4', 1.25),"
    "(3, '5555', B'1', NULL, NULL, NULL)"
)
CONDITIONS = {
    "t = 'abc'::varchar(1)": [],
    "t = '5555'::varchar(1)": [1],
    "'5555'::varchar(1) = t": [1],
    "t = CAST('5555' AS character varying(2))": [],
    "t = '5555'::char(1)": [1],
    "t = 'abc'::varchar": [2],
    "t = 'abc'::varchar(3)": [2],
    "t IN ('5555'::varchar(1), 'abc'::varchar(3))": [1, 2],
    "t = ANY(ARRAY['5555'::varchar(1)])": [1],
    "vb = '10111'::bit varying(3)": [1],
    "vb = '10111'::bit varying": [2],
    "vb = '10111'::bit(3)": [1],
    "vb = '10111'::bit": [3],
    "ts = '2026-01-05 12:00:00.4'::timestamp": [2],
    "n = '1.47'::numeric(10, 1)": [1],
    "n = 1.47::numeric(10, 1)": [1],
    "n = '1.5'::numeric(10, 2)": [1],
    "n IN (1.249::numeric(10, 2), 7)": [2],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("sized"))) as service:
        columns = "id BIGINT PRIMARY KEY, t TEXT, vb BIT VARYING, ts TIMESTAMP, c TIME, n NUMERIC(10, 2)"
        ask(service, f"CREATE TABLE sized ({columns}); INSERT INTO sized VALUES {ROWS}")
        ask(service, "; ".join(f"CREATE INDEX ON sized ({name})" for name in ("t", "vb", "ts", "n")))
        yield service


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_lookup_finds_what_the_cast_says(service: Client, condition: str) -> None:
    found = [[id] for id in CONDITIONS[condition]]
    ask(service, f"CREATE OR REPLACE VIEW sized_view AS SELECT id FROM sized WHERE {condition}")
    assert ask(service, "SELECT id FROM sized_view ORDER BY id") == found
    assert ask(service, f"SELECT id FROM sized WHERE {condition} ORDER BY id") == found
    assert [[row[0]] for row in sorted(service.rows("sized", where=condition), key=str)] == found


def test_a_moment_is_cut_to_its_precision(service: Client) -> None:
    condition = "ts = '2026-01-05 12:00:00.4'::timestamp(0)"
    assert ask(service, f"SELECT id FROM sized WHERE {condition}") == [[1]]
    assert [row[0] for row in service.rows("sized", where=condition)] == [1]


@pytest.mark.parametrize(
    ("condition", "value", "found"),
    [
        ("t = $1::varchar(1)", "5555", [[1]]),
        ("t = $1::varchar", "5555", [[3]]),
        ("ts = $1::timestamp(0)", "2026-01-05 12:00:00.4", [[1]]),
    ],
)
def test_a_parameter_is_cast_to_its_size(
    service: Client, condition: str, value: object, found: list[list[int]]
) -> None:
    answered = service.post(
        "/v1/sql", {"sql": f"SELECT id FROM sized WHERE {condition}", "parameters": [value]}
    )
    assert answered.status_code == 200, answered.text
    assert answered.json()["results"][-1]["rows"] == found
