"""Types, columns and schemas: what a row's words mean.

A row is one int64 word a column. `Type` says how a word is read:

| kind | word |
|---|---|
| BOOLEAN | 0 or 1 |
| SMALLINT, INTEGER, BIGINT | the number |
| NUMERIC(p, s) | the number times 10**s |
| REAL, DOUBLE | the IEEE bits, mapped to sort as signed integers; one zero, one NaN greater than all |
| TEXT | the content hash under which the dictionary keeps the bytes |
| DATE | days since 1970-01-01 |
| TIME | microseconds since midnight |
| TIMETZ | microseconds since midnight in UTC, and the offset (`engine.codec.zoned_times`) |
| TIMESTAMP | microseconds since 1970-01-01T00:00:00 |
| TIMESTAMPTZ | microseconds since 1970-01-01T00:00:00Z |
| ENUM | the label's position among the type's labels |
| TINYINT, UTINYINT, USMALLINT, UINTEGER | as that of SMALLINT, INTEGER or BIGINT, within a range (`WHOLES`) |
| UBIGINT, HUGEINT | as that of NUMERIC, within a range |
| INTERVAL, BYTEA, UUID, BIT, JSON | as TEXT, of a text that sorts as the value does (`engine.codec`) |
| arrays, STRUCT, MAP | likewise |

`NULL` is the least int64, in every kind. So rows need no null mask: equality, hashing and order (nulls first)
of rows are those of plain words. The price is that the BIGINT -2**63 cannot be stored; encoding it is an
error.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError


class Kind(enum.Enum):
    """The kinds of types; the value is the name in SQL."""

    __hash__ = object.__hash__  # a kind is one object, and many tables are looked up by it

    BOOLEAN = "BOOLEAN"
    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    NUMERIC = "NUMERIC"
    REAL = "REAL"
    DOUBLE = "DOUBLE PRECISION"
    TEXT = "TEXT"
    DATE = "DATE"
    TIME = "TIME"
    TIMETZ = "TIMETZ"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMPTZ = "TIMESTAMPTZ"
    INTERVAL = "INTERVAL"
    BYTEA = "BYTEA"
    UUID = "UUID"
    BIT = "BIT"
    JSON = "JSON"
    ENUM = "ENUM"
    ARRAY = "ARRAY"
    STRUCT = "STRUCT"
    MAP = "MAP"


WORD_DIGITS = 18
"""Most digits of a NUMERIC that is stored as its own word; `engine.codec.numerals` encodes longer ones."""
INTEGER_RANGES: dict[Kind, tuple[int, int]] = {
    Kind.SMALLINT: (-(2**15), 2**15 - 1),
    Kind.INTEGER: (-(2**31), 2**31 - 1),
    Kind.BIGINT: (-(2**63) + 1, 2**63 - 1),
}
FLOATS = frozenset({Kind.REAL, Kind.DOUBLE})
INTEGERS = frozenset(INTEGER_RANGES)
WHOLES: dict[str, tuple[Kind, int, int]] = {
    "TINYINT": (Kind.SMALLINT, -(2**7), 2**7 - 1),
    "UTINYINT": (Kind.SMALLINT, 0, 2**8 - 1),
    "USMALLINT": (Kind.INTEGER, 0, 2**16 - 1),
    "UINTEGER": (Kind.BIGINT, 0, 2**32 - 1),
    "UBIGINT": (Kind.NUMERIC, 0, 2**64 - 1),
    "HUGEINT": (Kind.NUMERIC, -(10**38) + 1, 10**38 - 1),
}
"""Types of whole numbers by name: the kind that has their words, the least and the greatest number."""
NESTED = frozenset({Kind.ARRAY, Kind.STRUCT, Kind.MAP})
"""Kinds whose values are made of other values."""
INTERNED = frozenset({Kind.TEXT, Kind.INTERVAL, Kind.BYTEA, Kind.UUID, Kind.BIT, Kind.JSON}) | NESTED
"""Kinds whose words come from the dictionary. Their texts sort as their values do; their words do not."""
CARRIED_AS_TEXT = frozenset({Kind.TIMETZ, Kind.BIT})
"""Kinds that Arrow lacks: their values travel as texts, to and from DuckDB too."""


@dataclass(frozen=True)
class Field:
    """A named part of a STRUCT. Names compare without case, as those of columns do."""

    name: str
    type: Type


@dataclass(frozen=True)
class Type:
    """A column's type.

    `precision` and `scale`, in digits, belong to NUMERIC; `labels`, in their order, to ENUM; `element` to
    ARRAY; `fields` to STRUCT, and to MAP, whose fields are an entry's key and value. `whole` names a type of
    whole numbers that is a range of its kind. A NUMERIC has up to 38 digits; one with more than 18 is not its
    own word (`may_be_wide`).
    """

    kind: Kind
    precision: int | None = None
    scale: int | None = None
    labels: tuple[str, ...] = ()
    element: Type | None = None
    fields: tuple[Field, ...] = ()
    whole: str = ""

    def __post_init__(self) -> None:
        if (self.kind is Kind.NUMERIC) != (self.precision is not None and self.scale is not None):
            raise PlanError(
                f"{self.kind.value} and precision {self.precision}, scale {self.scale} do not fit"
            )
        if (self.kind is Kind.ENUM) != bool(self.labels) or len(set(self.labels)) < len(self.labels):
            raise PlanError(f"{self.kind.value} and the labels {', '.join(self.labels)} do not fit")
        if (self.kind is Kind.ARRAY) != (self.element is not None):
            raise PlanError(f"{self.kind.value} and elements of {self.element} do not fit")
        names = [field.name.lower() for field in self.fields]
        if (self.kind in (Kind.STRUCT, Kind.MAP)) != bool(names) or len(set(names)) < len(names):
            raise PlanError(f"{self.kind.value} and the fields {', '.join(names)} do not fit")

    def __str__(self) -> str:
        if self.whole:
            return self.whole
        match self.kind:
            case Kind.NUMERIC:
                return f"NUMERIC({self.precision}, {self.scale})"
            case Kind.ENUM:
                quoted = ("'" + label.replace("'", "''") + "'" for label in self.labels)
                return f"ENUM({', '.join(quoted)})"
            case Kind.ARRAY:
                return f"{self.element}[]"
            case Kind.STRUCT:
                fields = (f"{_written_name(field.name)} {field.type}" for field in self.fields)
                return f"STRUCT({', '.join(fields)})"
            case Kind.MAP:
                return f"MAP({', '.join(str(field.type) for field in self.fields)})"
        return self.kind.value

    @property
    def is_integer(self) -> bool:
        return self.kind in INTEGERS

    @property
    def is_whole(self) -> bool:
        """Whether the type has whole numbers alone: an integer type, or one of `WHOLES`."""
        return self.is_integer or bool(self.whole)

    @property
    def is_float(self) -> bool:
        return self.kind in FLOATS

    @property
    def may_be_wide(self) -> bool:
        """Whether this is a NUMERIC whose numbers may have more digits than fit into a word."""
        return (self.precision or 0) > WORD_DIGITS

    @property
    def has_specials(self) -> bool:
        """Whether this is a NUMERIC that can be NaN or infinite (`engine.codec.numerals`)."""
        return self.may_be_wide and not self.whole

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number of an integer type, or of a NUMERIC, times 10**scale."""
        if self.whole:
            return WHOLES[self.whole][1:]
        if self.kind is Kind.NUMERIC:
            limit: int = 10 ** (self.precision or 0) - 1
            return -limit, limit
        return INTEGER_RANGES[self.kind]

    @property
    def is_interned(self) -> bool:
        return self.kind in INTERNED

    @property
    def parts(self) -> tuple[Type, ...]:
        """The types that values of this type are made of: of elements, or of fields."""
        return tuple(field.type for field in self.fields) if self.element is None else (self.element,)

    @property
    def is_numeric(self) -> bool:
        return self.is_integer or self.is_float or self.kind is Kind.NUMERIC


