"""A cluster: what a load takes on more machines than there are.

The supersteps of a load are run as Spark would run them, but one shard after the other in this process, each
on the clock. A superstep takes as long as its slowest shard; then what shards send each other has to pass the
network, and Spark takes its time for each exchange, which is measured here with a load of a few rows.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.curves.base import Axis, Curve, Plot, Points
from bench.subject import Subject
from bench.workloads import build
from bench.workloads.base import Workload, load
from engine.spark.sessions import Sessions, SparkOptions
from engine.spark.transport import SparkTransport
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor, SuperstepTask, Transport
from engine.supersteps.local import run_here
from engine.supersteps.messages import Message
from engine.supersteps.spec import SuperstepLimits
from engine.supersteps.worker import Worker, worker_of

CORES = 16
"""Of a machine."""
NETWORK = 1.25e9
"""Bytes a second that a machine sends, and as many that it receives: ten gigabits."""
WARM = 3


@dataclass(frozen=True)
class Size:
    """`shards`, each on a core of its own; `warm` loads on Spark are timed, none if it is 0."""

    shards: tuple[int, ...]
    warm: int
    is_quick: bool


FULL = Size((1, 2, 4, 8, 16, 32, 64, 100), 3, is_quick=False)
QUICK = Size((1, 3), 0, is_quick=True)
WORKLOADS = ("W1", "W2")


@dataclass
class Exchange:
    """A superstep: the seconds of each shard, and the bytes that each has sent to others."""

    seconds: list[float] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    @property
    def slowest(self) -> float:
        return max(self.seconds)

    @property
    def passing(self) -> float:
        """The seconds in which the bytes of the busiest machine pass the network; none for one machine."""
        machines = [sum(self.sent[start : start + CORES]) for start in range(0, len(self.sent), CORES)]
        return max(machines) / NETWORK if len(machines) > 1 else 0.0


class Watched:
    """A worker of which each superstep of a shard is timed; shards come in order."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.exchanges: list[Exchange] = []

    def superstep(self, number: int, messages: Iterable[Message]) -> Iterator[Message]:
        if number == 0:
            self.exchanges.append(Exchange())
        start = time.process_time()
        sent = list(self._worker.superstep(number, messages))
        self.exchanges[-1].seconds.append(time.process_time() - start)
        leaving = (m.array for m in sent if m.array is not None and m.to // CORES != number // CORES)
        self.exchanges[-1].sent.append(sum(array.nbytes for array in leaving))
        return iter(sent)


class OneByOne:
    """A transport within this process; `exchanges` are those of the last task."""

    exchanges: list[Exchange]

    def run(self, task: SuperstepTask) -> list[Message]:
        worker = Watched(worker_of(task.spec))
        reports = run_here(worker, task.shards)
        self.exchanges = worker.exchanges
        return reports


def measure(size: Size) -> Curve:
    with TemporaryDirectory() as folder:
        path = Path(folder)
        each = _exchange(size.warm, path) if size.warm else 0.0
        computed: dict[str, Points] = {}
        whole: dict[str, Points] = {}
        for name in WORKLOADS:
            computed[name], whole[name] = [], []
            for turn, shards in enumerate((size.shards[-1], *size.shards)):
                transport = OneByOne()
                with _uncollected():
                    _load(build(name, size.is_quick), transport, shards, path / f"{name}-{turn}")
                if turn == 0:
                    continue  # it loads kernels
                slowest = sum(exchange.slowest for exchange in transport.exchanges)
                passing = sum(exchange.passing for exchange in transport.exchanges)
                computed[name].append((shards, slowest))
                whole[name].append((shards, slowest + passing + each * len(transport.exchanges)))
    x = Axis("shards, each on a core")
    return Curve(
        "A cluster",
        "The load of W1 (5,000,000 edges) and of W2 (6,000,000 lines) in supersteps, as Spark runs what is "
        "large. The shards were computed one after the other on this machine. A superstep takes as long as "
        f"its slowest shard. To this the second plot adds the network, with {NETWORK / 1e9:.2f} GB a second "
        f"for every machine of {CORES} cores, and {1000 * each:.0f} ms for each exchange, which is what "
        "Spark takes here for one of a few rows. So a cluster pays where shards have seconds of work, and "
        "one machine is faster for all that is smaller.",
        (
            Plot("the slowest shards", x, Axis("time", "s"), computed),
            Plot("with exchanges", x, Axis("time", "s"), whole),
        ),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Garbage is not collected meanwhile: this process has more of it than a worker of Spark."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _load(workload: Workload, transport: Transport, shards: int, path: Path) -> int:
    """Load the workload's tables under its views, in supersteps; returns the nanoseconds."""
    directory = StateDirectory(path / "state")
    executor = SuperstepExecutor(directory, path / "scratch", transport, shards, SuperstepLimits())
    subject = Subject(workload)
    return subject.advance(load(workload, subject.epoch), executor)


def _exchange(warm: int, path: Path) -> float:
    """The seconds of an exchange of Spark with few rows: the least of some loads, once it is warm."""
    sessions = Sessions(SparkOptions(path / "spark"))
    try:
        transport, shards = SparkTransport(sessions), 2
        counted = OneByOne()
        _load(build("W1", quick=True), counted, shards, path / "counted")
        took = [
            _load(build("W1", quick=True), transport, shards, path / f"warm-{turn}")
            for turn in range(WARM + warm)
        ]
        return min(took[WARM:]) / 1e9 / len(counted.exchanges)
    finally:
        sessions.stop()
