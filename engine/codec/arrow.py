"""Arrow tables to words and back, a column at a time.

Out: a column has its schema's type, and shares the words' memory if Arrow's layout of the kind is the same.
In: columns count by position. A column may have another type of its family (numbers, or moments), and text is
read as any kind, which CSV needs. A value that does not fit exactly is an InvalidValue that names the column;
only values of float columns are rounded.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.codec.arrow_texts import ARROW as INTERNED
from engine.codec.arrow_texts import array_of_texts, fits, is_text, may_nest, nested_type, texts_of
from engine.codec.decimals import decode_decimals, encode_decimals
from engine.codec.interned import Numbers
from engine.codec.numerals import numbers_of, words_of_numbers
from engine.codec.refusals import invalid
from engine.codec.schemas import per_schema
from engine.codec.timestamps import DAY
from engine.codec.values import encoder
from engine.codec.zoned_times import timetz_text
from engine.errors import InvalidValue
from engine.kernels.floats import floats_of, words_of
from engine.kernels.words import NULL
from engine.schema import NESTED, Column, Kind, Schema, Type
from engine.state.dictionary import Dictionary

_ARROW = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.SMALLINT: pa.int16(),
    Kind.INTEGER: pa.int32(),
    Kind.BIGINT: pa.int64(),
    Kind.REAL: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.TIME: pa.time64("us"),
    Kind.TIMETZ: pa.string(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    Kind.ENUM: pa.dictionary(pa.int32(), pa.string()),
    **INTERNED,
}
_AS_TEXTS = frozenset({Kind.TEXT, Kind.UUID, Kind.BIT, Kind.JSON})  # kinds that Arrow holds as their texts
_NO_TEXTS = Dictionary()  # for encoders that need none


def arrow_type(type: Type) -> pa.DataType:
    """Arrow's type for the values of `type`."""
    if type.kind is Kind.NUMERIC:
        return pa.decimal128(type.precision, type.scale)
    return nested_type(type, arrow_type) or _ARROW[type.kind]


_arrow_schema = per_schema(
    lambda schema: pa.schema([pa.field(c.name, arrow_type(c.type), c.nullable) for c in schema.columns])
)


