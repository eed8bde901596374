"""The value that a type has where a dialect has no NULL: 0, the empty text, the first day of 1970."""

from __future__ import annotations

from engine.schema import Kind, Type

_TEXTS = {
    Kind.TEXT: "",
    Kind.BOOLEAN: "false",
    Kind.DATE: "1970-01-01",
    Kind.TIMESTAMP: "1970-01-01 00:00:00",
    Kind.TIMESTAMPTZ: "1970-01-01 00:00:00+00",
    Kind.UUID: "00000000-0000-0000-0000-000000000000",
    Kind.ARRAY: "[]",
}


def default_of(type: Type) -> str | None:
    """The default as a text that is cast to the type; None for a type without one."""
    return "0" if type.is_numeric else _TEXTS.get(type.kind)
