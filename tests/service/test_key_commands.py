"""`freshet keys` over a data directory, and the rule that only the loopback is served without a key."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from freshet.command.application import main
from service.accounts import slowing
from service.accounts.accounts import Accounts
from service.catalog.catalog import Catalog
from service.errors import ServiceError
from service.metrics import Metrics
from service.process import key_commands
from service.running.state import recover
from service.settings.settings import Settings
from tests.docs.markdown import ROOT
from tests.service.client import Client, Process, code
from tests.service.test_authorization import bearer, make_key

KEY = re.compile(r"^fr_([0-9a-f]{12})_[0-9a-f]{64}$", re.MULTILINE)


@pytest.fixture
def keys(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs `freshet keys` with these arguments, and returns what it prints, or says at its end."""
    monkeypatch.setenv("FRESHET_DATA", str(settings.data))
    monkeypatch.setattr(key_commands, "keep_private", lambda: None)

    def run(*arguments: str) -> str:
        try:
            main(["keys", *arguments])
        except SystemExit as ended:
            if ended.code:
                return str(ended.code)
        return capsys.readouterr().out

    return run


def test_the_life_of_a_key(keys: Callable[..., str], settings: Settings) -> None:
    assert "make a key of the role admin first" in keys("add", "shop")
    boss = keys("add", "boss", "--role", "admin")
    shop = keys("add", "shop", "--relations", "Sales_*,prices")
    texts = [KEY.search(shown)[0] for shown in (boss, shop)]
    boss_id, shop_id = (KEY.search(shown)[1] for shown in (boss, shop))
    listed = keys("list")
    assert [line.split("  ")[:4] for line in listed.splitlines()] == [
        [boss_id, "boss", "admin", "all"],
        [shop_id, "shop", "read", "sales_*,prices"],
    ]
    assert not any(text.split("_")[2] in listed for text in texts)
    rotated = KEY.search(keys("rotate", shop_id))[0]
    assert "nobody could manage" in keys("revoke", boss_id)
    assert "there is no key nonsense" in keys("revoke", "nonsense")
    with Client(settings) as client:
        for text, status in ((texts[0], 200), (texts[1], 401), (rotated, 200)):
            assert client.run(client.http.get("/v1/tables", headers=bearer(text))).status_code == status
        assert "a service runs" in keys("list")
        audited = client.run(client.http.get("/v1/audit", headers=bearer(texts[0]))).json()["entries"]
        assert [entry["action"] for entry in audited] == ["freshet keys add"] * 2 + ["freshet keys rotate"]
    assert "is revoked" in keys("revoke", shop_id)
    assert "revoked" in keys("list").splitlines()[1]


