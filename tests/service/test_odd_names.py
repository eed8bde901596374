"""Names of any characters, values at the ends of their types, and places behind texts of other scripts."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from service.http.path_names import named
from service.names import fold_relation
from service.settings.settings import Settings
from tests.service.client import Client, code

NAMES = [
    "a/b",
    "/",
    "a//b/",
    "a%2Fb",
    "a b",
    "é😀",
    "..",
    ".",
    "a?b",
    "a#b",
    "a\nb",
    "a\\b",
    'a"b',
    "%",
    "a+b",
    "a;b",
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One service for all; its table t stays empty."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        client.table("t", {"a": "BIGINT", "b": "INTEGER"})
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_reached_by_its_path(client: Client, name: str) -> None:
    """Tables and views of the name: described, changed, read, replayed and dropped."""
    quoted = '"' + name.replace('"', '""') + '"'
    at, name = quote(quoted, safe=""), fold_relation(quoted)
    sql = f'CREATE TABLE {quoted} (a BIGINT); CREATE VIEW "of" AS SELECT a FROM {quoted}'
    assert client.post("/v1/sql", {"sql": sql}).status_code == 200
    assert client.get(f"/v1/tables/{at}").json()["name"] == name
    assert client.post(f"/v1/tables/{at}/deltas", [{"insert": {"a": 1}}]).status_code == 200
    assert client.get(f"/v1/tables/{at}/rows").json()["rows"] == [{"a": 1}]
    assert client.get(f"/v1/tables/{at}/changes", format="json").json()["table"] == name
    assert client.get("/v1/epochs", relation=quoted).json()["epochs"][0]["tables"] == {name: 1}
    assert client.delete("/v1/views/of").status_code == 204
    assert client.delete(f"/v1/tables/{at}").status_code == 204
    assert client.post("/v1/sql", {"sql": f"CREATE VIEW {quoted} AS SELECT 1 AS a"}).status_code == 200
    for path in ("", "/rows", "/plan"):
        assert client.get(f"/v1/views/{at}{path}").status_code == 200, path
    assert client.delete(f"/v1/views/{at}").status_code == 204


def test_a_slash_that_divides_is_no_name(client: Client) -> None:
    assert client.get('/v1/tables/"a/b"/rows').status_code == 404
    assert client.get("/v1/tables%2Ft").status_code == 404
    assert client.get("/v1/tables/%22a%00b%22").status_code == 404
    assert client.get("/v1/tables/%22a%00%2Fb%22").status_code == 404
    assert named({"x": "a\0b"}) == {"x": "a/b"}


@pytest.mark.parametrize("text", ["'é'", "'😀é'", "'日本語'", "'é' /* ñ */", "U&'\\00e9'"])
@pytest.mark.parametrize(
    ("sql", "word", "expected"),
    [
        ("SELECT a,\n {}, sectin FROM t", "sectin", "unknown_column"),
        ("SELECT a FROM t WHERE {} = 'x' AND sectin = 1", "sectin", "unknown_column"),
        ("SELECT {} || nosuch(a) FROM t", "nosuch", "unknown_function"),
        ("UPDATE t SET a = length({}) + sectin", "sectin", "unknown_column"),
        ("DELETE FROM t WHERE {} = 'x'\nOR sectin = 1", "sectin", "unknown_column"),
        ("INSERT INTO t (a) SELECT length({}) + sectin FROM t", "sectin", "unknown_column"),
        ("CREATE VIEW v AS SELECT {} AS b,\n sectin FROM t", "sectin", "unknown_column"),
    ],
)
def test_an_error_behind_other_scripts_has_its_place(
    client: Client, sql: str, word: str, expected: str, text: str
) -> None:
    written = sql.format(text)
    answer = client.post("/v1/sql", {"sql": written})
    assert code(answer) == (422, expected)
    before = written[: written.index(word)].split("\n")
    assert answer.json()["position"] == {"line": len(before), "column": len(before[-1]) + 1}


def test_the_least_bigint_is_refused_with_its_reason(client: Client) -> None:
    """Wherever it comes from; a query may compute with it."""
    least = -(2**63)
    client.insert("t", {"a": least + 1, "b": 1})
    csv = {"content": f"_op,a\ninsert,{least}\n".encode(), "headers": {"Content-Type": "text/csv"}}
    answers = [
        client.post("/v1/sql", {"sql": f"INSERT INTO t VALUES ({least}, 1)"}),
        client.post("/v1/sql", {"sql": f"INSERT INTO t SELECT {least}, 1"}),
        client.post("/v1/sql", {"sql": f"UPDATE t SET a = {least}"}),
        client.deltas("t", {"insert": {"a": least}}),
        client.post("/v1/tables/t/deltas", **csv),
    ]
    for answer in answers:
        assert code(answer) == (422, "invalid_value"), answer.text
        assert "reserved" in answer.json()["detail"], answer.text
    others = [client.deltas("t", {"insert": {"a": least - 1}}), client.deltas("t", {"insert": {"b": least}})]
    assert not any("reserved" in answer.json()["detail"] for answer in others)
    found = client.post("/v1/sql", {"sql": f"SELECT a FROM t WHERE a > {least}"}).json()
    assert found["results"][0]["rows"] == [[least + 1]]
