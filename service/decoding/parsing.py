"""Bodies of changes to words: JSON, NDJSON and Debezium's envelopes.

`service/decoding/tabular.py` decodes the other formats.
In JSON every change names its operation. A column that a row leaves out gets its default; a name that the
table does not have is an error. Whether the changes can be made is checked later, by the writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import pyarrow as pa

from engine.state.dictionary import Dictionary
from service.changes.table_changes import TableChanges
from service.decoding.debezium import EnvelopeReader
from service.decoding.encodings import UNITS
from service.decoding.gathering import gather
from service.decoding.objects import CHANGE, FORM, changes_of, row_reader
from service.decoding.pieces import WHOLE, Piece, elements, no_array, parse_json, parsed_lines, spans
from service.decoding.plain_lines import pieces_of_lines, plain_changes
from service.decoding.tabular import OPS, Batches, changes_of_table, read_arrow, read_csv, read_parquet
from service.definitions.definition import Definition
from service.errors import BadRequest, Invalid, UnsupportedFormat
from service.names import fold_relation
from service.settings.budget import Budget

JSON = "application/json"
NDJSON = "application/x-ndjson"
DEBEZIUM = "application/vnd.debezium+json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"

LINE = "line {}"
"""The format in which errors name a place in NDJSON."""
_TABULAR: dict[str, Batches] = {CSV: read_csv, ARROW: read_arrow, PARQUET: read_parquet}
_LINES = frozenset({NDJSON, "application/ndjson", "application/jsonl"})
FORMATS = (JSON, NDJSON, DEBEZIUM, *_TABULAR)
"""The content types for changes of one table, as messages list them."""
BINARY = frozenset({ARROW, PARQUET})
"""Content types in which few bytes may be many rows."""
_MOST_TABLES = 10_000
"""The most tables that one body may change."""


@lru_cache(64)
def media_type_of(content_type: str) -> str:
    """The media type in a header, in lower case and without parameters."""
    return content_type.partition(";")[0].strip().lower()


def check_type(content_type: str) -> str:
    """The media type of a content type. Raises UnsupportedFormat if it is not one for changes."""
    media_type = media_type_of(content_type)
    if media_type not in _LINES and media_type not in FORMATS:
        raise unsupported_content_type(media_type, FORMATS)
    return media_type


def unsupported_content_type(media_type: str, supported: Sequence[str]) -> UnsupportedFormat:
    """The error for a body of a content type that the service cannot read."""
    given = (
        f"content type {media_type[:100]} is not supported" if media_type else "the body has no content type"
    )
    return UnsupportedFormat(given, f"send the header Content-Type: {' or '.join(supported)}")


def parse(
    body: bytes, content_type: str, definition: Definition, dictionary: Dictionary, budget: Budget
) -> TableChanges:
    """The changes of a table in a body, within the budget.

    Raises BadRequest if the format is broken, Invalid or InvalidValue if a row does not fit the table.
    """
    media_type = check_type(content_type)
    if media_type in _TABULAR:
        try:
            return changes_of_table(body, _TABULAR[media_type], definition, dictionary, budget)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise BadRequest(f"the body is not {media_type}: {error}", code="invalid_body") from None
    if media_type == DEBEZIUM:
        return _of_envelopes(body, definition, dictionary, budget, _unit(content_type))
    if media_type == JSON:
        return _of_pieces(elements(body), definition, dictionary, budget)
    return gather(_of_lines(body, definition, dictionary), definition, budget)


def parse_several(
    body: bytes, definition_of: Callable[[str], Definition], dictionary: Dictionary, budget: Budget
) -> dict[str, TableChanges]:
    """The changes in a body of `/v1/deltas`, by table. The budget covers all tables together."""
    shell, arrays = (body, None) if len(body) <= WHOLE else spans(body, 3, _MOST_TABLES)
    document = parse_json(shell)
    tables = document.get("tables") if isinstance(document, dict) else None
    if not isinstance(tables, dict) or len(document) != 1:  # type: ignore[arg-type]
        raise Invalid(
            "the body names no tables",
            'send {"tables": {"name": [change, ...]}}',
            code="invalid_change",
        )
    if arrays is not None and len(arrays) != len(tables):
        raise Invalid("the body names a table twice, or without an array of changes", code="invalid_change")
    changes: dict[str, TableChanges] = {}
    rows = budget.rows
    for place, (name, part) in enumerate(tables.items()):
        definition = definition_of(fold_relation(name))
        if definition.name in changes:
            raise Invalid(f"table {definition.name} is named twice", code="invalid_change")
        if not isinstance(part, list):
            raise no_array()
        pieces = [(range(len(part)), part)] if arrays is None else elements(body, *arrays[place])
        found = _of_pieces(pieces, definition, dictionary, Budget(rows, budget.bytes))
        rows -= len(found)
        changes[definition.name] = found
    return changes


def _unit(content_type: str) -> str | None:
    """The unit in the content type's parameter `timestamps`; None without one."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "timestamps":
            if value not in UNITS:
                raise UnsupportedFormat(f"timestamps={value} is not supported", f"use {' or '.join(UNITS)}")
            return value
    return None


