"""What a codec prepares once for a schema, cached by the schema's identity.

By identity, because hashing a schema costs more than encoding a row of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from engine.schema import Schema

T = TypeVar("T")

_KEPT = 1024


def per_schema(prepare: Callable[[Schema], T]) -> Callable[[Schema], T]:
    """`prepare`, called once for each schema object among the latest ones."""
    prepared: dict[int, tuple[Schema, T]] = {}

    def get(schema: Schema) -> T:
        known = prepared.get(id(schema))
        if known is None:
            if len(prepared) >= _KEPT:
                prepared.clear()
            # The cache holds the schema, so that no other schema can get its identity.
            known = prepared[id(schema)] = (schema, prepare(schema))
        return known[1]

    return get
