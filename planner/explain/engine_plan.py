"""An engine plan as a listing. Columns are known by position; equal nodes are one step."""

from __future__ import annotations

from engine.plan.clocked import CLOCK, Temporal, Today
from engine.plan.expressions import Literal
from engine.plan.group_queries import GroupQuery
from engine.plan.list_elements import Unnest
from engine.plan.multijoins import MultiJoin
from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import (
    AggregateSpec,
    Concat,
    Constant,
    Filter,
    Join,
    Map,
    Negate,
    Node,
    OnLimit,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
    WithRound,
)
from engine.plan.window_functions import Window
from planner.explain.list_texts import elements_text
from planner.explain.listing import Listing, ListingStep
from planner.explain.ordering import nearest_details, partition_details, top_details
from planner.explain.path_texts import multijoin_text
from planner.ir.scalar_text import ScalarText, shown_literal
from planner.ir.scalars import conjuncts
from planner.spans import NO_SPANS, Spans

_TEXT = ScalarText(lambda index: f"#{index}")


def dataflow_listing(plan: Node, spans: Spans = NO_SPANS) -> Listing:
    walk = _Walk(spans)
    result = walk.visit(plan)
    return Listing("dataflow", tuple(walk.steps), result)


def node_names(plan: Node) -> dict[Node, str]:
    """The name of each node in the listing."""
    walk = _Walk({})
    walk.visit(plan)
    return walk.seen


class _Walk:
    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self.steps: list[ListingStep] = []
        self.seen: dict[Node, str] = {}

    def visit(self, node: Node) -> str:
        if node not in self.seen:
            inputs = tuple(self.visit(i) for i in node.inputs)
            name = f"r{len(self.steps)}"
            title, details = _described(node, inputs)
            depth = max((_depth(variable) for variable in node.free), default=0)
            columns, spans = node.schema.columns, self.spans.get(node, ())
            self.steps.append(ListingStep(name, title, tuple(details), inputs, columns, depth, spans=spans))
            self.seen[node] = name
        return self.seen[node]


def _depth(variable: str) -> int:
    """The number of loops around a node that refers to the variable; variables are named
    `v<depth>.<place>`."""
    return int(variable[1:].split(".")[0]) + 1


def _described(node: Node, inputs: tuple[str, ...]) -> tuple[str, list[str]]:
    match node:
        case Source(name=name):
            return f"source {name}", []
        case Constant(rows=rows, schema=schema):
            return "constant", [
                ", ".join(shown_literal(Literal(v, t)) for v, t in zip(row, schema.types, strict=True))
                for row in rows
            ]
        case Variable(name=name):
            return f"variable {name}", []
        case Map(expressions=expressions):
            return "map", [f"#{i} := {_TEXT(e)}" for i, e in enumerate(expressions)]
        case Filter(predicate=predicate):
            return "filter", [_TEXT(part) for part in conjuncts(predicate)]
        case Concat():
            return "concat", []
        case Negate():
            return "negate", []
        case WithRound():
            return "with round", []
        case Join(left_keys=left_keys, right_keys=right_keys):
            pairs = zip(left_keys, right_keys, strict=True)
            left, right = inputs
            return "join" if left_keys else "cross join", [f"{left}.#{a} = {right}.#{b}" for a, b in pairs]
        case MultiJoin():
            return multijoin_text(node, inputs)
        case NearestJoin(pads=pads):
            sides = [f"{name}.#{{}}".format for name in inputs]
            return f"nearest join{' padded' if pads else ''}", nearest_details(node, *sides)
        case Reduce(keys=keys, aggregates=aggregates):
            by = ["by " + ", ".join(f"#{key}" for key in keys)] if keys else []
            results = [f"#{i} := {_aggregate(a)}" for i, a in enumerate(aggregates, start=len(keys))]
            return "reduce", [*by, *results, *_kept(node.kept)]
        case GroupQuery(keys=keys, query=query):
            by = ["by " + ", ".join(f"#{key}" for key in keys)] if keys else []
            return "group query", [*by, query]
        case Window(functions=functions, input=input):
            placed = enumerate(functions, start=len(input.schema))
            order, ties = node.order[: node.peers], node.order[node.peers :]
            where = partition_details(node.keys, order, ties, "#{}".format)
            return "window", [*where, *(f"#{i} := {f} {f.type}" for i, f in placed)]
        case Threshold(clamp=clamp):
            return f"threshold {clamp.value}", []
        case Unnest(input=input, lists=lists):
            made = enumerate(lists, start=len(input.schema))
            title = f"unnest{' outer' if node.outer else ''}{' with ordinality' if node.ordinality else ''}"
            return title, [
                f"#{i} := {elements_text([f'#{c}' for c in e.columns], e.exclusive)}" for i, e in made
            ]
        case TopK(keys=keys, order=order, limit=limit, offset=offset):
            kept = None if limit is None else node.kept
            return "top", [*top_details(keys, order, limit, offset, "#{}".format), *_kept(kept)]
        case Temporal(since=since, until=until, clock=clock):
            moments = (("since", since), ("until", until))
            by = [] if clock == CLOCK else [f"clock {inputs[1]}"]
            return "temporal", [*by, *(f"{name} #{column}" for name, column in moments if column is not None)]
        case Today():
            return "today", []
        case Recursive(result=result):
            return f"recursive {result}", _recursive(node, inputs)
    raise TypeError(f"{type(node).__name__} cannot be shown")


def _kept(most: int | None) -> list[str]:
    """What a node keeps of its input's rows, if these only come and never go."""
    if most is None:
        return []
    return [f"keeps {f'{most} rows' if most != 1 else 'one row'} a group: no row is ever deleted"]


def _recursive(node: Recursive, inputs: tuple[str, ...]) -> list[str]:
    """For each name its step and its initial rows, the rows that enter by priority, and the limit.

    `inputs` are in the node's order.
    """
    steps = iter(inputs)
    details = [f"{binding.name} := {next(steps)}" for binding in node.bindings]
    details += [f"{b.name} starts as {next(steps)}" for b in node.bindings if b.initial is not None]
    details += [f"{e.name} := {next(steps)} from round {_TEXT(e.round)}" for e in node.entries]
    if node.limit is not None:
        action = "return" if node.on_limit is OnLimit.RETURN else "error"
        details.append(f"{action} at recursion limit {node.limit}")
    return details


def _aggregate(aggregate: AggregateSpec) -> str:
    return f"{aggregate} {aggregate.type}"