def of_objects(
    values: Sequence[object],
    definition: Definition,
    dictionary: Dictionary,
    places: Sequence[int] | None = None,
    where: str = CHANGE,
) -> TableChanges:
    """The changes in JSON objects. Errors name their places; without `places`, their numbers."""
    ops = []
    rows = []
    row_of = row_reader(definition, where)
    places = range(len(values)) if places is None else places
    for place, change in zip(places, values, strict=True):
        if not isinstance(change, dict) or len(change) != 1:
            raise _no_change(where.format(place))
        ((name, row),) = change.items()
        op = OPS.get(name)
        if op is None or not isinstance(row, dict):
            raise _no_change(where.format(place))
        ops.append(op)
        rows.append(row_of(row, place))
    return changes_of(ops, rows, definition, dictionary, places, where)


def _of_pieces(
    pieces: Iterable[Piece],
    definition: Definition,
    dictionary: Dictionary,
    budget: Budget,
    where: str = CHANGE,
) -> TableChanges:
    """The changes in pieces of a body. A piece's objects are freed before the next one is parsed."""
    parts = (of_objects(values, definition, dictionary, places, where) for places, values in pieces)
    return gather(parts, definition, budget)


def _of_lines(body: bytes, definition: Definition, dictionary: Dictionary) -> Iterator[TableChanges]:
    """The changes in lines, by columns where all lines of a piece are plain, else one by one."""
    for piece, number in pieces_of_lines(body):
        plain = plain_changes(piece, definition, dictionary)
        if plain is not None:
            yield plain
            continue
        for places, values in parsed_lines(piece, number):
            yield of_objects(values, definition, dictionary, places, LINE)


def _no_change(place: str) -> Invalid:
    return Invalid(f"{place} is not a change", FORM, code="invalid_change")


def _of_envelopes(
    body: bytes, definition: Definition, dictionary: Dictionary, budget: Budget, unit: str | None
) -> TableChanges:
    """The changes in Debezium's envelopes: a single one, an array of them, or one a line."""
    parts = (
        of_envelopes(values, definition, dictionary, unit, places, where)
        for places, values, where in _envelopes(body)
    )
    return gather(parts, definition, budget)


def _envelopes(body: bytes) -> Iterator[tuple[Sequence[int], list[object], str]]:
    if body[:WHOLE].lstrip()[:1] == b"[":
        yield from ((*piece, CHANGE) for piece in elements(body))
        return
    if len(body) <= WHOLE:
        try:
            yield range(1), [parse_json(body)], CHANGE
            return
        except BadRequest:
            pass
    yield from ((*piece, LINE) for piece in parsed_lines(body))


def of_envelopes(
    documents: Sequence[object],
    definition: Definition,
    dictionary: Dictionary,
    unit: str | None,
    places: Sequence[int] | None = None,
    where: str = CHANGE,
) -> TableChanges:
    """The changes in Debezium's envelopes. `unit` applies to moments that are numbers without a schema."""
    envelopes = EnvelopeReader(definition, unit, where)
    places = range(len(documents)) if places is None else places
    read = [
        (op, row, place)
        for place, document in zip(places, documents, strict=True)
        for op, row in envelopes.read(document, place)
    ]
    ops, rows, found = zip(*read, strict=True) if read else ((), (), ())
    return changes_of(ops, rows, definition, dictionary, found, where)
