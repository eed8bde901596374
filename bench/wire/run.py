"""All figures, by turns: in each turn every system takes every figure once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.apart import apart
from bench.data import SEED
from bench.wire import following
from bench.wire.figures import Figures, Taking
from bench.wire.frontend import Exchange, answer, run
from bench.wire.generator import NAME, WireClient, drive
from bench.wire.own_postgres import programs
from bench.wire.rows import COLUMNS, body, values
from bench.wire.systems import POSTGRES, freshet, postgres

FORMS = ("text", "csv", "binary")
_READ = "SELECT * FROM sales WHERE id = $1"
_INSERT = "INSERT INTO {table} VALUES ($1, $2, $3, $4, $5)"
_READ_GOALS = {1: "median 0.3 ms, half the rate", 32: "half the rate"}
_CLIENTS = 32


@dataclass(frozen=True)
class Sizes:
    """How much a turn takes: `rows` of the table, point `reads` and one-row `inserts` of all connections
    together, rows that are `followed`, by so many `followers`."""

    turns: int
    rows: int
    reads: int
    inserts: int
    followed: int
    followers: int


FULL = Sizes(3, 300_000, 19_200, 6_400, 50, 100)
QUICK = Sizes(1, 300, 64, 64, 2, 3)


def measure(sizes: Sizes, progress: Callable[[str], None] = lambda line: None) -> Figures:
    """The figures of each system that is there. Raises WrongAnswer."""
    figures: Figures = {}
    bodies = {form: body(form, sizes.rows) for form in FORMS}
    with ExitStack() as running:
        directory = running.enter_context(TemporaryDirectory(prefix="freshet-bench-"))
        systems = [running.enter_context(freshet(Path(directory)))]
        where = programs()
        if where is not None:
            systems.append(running.enter_context(postgres(where)))
        for system in systems:
            following.prepare(system.port, system.name)
        for turn in range(sizes.turns):
            for system in systems:
                progress(f"turn {turn + 1} of {sizes.turns}: {system.name}")
                _take(Taking(system, figures), sizes, turn, bodies)
    return figures


def _take(taking: Taking, sizes: Sizes, turn: int, bodies: dict[str, bytes]) -> None:
    with WireClient(taking.system.port) as client:
        for form in FORMS:
            _copy_in(
                taking, client, form, "sales" if (turn, form) == (0, "text") else f"{form}_{turn}", bodies
            )
        if taking.system.name == POSTGRES:
            client.run("ANALYZE")
        for form in FORMS:
            _copy_out(taking, client, form, sizes.rows)
    for clients in (1, _CLIENTS):
        _read(taking, sizes, turn, clients)
    _insert(taking, sizes, turn)
    rows = range(turn * sizes.followed, (turn + 1) * sizes.followed)
    _follow(taking, sizes.followers, rows)


def _copy_in(taking: Taking, client: WireClient, form: str, table: str, bodies: dict[str, bytes]) -> None:
    client.run(f"CREATE TABLE {table} ({COLUMNS})")
    sql, data = f"COPY {table} FROM STDIN (FORMAT {form})", bodies[form]
    rows = bodies["csv"].count(b"\n")
    taking.copied(f"COPY in, {form}: rows", rows, lambda: client.copy_in(sql, data), "300,000")


def _copy_out(taking: Taking, client: WireClient, form: str, rows: int) -> None:
    sql = f"COPY sales TO STDOUT (FORMAT {form})"
    taking.copied(f"COPY out, {form}: rows", rows, lambda: client.copy_out(sql))


def _read(taking: Taking, sizes: Sizes, turn: int, clients: int) -> None:
    rng, port = np.random.default_rng(SEED + turn), taking.system.port
    lists = [_reads(rng, sizes.rows, sizes.reads // clients) for _ in range(clients)]
    name = f"point reads, {clients} connection{'s' if clients > 1 else ''}"
    taking.driven(name, lambda: apart(drive, port, _READ, lists), _READ_GOALS[clients])


def _reads(rng: np.random.Generator, rows: int, number: int) -> list[Exchange]:
    ids = rng.integers(rows, size=number).tolist()
    return [Exchange(run(NAME, str(id)), answer("SELECT 1", values(id))) for id in ids]


def _insert(taking: Taking, sizes: Sizes, turn: int) -> None:
    table, port = f"inserted_{turn}", taking.system.port
    with WireClient(port) as client:
        client.run(f"CREATE TABLE {table} ({COLUMNS})")
    done = answer("INSERT 0 1")
    whole = [Exchange(run(NAME, *values(id)), done) for id in range(sizes.inserts)]
    lists = [whole[client::_CLIENTS] for client in range(_CLIENTS)]
    sql = _INSERT.format(table=table)
    taking.driven(f"one-row INSERTs, {_CLIENTS} connections", lambda: apart(drive, port, sql, lists))


def _follow(taking: Taking, followers: int, rows: Sequence[int]) -> None:
    port, name = taking.system.port, taking.system.name
    taking.driven(
        f"from commit to {followers} followers",
        lambda: apart(following.follow, port, name, followers, rows),
        "median 5 ms",
        is_latency=True,
    )
