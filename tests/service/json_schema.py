"""Checks JSON values against the schemas of an OpenAPI document: as much of JSON Schema as ours uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

KNOWN = frozenset(
    {"$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum", "examples", "format"}
    | {
        "items",
        "maxItems",
        "minItems",
        "maxLength",
        "maximum",
        "minimum",
        "exclusiveMinimum",
        "oneOf",
        "properties",
        "required",
    }
    | {"title", "type"}
)
TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


def faults(value: Any, schema: dict, document: dict, place: str = "") -> Iterator[str]:
    """Where a value does not fit a schema. Fails for a keyword that it does not know."""
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        yield from faults(value, document["components"]["schemas"][name], document, place)
        return
    for several in ("anyOf", "oneOf"):
        if several in schema:
            fits = [not any(faults(value, each, document)) for each in schema[several]]
            if not any(fits) or (several == "oneOf" and fits.count(True) != 1):
                yield f"{place}: {value!r} fits {fits.count(True)} of {several}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r} is not {schema['const']}"
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, TYPES[kind]) or (kind != "boolean" and value is True)):
        yield f"{place}: {value!r} is no {kind}"
        return
    if isinstance(value, list) and not (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
    ):
        yield f"{place} has {len(value)} elements"
    if isinstance(value, list) and "items" in schema:
        for number, element in enumerate(value):
            yield from faults(element, schema["items"], document, f"{place}[{number}]")
    if isinstance(value, dict):
        yield from _of_object(value, schema, document, place)


def _of_object(value: dict, schema: dict, document: dict, place: str) -> Iterator[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}.{name} is missing"
    for name, member in value.items():
        if name in properties:
            yield from faults(member, properties[name], document, f"{place}.{name}")
        elif more is False:
            yield f"{place}.{name} is unknown"
        elif isinstance(more, dict):
            yield from faults(member, more, document, f"{place}.{name}")
