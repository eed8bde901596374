"""A program followed through a random history: right at every epoch, however the history is chopped.

FRESHET_PROGRAMS sets the number of histories of each program.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.api import Collection, Dataflow
from tests.examples.programs.history import Changes, Maker, Row, chopped, random_history, states

HISTORIES = int(os.environ.get("FRESHET_PROGRAMS", "1"))
EPOCHS = 200


@dataclass(frozen=True)
class Input:
    """The columns of an input, name -> type, and where its rows come from."""

    columns: Mapping[str, type]
    maker: Maker


@dataclass(frozen=True)
class Case:
    """A program over its inputs, in order, and an oracle: the same inputs as bags to the set of rows.

    `most` is from how many to how many rows an input grows.
    """

    program: Callable[..., Collection]
    inputs: Mapping[str, Input]
    oracle: Callable[..., set[Row]]
    most: tuple[int, int] = (8, 30)


class Running:
    """The program over inputs of its own."""

    def __init__(self, case: Case) -> None:
        self.flow = Dataflow()
        self._inputs = {name: self.flow.input(name, **it.columns) for name, it in case.inputs.items()}
        self.output = case.program(*self._inputs.values()).output()
        self._done = 0

    def advance(self, piece: list[Changes]) -> None:
        """Complete the epochs of `piece` at once."""
        for epoch, changes in enumerate(piece, self._done):
            for name, lines in changes.items():
                for row, diff in lines:
                    self._inputs[name].update(row, diff=diff, time=epoch)
        self._done += len(piece)
        self.flow.advance(self._done)


def follow(case: Case, seed: int) -> None:
    rng = random.Random(seed)
    makers = {name: input.maker for name, input in case.inputs.items()}
    history = random_history(rng, makers, EPOCHS, rng.randint(*case.most))
    expected = [rows(case.oracle(*bags.values())) for bags in states(history)]
    stepped = Running(case)
    for epoch, changes in enumerate(history):
        stepped.advance([changes])
        for read in (epoch, rng.randint(0, epoch)):
            assert stepped.output.at(read) == expected[read], (seed, epoch, read)
    assert not stepped.output.rows()
    differences = [stepped.output.difference(epoch) for epoch in range(EPOCHS)]
    for _ in range(2):
        running = Running(case)
        rest = history
        for size in chopped(rng, EPOCHS):
            running.advance(rest[:size])
            rest = rest[size:]
        assert [running.output.difference(epoch) for epoch in range(EPOCHS)] == differences, seed


def rows(found: set[Row]) -> dict[Row, int]:
    """Every row once."""
    return dict.fromkeys(found, 1)
