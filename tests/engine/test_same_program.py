"""Which plans are one program over sources that have other columns now."""

from __future__ import annotations

import pytest

from engine.plan.expressions import Call, Cast, ColumnRef, Foreign, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Filter,
    Function,
    Join,
    LoopBinding,
    Map,
    Node,
    Recursive,
    Reduce,
    Source,
    Threshold,
    project,
)
from engine.plan.same_program import ChangedSource, OtherProgram, check_same_program
from engine.schema import BIGINT, BOOLEAN, INTEGER, TEXT, Column, Schema, Type

OLD = Source("t", Schema((Column("a", INTEGER), Column("b", TEXT), Column("c", INTEGER))))
MORE = Source("t", Schema((Column("x", TEXT), *OLD.schema.columns)))
LESS = Source("t", Schema((Column("a", INTEGER), Column("c", INTEGER))))
WIDE = Source("t", Schema((Column("a", BIGINT), Column("b", TEXT), Column("c", BIGINT))))
CHANGES = [
    ChangedSource(OLD, MORE, (-1, 0, 1, 2)),
    ChangedSource(OLD, LESS, (0, 2)),
    ChangedSource(OLD, WIDE, (0, 1, 2)),
]


def picked(source: Node) -> Node:
    names = source.schema.names
    return project(source, (names.index("a"), names.index("c")))


def number(source: Node) -> Type:
    return source.schema.types[source.schema.names.index("a")]


def above(source: Node) -> Node:
    column = source.schema.names.index("c")
    type = number(source)
    return Filter(source, Call(Op.GT, (ColumnRef(column, type), Literal(3, type)), BOOLEAN))


def added(input: Node) -> Node:
    type = input.schema.types[0]
    sum = Call(Op.ADD, (ColumnRef(0, type), ColumnRef(1, type)), type)
    return Map(input, (sum,), Schema((Column("s", type),)))


def closed(edges: Node) -> Node:
    variable = LoopBinding("r", edges).variable
    joined = Join(variable, edges, (1,), (0,))
    return Recursive((LoopBinding("r", Threshold(project(joined, (0, 3)), Clamp.DISTINCT), edges),), "r")


def grouped(input: Node) -> Node:
    type = input.schema.types[1]
    return Reduce(
        input, (0,), (AggregateSpec(Function.MAX, 1, type), AggregateSpec(Function.COUNT, None, BIGINT))
    )


def summed(input: Node) -> Node:
    return Reduce(input, (0,), (AggregateSpec(Function.SUM, 1, input.schema.types[1]),))


def spoken(input: Node) -> Node:
    text = Foreign("typeof({0})", (ColumnRef(0, input.schema.types[0]),), TEXT)
    return Map(input, (text,), Schema((Column("s", TEXT),)))


def cast(input: Node) -> Node:
    first = ColumnRef(0, input.schema.types[0])
    wide = first if first.type == BIGINT else Cast(first, BIGINT)
    return Map(input, (wide,), Schema((Column("s", BIGINT),)))


ALWAYS = {
    "picked": picked,
    "above": lambda source: picked(above(source)),
    "grouped": lambda source: grouped(picked(source)),
    "closed": lambda source: grouped(closed(picked(source))),
    "cast": lambda source: cast(picked(source)),
}
OF_TYPES = {
    "added": lambda source: added(picked(source)),
    "summed": lambda source: summed(picked(source)),
    "spoken": lambda source: spoken(picked(source)),
}


@pytest.mark.parametrize("new", [MORE, LESS, WIDE], ids=["more", "less", "wide"])
@pytest.mark.parametrize("name", [*ALWAYS, *OF_TYPES])
def test_what_reads_only_columns_that_stay(name: str, new: Source) -> None:
    make = (ALWAYS | OF_TYPES)[name]
    if name in OF_TYPES and new is WIDE:
        with pytest.raises(OtherProgram, match=r"means something else|other types"):
            check_same_program(make(OLD), make(new), CHANGES)
        return
    check_same_program(make(OLD), make(new), CHANGES)


def test_whole_rows() -> None:
    for new in (MORE, LESS):
        with pytest.raises(OtherProgram):
            check_same_program(Threshold(OLD, Clamp.DISTINCT), Threshold(new, Clamp.DISTINCT), CHANGES)
    check_same_program(Threshold(OLD, Clamp.DISTINCT), Threshold(WIDE, Clamp.DISTINCT), CHANGES)
    check_same_program(OLD, project(MORE, (1, 2, 3)), CHANGES)
    with pytest.raises(OtherProgram):
        check_same_program(OLD, project(MORE, (0, 2, 3)), CHANGES)
    with pytest.raises(OtherProgram, match="an expression"):
        check_same_program(project(OLD, (0, 2)), project(MORE, (3, 1)), CHANGES)


def test_other_plans() -> None:
    other = Source("u", OLD.schema)
    with pytest.raises(OtherProgram, match="another table"):
        check_same_program(picked(OLD), picked(other), CHANGES)
    with pytest.raises(OtherProgram, match="in another way"):
        check_same_program(grouped(picked(OLD)), Threshold(picked(MORE), Clamp.DISTINCT), CHANGES)
    less = Filter(MORE, Call(Op.GT, (ColumnRef(3, INTEGER), Literal(4, INTEGER)), BOOLEAN))
    with pytest.raises(OtherProgram, match="a condition"):
        check_same_program(picked(above(OLD)), picked(less), CHANGES)
    only = Source("t", MORE.schema, True)
    with pytest.raises(OtherProgram):
        check_same_program(picked(OLD), picked(only), [ChangedSource(OLD, only, (-1, 0, 1, 2))])
