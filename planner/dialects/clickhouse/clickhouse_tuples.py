"""ClickHouse's arithmetic of tuples that are written out: tuplePlus((1, 2), (2, 3)) is (3, 5)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import fail, refuse

_Pair = Callable[[exp.Expression, exp.Expression], exp.Expression]


def _parts(node: exp.Expression) -> list[exp.Expression]:
    """The elements of a tuple; a computed one is refused."""
    is_call = isinstance(node, exp.Anonymous) and node.name.upper() == "TUPLE"
    if not is_call and not isinstance(node, exp.Tuple):
        refuse(node, "arithmetic of a computed tuple is not supported", "write its elements")
    return list(node.expressions)


def _pairs(args: Args) -> list[tuple[exp.Expression, exp.Expression]]:
    left, right = map(_parts, args)
    if len(left) != len(right):
        fail(InvalidQuery("the tuples have other numbers of elements"), args[1])
    return list(zip(left, right, strict=True))


def _each(form: str) -> _Pair:
    return lambda a, b: sql(form, [a, b])


def _elements(form: str) -> Made:
    return lambda args: exp.Tuple(expressions=list(starmap(_each(form), _pairs(args))))


def _total(form: str) -> Made:
    def made(args: Args) -> exp.Expression:
        values = list(starmap(_each(form), _pairs(args)))
        return sql(" + ".join(f"{{{place}}}" for place in range(len(values))), values)

    return made


def _length(args: Args) -> exp.Expression:
    """L2NORM((3, 4)) is 5."""
    return sql("sqrt(CAST({0} AS DOUBLE))", [_total("{0} * {1}")([args[0], args[0]])])


def _joined(args: Args) -> exp.Expression:
    """TUPLECONCAT((1, 2), ('a',)) is (1, 2, 'a')."""
    return exp.Tuple(expressions=[part.copy() for arg in args for part in _parts(arg)])


def tuple_sum(node: exp.Expression) -> exp.Expression | None:
    """The sum or the difference of two tuples with an operator between them; None for other operands."""
    if not isinstance(node, exp.Add | exp.Sub) or not isinstance(node.this, exp.Tuple):
        return None
    form = "{0} + {1}" if isinstance(node, exp.Add) else "{0} - {1}"
    return _elements(form)([node.this, node.expression])


TUPLES: Meanings = {
    "TUPLEPLUS | VECTORSUM(a, b)": _elements("{0} + {1}"),
    "TUPLEMINUS(a, b)": _elements("{0} - {1}"),
    "TUPLEMULTIPLY(a, b)": _elements("{0} * {1}"),
    "TUPLEHAMMINGDISTANCE(a, b)": _total("CAST({0} <> {1} AS INTEGER)"),
    "DOTPRODUCT(a, b)": _total("{0} * {1}"),
    "L1DISTANCE(a, b)": _total("abs({0} - {1})"),
    "L2NORM(a)": _length,
    "TUPLECONCAT(a, ...)": _joined,
}
