"""Fields of CSV as the codec reads texts: what people and programs write for a value, in one form.

Spaces around a value do not count, except in texts. Each kind takes what a load of the same file takes
(`engine/judging/text_readings.py`): an integer may have a fraction of zeros, a moment a zone, a boolean is
any of SQL's words. Nothing is rounded or guessed: a text that has none of the forms is refused, as is one
that stands for a value which the column cannot have.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.refusals import invalid
from engine.errors import InvalidValue
from engine.schema import NESTED, Kind, Schema, Type

_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_WHOLE = "[+-]?[0-9]+([.]0*)?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}(:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?)?"
_UTC = "(Z|[+-]00(:?00)?)"
_ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_LONG_FRACTION = "([.][0-9]{6})0+"

Reading = Callable[[pa.Array, Type], pa.Array]
"""A function from trimmed texts to the texts that the codec reads. Raises InvalidValue."""


def plain_texts(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """The fields of a batch, whose columns are those of `schema`, in the codec's forms."""
    columns = []
    for array, column in zip(batch.columns, schema.columns, strict=True):
        try:
            columns.append(_plain(array, column.type))
        except InvalidValue as error:
            raise InvalidValue(f"column {column.name}: {error.message}", error.hint) from None
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _plain(array: pa.Array, type: Type) -> pa.Array:
    if type.kind in _AS_THEY_ARE or array.null_count == len(array):
        return array
    canonical = _CANONICAL.get(type.kind)
    if canonical and pc.all(pc.match_substring_regex(array, f"^({canonical})$")).as_py():
        return array
    trimmed = pc.ascii_trim_whitespace(array)
    read = _READINGS.get(type.kind)
    return trimmed if read is None else read(trimmed, type)


def _check(array: pa.Array, form: str, type: Type) -> None:
    """Raises InvalidValue for the first text that does not have the form."""
    fits = pc.match_substring_regex(array, f"^({form})$")
    if pc.all(fits).as_py() is False:
        raise invalid(array.filter(pc.invert(fits))[0].as_py(), type)


def _integers(array: pa.Array, type: Type) -> pa.Array:
    _check(array, _WHOLE, type)
    return pc.replace_substring_regex(array, "^[+]|[.]0*$", "")


def _booleans(array: pa.Array, type: Type) -> pa.Array:
    places = pc.index_in(pc.ascii_lower(array), pa.array([*_TRUE, *_FALSE], array.type))
    unknown = pc.and_(pc.is_null(places), pc.is_valid(array))
    if pc.any(unknown).as_py():
        raise invalid(array.filter(unknown)[0].as_py(), type)
    return pc.less(places, len(_TRUE))


def _timestamps(array: pa.Array, type: Type) -> pa.Array:
    _check(array, f"{_DAY}([T ]{_CLOCK}{_UTC}?)?", type)
    without = pc.replace_substring_regex(array, f"(:[0-9]{{2}}([.][0-9]+)?){_UTC}$", r"\1")
    return pc.replace_substring_regex(without, f"{_LONG_FRACTION}$", r"\1")


def _moments(array: pa.Array, type: Type) -> pa.Array:
    _check(array, f"{_DAY}([T ]{_CLOCK}{_ZONE}?)?", type)
    return pc.replace_substring_regex(array, f"{_LONG_FRACTION}([Z+-]|$)", r"\1\2")


_CANONICAL = {
    Kind.SMALLINT: "-?[0-9]+",
    Kind.INTEGER: "-?[0-9]+",
    Kind.BIGINT: "-?[0-9]+",
    Kind.BOOLEAN: "true|false",
    Kind.TIMESTAMP: f"{_DAY}[T ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}([.][0-9]{{1,6}})?",
}
"""Forms that the codec reads as they are: most columns have no other."""
_AS_THEY_ARE = NESTED | {Kind.TEXT, Kind.ENUM, Kind.JSON}
_READINGS: dict[Kind, Reading] = {
    Kind.SMALLINT: _integers,
    Kind.INTEGER: _integers,
    Kind.BIGINT: _integers,
    Kind.BOOLEAN: _booleans,
    Kind.TIMESTAMP: _timestamps,
    Kind.TIMESTAMPTZ: _moments,
}
