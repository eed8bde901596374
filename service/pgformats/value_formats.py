"""Values of every type in both formats: scalars by the tables of their kinds, arrays around them.

An array of several dimensions is a list of lists; all lists of a dimension have the same length on the wire.

Source: PostgreSQL's manual, "Arrays", and `array_send`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from engine.errors import InvalidValue
from engine.schema import Kind
from service.errors import Invalid
from service.pgformats import record_values, text_values, value_binaries, value_texts
from service.pgformats.wire_types import BINARY, JSONB, TEXT, WireType
from service.reading.session_zones import UTC_ZONE, SessionZone

_DIMENSIONS = 6
"""The most dimensions of an array, as in PostgreSQL."""
_PLAIN = re.compile(r'[^\s{}",\\]+')
_TOKEN = re.compile(
    r'\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|((?:[^{}",\\\s]|\\.|\s+(?=[^{}",\s]))+))\s*', re.DOTALL
)
_OID = 26


@lru_cache(1 << 12)
def writer(type: WireType, form: int, zone: SessionZone = UTC_ZONE) -> Callable[[Any], bytes]:
    """A function from a value, not None, to its bytes in a format, in a session of a time zone."""
    if type.element is not None:
        element = type.element
        if form == BINARY:
            return lambda value: _binary_array(value, element)
    elif type.fields:
        if form == BINARY:
            return lambda value: record_values.binary_record(value, type, writer)
    elif form == BINARY:
        return value_binaries.oid_written if type.oid == _OID else value_binaries.OUT[type.kind]
    write = text_writer(type, zone)
    return lambda value: write(value).encode(errors="replace")


@lru_cache(1 << 12)
def text_writer(type: WireType, zone: SessionZone) -> Callable[[Any], str]:
    """A function from a value, not None, to its text."""
    if type.element is not None:
        write_element = text_writer(type.element, zone)
        return lambda value: _text_array(value, write_element)
    if type.fields:
        writers = [text_writer(field, zone) for _, field in type.fields]
        return lambda value: record_values.text_record(value, writers)
    return value_texts.writer_of(type.kind, zone)


@lru_cache(1 << 12)
def reader(type: WireType, form: int, zone: SessionZone = UTC_ZONE) -> Callable[[bytes], Any]:
    """A function from bytes in a format to the value, in a session of a time zone. It raises InvalidValue."""
    if type.element is not None:
        element = type.element
        if form == BINARY:
            return lambda data: _array_of_binary(data, element)
    elif type.fields:
        if form == BINARY:
            return lambda data: record_values.record_of_binary(data, type, reader)
    elif form == BINARY:
        special = {JSONB: value_binaries.jsonb_of, _OID: value_binaries.oid_of}
        return special.get(type.oid) or value_binaries.IN[type.kind]
    read = text_reader(type, zone)
    return lambda data: read(_decoded(data))


@lru_cache(1 << 12)
def text_reader(type: WireType, zone: SessionZone) -> Callable[[str], Any]:
    """A function from a text to the value. It raises InvalidValue."""
    if type.element is not None:
        read_element = text_reader(type.element, zone)
        return lambda text: _array_of_text(text, read_element)
    if type.fields:
        readers = [text_reader(field, zone) for _, field in type.fields]
        return lambda text: record_values.record_of_text(text, readers)
    return text_values.reader_of(type.kind, zone)


def _decoded(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidValue("a text is not UTF-8") from None
    if "\0" in text:
        raise InvalidValue("a text has a character that SQL cannot have: U+0000")
    return text


# The formats of many values


def result_formats(formats: Sequence[int], count: int) -> tuple[int, ...]:
    """The format of each of so many columns. Raises Invalid."""
    return spread(formats, count, "result formats", "columns")


def spread(formats: Sequence[int], count: int, what: str, of: str) -> tuple[int, ...]:
    """One format for each of `count` values: none are all texts, one is for all. Raises Invalid."""
    if not formats:
        return (TEXT,) * count
    if any(form not in (TEXT, BINARY) for form in formats):
        raise Invalid("a format is neither 0 nor 1", "0 is text and 1 is binary", code="protocol_violation")
    if len(formats) == 1:
        return tuple(formats) * count
    if len(formats) != count:
        raise Invalid(f"{len(formats)} {what} for {count} {of}", code="protocol_violation")
    return tuple(formats)


# Arrays


def _text_array(value: list[Any], write: Callable[[Any], str]) -> str:
    parts = []
    for part in value:
        if part is None:
            parts.append("NULL")
        elif isinstance(part, list):
            parts.append(_text_array(part, write))
        else:
            text = write(part)
            plain = _PLAIN.fullmatch(text) is not None and text.upper() != "NULL"
            parts.append(text if plain else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"')
    return "{" + ",".join(parts) + "}"


def _binary_array(value: list[Any], element: WireType) -> bytes:
    sizes = _sizes(value)
    write = writer(element, BINARY)
    parts = [] if sizes else [b""]
    has_null = False
    for part in _leaves(value, len(sizes)):
        has_null = has_null or part is None
        data = None if part is None else write(part)
        parts.append(b"\xff\xff\xff\xff" if data is None else struct.pack("!i", len(data)) + data)
    head = struct.pack("!iiI", len(sizes), has_null, element.oid)
    return head + b"".join(struct.pack("!ii", size, 1) for size in sizes) + b"".join(parts)


def _sizes(value: list[Any]) -> list[int]:
    """The length of each dimension. Raises Invalid if lists of one dimension differ."""
    sizes: list[int] = []
    level: list[Any] = [value]
    while level and isinstance(level[0], list):
        lengths = {len(part) if isinstance(part, list) else -1 for part in level}
        if len(lengths) > 1:
            raise Invalid(
                "the lists of an array have several lengths, which the binary format cannot say",
                "ask for the text format, or cast the column to TEXT",
                code="unsupported_sql",
            )
        if lengths == {0}:
            return []
        sizes.append(lengths.pop())
        level = [inner for part in level for inner in part]
    return sizes


def _leaves(value: list[Any], depth: int) -> Iterator[Any]:
    if depth <= 1:
        yield from value
        return
    for part in value:
        yield from _leaves(part, depth - 1)


def _array_of_binary(data: bytes, element: WireType) -> list[Any]:
    if len(data) < 12:
        raise InvalidValue("a binary array is too short")
    dimensions, _, _ = struct.unpack("!iiI", data[:12])
    if dimensions == 0:
        return []
    if not 0 < dimensions <= _DIMENSIONS or len(data) < 12 + 8 * dimensions:
        raise InvalidValue(f"a binary array has {dimensions} dimensions")
    sizes = struct.unpack(f"!{2 * dimensions}i", data[12 : 12 + 8 * dimensions])[::2]
    read, at = reader(element, BINARY), 12 + 8 * dimensions
    values: list[Any] = []
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        at += 4
        if size < -1 or (size > 0 and at + size > len(data)):
            raise InvalidValue("an element of a binary array is longer than the array")
        values.append(None if size == -1 else read(data[at : at + size]))
        at += max(size, 0)
    for size in reversed(sizes[1:]):
        if size <= 0 or len(values) % size:
            raise InvalidValue("a binary array has fewer elements than it says")
        values = [values[i : i + size] for i in range(0, len(values), size)]
    if len(values) != sizes[0]:
        raise InvalidValue("a binary array has fewer elements than it says")
    return values


def _array_of_text(text: str, read: Callable[[str], Any]) -> list[Any]:
    bare = re.sub(r"^\s*(\[[-0-9:\[\]]+\]\s*=)?", "", text)
    stack: list[list[Any]] = []
    found: list[Any] | None = None
    at = 0
    expects_value = True
    while at < len(bare):
        token = _TOKEN.match(bare, at)
        if token is None or found is not None:
            raise text_values.not_a("array", text)
        at = token.end()
        mark, quoted, plain = token.groups()
        if mark == "{" and expects_value:
            if len(stack) == _DIMENSIONS:
                raise InvalidValue(f"an array has more than {_DIMENSIONS} dimensions")
            stack.append([])
        elif mark == "}" and stack and (not expects_value or not stack[-1]):
            done = stack.pop()
            expects_value = False
            if stack:
                stack[-1].append(done)
            else:
                found = done
        elif mark == "," and stack and not expects_value:
            expects_value = True
        elif mark is None and stack and expects_value:
            expects_value = False
            if quoted is not None:
                stack[-1].append(read(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)))
            elif plain.upper() == "NULL":
                stack[-1].append(None)
            else:
                stack[-1].append(read(re.sub(r"\\(.)", r"\1", plain.rstrip(), flags=re.DOTALL)))
        else:
            raise text_values.not_a("array", text)
    if found is None:
        raise text_values.not_a("array", text)
    return found


def is_array(type: WireType) -> bool:
    return type.kind is Kind.ARRAY
