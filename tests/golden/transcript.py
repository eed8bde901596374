"""Transcripts: stories of requests and their answers, for people and for a test.

A transcript is prose and sections. A line of prose begins with `#`. A section is a
request, a line `--`, and the answer, up to an empty line:

    sql
    INSERT INTO t VALUES (1, 'one');
    SELECT * FROM t
    --
    INSERT 1, epoch 1
    a | b
    --+----
    1 | one
    (1 row, epoch 1)

| request | is |
|---|---|
| `sql [dialect]`, a script | `POST /v1/sql` |
| `delta table`, a change a line | `POST /v1/tables/{table}/deltas` |
| `delta`, a JSON object of tables | `POST /v1/deltas` |
| `read name [parameter=value ...]` | `GET /v1/views/{name}/rows`, or of a table |
| `changes name [parameter=value ...]` | `GET /v1/views/{name}/changes` |
| `time`, a moment | the service's clock, which stands still, is set |

`play` gives the same text with the answers that a service gives now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

import httpx

from tests.service.client import Client
from tests.service.hands import Hands

END = "--"


@dataclass(frozen=True)
class Section:
    """A request: the words of its first line, the lines below it, and the expected answer."""

    words: tuple[str, ...]
    body: str
    answer: str

    @property
    def request(self) -> str:
        return "\n".join(line for line in (" ".join(self.words), self.body) if line)


def parse(text: str) -> list[str | Section]:
    """The parts of a transcript in order: sections, and the lines between them."""
    lines = iter(text.split("\n"))
    parts: list[str | Section] = []
    for line in lines:
        if not line or line.startswith("#"):
            parts.append(line)
            continue
        body = _until(lines, END, line)
        answer = _until(lines, "", line)
        parts += [Section(tuple(line.split()), "\n".join(body), "\n".join(answer)), ""]
    return parts


def _until(lines: Iterator[str], end: str, section: str) -> list[str]:
    found = []
    for line in lines:
        if line == end:
            return found
        found.append(line)
    raise ValueError(f"section {section!r} has no line {end!r} at its end")


def play(text: str, client: Client) -> str:
    """The transcript with the answers of the client's service."""
    played = []
    for part in parse(text):
        if isinstance(part, Section):
            played.append(f"{part.request}\n{END}\n{_PLAYERS[part.words[0]](part, client)}")
        else:
            played.append(part)
    return "\n".join(played)


def _sql(section: Section, client: Client) -> str:
    dialect = {"dialect": section.words[1]} if len(section.words) > 1 else {}
    answer = client.post("/v1/sql", {"sql": section.body, **dialect})
    if answer.status_code != 200:
        return _problem(answer)
    return "\n".join(_result(result) for result in answer.json()["results"])


def _result(result: dict) -> str:
    if "rows" not in result:
        count = f" {result['count']}" if "count" in result else ""
        return f"{result['statement']}{count}, epoch {result['epoch']}"
    names = [column["name"] for column in result["columns"]]
    if names == ["plan"]:
        return "\n".join(row[0] for row in result["rows"])
    return _table(names, result["rows"], result["epoch"])


def _delta(section: Section, client: Client) -> str:
    if len(section.words) == 1:
        answer = client.post(
            "/v1/deltas", content=section.body.encode(), headers={"Content-Type": "application/json"}
        )
    else:
        answer = client.post(
            f"/v1/tables/{quote(section.words[1])}/deltas",
            content=section.body.encode(),
            headers={"Content-Type": "application/x-ndjson"},
        )
    if answer.status_code != 200:
        return _problem(answer)
    applied = answer.json()
    return f"{_count(applied['changes'], 'change')}, epoch {applied['epoch']}"


def _read(section: Section, client: Client) -> str:
    answer = _get(section, client, "rows")
    if answer.status_code != 200:
        return _problem(answer)
    page = answer.json()
    names = [column["name"] for column in page["columns"]]
    return _table(names, [list(row.values()) for row in page["rows"]], page["epoch"])


def _changes(section: Section, client: Client) -> str:
    answer = _get(section, client, "changes")
    if answer.status_code != 200:
        return _problem(answer)
    changes = [json.loads(line) for line in answer.text.splitlines()]
    if not changes:
        return "(no changes)"
    rows = [[c["epoch"], f"{c['diff']:+}", *c["row"].values()] for c in changes]
    return _table(["epoch", "diff", *changes[0]["row"]], rows)


def _time(section: Section, client: Client) -> str:
    if not isinstance(client.time, Hands):
        raise TypeError("the client's service has a clock of its own")
    client.time.set(datetime.fromisoformat(section.words[1]), client)
    return f"epoch {client.runtime.snapshot.upper - 1}"


def _get(section: Section, client: Client, what: str) -> httpx.Response:
    name = section.words[1]
    kind = "views" if name in _names(client, "views") else "tables"
    parameters = dict(word.split("=", 1) for word in section.words[2:])
    return client.get(f"/v1/{kind}/{quote(name)}/{what}", **parameters)


def _names(client: Client, kind: str) -> set[str]:
    return {relation["name"] for relation in client.get(f"/v1/{kind}").json()[kind]}


def _problem(answer: httpx.Response) -> str:
    problem = answer.json()
    lines = [f"{problem['status']} {problem['code']}: {problem['detail']}"]
    place = [f"statement {problem['index']}"] if "index" in problem else []
    if "position" in problem:
        place.append("line {line}, column {column}".format(**problem["position"]))
    if place:
        lines.append(f"at {', '.join(place)}")
    if problem["hint"]:
        lines.append(f"hint: {problem['hint']}")
    return "\n".join(lines)


def _table(names: list[str], rows: list[list], epoch: int | None = None) -> str:
    """Rows in columns, numbers to the right."""
    cells = [names, *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = [
        any(_is_number(row[i]) for row in rows) and all(row[i] is None or _is_number(row[i]) for row in rows)
        for i in range(len(names))
    ]
    lines = [
        " | ".join(
            cell.rjust(width) if aligned else cell.ljust(width)
            for cell, width, aligned in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    if epoch is not None:
        lines.append(f"({_count(len(rows), 'row')}, epoch {epoch})")
    return "\n".join(lines)


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return value.lstrip("+-").replace(".", "", 1).isdecimal()
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    return value if isinstance(value, str) else json.dumps(value)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


_PLAYERS: dict[str, Callable[[Section, Client], str]] = {
    "sql": _sql,
    "delta": _delta,
    "read": _read,
    "changes": _changes,
    "time": _time,
}
