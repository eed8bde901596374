"""The list of dialects over HTTP."""

from __future__ import annotations

from dataclasses import asdict

from planner.dialects.standing import standings
from tests.service.client import Client


def test_every_dialect_is_listed_with_its_standing(client: Client) -> None:
    found = client.get("/v1/dialects").json()["dialects"]
    assert found == [asdict(standing) for standing in standings().values()]
    assert {it["dialect"] for it in found} > {"postgres", "snowflake", "teradata"}
