"""One text asked three times: of PostgreSQL, of a view, and of an ad-hoc query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import httpx
import psycopg

from tests.service.client import Client


@dataclass(frozen=True)
class Alike:
    """A service and a connection to PostgreSQL with the same tables."""

    client: Client
    connection: psycopg.Connection

    def check(self, text: str) -> None:
        """Fails unless all three give the same rows."""
        expected = ordered(self.connection.execute(text).fetchall())  # type: ignore[arg-type]
        assert self.of_view(text) == expected
        answer = self.sql(text)
        assert answer.status_code == 200, answer.text
        assert ordered(answer.json()["results"][0]["rows"]) == expected

    def sql(self, text: str) -> httpx.Response:
        return self.client.post("/v1/sql", {"sql": text})

    def of_view(self, text: str) -> list[str]:
        """The rows of a view that is gone again."""
        self.client.view("v", text)
        try:
            return ordered(self.client.rows("v"))
        finally:
            assert self.client.delete("/v1/views/v").status_code == 204


def ordered(rows: list) -> list[str]:
    return sorted(repr([_plain(value) for value in row]) for row in rows)


def _plain(value: object) -> object:
    """A value of any of the three in one form."""
    match value:
        case list():
            return [_plain(each) for each in value]
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return format(value.normalize(), "f")
        case int() if not isinstance(value, bool):
            return str(value)
        case str() if value.replace(".", "", 1).removeprefix("-").isdecimal() and "." in value:
            return value.rstrip("0").rstrip(".")
    return value
