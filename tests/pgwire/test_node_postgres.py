"""node-postgres (`pg`), with its pool and, where it is found, its cursor; connected with a key, by SCRAM."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from service.settings.settings import Settings
from tests import clients
from tests.pgwire.door import PostgresDoor
from tests.pgwire.test_drivers import run

BIG = "9007199254740993"
"""A BIGINT that no number of JavaScript is: it comes as a text."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `talk.js` has heard."""
    where = "Debian's node-pg, or npm's pg in the directory of FRESHET_NODE_MODULES"
    modules = Path(os.environ.get("FRESHET_NODE_MODULES", "/usr/share/nodejs"))
    clients.file(modules / "pg", where)
    node = clients.program("node", "Debian's nodejs")
    directory = tmp_path_factory.mktemp("node")
    with PostgresDoor(Settings(data=directory / "data", query_workers=2)) as door:
        _, key = door.runtime.accounts.add("boss", "admin")
        script = Path(__file__).with_name("talk.js")
        port = str(door.postgres_port)
        written = run(node, script, port, "boss", key, directory=directory, NODE_PATH=str(modules), TZ="UTC")
        return {"has_cursor": (modules / "pg-cursor").exists(), **json.loads(written)}


def test_a_key_is_shown_by_scram(said: dict[str, Any]) -> None:
    assert said["wrong"] == ["28P01", None, "FATAL", True]


def test_values_have_their_types(said: dict[str, Any]) -> None:
    assert said["tag"] == ["INSERT", 1]
    assert said["row"] == {
        "id": BIG, "i": 7, "n": "1.50", "d": 0.1, "b": True, "t": "hé'llo", "j": {"a": [1, None]},
        "day": "Thu Feb 29 2024", "ts": 500, "tz": "2024-01-01T00:00:00.000Z", "raw": [0, 255],
        "u": "00000000-0000-0000-0000-000000000005", "span": {"days": 3, "seconds": 5},
        "ints": [1, None, 3], "texts": ["a", 'b "c"', None],
    }  # fmt: skip
    assert said["types"] == [20, 23, 1700, 701, 16, 25, 114, 1082, 1114, 1184, 17, 2950, 1186, 1007, 1009]


def test_statements_are_prepared_by_name_and_sent_together(said: dict[str, Any]) -> None:
    assert said["named"] == [[["hé'llo"]], []] and said["none"] == []
    assert said["several"] == [[{"a": 1}], [{"b": 2}]]


def test_errors_have_codes_and_places(said: dict[str, Any]) -> None:
    found = said["failures"]
    assert found["table"][:3] == ["42P01", "15", "ERROR"]
    assert found["column"][:3] == ["42703", "8", "ERROR"]
    assert found["syntax"][:3] == ["42601", "1", "ERROR"]
    assert [found[name][0] for name in ("twice", "value", "block")] == ["23505", "22P02", "25P02"]
    assert found["listen"][0] == "0A000" and found["listen"][3], "it says what to use instead"
    assert said["after"] == "1"


def test_a_cursor_reads_in_parts(said: dict[str, Any]) -> None:
    if not said["has_cursor"]:
        clients.missing("pg-cursor", "npm's pg-cursor in the directory of FRESHET_NODE_MODULES")
    assert said["read"] == [["0", "1", "2"], ["3", "4"], [{"n": 1}]]


def test_a_pool_of_ten(said: dict[str, Any]) -> None:
    assert said["pool"] == [True, 10] and said["kept"] == 40
