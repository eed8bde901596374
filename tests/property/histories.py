"""Random histories: what happens to each table in each epoch, and what the tables hold after it.

A history keeps to the rules of tables: a key is inserted only where it is not yet, what is deleted is
there, an upsert replaces. What it records is the net of each operation: rows with differences, which may
cancel within an epoch. Some epochs are empty, some delete everything.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.property.schemas import Row, Table, random_row

State = dict[str, Counter[Row]]


@dataclass(frozen=True)
class Change:
    """`diff` more of `row` in the table."""

    table: str
    row: Row
    diff: int


Epoch = tuple[Change, ...]
History = tuple[Epoch, ...]  # the first is epoch 1


def random_history(rng: random.Random, tables: tuple[Table, ...], length: int) -> History:
    """`length` epochs; the first is often a load, a few are empty, a few delete everything."""
    state: State = {table.name: Counter() for table in tables}
    epochs: list[Epoch] = []
    for number in range(length):
        draw = rng.random()
        if number == 0 and draw < 0.6:
            changes = [
                c for table in tables for _ in range(rng.randint(2, 12)) for c in _insert(rng, table, state)
            ]
        elif draw < 0.06:
            changes = _delete_all(rng, tables, state)
        elif draw < 0.12:
            changes = []
        else:
            count = rng.choice((1, 3, 5, 7, 9, 12))
            changes = [c for _ in range(count) for c in _operation(rng, rng.choice(tables), state)]
        epochs.append(tuple(changes))
    return tuple(epochs)


def _operation(rng: random.Random, table: Table, state: State) -> list[Change]:
    rows = list(state[table.name].elements())
    draw = rng.random()
    if rows and (draw < 0.25 or len(rows) > 14):
        return _apply(state, [Change(table.name, rng.choice(rows), -1)])
    if table.key is not None and rows and draw < 0.55:
        return _upsert(rng, table, state)
    if rows and table.key is None and draw < 0.45:
        old = rng.choice(rows)
        return _apply(state, [Change(table.name, old, -1), Change(table.name, random_row(rng, table), 1)])
    return _insert(rng, table, state)


def _insert(rng: random.Random, table: Table, state: State) -> list[Change]:
    """A new row, of a bag now and then several times; nothing if its key is taken."""
    row = random_row(rng, table)
    if table.key is None:
        return _apply(state, [Change(table.name, row, rng.choice((1, 1, 1, 2, 3)))])
    taken = {table.key_of(held) for held in state[table.name]}
    return _apply(state, [Change(table.name, row, 1)]) if table.key_of(row) not in taken else []


def _upsert(rng: random.Random, table: Table, state: State) -> list[Change]:
    """A row whose key is mostly there already."""
    old = rng.choice(list(state[table.name]))
    values = list(random_row(rng, table))
    for i in table.key or ():
        values[i] = old[i]
    return _apply(state, [Change(table.name, old, -1), Change(table.name, tuple(values), 1)])


def _delete_all(rng: random.Random, tables: tuple[Table, ...], state: State) -> list[Change]:
    chosen = tables if rng.random() < 0.5 else (rng.choice(tables),)
    return _apply(state, [Change(t.name, row, -n) for t in chosen for row, n in state[t.name].items()])


def _apply(state: State, changes: list[Change]) -> list[Change]:
    for change in changes:
        apply(state, change)
    return changes


def apply(state: State, change: Change) -> None:
    rows = state[change.table]
    rows[change.row] += change.diff
    if not rows[change.row]:
        del rows[change.row]


def states(tables: tuple[Table, ...], history: History) -> Iterator[Mapping[str, Counter[Row]]]:
    """The tables after each epoch; the same object, changed in place."""
    state: State = {table.name: Counter() for table in tables}
    for epoch in history:
        for change in epoch:
            apply(state, change)
        yield state


def is_valid(tables: tuple[Table, ...], history: History) -> bool:
    """Whether every epoch ends with counts that a table can have; shrinking may break that."""
    keys = {table.name: table for table in tables}
    for state in states(tables, history):
        for name, rows in state.items():
            if any(count < 0 for count in rows.values()):
                return False
            if keys[name].key is not None:
                held = Counter(keys[name].key_of(row) for row in rows.elements())
                if any(count > 1 for count in held.values()):
                    return False
    return True
