"""Compaction: differences held and memory during an endless churn of a bounded set of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench import measure as memory
from bench.curves.base import Axis, Curve, Plot, Points, feed
from bench.data import SEED, insertion
from bench.workloads.base import integers
from engine.api import Dataflow
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import AggregateSpec, Filter, Function, Reduce, Source
from engine.runtime.engine import Engine
from engine.schema import BIGINT, BOOLEAN


@dataclass(frozen=True)
class Size:
    """`changes` in advances of `batch`, over `keys` rows; measured and forgotten `samples` times."""

    changes: int
    batch: int
    keys: int
    samples: int


FULL = Size(10_000_000, 10_000, 100_000, 20)
QUICK = Size(2_000, 100, 200, 5)
OPERATORS = "operators alone"
VIEW = "a view, forgotten now and then"
SCHEMA = integers("key", "value")


def measure(size: Size) -> Curve:
    held: dict[str, Points] = {OPERATORS: [], VIEW: []}
    resident: dict[str, Points] = {OPERATORS: [], VIEW: []}
    for name, run in ((OPERATORS, _operators), (VIEW, _view)):
        memory.release_memory()
        before = memory.resident()
        for changes, differences in run(size):
            memory.release_memory()
            held[name].append((changes, differences))
            resident[name].append((changes, max(0, memory.resident() - before)))
    x = Axis("changes so far", log=False)
    return Curve(
        "Compaction",
        f"A count of {size.keys:,} rows, of which {size.batch // 2:,} get other values in every epoch. A "
        "view keeps its epochs and those of its input until `forget`; operators keep only epochs that can "
        "still be told apart. Lines should stay level. Memory is the growth of the process, after it has "
        "returned free memory.",
        (
            Plot("differences held", x, Axis("differences", log=False), held),
            Plot("resident memory", x, Axis("memory", "B", log=False), resident),
        ),
    )


def _operators(size: Size) -> Iterator[tuple[int, int]]:
    """A count whose input is not kept, under a filter that passes nothing on, so nothing is kept."""
    engine = Engine()
    source = Source("rows", SCHEMA)
    engine.create_source("rows", SCHEMA, keep=False)
    counts = Reduce(source, (1,), (AggregateSpec(Function.COUNT, None, BIGINT),))
    negative = Call(Op.LT, (ColumnRef(1, BIGINT), Literal(0, BIGINT)), BOOLEAN)
    engine.create_view("nothing", Filter(counts, negative))
    for changes, delta in _churn(size, engine.snapshot.upper):
        engine.stage({"rows": delta}, engine.snapshot.upper + 1).publish()
        if changes is not None:
            yield changes, engine.differences()


def _view(size: Size) -> Iterator[tuple[int, int]]:
    flow = Dataflow()
    rows = flow.input("rows", key=int, value=int)
    flow.output(rows.count("value"))
    for changes, delta in _churn(size, 0):
        feed(rows, delta)
        flow.advance()
        if changes is not None:
            flow.forget(flow.time - 1)  # type: ignore[operator]
            yield changes, flow.differences()


def _churn(size: Size, epoch: int) -> Iterator[tuple[int | None, np.ndarray]]:
    """The load, then a delta an epoch; with it, when it is time to measure, the number of changes so far."""
    rng = np.random.default_rng(SEED)
    words = np.stack((np.arange(size.keys), rng.integers(0, size.keys, size.keys)))
    yield None, insertion(words, epoch)
    epochs = size.changes // size.batch
    for at in range(1, epochs + 1):
        keys = rng.choice(size.keys, size.batch // 2, replace=False)
        gone = insertion(words[:, keys], epoch + at)
        gone[-1] = -1
        words[1, keys] = rng.integers(0, size.keys, len(keys))
        delta = np.concatenate((gone, insertion(words[:, keys], epoch + at)), axis=1)
        yield at * size.batch if at % (epochs // size.samples) == 0 else None, delta
