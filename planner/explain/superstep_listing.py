"""A view's supersteps: the parts that run between two exchanges on Spark.

In a superstep, each shard computes its part of the rows without hearing from the other shards. The nodes are
those of the dataflow listing; a plan node is one operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.operators.arrangement import Arrangement
from engine.operators.history import History
from engine.operators.linear import InputOperator, SelectOperator
from engine.operators.loop import Leave, Loop
from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.nodes import Node, Source
from engine.rendering.renderer import Renderer
from engine.runtime.ends import put_view
from engine.runtime.kept import every_operator
from engine.state.dictionary import Dictionary
from engine.supersteps.partition import partition_words
from engine.supersteps.superstep_program import (
    BeginLoop,
    CheckLoop,
    Decide,
    FeedBack,
    RunLevel,
    SuperstepProgram,
    WholeLoop,
    compile,
)
from planner.explain.analyze import nodes_of
from planner.explain.engine_plan import node_names
from planner.explain.listing import Listing, ListingStep

MAX_ROUNDS = 1
"""Any value will do: the listing runs nothing."""


def supersteps_listing(plan: Node) -> Listing:
    dataflow = RunningDataflow()
    renderer = Renderer(dataflow, Dictionary(), MAX_ROUNDS)
    put_view(dataflow, renderer, "view", plan)
    operators = dataflow.operators
    changed = [operator for operator in operators.values() if isinstance(operator, InputOperator)]
    program = compile(operators.values(), changed)
    steps = tuple(_Walk(node_names(plan), dataflow).steps(program))
    return Listing("supersteps", steps, steps[-1].name)


class _Walk:
    def __init__(self, nodes: dict[Node, str], dataflow: RunningDataflow) -> None:
        paths = list(every_operator(dataflow.operators.items()))
        self._nodes = nodes
        self._keys = {operator: path[-1] for path, operator in paths}
        self._words = partition_words([operator for _, operator in paths], {})

    def steps(self, program: SuperstepProgram) -> Iterator[ListingStep]:
        depth = 0
        last: tuple[str, ...] = ()
        number = 0
        for instruction in program.instructions:
            match instruction:
                case RunLevel(operators=operators, sends=sends):
                    details = [*map(self._described, operators), *map(self._sent, sends)]
                    title = "superstep"
                case BeginLoop(loop=loop):
                    title, details = f"loop {loop.name}", []
                case WholeLoop(loop=loop):
                    title, details = f"loop {loop.name}, whole in each shard", []
                case Decide():
                    title, details = "if few rows enter: the whole loop in one shard", []
                case CheckLoop():
                    title, details = "if no shard has changes: the next round, or the end of the loop", []
                case FeedBack():
                    title, details = "end of the round", []
                case _:
                    continue
            details = [detail for detail in details if detail]
            if title == "superstep" and not details:
                continue
            name = f"s{number}"
            number += 1
            yield ListingStep(name, title, tuple(details), last, (), depth)
            last = (name,)
            depth += isinstance(instruction, BeginLoop) - isinstance(instruction, FeedBack)

    def _described(self, operator: Operator) -> str:
        if isinstance(operator, Arrangement | Leave | SelectOperator | Loop):
            return ""
        key = self._keys.get(operator)
        if isinstance(key, Source):
            return f"read {key.name}, {self._name(operator)}"
        name = self._name(operator)
        return f"{operator.kind.lower()} {name}" if name else ""

    def _sent(self, arrangement: Arrangement) -> str:
        words = self._words[arrangement]
        by = f"by {words} of {arrangement.width} words" if words else "all to one shard"
        if isinstance(arrangement, History):
            return f"send the view's rows, {by}"
        return f"send {self._name(arrangement) or 'rows'}, {by}"

    def _name(self, operator: Operator) -> str:
        """The node of the plan that the operator computes, by its name in the dataflow listing."""
        return next(
            (self._nodes[node] for node in nodes_of(self._keys.get(operator)) if node in self._nodes), ""
        )
