"""The requests of the REST contract, each made by one function. Names are SQL identifiers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import orjson

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.changefeed import Change, ChangeReader, Columns
from freshet.contract.descriptions import (
    Acknowledgement,
    ColumnDescription,
    TableDescription,
    ViewDescription,
    read_columns,
    read_table,
    read_view,
)
from freshet.errors import InvalidRequestError
from freshet.values import row_bodies
from freshet.values.rows import Rows, SqlRows, read_result, read_stream
from freshet.values.sql_parameters import Parameters, json_parameters
from freshet.values.table_columns import new_table

T = TypeVar("T")
_JSON = {"Content-Type": "application/json"}
_ARROW_OR_JSON = f"{row_bodies.ARROW}, application/json;q=0.5"
DIALECT = "postgres"
TABLES, VIEWS = "tables", "views"
"""The kinds of relations, by their place in paths."""


def path_of(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def get_call(path: str, read: Any, query: Mapping[str, Any] | None = None, accept: str = "") -> ApiCall[Any]:
    asked = {name: str(value) for name, value in (query or {}).items() if value is not None}
    return ApiCall("GET", path, read, asked, {"Accept": accept} if accept else {}, repeatable=True)


def post_call(
    path: str, body: object, read: Any, lines_before: int = 0, accept: str | None = None
) -> ApiCall[Any]:
    headers = _JSON if accept is None else _JSON | {"Accept": accept}
    return ApiCall("POST", path, read, headers=headers, body=_json(body), lines_before=lines_before)


def _json(body: object) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise InvalidRequestError(f"the request cannot be written as JSON: {error}") from None


def nothing(answer: ApiAnswer) -> None:
    return None


# The service


def status() -> ApiCall[dict[str, Any]]:
    return get_call("/v1/status", ApiAnswer.json)


def newest_epoch() -> ApiCall[int]:
    return get_call("/v1/status", read_epoch)


def read_epoch(answer: ApiAnswer) -> int:
    """The newest epoch of what the answer describes."""
    found: int = answer.json()["epoch"]
    return found


# Definitions


def create_table(name: str, columns: object, primary_key: Sequence[str]) -> ApiCall[TableDescription]:
    return post_call(path_of("tables"), new_table(name, columns, primary_key), lambda a: read_table(a.json()))


_BUDGETS = {
    "memory_bytes": "budget_memory",
    "build_seconds": "budget_build",
    "change_milliseconds": "budget_change",
}
"""What may be limited, and the option of CREATE VIEW for it."""


def create_view(
    name: str, sql: str, dialect: str, or_replace: bool, budget: Mapping[str, float] | None = None
) -> ApiCall[object]:
    if not or_replace:
        return post_call(path_of("views"), _new_view(name, sql, dialect, budget), nothing)
    options = ", ".join(f"{_BUDGETS.get(key, key)} = {value:.9f}" for key, value in (budget or {}).items())
    script = f"CREATE OR REPLACE VIEW {name}{f' WITH ({options})' if options else ''} AS\n{sql}"
    return post_call("/v1/sql", {"sql": script, "dialect": dialect}, nothing, lines_before=1)


def estimate_view(
    name: str, sql: str, dialect: str, budget: Mapping[str, float] | None
) -> ApiCall[dict[str, Any]]:
    call = post_call(path_of("views"), _new_view(name, sql, dialect, budget), ApiAnswer.json)
    return replace(call, query={"dry_run": "true"}, repeatable=True)


def _new_view(name: str, sql: str, dialect: str, budget: Mapping[str, float] | None) -> dict[str, object]:
    body: dict[str, object] = {"name": name, "sql": sql, "dialect": dialect}
    return body | ({"budget": dict(budget)} if budget else {})


def create_assertion(name: str, sql: str, dialect: str, breach: str) -> ApiCall[object]:
    body = {"name": name, "sql": sql, "dialect": dialect, "breach": breach}
    return post_call(path_of("views"), body, nothing)


def table(name: str) -> ApiCall[TableDescription]:
    return get_call(path_of("tables", name), lambda answer: read_table(answer.json()))


def tables() -> ApiCall[list[TableDescription]]:
    return get_call(
        path_of("tables"), lambda answer: [read_table(found) for found in answer.json()["tables"]]
    )


def view(name: str) -> ApiCall[ViewDescription]:
    return get_call(path_of("views", name), lambda answer: read_view(answer.json()))


def views() -> ApiCall[list[ViewDescription]]:
    return get_call(path_of("views"), lambda answer: [read_view(found) for found in answer.json()["views"]])


def drop(kind: str, name: str) -> ApiCall[None]:
    return ApiCall("DELETE", path_of(kind, name), nothing)


def rebuild(name: str) -> ApiCall[None]:
    return ApiCall("POST", f"{path_of('views', name)}/rebuild", nothing, repeatable=True)


def plan_text(name: str, stage: str, format: str) -> ApiCall[str]:
    return get_call(
        f"{path_of('views', name)}/plan",
        lambda answer: answer.body.decode(),
        {"stage": stage, "format": format},
    )


def why(name: str, row: Mapping[str, object], as_of: int | str | datetime | None) -> ApiCall[dict[str, Any]]:
    return get_call(
        f"{path_of('views', name)}/why", ApiAnswer.json, {"row": _row(row), "as_of": _moment(as_of)}
    )


def why_not(
    name: str, row: Mapping[str, object], as_of: int | str | datetime | None
) -> ApiCall[dict[str, Any]]:
    query = {"row": _row(row), "as_of": _moment(as_of)}
    return get_call(f"{path_of('views', name)}/why-not", ApiAnswer.json, query)


def rounds(name: str, recursion: str | None, as_of: int | str | datetime | None) -> ApiCall[dict[str, Any]]:
    query = {"name": recursion, "as_of": _moment(as_of)}
    return get_call(f"{path_of('views', name)}/rounds", ApiAnswer.json, query)


def why_changed(name: str, row: Mapping[str, object]) -> ApiCall[list[dict[str, Any]]]:
    path = f"{path_of('views', name)}/why-changed"
    return get_call(path, lambda answer: answer.json()["epochs"], {"row": _row(row)})


def _row(row: Mapping[str, object]) -> str:
    return orjson.dumps({name: row_bodies.json_value(value) for name, value in row.items()}).decode()


# Changes


def change(table: str, body: tuple[str, bytes], idempotency_key: str | None) -> ApiCall[Acknowledgement]:
    return _change(f"{path_of('tables', table)}/deltas", *body, idempotency_key)


def change_several(
    tables: Mapping[str, Sequence[object]], idempotency_key: str | None
) -> ApiCall[Acknowledgement]:
    return _change("/v1/deltas", "application/json", orjson.dumps({"tables": tables}), idempotency_key)


def _change(path: str, content_type: str, body: bytes, key: str | None) -> ApiCall[Acknowledgement]:
    headers = {"Content-Type": content_type, "Idempotency-Key": key or uuid.uuid4().hex}
    return ApiCall("POST", path, _acknowledgement, headers=headers, body=body, repeatable=True)


def _acknowledgement(answer: ApiAnswer) -> Acknowledgement:
    found = answer.json()
    return Acknowledgement(found["epoch"], found["changes"], found.get("late", 0))


# Reads


def rows(
    kind: str,
    name: str,
    as_of: int | str | datetime | None,
    where: str | None,
    order_by: str | None,
    limit: int | None,
    valid_at: str | datetime | None = None,
    skip_errors: bool = False,
) -> ApiCall[Rows]:
    query = {
        "as_of": _moment(as_of),
        "valid_at": _moment(valid_at, "valid_at"),
        "where": where,
        "order_by": order_by,
        "limit": limit,
        "errors": "skip" if skip_errors else None,
    }
    return get_call(f"{path_of(kind, name)}/rows", rows_of, query, row_bodies.ARROW)


def rows_of(answer: ApiAnswer) -> Rows:
    """The rows of an answer in Arrow."""
    return read_stream(answer.body, int(answer.headers["freshet-epoch"]))


def _moment(as_of: int | str | datetime | None, name: str = "as_of") -> int | str | None:
    if not isinstance(as_of, datetime):
        return as_of
    if as_of.tzinfo is None:
        raise InvalidRequestError(
            f"{name} {as_of} has no time zone", "pass an aware datetime, such as datetime.now(UTC)"
        )
    return as_of.isoformat()


def columns(kind: str, name: str) -> ApiCall[tuple[ColumnDescription, ...]]:
    return get_call(path_of(kind, name), lambda answer: read_columns(answer.json()))


def changes(
    kind: str, name: str, since: int, until: int | None, columns: Columns, skip_errors: bool
) -> ApiCall[list[Change]]:
    reader = ChangeReader(columns)
    query = {"since": since, "until": until, "errors": "skip" if skip_errors else None}
    return get_call(
        f"{path_of(kind, name)}/changes",
        lambda answer: [reader.read(json.loads(line)) for line in answer.body.splitlines()],
        query,
        row_bodies.NDJSON,
    )


def stream_rows(
    kind: str, name: str, format: str, as_of: str | None, where: str | None, order_by: str | None
) -> ApiCall[None]:
    """A call to be streamed: rows in a format that the service writes."""
    query = {"format": format, "as_of": as_of, "where": where, "order_by": order_by}
    return get_call(f"{path_of(kind, name)}/rows", nothing, query)


def no_columns() -> ApiCall[tuple[ColumnDescription, ...]]:
    """For a feed whose values stay as JSON has them."""
    return get_call("/v1/status", lambda answer: ())


def follow(kind: str, name: str, since: int, skip_errors: bool) -> ApiCall[None]:
    """A call to be streamed."""
    query = {"since": since, "errors": "skip" if skip_errors else None}
    return get_call(f"{path_of(kind, name)}/changes", nothing, query, "text/event-stream")


# SQL


def statement(sql: str, parameters: Parameters | None, dialect: str) -> ApiCall[SqlRows]:
    """The result of a script's last statement: as Arrow, or as JSON if Arrow cannot say it."""
    return _script(sql, parameters, dialect, _last_result, _ARROW_OR_JSON)


