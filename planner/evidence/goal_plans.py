"""Goal plans: the engine's plan of the rows of an operator that have known values in some columns.

The plan reads sources alone: the rows of a table or view as the query sees them, or those of a recursive name
in some round. So it is computed over the rows of one epoch, whatever else is maintained. A source of which
only rows with certain values matter says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import Node, Source
from engine.schema import BOOLEAN, Column, Schema
from planner.evidence.explainable import narrowed
from planner.ir import (
    Attribute,
    Expression,
    Project,
    RecursiveRef,
    Relational,
    RelationalProgram,
    Selection,
    TableScan,
)
from planner.ir.constants import PLAIN
from planner.ir.rewrite import bottom_up
from planner.ir.scalars import TRUE, call, conjoin, conjuncts
from planner.lower.whole_program import lower

Known = Mapping[int, object]
"""Values of columns by number, as `Literal` takes them; None for NULL."""
Wanted = tuple[tuple[int, Literal], ...]
"""Columns of a source, by position, and the values that rows must have in them."""


_ANY = (Attribute(0, "is_there", BOOLEAN, False), TRUE)
"""The column of rows that have none; no other has its number."""


@dataclass(frozen=True)
class GoalPlan:
    """`plan` has the columns `columns`. `wanted` has, for each source, what rows each of its scans needs;
    rows that no scan needs may be left out."""

    plan: Node
    columns: tuple[Attribute, ...]
    wanted: Mapping[Source, tuple[Wanted, ...]]


def goal_plan(
    operator: Relational,
    program: RelationalProgram,
    known: Known,
    variables: Mapping[int, Source],
    outputs: Sequence[int] | None = None,
) -> GoalPlan:
    """The plan of the operator's rows with the `known` values, as far as these can be compared; the caller
    leaves out other rows. `variables` are the sources of the recursive names that are read. The rows have the
    columns `outputs`, by default all."""
    if not operator.columns:
        operator = Project(operator, (_ANY,))
    found = narrowed(filtered(operator, known), _used(operator, program))
    found = _over_sources(found, variables)
    shown = operator.columns if outputs is None else tuple(map(operator.attribute, outputs))
    named = tuple(Attribute(c.id, f"c{i}", c.type, True) for i, c in enumerate(shown))
    plan, _ = lower(replace(found, outputs=named))
    wanted: dict[Source, list[Wanted]] = {}
    for each in (*found.definitions, found.root):
        for source, values in _scans(each):
            wanted.setdefault(source, []).append(values)
    return GoalPlan(plan, shown, {source: tuple(all) for source, all in wanted.items()})


def filtered(operator: Relational, known: Known) -> Relational:
    """The operator's rows with the known values, as far as these can be compared."""
    return Selection(operator, conjoin(_equal(operator, known))) if known else operator


def source_of(scan: TableScan) -> Source:
    """The source that has the rows of a table or view as the query sees them."""
    return Source(scan.name, scan.plan.schema)


def variable_source(variable: int, columns: Iterable[Attribute]) -> Source:
    """The source that has the rows of a recursive name."""
    schema = Schema(tuple(Column(f"c{i}", column.type, True) for i, column in enumerate(columns)))
    return Source(f"\0{variable}", schema)


def _equal(operator: Relational, known: Known) -> Iterator[Expression]:
    for column in operator.columns:
        value = known.get(column.id)
        if value is not None and column.type.kind in PLAIN:
            yield call(Op.EQ, column.ref, Literal(value, column.type))


def _used(operator: Relational, program: RelationalProgram) -> RelationalProgram:
    return replace(program, root=operator, outputs=operator.columns)


def _over_sources(program: RelationalProgram, variables: Mapping[int, Source]) -> RelationalProgram:
    def changed(operator: Relational) -> Relational:
        match operator:
            case TableScan():
                return replace(operator, plan=source_of(operator), key=None)
            case RecursiveRef(variable=variable) if variable in variables:
                source = variables[variable]
                return TableScan(source.name, source, operator.columns, operator.positions)
        return operator

    return program.mapped(lambda operator: bottom_up(operator, changed))


def _scans(operator: Relational, predicates: tuple[Expression, ...] = ()) -> Iterator[tuple[Source, Wanted]]:
    """The sources that are scanned here and below, with the values that rows need."""
    match operator:
        case Selection(input=input, predicate=predicate):
            yield from _scans(input, (*predicates, *conjuncts(predicate)))
        case TableScan(plan=Source() as source, columns=columns, positions=positions):
            places = {column.id: place for column, place in zip(columns, positions, strict=True)}
            yield source, tuple(_wanted(predicates, places))
        case _:
            for input in operator.inputs:
                yield from _scans(input)


def _wanted(predicates: tuple[Expression, ...], places: Mapping[int, int]) -> Iterator[tuple[int, Literal]]:
    for predicate in predicates:
        match predicate:
            case Call(op=Op.EQ, args=(ColumnRef(index=id), Literal() as value)) if id in places:
                yield places[id], value
