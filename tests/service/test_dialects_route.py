"""The list of dialects, and translations from them, over HTTP."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from planner.dialects.standing import standings
from tests.service.client import Client, code


def test_every_dialect_is_listed_with_its_standing(client: Client) -> None:
    found = client.get("/v1/dialects").json()["dialects"]
    assert found == [asdict(standing) for standing in standings().values()]
    assert {it["dialect"] for it in found} > {"postgres", "snowflake", "teradata"}


def test_a_translation_says_what_changes_meaning(client: Client) -> None:
    asked = {"dialect": "postgres", "sql": "SELECT a / b AS q FROM nowhere ORDER BY q DESC"}
    found = client.post("/v1/translate", asked).json()
    assert found["before"] == ["SET integer_division = true"]
    assert [(note["column"], note["written"], note["read"]) for note in found["notes"]] == [
        (8, "a / b", "a / b"),
        (41, "q DESC", "q DESC NULLS FIRST"),
    ]
    assert " ".join(found["sql"].split()) == "SELECT a / b AS q FROM nowhere ORDER BY q DESC NULLS FIRST"


def test_what_cannot_be_translated_has_its_place(client: Client) -> None:
    refused = client.post("/v1/translate", {"sql": "SELECT 1 +\n  FROM"})
    assert code(refused) == (400, "syntax_error") and refused.json()["position"]["line"] == 2
    assert code(client.post("/v1/translate", {"sql": "DROP TABLE t"})) == (422, "invalid_query")
    assert code(client.post("/v1/translate", {"sql": "SELECT 1", "dialect": "cobol"}))[0] == 400


@pytest.mark.parametrize(("dialect", "is_noticed"), [("postgres", False), ("teradata", True)])
def test_a_view_in_an_unproven_dialect_has_a_notice(client: Client, dialect: str, is_noticed: bool) -> None:
    made = client.post("/v1/views", {"name": "v", "sql": "SELECT 1 AS a", "dialect": dialect}).json()
    assert ("notices" in made) == is_noticed
    assert client.get("/v1/views/v").json().get("notices") == made.get("notices")
    statement = {"sql": "CREATE VIEW w AS SELECT 1 AS a", "dialect": dialect}
    (result,) = client.post("/v1/sql", statement).json()["results"]
    assert result.get("notices") == made.get("notices")
