"""What the fields of a node hold. Each node says it once, by the types of its fields; all else follows.

    Relational      an input
    Attribute       a column that the node makes
    ColumnNumber    a column of an input that it reads
    Expression      an expression over the inputs' columns

Tuples, optional fields, and the records of a node (the items of an aggregate) hold what their parts hold. Any
other field is a plain value, which no rewriting changes. So a new node needs no line in the tools that walk,
copy or rewrite nodes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, wraps
from itertools import chain
from operator import attrgetter, itemgetter
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from engine.plan import expressions as scalar
from engine.plan.nodes import Ordering

N = TypeVar("N")
T = TypeVar("T")


class Holds(enum.IntEnum):
    """What a field can hold: inputs, columns that the node makes or reads, expressions."""

    INPUT = enum.auto()
    MADE = enum.auto()
    READ = enum.auto()
    EXPRESSION = enum.auto()


ColumnNumber = Annotated[int, Holds.READ]
"""The number of a column of an input."""


class Record:
    """Fields that a node has several times."""


def parts(node: Any, held: Holds) -> tuple[Any, ...]:
    """The parts of one kind that a node holds, in the order of its fields."""
    kind: Any = type(node)
    return _reader(kind, held)(node)


def with_parts(node: N, new: Mapping[Holds, Iterable[Any]]) -> N:
    """The same node with these parts instead, in the order of `parts`."""
    kind: Any = type(node)
    changed: dict[str, Any] = {}
    for held, values in new.items():
        following = iter(values)
        for name, shape in _fields(kind, held):
            changed[name] = shape.filled(changed[name] if name in changed else getattr(node, name), following)
    if not changed:
        return node
    return kind(*[changed[name] if name in changed else getattr(node, name) for name in _names(kind)])


def fact(compute: Callable[[N], T]) -> Callable[[N], T]:
    """A function of a node that is computed once for each node."""
    name = f"_{compute.__name__}"

    @wraps(compute)
    def known(node: N) -> T:
        if name not in node.__dict__:
            node.__dict__[name] = compute(node)
        return node.__dict__[name]  # type: ignore[no-any-return]

    return known


class _Part:
    """Values that are parts."""

    def parts(self, values: Iterable[Any]) -> Iterable[Any]:
        return values

    def filled(self, value: Any, new: Iterator[Any]) -> Any:
        return next(new)


@dataclass(frozen=True)
class _Each:
    """Tuples of any length."""

    shape: Any

    def parts(self, values: Iterable[Any]) -> Iterable[Any]:
        return self.shape.parts(chain.from_iterable(values))  # type: ignore[no-any-return]

    def filled(self, value: Any, new: Iterator[Any]) -> Any:
        filled = self.shape.filled
        return tuple([filled(each, new) for each in value])


@dataclass(frozen=True)
class _Pair:
    """Tuples with parts at one place."""

    place: int
    shape: Any

    def parts(self, values: Iterable[Any]) -> Iterable[Any]:
        return self.shape.parts(map(itemgetter(self.place), values))  # type: ignore[no-any-return]

    def filled(self, value: Any, new: Iterator[Any]) -> Any:
        return (*value[: self.place], self.shape.filled(value[self.place], new), *value[self.place + 1 :])


@dataclass(frozen=True)
class _Field:
    """Records, or the engine's `Ordering`s, with parts in one field."""

    name: str
    shape: Any

    def parts(self, values: Iterable[Any]) -> Iterable[Any]:
        return self.shape.parts(map(attrgetter(self.name), values))  # type: ignore[no-any-return]

    def filled(self, value: Any, new: Iterator[Any]) -> Any:
        changed = {self.name: self.shape.filled(getattr(value, self.name), new)}
        return value._replace(**changed) if isinstance(value, Ordering) else replace(value, **changed)


@dataclass(frozen=True)
class _Choice:
    """Parts of one type, and plain values of others."""

    kind: type
    shape: Any

    def parts(self, values: Iterable[Any]) -> Iterable[Any]:
        return self.shape.parts(value for value in values if isinstance(value, self.kind))  # type: ignore[no-any-return]

    def filled(self, value: Any, new: Iterator[Any]) -> Any:
        return self.shape.filled(value, new) if isinstance(value, self.kind) else value


@cache
def _reader(kind: type, held: Holds) -> Callable[[Any], tuple[Any, ...]]:
    """The function that finds the parts; most nodes have them in one field."""
    match _fields(kind, held):
        case ():
            return lambda node: ()
        case ((name, _Each(shape=_Part())),):
            return attrgetter(name)
        case ((name, shape),):
            return lambda node: tuple(shape.parts((getattr(node, name),)))
        case found:
            return lambda node: tuple(
                part for name, shape in found for part in shape.parts((getattr(node, name),))
            )


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _fields(kind: Any, held: Holds) -> tuple[tuple[str, Any], ...]:
    """The fields that hold parts of one kind, and the shapes of their values."""
    hints = get_type_hints(kind, include_extras=True)
    found = ((field.name, _shape(hints[field.name], held)) for field in fields(kind))
    return tuple((name, shape) for name, shape in found if shape is not None)


def _shape(hint: Any, held: Holds) -> Any:
    """The places of the parts in values of this type; None if they have none."""
    of = get_args(hint)
    if get_origin(hint) is tuple:
        inner = [_shape(part, held) for part in of if part is not Ellipsis]
        if inner and inner[0] is not None and all(type(shape) is type(inner[0]) for shape in inner):
            return _Each(inner[0])
        return _the_one(hint, [(i, shape) for i, shape in enumerate(inner) if shape is not None], _Pair)
    if Record in getattr(hint, "__mro__", ()):
        return _the_one(hint, _fields(hint, held), _Field)
    if hint is Ordering:
        return _Field("column", _Part()) if held is Holds.READ else None
    if get_origin(hint) in (Union, UnionType) and _held(hint) is None:
        choices = [(_kind(part), shape) for part in of if (shape := _shape(part, held)) is not None]
        return _the_one(hint, choices, _Choice)
    return _Part() if _held(hint) is held else None


def _the_one(hint: Any, found: Sequence[tuple[Any, Any]], shape: Callable[[Any, Any], Any]) -> Any:
    """The shape of values of this type, whose parts are `found` in one place."""
    if len(found) > 1:
        raise TypeError(f"{hint} holds parts of one kind in several places")
    return shape(*found[0]) if found else None


def _held(hint: Any) -> Holds | None:
    """What a value of this type is to a node."""
    if get_origin(hint) is Annotated:
        return next((mark for mark in hint.__metadata__ if isinstance(mark, Holds)), None)
    if set(get_args(scalar.Expression)) <= set(get_args(hint)):
        return Holds.EXPRESSION
    return getattr(hint, "HOLDS", None)


def _kind(hint: Any) -> type:
    return hint.__origin__ if get_origin(hint) is Annotated else hint  # type: ignore[no-any-return]
