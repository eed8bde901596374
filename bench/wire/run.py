"""All figures, by turns: in each turn every system takes every figure once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from bench.data import SEED
from bench.measure import Timing
from bench.wire import following
from bench.wire.frontend import Exchange, answer
from bench.wire.frontend import run as executed
from bench.wire.generator import Driven, WireClient, apart, drive
from bench.wire.rows import COLUMNS, body, values
from bench.wire.systems import System, freshet, postgres, programs

FORMS = ("text", "csv", "binary")
_READ = "SELECT * FROM sales WHERE id = $1"
_INSERT = "INSERT INTO {table} VALUES ($1, $2, $3, $4, $5)"


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


FULL = Sizes(3, 300_000, 20_000, 5_000, 100, 100)
QUICK = Sizes(1, 300, 40, 40, 2, 3)


@dataclass
class Figure:
    """What one system has done in one figure, over all turns: its operations, their nanoseconds where each
    was timed, and seconds of the clock, of the server's processors and of the client's."""

    operations: int = 0
    taken: list[int] = field(default_factory=list)
    elapsed: float = 0.0
    server: float = 0.0
    client: float = 0.0

    @property
    def timing(self) -> Timing | None:
        return Timing.of(self.taken) if self.taken else None


Figures = dict[str, dict[str, Figure]]
"""By figure and system."""


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
                progress(f"turn {turn + 1}: {system.name}")
                _turn(Taking(system, figures), sizes, turn, bodies)
    return figures


@dataclass(frozen=True)
class Taking:
    """Notes what one system does."""

    system: System
    figures: Figures

    @contextmanager
    def noting(self, name: str) -> Iterator[Figure]:
        """The figure, to which the server's processor time is added in the end."""
        figure = self.figures.setdefault(name, {}).setdefault(self.system.name, Figure())
        before = self.system.processor
        yield figure
        figure.server += self.system.processor - before
        f = figure
        from bench.table import duration

        t = f.timing
        print(
            f"{name:35} {self.system.name:12} {f.operations / f.elapsed:12,.0f}/s  cpu/op {f.server / f.operations * 1e6:9.1f} us  client {f.client / f.operations * 1e6:6.1f} us",
            "" if t is None else f"median {duration(t.median)} p99 {duration(t.p99)}",
            flush=True,
        )

    def driven(self, name: str, found: Callable[[], Driven]) -> None:
        with self.noting(name) as figure:
            driven = found()
            figure.taken += driven.taken
            figure.operations += len(driven.taken)
            figure.elapsed += driven.elapsed
            figure.client += driven.client


def _turn(taking: Taking, sizes: Sizes, turn: int, bodies: dict[str, bytes]) -> None:
    with WireClient(taking.system.port) as client:
        for form in FORMS:
            table = "sales" if turn == 0 and form == "text" else f"{form}_{turn}"
            client.run(f"CREATE TABLE {table} ({COLUMNS})")
            _copied(
                taking,
                f"COPY in, {form}",
                sizes.rows,
                lambda: client.copy_in(f"COPY {table} FROM STDIN (FORMAT {form})", bodies[form]),
            )
        for form in FORMS:
            _copied(
                taking,
                f"COPY out, {form}",
                sizes.rows,
                lambda: client.copy_out(f"COPY sales TO STDOUT (FORMAT {form})"),
            )
        client.run("ANALYZE sales") if taking.system.name != "Freshet" else None
    port = taking.system.port
    rng = np.random.default_rng(SEED + turn)
    for clients in (1, 32):
        lists = [_reads(rng, sizes, sizes.reads // clients) for _ in range(clients)]
        taking.driven(f"point reads, {_connections(clients)}", lambda: apart(drive, port, _READ, lists))
    with WireClient(port) as client:
        client.run(f"CREATE TABLE inserted_{turn} ({COLUMNS})")
    lists = _inserts(sizes, 32)
    sql = _INSERT.format(table=f"inserted_{turn}")
    taking.driven("one-row INSERTs, 32 connections", lambda: apart(drive, port, sql, lists))
    rows = range(turn * sizes.followed, (turn + 1) * sizes.followed)
    taking.driven(
        f"commit to {sizes.followers} followers",
        lambda: apart(following.follow, port, taking.system.name, sizes.followers, rows),
    )


def _connections(number: int) -> str:
    return "1 connection" if number == 1 else f"{number} connections"


def _copied(taking: Taking, name: str, rows: int, copy: Callable[[], object]) -> None:
    with taking.noting(name) as figure:
        start = perf_counter()
        copy()
        figure.elapsed += perf_counter() - start
        figure.operations += rows


def _reads(rng: np.random.Generator, sizes: Sizes, number: int) -> list[Exchange]:
    ids = rng.integers(sizes.rows, size=number).tolist()
    return [Exchange(executed("measured", str(id)), answer("SELECT 1", values(id))) for id in ids]


def _inserts(sizes: Sizes, clients: int) -> list[list[Exchange]]:
    done = answer("INSERT 0 1")
    whole = [Exchange(executed("measured", *values(id)), done) for id in range(sizes.inserts)]
    return [whole[client::clients] for client in range(clients)]