def decode_arrow(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> pa.Table:
    """The rows of `words` int64[W, n] as a table of the schema's columns; KeyError for an unknown text,
    InvalidValue for a number that Arrow lacks."""
    arrays = [decode_named(words[i], column, dictionary) for i, column in enumerate(schema.columns)]
    return pa.Table.from_arrays(arrays, schema=_arrow_schema(schema))


def decode_named(words: np.ndarray, column: Column, dictionary: Dictionary) -> pa.Array:
    """As `decode_column`; InvalidValue names the column."""
    try:
        return decode_column(words, column.type, dictionary)
    except InvalidValue as error:
        raise InvalidValue(f"column {column.name}: {error.message}", error.hint) from None


def decode_column(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.Array:
    """One column int64[n] of words as an array of `arrow_type(type)`."""
    if type.kind in _AS_TEXTS:
        return dictionary.array(words)
    if type.is_interned:
        return array_of_texts(dictionary.texts(words), type, _column_of_numbers)
    return _plain_column(words, type, dictionary)


def _column_of_numbers(numbers: Numbers, type: Type) -> pa.Array:
    if type.may_be_wide:
        some = Dictionary()
        return _plain_column(words_of_numbers(numbers, some), type, some)
    words = [NULL if number is None else number for number in numbers]
    return _plain_column(np.array(words, np.int64), type, _NO_TEXTS)


def _plain_column(words: np.ndarray, type: Type, dictionary: Dictionary) -> pa.Array:
    """The same as `decode_column` for a kind that is not interned."""
    null = words == NULL
    if type.kind is Kind.ENUM:
        places = pa.array(np.where(null, 0, words).astype(np.int32), mask=null)
        return pa.DictionaryArray.from_arrays(places, pa.array(type.labels, pa.string()))
    if type.kind is Kind.TIMETZ:
        return pa.array([None if w == NULL else timetz_text(w) for w in words.tolist()], pa.string())
    validity = pa.array(~null).buffers()[1] if null.any() else None
    is_numeric = type.kind is Kind.NUMERIC
    values = decode_decimals(words, type, dictionary) if is_numeric else _values(words, type)
    return pa.Array.from_buffers(arrow_type(type), words.size, [validity, values])


def _values(words: np.ndarray, type: Type) -> pa.Buffer:
    match type.kind:
        case Kind.BOOLEAN:
            return pa.array(words == 1).buffers()[1]
        case Kind.SMALLINT:
            return pa.py_buffer(words.astype(np.int16))
        case Kind.INTEGER | Kind.DATE:
            return pa.py_buffer(words.astype(np.int32))
        case Kind.REAL:
            return pa.py_buffer(floats_of(words).astype(np.float32))
        case Kind.DOUBLE:
            return pa.py_buffer(floats_of(words))
        case _:
            return pa.py_buffer(np.ascontiguousarray(words))


_UNREAD = re.compile(r"Failed to parse (?:string: '(.*)' as a scalar of type .*|value: (.*))", re.DOTALL)
"""How Arrow refuses a text; it names a type of its own, or none."""


def encode_arrow(
    table: pa.Table | pa.RecordBatch, schema: Schema, dictionary: Dictionary, out: np.ndarray | None = None
) -> np.ndarray:
    """The words int64[W, n] of a table's rows, columns by position; InvalidValue names the column.

    They are written to `out`, if it is given."""
    if table.num_columns != len(schema):
        raise InvalidValue(f"a table has {table.num_columns} columns, not {len(schema)}")
    words = np.empty((len(schema), table.num_rows), np.int64) if out is None else out
    for position, column in enumerate(schema.columns):
        try:
            words[position] = encode_column(table.column(position), column, dictionary)
        except InvalidValue as error:
            raise InvalidValue(f"column {column.name}: {error.message}", error.hint) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            unread = _UNREAD.match(str(error))
            reason = invalid(unread[unread.lastindex or 0], column.type).message if unread else str(error)
            raise InvalidValue(f"column {column.name}: {reason}") from None
    return words


def encode_column(array: pa.Array | pa.ChunkedArray, column: Column, dictionary: Dictionary) -> np.ndarray:
    """The words int64[n] of one column. Raises pyarrow's errors or InvalidValue, without the column's
    name."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if array.null_count and not column.nullable:
        raise InvalidValue("NULL in a column that is NOT NULL")
    if not fits_column(array.type, column.type):
        raise InvalidValue(f"an Arrow {array.type} cannot be read as {column.type}")
    if column.type.kind is Kind.TEXT:
        array.validate(full=True)  # the bytes come from outside and must be UTF-8
        return dictionary.intern(array)
    if array.null_count == len(array):
        return np.full(len(array), NULL)
    if column.type.is_interned:
        return dictionary.intern(texts_of(array, column.type, _numbers))
    return _plain_words(array, column.type, dictionary)


def _numbers(array: pa.Array, type: Type) -> Numbers:
    """The numbers of an array that fits a kind that is not interned."""
    if type.may_be_wide:
        some = Dictionary()
        return numbers_of(_plain_words(array, type, some), some)
    words = _plain_words(array, type, _NO_TEXTS).tolist()
    return [None if word == NULL else word for word in words]


def _plain_words(array: pa.Array, type: Type, dictionary: Dictionary) -> np.ndarray:
    """The words of an array that fits a kind that is not interned."""
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    is_numeric = type.kind is Kind.NUMERIC
    words = encode_decimals(plain, type, dictionary) if is_numeric else _encode(plain, type)
    if array.null_count:
        words[array.is_null().to_numpy(zero_copy_only=False)] = NULL
    return words


def fits_column(source: pa.DataType, target: Type) -> bool:
    """Whether an Arrow type belongs to the family of a type."""
    if isinstance(source, pa.BaseExtensionType):
        source = source.storage_type
    if is_text(source) or pa.types.is_null(source):
        return True
    if pa.types.is_dictionary(source):
        source = source.value_type
    match target.kind:
        case Kind.ENUM | Kind.TEXT | Kind.TIMETZ:
            return False
        case kind if kind in NESTED:
            return may_nest(source, target, fits_column)
        case kind if target.is_interned:
            return fits(source, kind)
        case Kind.BOOLEAN:
            return pa.types.is_boolean(source)
        case Kind.TIME:
            return pa.types.is_time(source)
        case Kind.TIMESTAMPTZ:
            return pa.types.is_date(source) or pa.types.is_timestamp(source)
        case Kind.DATE | Kind.TIMESTAMP:
            return pa.types.is_date(source) or (pa.types.is_timestamp(source) and source.tz in (None, "UTC"))
        case _:
            return pa.types.is_integer(source) or pa.types.is_floating(source) or pa.types.is_decimal(source)


def _encode(array: pa.Array, type: Type) -> np.ndarray:
    """The words of an array of the type's family; words of nulls are undefined."""
    match type.kind:
        case Kind.BOOLEAN:
            return array.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
        case Kind.REAL | Kind.DOUBLE:
            return _encode_floats(array, type)
        case Kind.ENUM | Kind.TIME | Kind.TIMETZ | Kind.TIMESTAMPTZ if is_text(array.type):
            return _encode_texts(array, type)
        case Kind.DATE:
            return _encode_dates(array)
        case Kind.TIME:
            return _encode_times(array)
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return _encode_integers(array.cast(arrow_type(type)).view(pa.int64()), type)
        case _:
            return _encode_integers(array.cast(arrow_type(type)), type)


def _encode_texts(array: pa.Array, type: Type) -> np.ndarray:
    """Texts in the form of JSON values, one by one."""
    encode = encoder(type)
    return np.array([encode(text, _NO_TEXTS) for text in array.to_pylist()], np.int64)


def _encode_dates(array: pa.Array) -> np.ndarray:
    days = array.cast(pa.date32())
    if pa.types.is_timestamp(array.type):
        # Arrow drops the time of day silently.
        same = pc.equal(days.cast(array.type), array)
        if not pc.all(same).as_py():
            raise InvalidValue(
                f"{array.filter(pc.invert(same))[0]} is not a valid DATE: it has a time of day"
            )
    return days.view(pa.int32()).fill_null(0).to_numpy().astype(np.int64)


def _encode_times(array: pa.Array) -> np.ndarray:
    words = array.cast(pa.time64("us")).view(pa.int64()).fill_null(0).to_numpy().astype(np.int64)
    if words.size and words.max() >= DAY:
        raise InvalidValue("24:00 is not a valid TIME: out of range")  # valid in DuckDB
    return words


def _encode_integers(array: pa.Array, type: Type) -> np.ndarray:
    words = array.fill_null(0).to_numpy().astype(np.int64)
    least, most = words.min(initial=0), words.max(initial=0)
    low, high = type.bounds if type.whole else (NULL + 1, most)
    if least < low or most > high:
        outside = (words < low) | (words > high)
        raise invalid(int(words[outside.argmax()]), type, "out of range")
    return words


def _check_finite(texts: pa.Array, floats: np.ndarray, type: Type) -> None:
    """Raises InvalidValue for a number that Arrow has read as an infinity, because it is out of range."""
    infinite = np.isinf(floats)
    if infinite.any():
        numbers = pc.match_substring_regex(texts, "[0-9]").fill_null(False).to_numpy(zero_copy_only=False)
        if (infinite & numbers).any():
            raise invalid(texts[int((infinite & numbers).argmax())].as_py(), type, "out of range")


def _encode_floats(array: pa.Array, type: Type) -> np.ndarray:
    if pa.types.is_integer(array.type):
        floats = array.fill_null(0).to_numpy().astype(np.float64)
    else:
        floats = array.cast(pa.float64()).fill_null(0).to_numpy()
        if is_text(array.type):
            _check_finite(array, floats, type)
    if type.kind is Kind.REAL:
        with np.errstate(over="ignore"):
            narrow = floats.astype(np.float32).astype(np.float64)
        lost = np.isinf(narrow) & np.isfinite(floats)
        if lost.any():
            raise InvalidValue(f"{floats[lost][0]} is not a valid REAL: out of range")
        floats = narrow
    return words_of(floats)
