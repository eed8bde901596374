"""The OpenAPI document: FastAPI's, with the routes that describe themselves, and an example for each body.

Operations are called as their functions. Models are called without the word Model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from service import problems
from service.http.models import ProblemModel
from service.http.needs import NEEDS, OPEN
from service.http.reference.openapi_examples import ANSWERS, OF_MEDIA, PATHS, PROBLEM, REQUESTS, UNAVAILABLE

Document = dict[str, Any]
_TAGS = {
    "sql": "Scripts of SQL: definitions, changes and queries.",
    "tables": "Tables, and the changes of their rows.",
    "views": "Views, which are kept up to date.",
    "rows": "The rows of a table or a view, at any epoch that is kept.",
    "changes": "What happened to a table or a view, epoch by epoch, or live.",
    "branches": "Branches: all tables and views, changed and read beside the service's own.",
    "bulk": "Loads and exports of files, through Spark.",
    "sources": "Directories whose files become rows of a table.",
    "sinks": "Directories that a view's changes are appended to.",
    "accounts": "Keys and roles, and the log of what was done with them.",
    "backups": "Copies of the whole service at one epoch, to be restored elsewhere.",
    "operations": "Health, readiness, status and metrics.",
}
_REF = "#/components/schemas/"
_SUFFIX = "Model"


def operation_id(route: APIRoute) -> str:
    """The name of a route's operation: that of its function."""
    return route.name


def openapi_document(app: FastAPI, more: Mapping[str, Any]) -> Document:
    """The document of the app, and of the paths `more` that describe themselves."""
    document = get_openapi(title=app.title, summary=app.summary, version=app.version, routes=app.routes)
    document["paths"].update(more)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["ProblemModel"] = ProblemModel.model_json_schema()
    named = {name: name.removesuffix(_SUFFIX) for name in schemas if name.endswith(_SUFFIX)}
    document = _renamed(document, {_REF + old: _REF + new for old, new in named.items()})
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = {
        named.get(name, name): schema | {"title": named.get(name, name)} for name, schema in schemas.items()
    }
    _declare_keys(document)
    used = {tag for operation in operations(document) for tag in operation["tags"]}
    document["tags"] = [{"name": name, "description": _TAGS.get(name, "")} for name in sorted(used)]
    for operation in operations(document):
        _with_examples(operation)
    return document


def operations(document: Document) -> Iterator[dict[str, Any]]:
    """All operations of a document."""
    for methods in document["paths"].values():
        yield from methods.values()


def _declare_keys(document: Document) -> None:
    """Says that operations take a key, but for those that everybody may ask."""
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"key": []}]
    for route, need in NEEDS.items():
        method, path = route.split(" ")
        if need is OPEN and path in document["paths"]:
            document["paths"][path][method.lower()]["security"] = []


def _with_examples(operation: dict[str, Any]) -> None:
    name = operation["operationId"]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path" and parameter["name"] in PATHS:
            parameter.setdefault("example", PATHS[parameter["name"]])
    _illustrate(operation.get("requestBody", {}), REQUESTS.get(name, {}))
    for status, answer in operation["responses"].items():
        _illustrate(answer, ANSWERS.get(name, {}))
        for media_type, content in answer.get("content", {}).items():
            if media_type == problems.MEDIA_TYPE:
                content.setdefault("example", UNAVAILABLE if status == "5XX" else PROBLEM)


def _illustrate(body: dict[str, Any], examples: Mapping[str, Any]) -> None:
    for media_type, content in body.get("content", {}).items():
        example = examples.get(media_type, OF_MEDIA.get(media_type))
        if example is not None:
            content.setdefault("example", example)


def _renamed(node: Any, references: Mapping[str, str]) -> Any:
    """A copy of a part of the document, with other references."""
    if isinstance(node, dict):
        return {
            key: references.get(value, value) if key == "$ref" else _renamed(value, references)
            for key, value in node.items()
        }
    return [_renamed(element, references) for element in node] if isinstance(node, list) else node
