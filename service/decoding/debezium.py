"""Debezium's change events: JSON envelopes to changes of a table.

An envelope has `op`, `before` and `after`, alone or as the `payload` beside a `schema`. A change log may
repeat events. In a table with a primary key a repetition is no conflict: rows that are created, read by a
snapshot or updated become upserts, and a delete becomes a discard, which accepts that the row may be gone.
A table without a key cannot tell a repetition from another equal row, so there events become inserts and
deletes of whole rows, and an update becomes both.

Values are JSON's. With a schema, numbers and bytes are decoded by the encodings that it names. Without one
a day is a number of days, and a number is a moment only if the caller gives its unit. This module knows
nothing of files, words or the state of a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.errors import InvalidValue
from service.changes.table_changes import ChangeOp
from service.decoding.encodings import Convert, converter
from service.decoding.objects import CHANGE, Row, row_reader
from service.definitions.definition import Definition
from service.errors import Invalid

Change = tuple[ChangeOp, Row]

_UNAVAILABLE = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""The placeholder, as text or bytes, for a large value that an update did not change."""


class EnvelopeReader:
    """Reads the envelopes of one table. `unit` applies to moments that are numbers without a schema."""

    def __init__(self, definition: Definition, unit: str | None = None, where: str = CHANGE) -> None:
        """`where` is the format in which errors name a place."""
        self._names = definition.schema.names
        self._types = definition.schema.types
        self._key = definition.relation.key
        self._where = where
        self._row_of = row_reader(definition, where)
        self._unit = unit
        self._plain = self._converters({})

    def read(self, document: object, place: int) -> list[Change]:
        """The changes of an envelope, in order; none for a tombstone or a message.

        Raises Invalid or InvalidValue for what is not an envelope or does not fit the table.
        """
        payload, converters = self._opened(document, place)
        if payload is None:
            return []
        match payload.get("op"):
            case "c" | "r":
                after = self._row(payload, "after", converters, place)
                return [(ChangeOp.INSERT if self._key is None else ChangeOp.UPSERT, after)]
            case "u":
                return self._update(payload, converters, place)
            case "d":
                before = self._before(payload, converters, place)
                return [(ChangeOp.DELETE if self._key is None else ChangeOp.DISCARD, before)]
            case "m":
                return []
            case "t":
                raise self._invalid(place, "truncates the table", "truncations are not supported")
        raise self._invalid(place, "is not a Debezium envelope", 'it has no "op" of c, r, u or d')

    def _opened(self, document: object, place: int) -> tuple[dict | None, Mapping[int, Convert]]:
        """The payload, None for a tombstone, and the converters that its values need."""
        converters = self._plain
        if isinstance(document, dict) and "payload" in document and "op" not in document:
            if document.get("schema") is not None:
                try:
                    converters = self._converters(_encodings(document["schema"]))
                except (AttributeError, KeyError, TypeError, ValueError):
                    raise self._invalid(place, "has a schema that is not Debezium's", "") from None
            document = document["payload"]
        if document is None or isinstance(document, dict):
            return document, converters
        raise self._invalid(place, "is not a Debezium envelope", "an envelope is an object")

    def _update(self, payload: dict, converters: Mapping[int, Convert], place: int) -> list[Change]:
        after = self._row(payload, "after", converters, place)
        if self._key is None:
            return [(ChangeOp.DELETE, self._before(payload, converters, place)), (ChangeOp.INSERT, after)]
        if payload.get("before") is not None:
            before = self._converted(self._row_of(payload["before"], place), self._key, converters)
            if any(before[i] is not None and before[i] != after[i] for i in self._key):
                return [(ChangeOp.DISCARD, before), (ChangeOp.UPSERT, after)]
        return [(ChangeOp.UPSERT, after)]

    def _row(self, payload: dict, member: str, converters: Mapping[int, Convert], place: int) -> Row:
        """The whole row in a member of the payload."""
        row = payload.get(member)
        if not isinstance(row, dict):
            raise self._invalid(
                place,
                f'has no "{member}"',
                "a table without a primary key needs whole rows: REPLICA IDENTITY FULL in PostgreSQL",
            )
        values = self._row_of(row, place)
        for missing in _UNAVAILABLE:
            if missing in values:
                name = self._names[list(values).index(missing)]
                raise self._invalid(
                    place,
                    f"omits the unchanged value of column {name}",
                    "set REPLICA IDENTITY FULL in PostgreSQL, so that events have all values",
                )
        return self._converted(values, range(len(self._types)), converters)

    def _before(self, payload: dict, converters: Mapping[int, Convert], place: int) -> Row:
        """The row to delete: all of it without a primary key, otherwise its key."""
        if self._key is None:
            return self._row(payload, "before", converters, place)
        row = payload.get("before")
        values = self._row_of(row, place) if isinstance(row, dict) else [None] * len(self._types)
        if any(values[i] is None for i in self._key):
            raise self._invalid(place, 'has no key in its "before"', "a delete needs the row's primary key")
        return self._converted(values, self._key, converters)

    def _converted(
        self, values: Row, columns: tuple[int, ...] | range, converters: Mapping[int, Convert]
    ) -> Row:
        """The converted values of these columns, None for the others."""
        row: list[object] = [None] * len(self._types)
        for i in columns:
            value = values[i]
            if value is not None and i in converters:
                try:
                    value = converters[i](value)
                except InvalidValue as error:
                    raise InvalidValue(f"column {self._names[i]}: {error.message}", error.hint) from None
            row[i] = value
        return row

    def _converters(self, encodings: Mapping[str, tuple[str, int]]) -> dict[int, Convert]:
        """The converter of each column whose values the codec does not take as they are."""
        found: dict[int, Convert] = {}
        for i, (name, type) in enumerate(zip(self._names, self._types, strict=True)):
            convert = converter(type, *encodings.get(name, ("", 0)), self._unit)
            if convert is not None:
                found[i] = convert
        return found

    def _invalid(self, place: int, what: str, hint: str) -> Invalid:
        return Invalid(f"{self._where.format(place)} {what}", hint, code="invalid_change")


def _encodings(schema: dict) -> dict[str, tuple[str, int]]:
    """The name of each column's encoding and its scale, from an envelope's schema."""
    found: dict[str, tuple[str, int]] = {}
    for member in schema.get("fields", ()):
        if member["field"] in ("before", "after"):
            for column in member["fields"]:
                scale = column.get("parameters", {}).get("scale", 0)
                found[column["field"]] = (column.get("name", ""), int(scale))
    return found
