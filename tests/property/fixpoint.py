"""The fixed point of a recursion, round by round: what DuckDB's own recursion cannot say.

All bindings start empty. In every round each body is asked of DuckDB, over tables that hold the bindings.
Those of the explicit form are replaced one after another, so that a body reads the bindings before it as
they are in the same round; those of plain WITH RECURSIVE are replaced together, when all bodies have been
asked. It ends when nothing changes, or at the limit. Nothing here knows of planner or engine.
"""

from __future__ import annotations

import duckdb

from tests.property.duck import DATA_ERRORS, MOST_ROWS, Bag, Failure, Referee, normalise, refusal
from tests.property.recursion import Binding, Recursion

MOST_ROUNDS = 50


class Diverges(Exception):
    """No fixed point was reached in a bearable number of rounds and rows."""


def iterate(referee: Referee, recursion: Recursion) -> Failure | None:
    """Leave the value of every binding behind as a table of its name; a failure if there is none."""
    values: dict[str, Bag] = {}
    try:
        for binding in recursion.bindings:
            _create(referee, binding.name, binding)
            values[binding.name] = Bag()
        for number in range(1, MOST_ROUNDS + 1):
            following = _round(referee, recursion)
            if following == values:
                return None
            if number == recursion.limit and recursion.on_limit == "ERROR":
                return Failure(f"still changes after {number} rounds", limit=True)
            values = following
            if number == recursion.limit:
                return None
    except DATA_ERRORS as error:
        return Failure(str(error).splitlines()[0])
    except duckdb.Error as error:
        raise refusal(error) from error
    raise Diverges(f"{MOST_ROUNDS} rounds")


def _round(referee: Referee, recursion: Recursion) -> dict[str, Bag]:
    """The bindings after one more round, also as their tables."""
    following: dict[str, Bag] = {}
    for binding in recursion.bindings:
        following[binding.name] = _next(referee, binding)
        if recursion.explicit:
            _replace(referee, binding)
    if not recursion.explicit:
        for binding in recursion.bindings:
            _replace(referee, binding)
    return following


def _replace(referee: Referee, binding: Binding) -> None:
    _create(referee, binding.name, binding)
    referee.connection.execute(f"INSERT INTO {binding.name} SELECT * FROM next_{binding.name}")


def _create(referee: Referee, name: str, binding: Binding) -> None:
    columns = ", ".join(f"{column} {kind}" for column, kind in binding.columns)
    referee.connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")


def _next(referee: Referee, binding: Binding) -> Bag:
    """The binding's value after one more round, also as the table next_<name>."""
    following = f"next_{binding.name}"
    _create(referee, following, binding)
    referee.connection.execute(f"INSERT INTO {following} {binding.body.sql('duckdb')}")
    rows = referee.connection.execute(f"SELECT * FROM {following}").fetchall()
    if len(rows) > MOST_ROWS:
        raise Diverges(f"{len(rows)} rows")
    return normalise(rows)
