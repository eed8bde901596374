"""Calls that signal sessions: `pg_cancel_backend(pid)` and `pg_terminate_backend(pid)`.

A query cannot send signals while it runs. A call becomes a column of the numbers of sessions, and when the
answer is there, each number is signalled and gives way to what the call returns. So a call has to be a column
of the whole query, and nothing in the query may depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import fold
from planner.native.templates import sql
from planner.positions import fail, refuse


class Signal(Enum):
    CANCEL = "pg_cancel_backend"
    TERMINATE = "pg_terminate_backend"


_ARGUMENTS = {Signal.CANCEL: (1,), Signal.TERMINATE: (1, 2)}
SIGNALS = {signal.value: signal for signal in Signal}


@dataclass(frozen=True)
class SignalColumn:
    """`name` is what the column is called in the answer."""

    signal: Signal
    name: str


def take_signals(query: exp.Expression) -> Mapping[str, SignalColumn]:
    """Let the calls be columns of numbers, under names that no other column has; changes the tree.

    Raises Unsupported for a call that is not a column of the whole query.
    """
    found: dict[str, SignalColumn] = {}
    if isinstance(query, exp.Select) and not query.args.get("distinct"):
        for place, item in enumerate(query.expressions):
            call = item.unalias()
            if isinstance(call, exp.Dot) and isinstance(call.expression, exp.Anonymous):
                call = call.expression
            signal = _signal(call)
            if signal is None:
                continue
            if len(call.expressions) not in _ARGUMENTS[signal]:
                fail(InvalidQuery(f"{signal.value} takes 1 argument"), call)
            name = item.alias or signal.value
            _check_unused(query, name, place, call)
            hidden = f"#{signal.value} {place}"
            number = sql("CAST({0} AS INTEGER)", [call.expressions[0]])
            item.replace(exp.alias_(number, hidden, quoted=True))
            found[hidden] = SignalColumn(signal, name)
    refuse_signals(query)
    return found


def refuse_signals(query: exp.Expression) -> None:
    """Raises Unsupported for a call."""
    for call in query.find_all(exp.Anonymous):
        if _signal(call) is not None:
            _refuse(call)


def _check_unused(query: exp.Select, name: str, place: int, call: exp.Expression) -> None:
    for part in ("order", "group", "having", "qualify"):
        clause = query.args.get(part)
        for node in clause.walk() if clause is not None else ():
            is_name = isinstance(node, exp.Column) and not node.table and fold(node.this) == name.lower()
            if is_name or (isinstance(node, exp.Literal) and node.name == str(place + 1)):
                _refuse(call)


def _signal(node: exp.Expr) -> Signal | None:
    return SIGNALS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None


def _refuse(call: exp.Expr) -> NoReturn:
    refuse(
        call,
        f"{call.name} can only be a column of the whole query",
        f"write SELECT {call.name}(pid) FROM pg_stat_activity WHERE ..., without DISTINCT or ORDER BY it",
    )