_PLAIN_NAME = re.compile("[a-z_][a-z0-9_]*")


def _written_name(name: str) -> str:
    """A field's name as SQL writes it."""
    return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace('"', '""') + '"'


BOOLEAN = Type(Kind.BOOLEAN)
SMALLINT = Type(Kind.SMALLINT)
INTEGER = Type(Kind.INTEGER)
BIGINT = Type(Kind.BIGINT)
REAL = Type(Kind.REAL)
DOUBLE = Type(Kind.DOUBLE)
TEXT = Type(Kind.TEXT)
DATE = Type(Kind.DATE)
TIME = Type(Kind.TIME)
TIMETZ = Type(Kind.TIMETZ)
TIMESTAMP = Type(Kind.TIMESTAMP)
TIMESTAMPTZ = Type(Kind.TIMESTAMPTZ)
INTERVAL = Type(Kind.INTERVAL)
BYTEA = Type(Kind.BYTEA)
UUID = Type(Kind.UUID)
BIT = Type(Kind.BIT)
JSON = Type(Kind.JSON)


def numeric(precision: int, scale: int) -> Type:
    """The type NUMERIC(precision, scale)."""
    return Type(Kind.NUMERIC, precision, scale)


def whole(name: str) -> Type:
    """The type of whole numbers of this name, one of `WHOLES`."""
    kind, _, high = WHOLES[name]
    if kind is Kind.NUMERIC:
        return Type(kind, len(str(high)), 0, whole=name)
    return Type(kind, whole=name)


