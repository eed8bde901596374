"""The rounds of a view's recursion: each row with the round in which it came, or went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.operators.allowance import Spending
from engine.schema import Column, Schema
from planner.ir import Fixpoint, Relational, RelationalProgram
from planner.suggestions import did_you_mean
from service.definitions.definition import Definition
from service.derivations.seen_rows import SeenRows
from service.derivations.unrolled import Unrolled
from service.derivations.why import AskedEpoch
from service.errors import Conflict, Invalid, NotFound


@dataclass(frozen=True, eq=False)
class ListedRounds:
    """The recursion `name`: a delta int64[W + 2, n] of the schema's columns, with rounds in place of epochs,
    in the order of rounds."""

    name: str
    schema: Schema
    delta: np.ndarray

    def counts(self) -> list[tuple[int, int, int]]:
        """Each round with the number of rows that came in it, and that went."""
        rounds, diffs = self.delta[-2], self.delta[-1]
        return [
            (number, int(diffs[at & (diffs > 0)].sum()), -int(diffs[at & (diffs < 0)].sum()))
            for number in np.unique(rounds).tolist()
            for at in [rounds == number]
        ]


def rounds_of(asked: AskedEpoch, view: Definition, name: str | None, spending: Spending) -> ListedRounds:
    """Computes a recursion of a view round by round; without a name, its only one. Raises Conflict for a view
    without a plan, NotFound without a recursion of the name, Invalid for one inside another."""
    if view.planned is None:
        raise Conflict(f"view {view.name} cannot run: {view.failure}", code="view_failed")
    prepared = asked.prepared.of(view.planned.logical, asked.now)
    fixpoints = _fixpoints(prepared.program)
    found = {binding.name: (it, binding.variable) for it in fixpoints for binding in it.bindings}
    if name is None and len(found) != 1:
        raise Invalid(
            f"view {view.name} has {len(found) or 'no'} recursive names",
            f"name one of {', '.join(sorted(found))}" if found else "",
            code="invalid_request",
        )
    name = next(iter(found)) if name is None else name
    if name not in found:
        raise NotFound(f"view {view.name} has no recursion {name}", did_you_mean(name, found))
    fixpoint, variable = found[name]
    if fixpoint.free:
        raise Invalid(f"recursion {name} stands inside another one", code="invalid_request")
    rows = SeenRows(
        asked.definitions,
        asked.snapshot,
        asked.epoch,
        view.details.sees,
        asked.dictionary,
        asked.max_rounds,
        spending,
    )
    unrolled = Unrolled(prepared.recursion(fixpoint, ()), prepared, rows, {}, {})
    binding = next(it for it in unrolled.bindings if it.variable == variable)
    made = map(binding.value.attribute, binding.outputs)
    schema = Schema(tuple(Column(column.name, column.type, True) for column in made))
    delta = unrolled.history(variable)
    return ListedRounds(name, schema, delta[:, np.argsort(delta[-2], kind="stable")])


def _fixpoints(program: RelationalProgram) -> Iterator[Fixpoint]:
    waiting: list[Relational] = [*program.definitions, program.root]
    while waiting:
        operator = waiting.pop()
        if isinstance(operator, Fixpoint):
            yield operator
        waiting += operator.inputs
