"""A program: operators of one scope as compiled code takes them, a line of numbers each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.stepping import opcodes, tables
from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.operator import Instruction, Operator


class Program:
    """The `body`, in an order in which its operators run, by `instructions`; `readers` are the places of each
    operator's readers, if it matters who they are."""

    def __init__(
        self,
        body: Sequence[Operator],
        instructions: Sequence[Instruction],
        readers: Sequence[Sequence[int]] = (),
    ) -> None:
        self.body = tuple(body)
        self.places = {operator: place for place, operator in enumerate(body)}
        self.code = np.zeros((len(body), opcodes.LINE), np.int64)
        constants: list[int] = []
        for place, (line, instruction) in enumerate(zip(self.code, instructions, strict=True)):
            reads = [self.places[operator] for operator in instruction.reads]
            line[: opcodes.FIRST] = [
                instruction.operation,
                *(*reads, opcodes.NOTHING, opcodes.NOTHING)[:2],
                instruction.number,
            ]
            ranges = (
                [self.places[operator] for operator in instruction.many] or list(instruction.first),
                list(instruction.second),
                list(readers[place]) if readers else [],
            )
            for column, numbers in zip((opcodes.FIRST, opcodes.SECOND, opcodes.READERS), ranges, strict=True):
                line[column : column + 2] = len(constants), len(numbers)
                constants += numbers
        self.constants = np.array(constants, np.int64)
        self.own = {place: it for place, it in enumerate(body) if isinstance(it, Arrangement)}
        """The arrangements of the scope by place."""
        self.operators = np.zeros((len(body), tables.NUMBERS), np.int64)
        """What changes of each operator (`engine.kernels.stepping.tables`)."""
        for place, own in self.own.items():
            self.operators[place, [tables.OWN, tables.DIFFS]] = 1, own.trace.diffs
        for place, reader in enumerate(body):
            if isinstance(reader, Arrangement | EnteredArrangement):
                self.operators[place, [tables.WIDTH, tables.DEPTH]] = reader.width, reader.depth