def script(sql: str, parameters: Parameters | None, dialect: str) -> ApiCall[list[SqlRows]]:
    """The results of all statements of a script."""
    return _script(sql, parameters, dialect, _results)


def script_document(sql: str, dialect: str, as_of: str | None = None) -> ApiCall[list[dict[str, Any]]]:
    """The same as the JSON that the service sends: each with `statement` and `epoch`, and what it has of
    `columns`, `rows` and `count`."""
    body = {"sql": sql, "dialect": dialect} | ({} if as_of is None else {"as_of": as_of})
    return post_call("/v1/sql", body, _documents)


def _documents(answer: ApiAnswer) -> list[dict[str, Any]]:
    """The results, which have the members that all of them have."""
    found: list[dict[str, Any]] = answer.json()["results"]
    for result in found:
        columns = result.get("columns") or []
        if {type(column["name"] + column["type"]) for column in columns} - {str}:
            raise TypeError(columns)
        if any(len(row) != len(columns) for row in result.get("rows") or []):
            raise ValueError("a row has other columns")
        result["statement"], result["epoch"]
    return found


def _script(
    sql: str, parameters: Parameters | None, dialect: str, read: Any, accept: str | None = None
) -> ApiCall[Any]:
    given = json_parameters(parameters)
    body = {"sql": sql, "dialect": dialect} | ({} if given is None else {"parameters": given})
    return post_call("/v1/sql", body, read, accept=accept)


def _results(answer: ApiAnswer) -> list[SqlRows]:
    return [read_result(result) for result in answer.json()["results"]]


def _last_result(answer: ApiAnswer) -> SqlRows:
    if not answer.headers["content-type"].startswith(row_bodies.ARROW):
        results = _results(answer)
        if not results:
            raise InvalidRequestError("the SQL has no statement", "script runs SQL that may be empty")
        return results[-1]
    headers = answer.headers
    count = int(headers["freshet-count"]) if "freshet-count" in headers else None
    table = read_stream(answer.body, int(headers["freshet-epoch"])).arrow()
    return SqlRows(table, int(headers["freshet-epoch"]), headers["freshet-statement"], count)
