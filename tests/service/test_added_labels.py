"""ALTER TYPE ... ADD VALUE: labels that are added to types, and to all that has their labels."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.settings.settings import Settings
from tests.seeds import each_seed, few
from tests.service.client import Client, code

MOODS = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE people (
    name TEXT PRIMARY KEY, feels mood NOT NULL DEFAULT 'ok', felt mood[],
    low BOOLEAN GENERATED ALWAYS AS (feels = 'sad') STORED, CONSTRAINT up CHECK (feels > 'sad' OR name <> 'x')
);
CREATE TABLE scale (m mood PRIMARY KEY, points INTEGER);
CREATE FUNCTION best() RETURNS TEXT LANGUAGE SQL AS $$ SELECT CAST('happy'::mood AS TEXT) $$;
CREATE MACRO worst() AS ('sad'::mood);
CREATE VIEW glad AS SELECT name, feels, felt[2] AS then FROM people WHERE feels > 'sad'::mood;
CREATE VIEW top AS SELECT max(feels) AS m FROM glad;
CREATE VIEW scored AS SELECT name, points FROM people JOIN scale ON m = feels;
CREATE VIEW fixed AS SELECT 'ok'::mood AS m;
INSERT INTO people VALUES ('ada', 'happy', '{sad,ok}'), ('bob', 'sad', NULL);
INSERT INTO scale VALUES ('sad', 1), ('happy', 3);
INSERT INTO people (name) VALUES ('cyd')
"""
READ = {
    "glad": [("ada", "happy", "ok"), ("cyd", "ok", None)],
    "top": [("happy",)],
    "scored": [("ada", 3), ("bob", 1)],
    "fixed": [("ok",)],
    "scale": [("happy", 3), ("sad", 1)],
    "people": [
        ("ada", "happy", ["sad", "ok"], False),
        ("bob", "sad", None, True),
        ("cyd", "ok", None, False),
    ],
}


def run(client: Client, sql: str) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def _rows(client: Client) -> dict[str, list]:
    return {name: sorted(client.rows(name), key=str) for name in READ}


@pytest.fixture
def service(settings: Settings) -> Iterator[Client]:
    with Client(settings) as client:
        run(client, MOODS)
        yield client


@pytest.mark.parametrize(
    ("place", "is_killed"),
    [("", False), ("BEFORE 'sad'", True), ("AFTER 'sad'", False), ("BEFORE 'happy'", True)],
)
def test_a_label_is_added_to_all_that_has_the_others(tmp_path: Path, place: str, is_killed: bool) -> None:
    settings = Settings(data=tmp_path / "data")
    labels = ["sad", "ok", "happy"]
    labels.insert({"": 3, "BEFORE 'sad'": 0, "AFTER 'sad'": 1, "BEFORE 'happy'": 2}[place], "odd")
    with Client(settings) as client:
        run(client, MOODS)
    with Client(settings) as client:
        run(client, "INSERT INTO people VALUES ('dan', 'ok', '{happy}')")
        epoch = run(client, f"ALTER TYPE mood ADD VALUE 'odd' {place}")[0]["epoch"]
        run(client, "DELETE FROM people WHERE name = 'dan'")
        assert _rows(client) == READ
        if is_killed:
            shutil.copytree(settings.data, tmp_path / "killed")
    with Client(Settings(data=tmp_path / "killed") if is_killed else settings) as client:
        assert _rows(client) == READ
        run(
            client,
            "INSERT INTO people VALUES ('eve', 'odd', '{odd,sad}'); INSERT INTO scale VALUES ('odd', 9)",
        )
        assert ("eve", 9) in client.rows("scored")
        assert client.rows("top") == [(max(("happy", "odd"), key=labels.index),)]
        is_glad = labels.index("odd") > labels.index("sad")
        assert (("eve", "odd", "sad") in client.rows("glad")) == is_glad
        columns = client.get("/v1/tables/people").json()["columns"]
        assert columns[1]["type"] == f"ENUM({', '.join(map(repr, labels))})"
        assert columns[2]["type"] == columns[1]["type"] + "[]"
        (ordered,) = run(client, "SELECT enumlabel FROM pg_enum ORDER BY enumsortorder")
        assert [label for (label,) in ordered["rows"]] == labels
        (called,) = run(client, "SELECT worst() AS w, best() AS b, 'odd'::mood > 'sad'::mood AS o")
        assert called["rows"] == [["sad", "happy", is_glad]]
        past = client.get("/v1/views/scored/rows", as_of=epoch)
        assert sorted(row["name"] for row in past.json()["rows"]) == ["ada", "bob"], past.text
        failing = client.post("/v1/sql", {"sql": "INSERT INTO people VALUES ('x', 'sad', NULL)"})
        assert code(failing) == (422, "check_violated")


def test_what_cannot_be_added_is_refused(service: Client) -> None:
    for sql, status, told in (
        ("ALTER TYPE mood ADD VALUE 'ok'", 409, "label 'ok' already"),
        ("ALTER TYPE mood ADD VALUE 'x' BEFORE 'happi'", 404, "no label 'happi'"),
        ("ALTER TYPE moo ADD VALUE 'x'", 404, "no type called moo"),
        ("ALTER TYPE mood ADD VALUE x", 400, "a text is expected"),
        ("ALTER TYPE mood RENAME TO other", 422, "RENAME is not supported"),
    ):
        answer = service.post("/v1/sql", {"sql": sql})
        assert answer.status_code == status and told in answer.json()["detail"], answer.text
    run(service, "ALTER TYPE mood ADD VALUE IF NOT EXISTS 'ok'")
    run(service, "CREATE TYPE twin AS ENUM ('sad', 'ok', 'happy')")
    answer = service.post("/v1/sql", {"sql": "ALTER TYPE mood ADD VALUE 'x'"})
    assert code(answer) == (409, "in_use") and "twin" in answer.json()["hint"]
    run(service, "DROP TYPE twin; ALTER TYPE mood ADD VALUE 'x'")
    assert _rows(service) == READ


@each_seed(few(2))
def test_labels_at_random_places_keep_their_order(settings: Settings, seed: int) -> None:
    chance = random.Random(seed)
    labels, epochs = ["m"], []
    rows: list[tuple[int, str]] = []
    with Client(settings) as client:
        run(client, "CREATE TYPE e AS ENUM ('m'); CREATE TABLE t (id INT, e e, PRIMARY KEY (e, id))")
        client.view("ends", "SELECT min(e) AS low, max(e) AS high, count(*) AS n FROM t GROUP BY id")
        for step in range(8):
            new, at = f"l{step}", chance.randrange(len(labels))
            before = chance.random() < 0.5
            place = f"{'BEFORE' if before else 'AFTER'} '{labels[at]}'"
            run(client, f"ALTER TYPE e ADD VALUE '{new}' {place}")
            labels.insert(at + (not before), new)
            row = (chance.randrange(2), chance.choice(labels))
            if row not in rows:
                rows.append(row)
                epochs.append((client.insert("t", {"id": row[0], "e": row[1]}), list(rows)))
            for epoch, then in epochs:
                found = client.get("/v1/views/ends/rows", as_of=epoch).json()["rows"]
                groups = [[e for id, e in then if id == each] for each in {id for id, _ in then}]
                expected = [(min(g, key=labels.index), max(g, key=labels.index), len(g)) for g in groups]
                assert sorted(tuple(r.values()) for r in found) == sorted(expected), (seed, step)
