"""The requests about branches, and how any other request is for a branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import orjson

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.calls import get_call, nothing, path_of, post_call, read_epoch, rows_of
from freshet.contract.operation_descriptions import read_as
from freshet.errors import InvalidRequestError
from freshet.values import row_bodies
from freshet.values.rows import Rows

T = TypeVar("T")
_OF_ROWS = ("/deltas", "/rows", "/changes", "/why", "/why-not", "/why-changed", "/rounds")
_TABLES, _VIEWS = path_of("tables"), path_of("views")
_OF_MAIN = ("/rebuild", "/check")
"""What can be asked of a view on main alone."""
MAIN = "main"


@dataclass(frozen=True, kw_only=True)
class BranchDescription:
    """A branch that has parted from `of` at epoch `parted`. Its own epochs begin with `begins`; `epoch` is
    the newest. It holds `bytes` of its own; `merged` are the epochs of its parent that have its changes.
    A `live` one `follows` its parent up to that epoch, and `waits` says why it does not go on. `late`
    counts the rows that came too late for a watermark on it. `lost` says why the service could not restore
    it."""

    name: str
    of: str
    parted: int
    begins: int
    epoch: int | None
    bytes: int | None
    merged: list[int]
    live: bool = False
    follows: int | None = None
    waits: str | None = None
    late: int = 0
    lost: str | None = None


@dataclass(frozen=True, kw_only=True)
class MergeDescription:
    """`epoch` of `into` has the changes; `conflicts` is the number of rows that both had changed. `views` of
    the branch's own were made there too; for those that were `left_out`, it has the reasons. `late` counts
    rows of the branch that came too late for a watermark there."""

    branch: str
    into: str
    epoch: int
    changes: int
    conflicts: int
    views: list[str] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    late: int = 0


def _branch(answer: ApiAnswer) -> BranchDescription:
    return read_as(BranchDescription, answer.json())


def create_branch(name: str, of: str, as_of: int | str | None, live: bool) -> ApiCall[BranchDescription]:
    body: Mapping[str, object] = {"name": name, "of": of, "live": live}
    body = body if as_of is None else {**body, "as_of": as_of}
    return post_call(path_of("branches"), body, _branch)


def branch(name: str) -> ApiCall[BranchDescription]:
    return get_call(path_of("branches", name), _branch)


def branches() -> ApiCall[list[BranchDescription]]:
    def read(answer: ApiAnswer) -> list[BranchDescription]:
        return [read_as(BranchDescription, found) for found in answer.json()["branches"]]

    return get_call(path_of("branches"), read)


def drop_branch(name: str) -> ApiCall[None]:
    return ApiCall("DELETE", path_of("branches", name), nothing)


def merge_branch(name: str, on_conflict: str) -> ApiCall[MergeDescription]:
    def read(answer: ApiAnswer) -> MergeDescription:
        return read_as(MergeDescription, answer.json())

    return post_call(path_of("branches", name, "merge"), {"on_conflict": on_conflict}, read)


def diff(relation: str, name: str, against: str) -> ApiCall[Rows]:
    query = {"view": relation, "against": against}
    return get_call(path_of("branches", name, "diff"), rows_of, query, row_bodies.ARROW)


def on_branch(call: ApiCall[T], name: str | None) -> ApiCall[T]:
    """The same request for a branch, if there is one. Raises InvalidRequestError for a table, which a branch
    cannot have of its own; what is about neither rows nor views stays as it is."""
    if name is None:
        return call
    if call.path == "/v1/sql":
        return replace(call, body=orjson.dumps({"branch": name} | orjson.loads(call.body)))
    if call.path.startswith("/v1/") and call.path.endswith(_OF_ROWS):
        query: dict[str, Any] = {**call.query, "branch": name}
        if query.get("since") == "0":
            del query["since"]  # its changes begin with the branch
        return replace(call, query=query)
    if call.read is read_epoch:
        return replace(call, path=path_of("branches", name))
    if call.path.endswith(_OF_MAIN) or (call.method != "GET" and call.path.startswith(_TABLES)):
        what = "tables cannot be defined" if call.path.startswith(_TABLES) else "views cannot be checked"
        raise InvalidRequestError(f"{what} on branch {name}", "use the connection that it was made of")
    if call.path.startswith(_VIEWS):
        return replace(call, query={**call.query, "branch": name})
    return call
