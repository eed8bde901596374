"""The page at `/docs`: the OpenAPI document for people. It is plain HTML and needs no other file."""

from __future__ import annotations

import json
from typing import Any

from service.http.reference.markup import Markup, element, page

Document = dict[str, Any]


def reference_page(document: Document) -> bytes:
    """The document as a page: its operations by tag, then its schemas."""
    by_tag: dict[str, list[Markup]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag[operation["tags"][0]].append(_operation(method.upper(), path, operation))
    described = {tag["name"]: tag["description"] for tag in document["tags"]}
    info = document["info"]
    return page(
        f"{info['title']}: the interface",
        element("h1", info["title"], " ", element("small", info["version"])),
        element("p", info.get("summary"), " ", element("a", "OpenAPI document", href="/openapi.json"), "."),
        element("p", [[element("a", tag, href=f"#{tag}"), " "] for tag in by_tag]),
        [[element("h2", tag, id=tag), element("p", described[tag]), found] for tag, found in by_tag.items()],
        element("h2", "schemas", id="schemas"),
        [_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())],
    )


def _operation(method: str, path: str, operation: Document) -> Markup:
    return element(
        "details",
        element("summary", element("code", method, " ", path), " ", operation.get("summary", "")),
        element("p", operation.get("description")),
        _parameters(operation.get("parameters", [])),
        _bodies("Request", operation.get("requestBody", {})),
        [
            _bodies(f"{status} {answer['description']}", answer)
            for status, answer in operation["responses"].items()
        ],
        id=operation["operationId"],
    )


def _parameters(parameters: list[Document]) -> Markup | None:
    if not parameters:
        return None
    rows = [
        element(
            "tr",
            element("td", element("code", parameter["name"])),
            element("td", f"{parameter['in']}, {type_text(parameter['schema'])}"),
            element("td", parameter.get("description", "")),
        )
        for parameter in parameters
    ]
    return element("table", rows)


def _bodies(title: str, body: Document) -> list[Markup]:
    if not body:
        return []
    shown = [
        [
            element("p", element("code", media_type), " ", _type(content.get("schema", {}))),
            element("pre", _example(content["example"])) if "example" in content else None,
        ]
        for media_type, content in body.get("content", {}).items()
    ]
    return [element("h3", title), element("div", shown)]


def _schema(name: str, schema: Document) -> Markup:
    needed = schema.get("required", [])
    rows = [
        element(
            "tr",
            element("td", element("code", member)),
            element("td", _type(of), "" if member in needed else ", may be missing"),
            element("td", of.get("description", "")),
        )
        for member, of in schema.get("properties", {}).items()
    ]
    return element(
        "details",
        element("summary", element("code", name)),
        element("p", schema.get("description")),
        element("table", rows),
        id=f"schema-{name}",
    )


def _type(schema: Document) -> object:
    """The type of a value, with a link to its schema if that has a name."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return element("a", name, href=f"#schema-{name}") if name else type_text(schema)


def type_text(schema: Document) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema or "const" in schema:
        return " or ".join(map(str, schema.get("enum", [schema.get("const")])))
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(map(type_text, schema[several]))
    if schema.get("type") == "array":
        return f"array of {type_text(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any value")


def _example(example: object) -> str:
    return example if isinstance(example, str) else json.dumps(example, indent=2)
