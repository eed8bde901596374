"""The dataflow of a specification in one task: its operators by number, and their state mapped from files."""

from __future__ import annotations

from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.linear import InputOperator
from engine.operators.loop import Loop
from engine.operators.multijoin import MultiJoinOperator
from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow
from engine.rendering.renderer import Renderer
from engine.rendering.rendering import Compiler
from engine.runtime.ends import put_source, put_source_history, put_view
from engine.runtime.kept import every_operator, kept_states
from engine.runtime.rewriting import opened
from engine.scalar.program import ScalarProgram
from engine.state.dictionary import Dictionary
from engine.state.store.directory import StateDirectory
from engine.supersteps.partition import partition_words
from engine.supersteps.spec import Spec
from engine.supersteps.superstep_program import SuperstepProgram, compile
from engine.supersteps.wide_arrangements import ForeignParts, WideArrangement


class RenderedTask:
    """The operators of a specification, rendered.

    `operators` lists them all, also those inside loops, in an order that is the same in every task; `numbers`
    has their positions there, and `paths` their paths. `words` has the number of words by which each
    arrangement is divided, and `foreign` the other shards' parts of arrangements that every shard has in
    full. `loops` maps an operator to the innermost loop around it; `inputs` are the inputs of sources that
    change.
    """

    def __init__(self, spec: Spec, dictionary: Dictionary, compiler: Compiler = ScalarProgram) -> None:
        dataflow = RunningDataflow()
        renderer = Renderer(dataflow, dictionary, spec.job.max_rounds, spec.job.rebuild, compiler)
        self.dataflow = dataflow
        self.inputs: dict[str, InputOperator] = {}
        keys: dict[Arrangement, int] = {}
        for table in spec.job.tables:
            self.inputs[table.node.name] = put_source(dataflow, table.node)
            if not spec.job.fresh:
                history = put_source_history(dataflow, table.node, table.key)
                if table.key is not None:
                    keys[history] = len(table.key)
        for name, plan in spec.job.views:
            put_view(dataflow, renderer, name, plan)
        paths = list(every_operator(dataflow.operators.items()))
        self.paths = {operator: path for path, operator in paths}
        self.operators: list[Operator] = [operator for _, operator in paths]
        self.numbers = {operator: number for number, operator in enumerate(self.operators)}
        self.words = partition_words(self.operators, keys)
        self.loops: dict[Operator, Loop] = {}
        for operator in self.operators:
            if isinstance(operator, Loop):
                operator.begin()
                self.loops |= dict.fromkeys(operator.body, operator)
        self.foreign: dict[Arrangement, ForeignParts] = {}
        for operator in self.operators:
            if isinstance(operator, MultiJoinOperator):
                operator.wide = [self._wide(source) for source in operator.inputs]  # type: ignore[arg-type]
        constants = [op for op in self.operators if isinstance(op, InputOperator) and op.pending is not None]
        self.changed = list(self.inputs.values()) + (constants if spec.job.fresh else [])
        self.constants = constants

    def _wide(self, source: Arrangement | EnteredArrangement) -> WideArrangement:
        arrangement = source.arrangement if isinstance(source, EnteredArrangement) else source
        return WideArrangement(source, self.foreign.setdefault(arrangement, ForeignParts()))

    def program(self) -> SuperstepProgram:
        """The program of an advance over the changed operators."""
        return compile(self.dataflow.operators.values(), self.changed)

    def map_state(self, spec: Spec, directory: StateDirectory) -> None:
        """Map the state of operators from the files that the specification names."""
        for name, state in kept_states(self.dataflow.operators.items()):
            files = spec.job.state.get(name, ())
            state.trace.map([opened(directory, state.trace, file) for file in files])
            state.reset()
