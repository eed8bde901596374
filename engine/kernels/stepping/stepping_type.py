"""The arrays of a compiled step, which its functions pass on as one word: the address of a table of them.

The table, int64[n, ARRAY], has a line an array: its address, its lines and its columns. It begins with the
arrays that `run.code` and so on name in kernels. As arguments of their own they would be seventy words, in
each call of a step that takes a few microseconds. The caller keeps all of them alive.

`code` [n, LINE] has a line an operator (`opcodes`), in the order in which they run, and `constants` their
ranges. `operators` [n, NUMBERS] has what changes of each of them (`tables`). `rounds` has the round; it is
empty in the outermost scope. `waiting` and `taken` [w, WAITING] list matrices, `arena` holds them (all in
`arena`), and `state` [STATE] is the call's.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload_attribute,
    register_model,
)

from engine.kernels.layers import rows_at
from engine.kernels.narrow.batch_type import WORD, load

CODE, OPERATORS, WAITING, TAKEN, CONSTANTS, ROUNDS, ARENA, CALL = range(8)
"""The first lines of the table; CALL is the state. From CONSTANTS on they are vectors."""
NAMED = 8
ARRAY = 3


def lines_of(*arrays: np.ndarray) -> np.ndarray:
    """The lines of some arrays."""
    lines = [(each.ctypes.data, *np.atleast_2d(each).shape) for each in arrays]
    return np.array(lines, np.int64).reshape(-1, ARRAY)


class SteppingType(types.Type):
    """numba's type of the arrays."""

    def __init__(self) -> None:
        super().__init__("Stepping")


_STEPPING = SteppingType()


@register_model(SteppingType)
class _SteppingModel(models.StructModel):
    def __init__(self, manager, type):
        super().__init__(manager, type, [("address", types.int64)])


make_attribute_wrapper(SteppingType, "address", "address")


@intrinsic
def stepping_at(typing_context, address):
    """The arrays of the table at an address."""

    def codegen(context, builder, signature, arguments):
        stepping = cgutils.create_struct_proxy(_STEPPING)(context, builder)
        stepping.address = arguments[0]
        return stepping._getvalue()

    return _STEPPING(types.int64), codegen


@njit(inline="always")
def matrix_of(run, line):
    """The matrix of a line of the table."""
    at = run.address + line * (ARRAY * WORD)
    return rows_at(load(at), load(at + WORD), load(at + 2 * WORD))  # type: ignore[call-arg]


@njit(inline="always")
def vector_of(run, line):
    """The vector of a line of the table."""
    at = run.address + line * (ARRAY * WORD)
    return rows_at(load(at), 1, load(at + 2 * WORD))[0]  # type: ignore[call-arg]


def _name(line, name, of):
    @overload_attribute(SteppingType, name, jit_options={"forceinline": True})  # type: ignore[call-arg]
    def find(run):
        return lambda run: of(run, line)


for _line, _field in ((CODE, "code"), (OPERATORS, "operators"), (WAITING, "waiting"), (TAKEN, "taken")):
    _name(_line, _field, matrix_of)
for _line, _field in ((CONSTANTS, "constants"), (ROUNDS, "rounds"), (ARENA, "arena"), (CALL, "state")):
    _name(_line, _field, vector_of)
