"""Signals that a query sends: when its answer is there, each session whose number it has is signalled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from planner.catalog_queries import Signal, SignalColumn
from service.reading.duck import Answer


def signalled(
    answer: Answer, columns: Mapping[str, SignalColumn], signal: Callable[[int, Signal], bool]
) -> tuple[Answer, list[str]]:
    """The answer with what the calls return, and what its author should know. Raises Forbidden."""
    names, types, table = list(answer.names), list(answer.types), answer.table
    unknown: list[str] = []
    for place, hidden in enumerate(answer.names):
        column = columns.get(hidden)
        if column is None:
            continue
        sent: list[bool | None] = []
        for pid in table.column(place).to_pylist():
            sent.append(None if pid is None else signal(pid, column.signal))
            if sent[-1] is False:
                unknown.append(f"PID {pid} is not a session")
        names[place], types[place] = column.name, "BOOLEAN"
        table = table.set_column(place, column.name, pa.array(sent, pa.bool_()))
    return replace(answer, names=tuple(names), types=tuple(types), table=table), unknown
