"""docs/security.md: its commands run on a fresh service; `$NAME` is the key that was made for `name`."""

import json
import re
from pathlib import Path

import pytest

from service.http.needs import NEEDS
from service.process.commandline import read_arguments
from service.settings.settings import Settings
from tests.docs.markdown import ROOT
from tests.docs.transcript import matches, request_of, send, shown_status, steps
from tests.service.client import Client

DOCUMENT = "docs/security.md"


def test_the_document_works_as_shown(tmp_path: Path) -> None:
    keys: dict[str, str] = {}
    compared = 0
    with Client(Settings(data=tmp_path)) as service:
        for step in steps(DOCUMENT):
            request = request_of(re.sub(r"\$([A-Z]+)", lambda name: keys[name[1]], step.command))
            if request is None:
                continue
            answer = send(service, request)
            refused = step.shown is not None and shown_status(step.shown) >= 400
            assert (answer.status_code >= 400) == refused, f"{step.command}\n{answer.text}"
            if step.shown is not None:
                assert matches(step.shown, answer.text), f"{DOCUMENT}:{step.shown.line}\n{answer.text}"
                compared += 1
            if request.url.endswith("/v1/keys") and answer.status_code == 201:
                made = json.loads(answer.text)
                keys[made["name"].upper()] = made["key"]
    assert compared >= 6 and set(keys) == {"BOSS", "SHOP", "TILL"}


@pytest.mark.parametrize(
    "line", re.findall(r"^freshet (keys .+)$", (ROOT / DOCUMENT).read_text(), re.MULTILINE)
)
def test_the_commands_are_those_of_the_command_line(line: str) -> None:
    assert read_arguments(line.split()).command == "keys"


def test_the_routes_are_those_of_the_service() -> None:
    routes = re.findall(r"`((?:GET|POST|DELETE) /v1/[^`]+)`", (ROOT / DOCUMENT).read_text())
    assert len(routes) > 3
    assert {route.replace("{id}", "{key}") for route in routes} <= NEEDS.keys()
