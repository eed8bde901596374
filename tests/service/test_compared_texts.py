"""Texts beside columns: predicates of reads and queries compare them as views do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_bit_columns import ask

ROWS = r"""
    (-5, 'sad', '12:00:00+00', '\x6162', '2026-01-05 12:00:00+00', '{1,2}'),
    (1, 'ok', '13:00:00+01', '\x61', '2026-01-05 12:00:00+04', '{3}'),
    (2, 'happy', '13:00:00+00', NULL, NULL, NULL),
    (3, NULL, NULL, NULL, NULL, NULL)
"""
CONDITIONS = {
    "m > 'ok'": [2],
    "'ok' < m": [2],
    "m >= 'ok'": [1, 2],
    "m BETWEEN 'sad' AND 'ok'": [-5, 1],
    "id = -5 AND m > 'ok'": [],
    "id = -5 AND m < 'ok'": [-5],
    "id = 2 AND m > 'ok'": [2],
    "m = 'ok'": [1],
    "m IN ('ok', 'sad')": [-5, 1],
    "tt = '13:00+01'": [1],
    "tt = '12:00+00'": [-5],
    "tt = '12:00z'": [-5],
    "tt <> '13:00+01'": [-5, 2],
    "tt IN ('13:00+01', '13:00+00')": [1, 2],
    "tt IN ('12:00+00', '13:00+01')": [-5, 1],
    "tt IS DISTINCT FROM '13:00+01'": [-5, 2, 3],
    "tt BETWEEN '13:00+01' AND '12:00+00'": [-5, 1],
    "tt < '13:00+00'": [-5, 1],
    r"y = '\x6162'": [-5],
    r"y < '\x6162'": [1],
    "z = '2026-01-05 12:00:00 +04'": [1],
    "z > '2026-01-05 12:00:00 +4'": [-5],
    "l = '{1,2}'": [-5],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("texts"))) as service:
        columns = "id BIGINT PRIMARY KEY, m mood, tt TIMETZ, y BYTEA, z TIMESTAMPTZ, l BIGINT[]"
        ask(service, "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')")
        ask(service, f"CREATE TABLE texts ({columns}); INSERT INTO texts VALUES {ROWS}")
        yield service


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_predicate_and_a_query_and_a_view_agree(service: Client, condition: str) -> None:
    found = [[id] for id in CONDITIONS[condition]]
    ask(service, f"CREATE OR REPLACE VIEW texts_view AS SELECT id FROM texts WHERE {condition}")
    assert ask(service, "SELECT id FROM texts_view ORDER BY id") == found
    assert ask(service, f"SELECT id FROM texts WHERE {condition} ORDER BY id") == found
    assert [[row[0]] for row in service.rows("texts", where=condition, order_by="id")] == found
    assert [
        [row[0]] for row in service.rows("texts", where=f"id < 9 AND {condition}", order_by="id")
    ] == found


def test_keys_of_an_order_compare_labels_by_their_order(service: Client) -> None:
    rows = service.rows("texts", where="id < 3", order_by="m > 'ok' DESC, id")
    assert [row[0] for row in rows] == [2, -5, 1]


def test_a_text_that_is_no_label_is_refused(service: Client) -> None:
    answered = service.get("/v1/tables/texts/rows", where="m > 'angry'")
    assert answered.status_code == 422, answered.text
    assert "angry" in answered.json()["detail"]
