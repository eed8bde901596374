"""Debezium's change events: JSON envelopes to changes of a table.

An envelope says `op`, `before` and `after`, alone or as the `payload` beside a `schema`.
What a change log may repeat is no conflict in a table with a primary key: rows that are
created, read by a snapshot or updated are upserts, and a delete discards what may be
gone. A bag cannot tell a repetition from another equal row; there they are inserts and
deletes of whole rows, and an update is both.

Values are JSON's. Where an envelope has its schema, numbers and bytes are read by the
names that it gives to their encodings; without it a day is a number of days, and a
number is no moment unless the caller says of which unit. Nothing here knows files,
words or the state of a table.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

from engine.codec.refusals import invalid
from engine.errors import InvalidValue
from engine.schema import Kind, Type
from service.changes import Op
from service.definition import Definition
from service.errors import Invalid
from service.objects import CHANGE, Row, row_reader

Change = tuple[Op, Row]
_Convert = Callable[[object], object]

UNITS: dict[str, int] = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}
"""Nanoseconds of each unit that moments are counted in."""
_MOMENTS = {
    "io.debezium.time.Timestamp": "milliseconds",
    "org.apache.kafka.connect.data.Timestamp": "milliseconds",
    "io.debezium.time.MicroTimestamp": "microseconds",
    "io.debezium.time.NanoTimestamp": "nanoseconds",
}
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_UNAVAILABLE = ("__debezium_unavailable_value", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
"""What stands, as text or bytes, for a large value that an update left as it was."""
_FIRST_DAY = date(1970, 1, 1)
_FIRST_MOMENT = datetime(1970, 1, 1)


class Reader:
    """Reads the envelopes of one table. `unit` is of moments that come as numbers without a schema."""

    def __init__(self, definition: Definition, unit: str | None = None, where: str = CHANGE) -> None:
        """`where` says of a place how errors call it."""
        self._names = definition.schema.names
        self._types = definition.schema.types
        self._key = definition.relation.key
        self._where = where
        self._row_of = row_reader(definition, where)
        self._unit = unit
        self._plain = self._converters({})

    def read(self, document: object, place: int) -> list[Change]:
        """The changes that an envelope says, in order; none for a tombstone or a message.

        Invalid or InvalidValue for what is no envelope, or cannot be said of the table.
        """
        payload, converters = self._opened(document, place)
        if payload is None:
            return []
        match payload.get("op"):
            case "c" | "r":
                after = self._row(payload, "after", converters, place)
                return [(Op.INSERT if self._key is None else Op.UPSERT, after)]
            case "u":
                return self._update(payload, converters, place)
            case "d":
                before = self._before(payload, converters, place)
                return [(Op.DELETE if self._key is None else Op.DISCARD, before)]
            case "m":
                return []
            case "t":
                raise self._invalid(place, "truncates the table", "truncations are not followed")
        raise self._invalid(place, "is no Debezium envelope", 'it has no "op" of c, r, u or d')

    def _opened(self, document: object, place: int) -> tuple[dict | None, Mapping[int, _Convert]]:
        """The payload, and the conversions that it needs; no payload for a tombstone."""
        converters = self._plain
        if isinstance(document, dict) and "payload" in document and "op" not in document:
            if document.get("schema") is not None:
                try:
                    converters = self._converters(_encodings(document["schema"]))
                except (AttributeError, KeyError, TypeError, ValueError):
                    raise self._invalid(place, "has a schema that is none of Debezium's", "") from None
            document = document["payload"]
        if document is None or isinstance(document, dict):
            return document, converters
        raise self._invalid(place, "is no Debezium envelope", "an envelope is an object")

    def _update(self, payload: dict, converters: Mapping[int, _Convert], place: int) -> list[Change]:
        after = self._row(payload, "after", converters, place)
        if self._key is None:
            return [(Op.DELETE, self._before(payload, converters, place)), (Op.INSERT, after)]
        if payload.get("before") is not None:
            before = self._converted(self._row_of(payload["before"], place), self._key, converters)
            if any(before[i] is not None and before[i] != after[i] for i in self._key):
                return [(Op.DISCARD, before), (Op.UPSERT, after)]
        return [(Op.UPSERT, after)]

    def _row(self, payload: dict, member: str, converters: Mapping[int, _Convert], place: int) -> Row:
        """The whole row that a member says."""
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
                    f"does not say the value of column {name}, which it left as it was",
                    "REPLICA IDENTITY FULL in PostgreSQL makes events say it",
                )
        return self._converted(values, range(len(self._types)), converters)

    def _before(self, payload: dict, converters: Mapping[int, _Convert], place: int) -> Row:
        """The row that is to go: whole, or as much as its key."""
        if self._key is None:
            return self._row(payload, "before", converters, place)
        row = payload.get("before")
        values = self._row_of(row, place) if isinstance(row, dict) else [None] * len(self._types)
        if any(values[i] is None for i in self._key):
            raise self._invalid(place, 'has no key in its "before"', "the primary key says what is to go")
        return self._converted(values, self._key, converters)

    def _converted(
        self, values: Row, columns: tuple[int, ...] | range, converters: Mapping[int, _Convert]
    ) -> Row:
        """The values of the columns, None for the others."""
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

    def _converters(self, encodings: Mapping[str, tuple[str, int]]) -> dict[int, _Convert]:
        """By column, what makes of its values such as the codec takes."""
        found: dict[int, _Convert] = {}
        for i, (name, type) in enumerate(zip(self._names, self._types, strict=True)):
            encoding, scale = encodings.get(name, ("", 0))
            match type.kind:
                case Kind.DATE:
                    found[i] = _day
                case Kind.TIMESTAMP:
                    found[i] = partial(_moment, _MOMENTS.get(encoding, self._unit))
                case Kind.NUMERIC:
                    found[i] = partial(_decimal, type, scale if encoding == _DECIMAL else None)
        return found

    def _invalid(self, place: int, what: str, hint: str) -> Invalid:
        return Invalid(f"{self._where.format(place)} {what}", hint, code="invalid_change")


def _encodings(schema: dict) -> dict[str, tuple[str, int]]:
    """By column, the name of its encoding and its scale, of an envelope's schema."""
    found: dict[str, tuple[str, int]] = {}
    for member in schema.get("fields", ()):
        if member["field"] in ("before", "after"):
            for column in member["fields"]:
                scale = column.get("parameters", {}).get("scale", 0)
                found[column["field"]] = (column.get("name", ""), int(scale))
    return found


