"""Random window functions over one table, and its histories."""

from __future__ import annotations

import random
from decimal import Decimal

from engine.schema import BIGINT, DOUBLE, INTEGER, TEXT, Column, Schema, numeric
from tests.property.cases import Case
from tests.property.histories import Change
from tests.property.schemas import Row, Table
from tests.property.terms import Term
from tests.property.views import View

TABLE = Table(
    "t",
    Schema(
        (
            Column("k", INTEGER),
            Column("o", INTEGER),
            Column("s", TEXT),
            Column("x", BIGINT),
            Column("d", numeric(9, 2)),
            Column("f", DOUBLE),
        )
    ),
    None,
)
COLUMNS = TABLE.schema.names
RANKS = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
PLACED = ("row_number()", "ntile(1)", "ntile(3)")


def windows_case(seed: int, views: int = 4, epochs: int = 6) -> Case:
    rng = random.Random(f"windows {seed}")
    distinct = rng.random() < 0.5
    made = tuple(View(f"v{i}", _query(rng, 4 if distinct else 1), ()) for i in range(views))
    return Case(seed, (TABLE,), made, _history(rng, epochs, distinct))


def _query(rng: random.Random, calls_at_most: int) -> Term:
    """A query; which of several equal rows gets which of several calls' values is nobody's business."""
    columns = rng.sample(COLUMNS, rng.randint(2, len(COLUMNS)))
    columns = [column for column in COLUMNS if column in columns]
    calls = [_call(rng) for _ in range(rng.randint(1, calls_at_most))]
    listed = ", ".join([*columns, *(f"{call} AS w{i}" for i, call in enumerate(calls))])
    where = rng.choice(("", "", "", " WHERE x > 1 OR k IS NULL"))
    qualify = ""
    if calls_at_most > 1 and rng.random() < 0.3:
        by = f"{_partition(rng)} ORDER BY {_order(rng, everything=True)}"
        qualify = f" QUALIFY row_number() OVER ({by}) <= {rng.randint(1, 3)}"
    return Term("query", f"SELECT {listed} FROM t{where}{qualify}")


def _partition(rng: random.Random) -> str:
    keys = rng.choice(((), (), ("k",), ("k",), ("s",), ("k", "s"), ("k", "o")))
    return f"PARTITION BY {', '.join(keys)}" if keys else ""


def _order(rng: random.Random, everything: bool) -> str:
    """Some columns in some order; with `everything` all of them, so that nothing is left to chance."""
    first = rng.sample(COLUMNS, rng.randint(1, 2))
    others = [column for column in COLUMNS if column not in first]
    return ", ".join(
        f"{column}{rng.choice(('', ' DESC'))} NULLS {rng.choice(('FIRST', 'LAST'))}"
        for column in (*first, *(others if everything else ()))
    )


def _call(rng: random.Random) -> str:
    column = rng.choice(COLUMNS)
    match rng.randrange(7):
        case 0:
            return _over(rng, rng.choice(RANKS), False, "")
        case 1:
            return _over(rng, rng.choice(PLACED), True, "")
        case 2:
            name = rng.choice(("lag", "lead"))
            given = rng.choice(("", ", 1", ", 2", ", 3", ", 0"))
            default = rng.choice(("", f", {'NULL' if column == 's' else 7}")) if given else ""
            return _over(rng, f"{name}({column}{given}{default})", True, "")
        case 3:
            name = rng.choice(("first_value", "last_value"))
            return _over(rng, f"{name}({column})", True, _frame(rng))
        case 4:
            name = rng.choice(("first_value({}{})", "last_value({}{})", "nth_value({}, 2{})", "lag({}{})"))
            nulls = rng.choice(("", " IGNORE NULLS"))
            return _over(rng, name.format(column, nulls), True, "" if name[0] == "l" else _frame(rng))
        case 5:
            return _of_distances(rng)
    numbers = ("k", "o", "x", "d", "f")
    name, arguments = rng.choice(
        (
            ("count", ("*", *COLUMNS)),
            ("sum", numbers),
            ("avg", numbers),
            ("min", COLUMNS),
            ("max", COLUMNS),
        )
    )
    only = rng.choice(("", "", "", " FILTER (WHERE o > 1)"))
    return _over(rng, f"{name}({rng.choice(arguments)}){only}", rng.random() < 0.5, _frame(rng))


