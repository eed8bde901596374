"""Goal plans: the engine's plan of the rows of an operator that have known values in some columns.

The plan reads sources alone: the rows of a table or view as the query sees them, or those of a recursive name
in some round. So it is computed over the rows of one epoch, whatever else is maintained. The known values are
parameters, so that one plan serves all rows that are asked for; and it reads no column that it does not need.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.plan.expressions import Op, Parameter
from engine.plan.nodes import Source
from engine.plan.plan_templates import PlanTemplate
from engine.schema import BOOLEAN, Column, Schema
from planner import ir
from planner.evidence.explainable import narrowed
from planner.evidence.recursion_rounds import operators_in
from planner.evidence.scan_links import ScannedSource, scanned_sources, without_links
from planner.ir.constants import PLAIN
from planner.ir.rewrite import bottom_up
from planner.ir.scalars import TRUE, call, conjoin
from planner.lower.whole_program import lower
from planner.passes.prune import prune_columns

_ANY = (ir.Attribute(0, "is_there", BOOLEAN, False), TRUE)
"""The column of rows that have none; no other has its number."""


@dataclass(frozen=True)
class GoalPlan:
    """`plan` has the columns `columns`, and parameters, numbered as the columns whose values are known. It
    reads each of the `sources`, of which it has columns at some positions. `scans` say which rows of them
    matter."""

    plan: PlanTemplate
    columns: tuple[ir.Attribute, ...]
    sources: Mapping[Source, tuple[int, ...]]
    scans: tuple[ScannedSource, ...]


def goal_plan(
    operator: ir.Relational,
    program: ir.RelationalProgram,
    known: Collection[int],
    variables: Mapping[int, Source],
    outputs: Collection[int] | None = None,
) -> GoalPlan:
    """The plan of the operator's rows with values in the columns `known`, as far as these can be compared;
    the caller leaves out other rows. `variables` are the sources of the recursive names that are read. The
    rows have the columns `outputs`, by default all."""
    if not operator.columns:
        operator = ir.Project(operator, (_ANY,))
    shown = operator.columns if outputs is None else tuple(map(operator.attribute, outputs))
    found = _pruned(filtered(operator, known), program, shown, variables)
    return _planned(found, _positions([found]), tuple(scanned_sources(found)))


def round_plans(
    bindings: Sequence[ir.RecursiveBinding], program: ir.RelationalProgram, variables: Mapping[int, Source]
) -> tuple[GoalPlan, ...]:
    """The plans of the bindings, which read the same sources, those of the variables whole. As rows of
    variables come and go, no other rows are left out because of them."""
    found = [_pruned(b.value, program, tuple(map(b.value.attribute, b.outputs)), variables) for b in bindings]
    whole = {source: tuple(range(len(source.schema))) for source in variables.values()}
    sources = {**_positions(found), **whole}
    return tuple(
        _planned(it, sources, tuple(without_links(scanned_sources(it), whole.keys()))) for it in found
    )


def _pruned(
    operator: ir.Relational,
    program: ir.RelationalProgram,
    shown: tuple[ir.Attribute, ...],
    variables: Mapping[int, Source],
) -> ir.RelationalProgram:
    used = replace(program, root=operator, outputs=operator.columns)
    found = replace(narrowed(operator, used), outputs=shown)
    return _over_sources(prune_columns(found), variables)


def _planned(
    program: ir.RelationalProgram, sources: Mapping[Source, tuple[int, ...]], scans: tuple[ScannedSource, ...]
) -> GoalPlan:
    shown = program.outputs
    named = tuple(ir.Attribute(c.id, f"c{i}", c.type, True) for i, c in enumerate(shown))
    plan, _ = lower(replace(_narrow(program, sources), outputs=named))
    return GoalPlan(PlanTemplate(plan), shown, sources, scans)


def filtered(operator: ir.Relational, known: Collection[int]) -> ir.Relational:
    """The operator's rows with values in the known columns, as far as these can be compared."""
    parts = list(_equal(operator, known))
    return ir.Selection(operator, conjoin(parts)) if parts else operator


def source_of(scan: ir.TableScan) -> Source:
    """The source that has the rows of a table or view as the query sees them."""
    return Source(scan.name, scan.plan.schema)


def variable_source(variable: int, columns: Iterable[ir.Attribute]) -> Source:
    """The source that has the rows of a recursive name."""
    schema = Schema(tuple(Column(f"c{i}", column.type, True) for i, column in enumerate(columns)))
    return Source(f"\0{variable}", schema)


def _equal(operator: ir.Relational, known: Collection[int]) -> Iterator[ir.Expression]:
    for column in operator.columns:
        if column.id in known and column.type.kind in PLAIN:
            yield call(Op.EQ, column.ref, Parameter(column.id, column.type))


def _over_sources(program: ir.RelationalProgram, variables: Mapping[int, Source]) -> ir.RelationalProgram:
    def changed(operator: ir.Relational) -> ir.Relational:
        match operator:
            case ir.TableScan():
                return replace(operator, plan=source_of(operator), key=None)
            case ir.RecursiveRef(variable=variable) if variable in variables:
                source = variables[variable]
                return ir.TableScan(source.name, source, operator.columns, operator.positions)
        return operator

    return program.mapped(lambda operator: bottom_up(operator, changed))


def _positions(programs: Iterable[ir.RelationalProgram]) -> dict[Source, tuple[int, ...]]:
    """Each source, and the positions that its scans read; of one that only counts rows, the first."""
    found: dict[Source, set[int]] = {}
    for program in programs:
        for operator in operators_in(*program.definitions, program.root):
            if isinstance(operator, ir.TableScan) and isinstance(operator.plan, Source):
                found.setdefault(operator.plan, set()).update(operator.positions)
    return {source: tuple(sorted(places or {0})) for source, places in found.items()}


def _narrow(program: ir.RelationalProgram, sources: Mapping[Source, tuple[int, ...]]) -> ir.RelationalProgram:
    """The program over sources that have no other columns."""

    def changed(operator: ir.Relational) -> ir.Relational:
        match operator:
            case ir.TableScan(plan=Source(name=name, schema=schema) as source, positions=positions):
                kept = sources[source]
                narrow = Source(name, Schema(tuple(schema.columns[place] for place in kept)))
                return replace(operator, plan=narrow, positions=tuple(map(kept.index, positions)))
        return operator

    return program.mapped(lambda operator: bottom_up(operator, changed))