def test_the_first_start_of_the_image(keys: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Dockerfile runs before the service makes one key, ever."""
    (command,) = re.findall(r"freshet keys (add [^&]+) &&", (ROOT / "Dockerfile").read_text())
    monkeypatch.setenv("FRESHET_OPEN_TO_ANYONE", "yes")
    assert keys(*command.split()) == ""
    monkeypatch.delenv("FRESHET_OPEN_TO_ANYONE")
    monkeypatch.setenv("FRESHET_URL", "http://127.0.0.1:9")  # for other commands in the container
    assert KEY.search(keys(*command.split()))
    assert keys(*command.split()) == ""
    monkeypatch.delenv("FRESHET_URL")
    assert keys("list").count("\n") == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "db.example"])
def test_beyond_the_loopback_a_key_is_needed(settings: Settings, host: str) -> None:
    settings = replace(settings, host=host)
    with pytest.raises(ServiceError, match="there is no key") as refused:
        recover(settings, Metrics())
    assert "FRESHET_OPEN_TO_ANYONE" in refused.value.hint
    recover(replace(settings, open_to_anyone="yes"), Metrics()).close()
    for near in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        recover(replace(settings, host=near), Metrics()).close()
    catalog = Catalog(settings.url)
    Accounts(catalog.transaction).add("boss", "admin")
    catalog.close()
    recover(settings, Metrics()).close()


def test_a_process_that_nobody_may_reach_says_why(start: Callable[..., Process]) -> None:
    ended, said = start(FRESHET_HOST="0.0.0.0", FRESHET_SPARK="never").wait(240)
    assert ended == 1
    assert "there is no key" in said and "Traceback" not in said


def test_secrets_stand_nowhere(
    settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is sent wherever a client can put it: no answer, log, metric or plan has its secret."""
    monkeypatch.setattr(slowing, "LONGEST_SECONDS", 0.0)
    caplog.set_level(logging.DEBUG)
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.view("v", "SELECT a FROM t")
        boss = make_key(client, "boss", "admin")["key"]
        secret = boss.split("_")[2]
        answers: list[httpx.Response] = []

        def send(method: str, path: str, **options: object) -> None:
            for key in (boss, boss[:-1] + "x", ""):
                headers = bearer(key) | dict(options.get("headers", {}))  # type: ignore[call-overload]
                body = {name: value for name, value in options.items() if name != "headers"}
                answers.append(client.run(client.http.request(method, path, headers=headers, **body)))

        for path in (f"/v1/tables/{boss}", f"/v1/tables/{boss}/rows", f"/{boss}", f"/v1/keys/{boss}/rotate"):
            send("GET", path)
            send("POST", path)
            send("DELETE", path)
        send("GET", "/v1/tables", params={boss: boss})
        send("GET", "/v1/tables/t/rows", params={"where": f"a = {boss}"})
        send("GET", "/v1/tables/t/rows", params={"as_of": boss})
        send("POST", "/v1/sql", json={"sql": f"SELECT {boss} FROM t"})
        send("POST", "/v1/sql", json={"sql": f"SELECT * FROM {boss}"})
        send("POST", "/v1/sql", json={"sql": f"CREATE TABLE t (a {boss})"})
        send("POST", "/v1/tables", json={"name": boss, "columns": [{"name": boss, "type": boss}]})
        send("POST", "/v1/keys", json={"name": "x", "role": boss})
        send("POST", "/v1/loads", json={"table": boss, "format": "csv", "path": boss})
        send("GET", "/v1/tables", headers={"Host": boss})
        send("GET", "/v1/tables", headers={"Origin": f"https://{boss}"})
        send("POST", "/v1/tables/t/deltas", json=[{"insert": {boss: boss}}])
        for path in ("/metrics", "/v1/views/v/plan", "/v1/keys", "/v1/roles", "/v1/audit", "/v1/status"):
            send("GET", path)
    shown = [answer for answer in answers if secret in answer.text or secret in str(answer.headers)]
    assert [f"{a.request.method} {a.request.url.path[:30]} {a.text}" for a in shown] == []
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert [record.getMessage() for record in ours if secret in record.getMessage()] == []


def test_a_feed_ends_with_its_key(start: Callable[..., Process]) -> None:
    """Once the key is revoked, the feed sends no more changes, but a problem."""
    service = start(FRESHET_SPARK="never")
    service.wait_ready()
    with httpx.Client(base_url=service.url, timeout=240) as http:
        http.post("/v1/sql", json={"sql": "CREATE TABLE t (a BIGINT)"})
        boss = http.post("/v1/keys", json={"name": "boss", "role": "admin"}).json()["key"]
        made = http.post("/v1/keys", json={"name": "x", "role": "read"}, headers=bearer(boss)).json()
        stream = bearer(made["key"]) | {"Accept": "text/event-stream"}
        with http.stream("GET", "/v1/tables/t/changes", headers=stream) as feed:
            lines = feed.iter_lines()
            for value in (1, 2):
                body = [{"insert": {"a": value}}]
                with httpx.Client(base_url=service.url) as other:
                    answer = other.post("/v1/tables/t/deltas", json=body, headers=bearer(boss))
                    assert answer.status_code == 200
                if value == 1:
                    assert any('"a":1' in line for line in lines)
                    with httpx.Client(base_url=service.url) as other:
                        path = f"/v1/keys/{made['id']}"
                        assert other.delete(path, headers=bearer(boss)).status_code == 204
            rest = "\n".join(lines)
        assert '"a":2' not in rest and "event: problem" in rest and "key_invalid" in rest
        assert code(http.get("/v1/tables", headers=bearer(made["key"]))) == (401, "key_invalid")
