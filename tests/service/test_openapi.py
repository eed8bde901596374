"""The OpenAPI document is whole, and what the routes answer is what it says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.http.reference.markup import Markup, element
from service.http.reference.openapi_examples import ANSWERS, REQUESTS
from service.settings.settings import Settings
from tests.service.client import Client, Process
from tests.service.json_schema import faults

JSON = "application/json"
BINARY = {"application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One service, with a table, a view of it, and rows."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        client.table("orders", {"id": "BIGINT", "customer": "TEXT", "total": "NUMERIC(12, 2)"}, ["id"])
        client.view("totals", "SELECT customer, sum(total) AS total FROM orders GROUP BY customer")
        client.insert("orders", {"id": 1, "customer": "ada", "total": "30.00"}, {"id": 2})
        yield client


@pytest.fixture(scope="module")
def document(client: Client) -> dict:
    return client.get("/openapi.json").json()


def operations(document: dict) -> list[tuple[str, str, dict]]:
    return [(m, path, op) for path, methods in document["paths"].items() for m, op in methods.items()]


def bodies(operation: dict) -> Iterator[tuple[str, str, dict]]:
    """The status, or `request`, the media type, and the content of each body."""
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield "request", media_type, content
    for status, answer in operation["responses"].items():
        for media_type, content in answer.get("content", {}).items():
            yield status, media_type, content


def test_every_operation_is_described(document: dict) -> None:
    found = operations(document)
    assert len(found) > 35
    names = [operation["operationId"] for _, _, operation in found]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}
    for method, path, operation in found:
        assert re.fullmatch("[a-z]+(_[a-z]+)+", operation["operationId"]), operation["operationId"]
        assert operation["summary"] and operation["description"], (method, path)
        assert len(operation["tags"]) == 1 and set(operation["tags"]) <= tags, (method, path)
        for parameter in operation.get("parameters", ()):
            assert parameter["schema"], (method, path)
            where = parameter["in"]
            assert parameter.get("example") if where == "path" else parameter["description"], (
                path,
                parameter,
            )
        assert {"4XX", "5XX"} < operation["responses"].keys()
        assert all(answer["description"] for answer in operation["responses"].values())


def test_every_body_has_a_schema_and_an_example_that_fits(document: dict) -> None:
    for method, path, operation in operations(document):
        for where, media_type, content in bodies(operation):
            place = (method, path, where, media_type)
            assert content.get("schema") and "example" in content, place
            if media_type not in BINARY:
                assert list(faults(content["example"], content["schema"], document)) == [], place


def test_no_example_is_of_nothing(document: dict) -> None:
    """Each entry of the examples' tables stands in the document."""
    by_name = {operation["operationId"]: operation for _, _, operation in operations(document)}
    for name, examples in REQUESTS.items():
        assert examples.keys() <= by_name[name]["requestBody"]["content"].keys(), name
    for name, examples in ANSWERS.items():
        offered = {media for status, media, _ in bodies(by_name[name]) if status.startswith("2")}
        assert examples.keys() <= offered, name


def test_every_schema_and_reference(document: dict) -> None:
    schemas = document["components"]["schemas"]
    references = re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document))
    assert set(references) == schemas.keys()
    assert not [name for name in schemas if name.endswith("Model")]


def fitting(document: dict, method: str, path: str, answer: httpx.Response) -> list[str]:
    """What is wrong with an answer, by the document."""
    described = document["paths"][path][method]["responses"]
    status = str(answer.status_code)
    expected = described.get(status) or described.get(f"{status[0]}XX")
    assert expected is not None, (method, path, status)
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    if not expected.get("content"):
        return [] if not answer.content else ["a body that is not described"]
    assert media_type in expected["content"], (method, path, status, media_type)
    schema = expected["content"][media_type]["schema"]
    return list(faults(answer.json(), schema, document)) if re.search("[/+]json$", media_type) else []


MORE: list[tuple[str, str, str, Any]] = [
    ("get", "/v1/views/{view}/rows", "?limit=1", None),
    ("get", "/v1/tables/{table}/rows", "?format=json&where=id%20=%201", None),
    ("get", "/v1/views/{view}/changes", "?format=json", None),
    ("get", "/v1/tables/{table}/changes", "?format=json&limit=1", None),
    ("get", "/v1/views/{view}/plan", "?format=json", None),
    ("get", "/v1/views/{view}/plan", "?format=json&stage=dataflow", None),
    ("get", "/v1/tables/{table}/rows", "?limt=1", None),
    ("post", "/v1/sql", "", {"sql": "SHOW TABLES; INSERT INTO orders VALUES (9) RETURNING id"}),
    ("post", "/v1/sql", "", {"sql": "SELECT id FROM orders", "limit": 1}),
    ("post", "/v1/sql", "", {"sql": "SELECT 1; SELECT pakage FROM orders"}),
    ("post", "/v1/tables", "", {"sql": "CREATE TABLE c (a INT DEFAULT 5 CHECK (a > 1))"}),
    ("get", "/v1/tables", "", None),
    ("post", "/v1/tables/{table}/deltas", "", [{"insert": {"id": 1}}]),
    ("post", "/v1/tables/{table}/deltas", "", [{"upsert": {"id": 1}}]),
    ("post", "/v1/deltas", "", {"tables": {"orders": [{"delete": {"id": 2}}]}}),
]