def _of_distances(rng: random.Random) -> str:
    """An aggregate over a frame of RANGE with distances or GROUPS, perhaps without some rows."""
    edges = rng.choice(
        ("1 PRECEDING AND 1 FOLLOWING", "2 PRECEDING AND CURRENT ROW", "1 FOLLOWING AND 2 FOLLOWING")
    )
    exclude = rng.choice(("", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"))
    frame = f"{rng.choice(('RANGE', 'GROUPS'))} BETWEEN {edges}{exclude}"
    by, turn = rng.choice(("k", "o", "x", "d")), rng.choice(("", " DESC"))
    order = f"ORDER BY {by}{turn} NULLS {rng.choice(('FIRST', 'LAST'))}"
    call = f"{rng.choice(('count', 'sum', 'min'))}({rng.choice(('o', 'x', 'd', 'f'))})"
    return f"{call} OVER ({_partition(rng)} {order} {frame})"


def _over(rng: random.Random, function: str, everything: bool, frame: str) -> str:
    ordered = everything or bool(frame) or rng.random() < 0.8
    order = f"ORDER BY {_order(rng, everything or 'ROWS' in frame)}" if ordered else ""
    return f"{function} OVER ({' '.join(part for part in (_partition(rng), order, frame) if part)})"


def _frame(rng: random.Random) -> str:
    unit = rng.choice(("", "ROWS", "ROWS", "ROWS", "RANGE"))
    if unit == "":
        return ""
    if unit == "RANGE":
        edges = rng.choice(
            (
                ("UNBOUNDED PRECEDING", "CURRENT ROW"),
                ("CURRENT ROW", "UNBOUNDED FOLLOWING"),
                ("CURRENT ROW", "CURRENT ROW"),
                ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING"),
            )
        )
    else:
        places = [None, -3, -2, -1, 0, 1, 2, 3, None]
        low, high = sorted(rng.sample(range(len(places)), 2))
        if rng.random() < 0.2 and low > 0:
            high = low
        edges = (_edge(places[low], low), _edge(places[high], high))
        if rng.random() < 0.15:
            edges = _of_the_row(rng)
    return f"{unit} BETWEEN {edges[0]} AND {edges[1]}"


def _of_the_row(rng: random.Random) -> tuple[str, str]:
    """Edges whose distance depends on the row."""
    distance = f"abs(coalesce({rng.choice(('k', 'o', 'x'))}, 1))"
    return rng.choice(
        (
            (f"{distance} PRECEDING", "CURRENT ROW"),
            ("1 PRECEDING", f"{distance} FOLLOWING"),
            (f"{distance} + 1 PRECEDING", f"{distance} PRECEDING"),
        )
    )


def _edge(place: int | None, index: int) -> str:
    if place is None:
        return "UNBOUNDED PRECEDING" if index == 0 else "UNBOUNDED FOLLOWING"
    if place == 0:
        return "CURRENT ROW"
    return f"{abs(place)} {'PRECEDING' if place < 0 else 'FOLLOWING'}"


def _history(rng: random.Random, epochs: int, distinct: bool) -> tuple[tuple[Change, ...], ...]:
    """Rows that come and go, often twice, often the same; in the end all of them go."""
    alive: list[Row] = []
    history = []
    for _ in range(epochs):
        changes = []
        for _ in range(rng.randint(0, 7)):
            if alive and rng.random() < 0.35:
                row = alive.pop(rng.randrange(len(alive)))
                changes.append(Change("t", row, -1))
            else:
                row = rng.choice(alive) if alive and rng.random() < 0.2 else _row(rng)
                if not (distinct and row in alive):
                    alive.append(row)
                    changes.append(Change("t", row, 1))
        history.append(tuple(changes))
    history.append(tuple(Change("t", row, -1) for row in alive))
    history.append((Change("t", _row(rng), 1),))
    return tuple(history)


def _row(rng: random.Random) -> Row:
    def value(*choices: object) -> object:
        return None if rng.random() < 0.15 else rng.choice(choices)

    return (
        value(1, 2),
        value(1, 2, 3),
        value("a", "b", "longer than eight", "longer than eigth"),
        value(0, 1, 2, 5),
        value(Decimal("1.25"), Decimal("-3.50"), Decimal("0.00")),
        value(0.1, 0.2, 1e10, -2.5),
    )