def enumeration(*labels: str) -> Type:
    """The ENUM type with these labels, in this order."""
    return Type(Kind.ENUM, labels=labels)


def array_of(element: Type) -> Type:
    """The type of arrays of `element`."""
    return Type(Kind.ARRAY, element=element)


def struct_of(fields: Iterable[tuple[str, Type]]) -> Type:
    """The type of structs with these fields, in this order."""
    return Type(Kind.STRUCT, fields=tuple(Field(name, type) for name, type in fields))


def row_of(types: Iterable[Type]) -> Type:
    """The type of rows without names: their fields are called f1, f2, ..."""
    return struct_of((f"f{place}", type) for place, type in enumerate(types, 1))


def map_of(key: Type, value: Type) -> Type:
    """The type of maps from keys to values."""
    return Type(Kind.MAP, fields=(Field("key", key), Field("value", value)))


def with_parts(type: Type, change: Callable[[Type], Type]) -> Type:
    """The type with `change` of each type that its values are made of."""
    parts = map(change, type.parts)
    match type.kind:
        case Kind.ARRAY:
            return array_of(*parts)
        case Kind.STRUCT:
            return struct_of((field.name, part) for field, part in zip(type.fields, parts, strict=True))
        case Kind.MAP:
            return map_of(*parts)
    return type


def without_names(type: Type) -> Type:
    """The type with rows for all structs in it."""
    if type.kind is Kind.STRUCT:
        return row_of(map(without_names, type.parts))
    return with_parts(type, without_names)


def relabelled(type: Type, old: Type, new: Type) -> Type:
    """The type with an enumeration in the place of another, also inside of it."""
    return new if type == old else with_parts(type, lambda part: relabelled(part, old, new))


def is_anonymous(type: Type) -> bool:
    """Whether the type is that of rows without names."""
    return type.kind is Kind.STRUCT and type == row_of(type.parts)


def keeps_words(old: Type, new: Type) -> bool:
    """Whether each value of a type is a value of the other type, with the same word."""
    if old == new:
        return True
    is_alike = old.is_integer and new.is_integer
    if old.kind is new.kind is Kind.NUMERIC and not (old.whole or new.whole):
        is_alike = (old.scale, old.may_be_wide) == (new.scale, new.may_be_wide)
    return is_alike and new.bounds[0] <= old.bounds[0] and old.bounds[1] <= new.bounds[1]


@dataclass(frozen=True)
class Column:
    """A column's name and type, and whether it may be NULL."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True)
class Schema:
    """The columns of a relation, in order. Inside a plan, names may repeat."""

    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def types(self) -> tuple[Type, ...]:
        return tuple(column.type for column in self.columns)

    def index(self, name: str) -> int:
        """The position of the first column called `name`; raises KeyError."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(name) from None