def _day(value: object) -> object:
    """A day by its number since 1970-01-01, or in ISO 8601, maybe with a zone, which a day has not."""
    if value.__class__ is int:
        try:
            return _FIRST_DAY + timedelta(days=value)  # type: ignore[arg-type]
        except OverflowError:
            raise invalid(value, Kind.DATE, "out of range") from None
    return value[:-1] if isinstance(value, str) and value.endswith("Z") else value


def _moment(unit: str | None, value: object) -> object:
    """A moment by its number of units since 1970, or in ISO 8601 with an offset."""
    if isinstance(value, str):
        return _utc(value)
    if value.__class__ is not int:
        return value
    if unit is None:
        raise InvalidValue(
            f"{value} is no {Kind.TIMESTAMP.value}: its unit is not known",
            "send the envelope's schema, or name the unit of its timestamps",
        )
    microseconds, finer = divmod(value * UNITS[unit], 1000)  # type: ignore[operator]
    if finer:
        raise invalid(value, Kind.TIMESTAMP, "finer than microseconds")
    try:
        return _FIRST_MOMENT + timedelta(microseconds=microseconds)
    except OverflowError:
        raise invalid(value, Kind.TIMESTAMP, "out of range") from None


def _utc(text: str) -> object:
    """The moment in UTC; the text itself if it has no offset to be moved by."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if not moment.utcoffset() or moment.tzinfo is None:
        return text
    fraction = text.partition(".")[2].partition("+")[0].partition("-")[0]
    if fraction[6:].strip("0"):
        raise invalid(text, Kind.TIMESTAMP, "finer than microseconds")
    try:
        return moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise invalid(text, Kind.TIMESTAMP, "out of range") from None


def _decimal(type: Type, scale: int | None, value: object) -> object:
    """A number as it stands, or as the bytes of its digits and a scale."""
    if isinstance(value, dict) and value.keys() == {"scale", "value"}:
        scale, value = value["scale"], value["value"]
    if scale is None or not isinstance(value, str) or scale.__class__ is not int:
        return value
    try:
        digits = int.from_bytes(b64decode(value, validate=True), signed=True)
        return Decimal(f"{digits}e{-scale}")
    except (ValueError, ArithmeticError):
        raise invalid(value, type, f"not the bytes of digits of scale {scale}") from None
