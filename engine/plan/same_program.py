"""Whether two plans are one program over the same words, though a source of theirs has other columns now.

A table may get a column or lose one that nobody reads, a column may get another name or a wider type. What is
computed from the other columns is then computed as before, and the state of its operators is what it would be
if it were computed again. The comparison says so only where it is sure: operators that it does not know have
to be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat

from engine.errors import EngineError
from engine.plan.expressions import (
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Foreign,
    Literal,
    OneOf,
    Op,
    children,
)
from engine.plan.loops import Entry, LoopBinding
from engine.plan.node import Node
from engine.plan.nodes import AggregateSpec, Filter, Function, Map, Source
from engine.schema import Schema, keeps_words

Places = tuple[int, ...]
"""The place in the old rows of each column of the new ones; -1 for a column that they do not have."""
_COMPARING = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE, Op.DISTINCT, Op.NOT_DISTINCT, Op.IS_NULL})
_CHOOSING = frozenset({Op.COALESCE, Op.GREATEST, Op.LEAST})
_WORDS = frozenset({Function.COUNT, Function.MIN, Function.MAX})
"""Aggregates whose results are words of their arguments, or count them."""


class OtherProgram(EngineError):
    """Two plans are not one program; the message says where they differ."""


@dataclass(frozen=True)
class ChangedSource:
    """A source that takes the place of another, with the place of each of its columns there."""

    old: Node
    new: Node
    places: Places


def check_same_program(old: Node, new: Node, changed: Sequence[ChangedSource]) -> None:
    """Raises OtherProgram unless the new plan computes, over the changed sources, what the old one does."""
    places = _Comparison({it.new: it for it in changed}).places(old, new)
    if places != _all_of(old):
        raise OtherProgram("it has other columns")


@dataclass(eq=False)
class _Comparison:
    changed: dict[Node, ChangedSource]
    _known: dict[tuple[int, int], Places] = field(default_factory=dict)

    def places(self, old: Node, new: Node) -> Places:
        """Where the columns of the new node are in the rows of the old one. Raises OtherProgram."""
        pair = id(old), id(new)
        if pair not in self._known:
            self._known[pair] = self._compared(old, new)
        return self._known[pair]

    def _compared(self, old: Node, new: Node) -> Places:
        if old is new or (hash(old) == hash(new) and old == new):
            return _all_of(old)
        match old, new:
            case Source(), Source():
                return self._of_source(old, new)
            case Map(), Map():
                inner = self.places(old.input, new.input)
                pairs = zip(old.expressions, new.expressions, strict=False)
                is_same = len(old.expressions) == len(new.expressions)
                if not is_same or not all(_is_same(*pair, inner) for pair in pairs):
                    raise OtherProgram("an expression of it means something else now")
                return _all_of(old)
            case Filter(), Filter():
                inner = self.places(old.input, new.input)
                if not _is_same(old.predicate, new.predicate, inner):
                    raise OtherProgram("a condition of it means something else now")
                return inner
            case _, Map() if not isinstance(old, Map) and (picked := _picked(new)) is not None:
                inner = self.places(old, new.input)
                return tuple(inner[place] for place in picked)
            case Map(), _ if not isinstance(new, Map) and (picked := _picked(old)) is not None:
                found = {place: number for number, place in enumerate(picked)}
                return tuple(found.get(place, -1) for place in self.places(old.input, new))
        if type(old) is not type(new):
            raise OtherProgram("it is computed in another way")
        for one in fields(old):  # type: ignore[arg-type]
            if one.compare and not self._is_same(getattr(old, one.name), getattr(new, one.name)):
                raise OtherProgram(f"a {type(old).__name__.lower()} of it works with other types")
        return _all_of(old)

    def _of_source(self, old: Source, new: Source) -> Places:
        change = self.changed.get(new)
        if change is None or change.old != old or old.append_only != new.append_only:
            raise OtherProgram("it reads another table")
        types, before = new.schema.types, old.schema.types
        return tuple(
            place if place >= 0 and keeps_words(before[place], type) else -1
            for place, type in zip(change.places, types, strict=True)
        )

    def _is_same(self, old: object, new: object) -> bool:
        """Whether a field of a node, which reads its input as a whole, is the same."""
        match old, new:
            case Node(), Node():
                if self.places(old, new) != _all_of(old):
                    raise OtherProgram("it keeps whole rows of a table that has other columns now")
                return True
            case tuple(), tuple():
                return len(old) == len(new) and all(map(self._is_same, old, new))
            case Schema(), Schema():
                types = zip(old.types, new.types, strict=False)
                return len(old) == len(new) and all(keeps_words(*pair) for pair in types)
            case AggregateSpec(), AggregateSpec():
                is_alike = old.type == new.type or (
                    old.function in _WORDS and keeps_words(old.type, new.type)
                )
                return is_alike and (old.function, old.columns) == (new.function, new.columns)
            case LoopBinding(), LoopBinding():
                same = self._is_same((old.value, old.initial), (new.value, new.initial))
                return same and old.name == new.name
            case Entry(), Entry():
                same = self._is_same((old.input, old.round), (new.input, new.round))
                return same and old.name == new.name
        if isinstance(old, Expression) and isinstance(new, Expression):
            return _is_same(old, new, None)
        return type(old) is type(new) and old == new


def _is_same(old: Expression, new: Expression, places: Places | None) -> bool:
    """Whether an expression has the same words for rows whose columns have these places; None for the
    same."""
    old, new = _bare(old), _bare(new)
    parts, others = children(old), children(new)
    if len(parts) != len(others) or not all(map(_is_same, parts, others, repeat(places))):
        return False
    keeps = keeps_words(old.type, new.type)
    has_types = old.type == new.type and [it.type for it in parts] == [it.type for it in others]
    match old, new:
        case ColumnRef(), ColumnRef():
            return keeps and old.index == (new.index if places is None else places[new.index])
        case Literal(), Literal():
            return keeps and type(old.value) is type(new.value) and old.value == new.value
        case Call(), Call():
            is_kept = old.op in _COMPARING or (old.op in _CHOOSING and keeps)
            return old.op is new.op and (is_kept or has_types)
        case Cast(), Cast():
            return (old.type, old.lenient) == (new.type, new.lenient)
        case Case(), Case():
            return keeps
        case OneOf(), OneOf():
            return old.values == new.values
        case Foreign(), Foreign():
            return has_types and old.template == new.template
    return False


def _bare(expression: Expression) -> Expression:
    """The expression without casts to wider types of the same words."""
    while isinstance(expression, Cast) and keeps_words(expression.arg.type, expression.type):
        expression = expression.arg
    return expression


def _picked(node: Map) -> list[int] | None:
    """The columns of its input that a map only picks; None for any other map."""
    found = [it.index for it in node.expressions if isinstance(it, ColumnRef)]
    return found if len(found) == len(node.expressions) else None


def _all_of(node: Node) -> Places:
    return tuple(range(len(node.schema)))
