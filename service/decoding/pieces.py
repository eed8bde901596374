"""JSON bodies in pieces: the elements of an array, or lines, parsed some at a time.

The objects of a piece are freed before the next one is parsed, so a body takes its own size and that of
its decoded rows in memory. A body of at most `WHOLE` bytes is parsed in one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from service.decoding.json_scanner import WINDOW, marks
from service.decoding.objects import FORM
from service.errors import BadRequest, Invalid, TooLarge

WHOLE = 1 << 20
"""Bytes that may be parsed at once, whatever they hold."""
VALUES = 1_000_000
"""The most JSON values in a longer text that must be parsed at once, such as one change."""
LONGEST = 32 << 20
"""The most bytes of such a text: other threads wait while it is parsed."""
_CHUNK = 512
"""Lines that are parsed at once. A longer call would make other threads wait for the interpreter."""

Piece = tuple[Sequence[int], list[object]]
"""Numbers of elements, from 0, or of lines, from 1; and their values."""


def parse_json(body: bytes) -> object:
    """The JSON value of a body. Raises BadRequest, or TooLarge for too many values."""
    check_values(body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error}", code="invalid_json") from None


def check_values(body: bytes, start: int = 0, stop: int | None = None) -> None:
    """Raises TooLarge if a text is too long to be parsed at once, or has too many values."""
    size = (len(body) if stop is None else stop) - start
    if size > LONGEST + WINDOW:
        raise too_long()
    if size > WHOLE:
        count = 0
        for found in marks(body, start, stop):
            count += len(found.at)
            if count > VALUES:
                raise too_many_values()


def too_many_values() -> TooLarge:
    """The error for a text that would make too many objects at once."""
    return TooLarge(
        f"one JSON text has more than {VALUES} values", "send an array of changes, or one change a line"
    )


def too_long() -> TooLarge:
    """The error for a text that would be parsed for too long at once."""
    return TooLarge(
        f"one JSON text has more than {LONGEST} bytes",
        "send an array of changes, or one change a line; keep long texts in files, and their names in rows",
    )


def elements(body: bytes, start: int = 0, stop: int | None = None) -> Iterator[Piece]:
    """The elements of the array in `body[start:stop]`. Raises BadRequest, Invalid or TooLarge."""
    stop = len(body) if stop is None else stop
    if stop - start <= WHOLE:
        value = parse_json(body[start:stop])
        if not isinstance(value, list):
            raise no_array()
        yield range(len(value)), value
        return
    number = 0
    for low, high, alone in _runs(body, start, stop):
        if high - low > LONGEST + WINDOW:
            raise too_long()
        try:
            values = orjson.loads(b"[" + body[low:high] + b"]")
        except orjson.JSONDecodeError as error:
            raise not_json(body, low - 1 + _bytes(error), error.msg) from None
        if not values and not alone:
            raise not_json(body, low, "an element is missing")
        yield range(number, number + len(values)), values
        number += len(values)


def no_array() -> Invalid:
    """The error for JSON that is not an array."""
    return Invalid("the body is not an array of changes", FORM, code="invalid_change")


def _runs(body: bytes, start: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of each run of an array's elements, and whether one run is the whole array."""
    while start < stop and body[start : start + 1].isspace():
        start += 1
    if body[start : start + 1] != b"[":
        raise no_array()
    low = first = start + 1
    since = 0
    for found in marks(body, start, stop):
        since += len(found.at)
        ends = found.closes(1)
        high = int(ends[0]) if len(ends) else stop
        commas = found.commas(1)
        commas = commas[commas < high]
        if len(commas):
            yield low, int(commas[-1]), False
            low = int(commas[-1]) + 1
            since = int((found.at > commas[-1]).sum())
        if len(ends):
            if body[high : high + 1] != b"]" or body[high + 1 : stop].strip():
                raise not_json(body, high, "the array does not end where the body does")
            yield low, high, low == first
            return
        if since > VALUES:
            raise too_many_values()
    raise not_json(body, stop, "the array does not end")


def spans(body: bytes, depth: int, most: int) -> tuple[bytes, list[tuple[int, int]]]:
    """The text without the contents of its arrays and objects of a depth, and the spans of those.

    Raises TooLarge if there are more than `most`, or if the rest of the text is long.
    """
    begins: list[int] = []
    ends: list[int] = []
    for found in marks(body):
        begins += found.opens(depth).tolist()
        ends += found.closes(depth).tolist()
        if len(begins) > most:
            raise too_many_values()
    if len(begins) != len(ends):
        raise not_json(body, len(body), "an array or an object does not end")
    rest = [0, *(end for end in ends)]
    kept = sum(begin - end for begin, end in zip([*begins, len(body)], rest, strict=True))
    if kept > WHOLE:
        raise too_many_values()
    shells = [body[end : begin + 1] for begin, end in zip([*begins, len(body)], rest, strict=True)]
    return b"".join(shells), [(begin, end + 1) for begin, end in zip(begins, ends, strict=True)]


def parsed_lines(body: bytes, number: int = 1) -> Iterator[Piece]:
    """The values of NDJSON, whose lines count from `number`. Skips blank lines. Raises BadRequest or
    TooLarge.
    """
    at = 0
    while at < len(body):
        end = body.find(b"\n", at + WINDOW)
        end = len(body) if end < 0 else end
        check_values(body, at, end)
        texts = body[at:end].split(b"\n")
        numbers = [n for n, line in enumerate(texts, number) if line and not line.isspace()]
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            yield chunk, _parsed([texts[n - number] for n in chunk], chunk)
        number += len(texts)
        at = end + 1


def _parsed(texts: list[bytes], numbers: list[int]) -> list[object]:
    """The values of lines, parsed as one array, which is faster than one by one."""
    try:
        values = orjson.loads(b"[" + b",".join(texts) + b"]")
        if len(values) == len(texts):
            return values
    except orjson.JSONDecodeError:
        pass
    for number, text in zip(numbers, texts, strict=True):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise BadRequest(f"line {number} is not JSON: {error}", code="invalid_json") from None
    raise BadRequest("the body is not one JSON value a line", code="invalid_json")


def not_json(body: bytes, at: int, reason: str) -> BadRequest:
    """The error for a body that stops being JSON at the byte `at`."""
    line = body.count(b"\n", 0, at) + 1
    column = at - body.rfind(b"\n", 0, at)
    return BadRequest(
        f"the body is not JSON: {reason}: line {line} column {column} (byte {at})", code="invalid_json"
    )


def _bytes(error: orjson.JSONDecodeError) -> int:
    """The place of an error in its text, in bytes."""
    return len(error.doc[: error.pos].encode())
