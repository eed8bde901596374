"""docs/security.md: its commands run on a fresh service; `$NAME` is the key that was made for `name`."""

import json
import re
import shlex
from pathlib import Path

import pytest

from freshet.command.application import main
from service.http.needs import NEEDS
from service.process import key_commands
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
def test_the_commands_are_those_of_the_command_line(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their arguments are taken; what they do is not done."""
    did: list[str] = []
    for name in ("add", "list_keys", "rotate", "revoke"):
        monkeypatch.setattr(key_commands, name, lambda *arguments: did.append(line))
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line))
    assert (ended.value.code, did) == (0, [line])


def test_the_routes_are_those_of_the_service() -> None:
    routes = re.findall(r"`((?:GET|POST|DELETE) /v1/[^`]+)`", (ROOT / DOCUMENT).read_text())
    assert len(routes) > 3
    assert {route.replace("{id}", "{key}") for route in routes} <= NEEDS.keys()