def test_answers_fit_the_document(client: Client, document: dict) -> None:
    """Every operation with its example, and more; what names no job or file is refused, with a problem."""
    places = {"table": "orders", "view": "totals", "load": "x", "export": "x", "source": "x", "sink": "x"}
    places |= {"key": "x", "backup": "x", "branch": "b", "replacement": "r"}
    checked = 0
    for method, path, operation in operations(document):
        if method == "delete" and path in ("/v1/tables/{table}", "/v1/views/{view}"):
            continue
        body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("example")
        if path.startswith(("/v1/loads", "/v1/exports", "/v1/sinks", "/v1/sources")) and body is not None:
            body = {"nonsense": 1}  # jobs need Spark
        answer = client.run(client.http.request(method, path.format(**places), json=body))
        assert fitting(document, method, path, answer) == [], (method, path, answer.text)
        checked += answer.status_code < 300
    for method, path, query, body in MORE:
        answer = client.run(client.http.request(method, path.format(**places) + query, json=body))
        assert fitting(document, method, path, answer) == [], (method, path, query, answer.text)
    assert checked > 15


def test_the_pages_need_nothing_from_elsewhere(client: Client, document: dict) -> None:
    front, docs = client.get("/"), client.get("/docs")
    for answer in (front, docs):
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not re.search(r"https?://|<img|@import|url\(", answer.text)
    assert not re.search("<script|<link", docs.text)
    assert set(re.findall('src="(.*?)"', front.text)) == set(re.findall('src="(/console/.*?)"', front.text))
    for path in re.findall(r'href="(/[^"]*)"', front.text + docs.text):
        assert client.get(path).status_code == 200, path
    names = set(re.findall(r'id="([^"]+)"', docs.text))
    assert set(re.findall(r'href="#([^"]+)"', docs.text)) <= names
    assert {operation["operationId"] for _, _, operation in operations(document)} <= names
    assert "did you mean depends.package?" in docs.text
    assert client.run(client.http.get("/docs", params={"x": "1"})).status_code == 422


def test_text_in_a_page_is_escaped() -> None:
    assert (
        element("p", "<b>", Markup("<i></i>"), ["&"], None, title='"')
        == '<p title="&quot;">&lt;b&gt;<i></i>&amp;</p>'
    )


GENERATED = """
import sys
sys.path.insert(0, sys.argv[1])
from freshet_client import Client
from freshet_client.api.rows import read_view_rows
from freshet_client.api.changes import read_view_changes
from freshet_client.api.tables import list_tables
from freshet_client.models import ReadViewChangesFormatType0 as Format
client = Client(base_url=sys.argv[2])
page = read_view_rows.sync("totals", client=client)
print(page.epoch, [row.additional_properties for row in page.rows])
changes = read_view_changes.sync("totals", client=client, format_=Format.JSON)
print([(c.epoch, c.diff, c.row.additional_properties) for c in changes.changes])
print([table.name for table in list_tables.sync(client=client).tables])
"""


@pytest.mark.skipif(
    importlib.util.find_spec("openapi_python_client") is None, reason="openapi-python-client is not installed"
)
def test_a_generated_client_reads_rows_and_changes(
    start: Callable[..., Process], tmp_path: Path, document: dict
) -> None:
    service = start(FRESHET_SPARK="never")
    service.wait_ready()
    setup = (
        "CREATE TABLE orders (customer TEXT, total NUMERIC(12, 2)); INSERT INTO orders VALUES ('ada', 30);"
        "CREATE VIEW totals AS SELECT customer, sum(total) AS total FROM orders GROUP BY customer"
    )
    assert service.http.post("/v1/sql", json={"sql": setup}).status_code == 200
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "config.yml").write_text("post_hooks: []\npackage_name_override: freshet_client\n")
    made = tmp_path / "made"
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json"]
    command += ["--config", "config.yml", "--meta", "none", "--output-path", str(made / "freshet_client")]
    made.mkdir()
    generated = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
    assert generated.returncode == 0, generated.stdout + generated.stderr
    run = [sys.executable, "-c", GENERATED, str(made), service.url]
    answer = subprocess.run(run, capture_output=True, text=True, env=dict(os.environ))
    assert answer.returncode == 0, answer.stderr
    rows, changes, tables = answer.stdout.splitlines()
    assert "{'customer': 'ada', 'total': '30.00'}" in rows
    assert "{'customer': 'ada', 'total': '30.00'}" in changes
    assert tables == "['orders']"
