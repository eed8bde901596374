"""The requests about replacements of views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.calls import get_call, nothing, path_of, post_call, rows_of
from freshet.contract.operation_descriptions import read_as
from freshet.values import row_bodies
from freshet.values.rows import Rows


@dataclass(frozen=True, kw_only=True)
class ReplacementDescription:
    """`state` is building, ready, outdated or failed, with the `reason`. `views` are all that it concerns:
    each has a `name`, its new `sql` if it gets one, whether it `changes`, and the `bytes` that it holds."""

    name: str
    state: str
    reason: str | None = None
    views: list[dict[str, object]]


def _replacement(answer: ApiAnswer) -> ReplacementDescription:
    return read_as(ReplacementDescription, answer.json())


def create_replacement(name: str, views: Mapping[str, str], dialect: str) -> ApiCall[ReplacementDescription]:
    queries = [{"name": view, "sql": sql} for view, sql in views.items()]
    return post_call(
        path_of("replacements"), {"name": name, "views": queries, "dialect": dialect}, _replacement
    )


def replacement(name: str) -> ApiCall[ReplacementDescription]:
    return get_call(path_of("replacements", name), _replacement)


def replacements() -> ApiCall[list[ReplacementDescription]]:
    def read(answer: ApiAnswer) -> list[ReplacementDescription]:
        return [read_as(ReplacementDescription, found) for found in answer.json()["replacements"]]

    return get_call(path_of("replacements"), read)


def preview_replacement(name: str, view: str | None, as_of: int | None) -> ApiCall[Rows]:
    query = {"view": view, "as_of": as_of}
    return get_call(path_of("replacements", name, "preview"), rows_of, query, row_bodies.ARROW)


def apply_replacement(name: str) -> ApiCall[int]:
    def read(answer: ApiAnswer) -> int:
        return int(answer.json()["epoch"])

    return post_call(path_of("replacements", name, "apply"), {}, read)


def drop_replacement(name: str) -> ApiCall[None]:
    return ApiCall("DELETE", path_of("replacements", name), nothing)
