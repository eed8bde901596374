"""A program with a session of its own: where did workers find the engine, and did they compile kernels?

`python -m tests.spark.where SCRATCH OPTIONS`, with the session's options as JSON. Each line of its input is
a number of tasks; it runs that many and prints what each of them saw.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from engine.spark.sessions import Sessions, SparkOptions


def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a worker, which receives it by value, so its imports happen there."""
    import sys  # noqa: PLC0415
    import time  # noqa: PLC0415

    import engine.runtime  # noqa: PLC0415

    kernels = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("engine.kernels.")
        for value in vars(module).values()
        if hasattr(value, "stats")
    ]
    compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)
    loaded = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels)
    time.sleep(0.1)
    for batch in batches:
        for row in range(batch.num_rows):
            yield pa.RecordBatch.from_pydict(
                {
                    "id": batch["id"][row : row + 1],
                    "engine": [str(engine.__file__)],
                    "compiled": [compiled],
                    "loaded": [loaded],
                }
            )


def main() -> None:
    sessions = Sessions(SparkOptions(Path(sys.argv[1]), **json.loads(sys.argv[2])))
    for line in sys.stdin:
        tasks = sessions.get().range(int(line), numPartitions=int(line))
        rows = tasks.mapInArrow(look, "id long, engine string, compiled long, loaded long").collect()
        print(json.dumps([row.asDict() for row in rows]), flush=True)
    sessions.stop()


if __name__ == "__main__":
    main()
