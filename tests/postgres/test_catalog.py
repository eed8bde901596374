"""The catalog and the log in PostgreSQL: written, and read again by the next start."""

from __future__ import annotations

from pathlib import Path

from service.settings.settings import Settings
from tests.postgres.server import Server
from tests.service.client import Client

SCRIPT = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT NOT NULL, total NUMERIC(12, 2));
CREATE VIEW spent AS SELECT customer, sum(total) AS spent FROM orders GROUP BY customer;
INSERT INTO orders VALUES (1, 'ada', 30.00), (2, 'bob', 12.50), (3, 'ada', NULL);
UPDATE orders SET total = 1 WHERE id = 3;
DELETE FROM orders WHERE id = 2;
"""


def test_what_was_written_is_there_after_a_restart(postgres: Server, tmp_path: Path) -> None:
    with postgres.connect() as connection:
        connection.execute("CREATE DATABASE catalog")
    settings = Settings(data=tmp_path, database_url=postgres.url("catalog"))
    with Client(settings) as service:
        answer = service.post("/v1/sql", {"sql": SCRIPT})
        assert answer.status_code == 200, answer.text
        body = [{"insert": {"id": 4, "customer": "cleo", "total": "0.10"}}]
        assert service.post("/v1/tables/orders/deltas", body).json()["epoch"] == 4
        before = _seen(service)
    assert not list(tmp_path.glob("*.db*"))
    with Client(settings) as service:
        assert _seen(service) == before
        assert service.get("/v1/views/spent/rows", as_of=1).json()["rows"] == [
            {"customer": "ada", "spent": "30.00"},
            {"customer": "bob", "spent": "12.50"},
        ]
        service.post("/v1/sql", {"sql": "DELETE FROM orders WHERE id = 4"})
    with Client(settings) as service:
        assert _seen(service) == [{"customer": "ada", "spent": "31.00"}]


def _seen(service: Client) -> list[dict[str, object]]:
    rows = service.get("/v1/views/spent/rows").json()["rows"]
    return sorted(rows, key=lambda row: row["customer"])
