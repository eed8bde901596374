"""Memory under churn: rows that are replaced again and again, and what the service holds meanwhile.

A service with two small views takes changes of the same rows. Its anonymous memory should level off: it
follows what is live, not what has come. It rises between checkpoints and falls at each, so growth is that of
the least samples, from the third quarter to the last, in bytes a change. Pages of mapped files are shown
apart, because Linux may drop them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench import measure
from bench.client import drive, post
from bench.data import SEED
from bench.http import JSON, NDJSON, call, service

CHANGES = "/v1/tables/t/deltas"
TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT NOT NULL, a BIGINT NOT NULL, s TEXT NOT NULL)"
VIEWS = {
    "totals": "SELECT g, count(*) AS n, sum(a) AS total FROM t GROUP BY g",
    "few": "SELECT id, a, s FROM t WHERE a % 16 = 0",
}
ROWS, GROUPS = 20_000, 200
SHORT = {"FRESHET_HISTORY_SECONDS": "10", "FRESHET_CHECKPOINT_BYTES": str(8 << 20)}
SINGLE = SHORT | {"FRESHET_CHECKPOINT_COMMITS": "2000"}
FOR_EVER = {"FRESHET_CHECKPOINT_BYTES": str(8 << 20)}
FULL, QUICK = 5.0, 0.1
"""How long the cases are."""
HEADER = "case,changes,anonymous,files,texts,dictionary,history,traces,remembered"

Text = Callable[[int], str]
"""The text of the change with a number."""


@dataclass(frozen=True)
class Churn:
    """`rounds` samples, one after every `posts` posts of `batch` changes each."""

    name: str
    settings: dict[str, str]
    text: Text
    batch: int
    posts: int
    rounds: int


@dataclass(frozen=True)
class Sample:
    """What the service holds after a number of changes: bytes in memory and of mapped files, the number of
    texts, and the bytes that the service counts of the dictionary, of history, traces and remembered results.
    """

    changes: int
    anonymous: int
    files: int
    texts: int
    dictionary: int
    history: int
    traces: int
    remembered: int


def cases(scale: float) -> tuple[Churn, ...]:
    """The cases, with `scale` times as many changes as usual."""
    rounds = max(4, round(40 * scale))

    def same(number: int) -> str:
        return f"text {number % 1000}"

    def fresh(number: int) -> str:
        return f"the text of change {number:012d}"

    return (
        Churn("numbers and 10 s of history", SHORT, same, 1_000, 20, rounds),
        Churn("new texts and 10 s of history", SHORT, fresh, 1_000, 20, rounds),
        Churn("numbers and history for ever", FOR_EVER, same, 1_000, 20, rounds),
        Churn("single rows and 10 s of history", SINGLE, fresh, 1, 1_000, rounds),
    )


def run(scale: float, chosen: str = "") -> dict[str, float]:
    """Measure the cases whose names contain `chosen`, and print the samples; returns growths by case."""
    print(HEADER)
    growths = {}
    for churn in cases(scale):
        if chosen in churn.name:
            samples = []
            for sample in measured(churn):
                print(churn.name, *astuple(sample), sep=",", flush=True)
                samples.append(sample)
            growths[churn.name] = growth(samples)
            print(f"{churn.name}: {growths[churn.name]:.1f} bytes a change", flush=True)
    return growths


def growth(samples: list[Sample]) -> float:
    """The bytes of anonymous memory that a change adds, over the second half of the samples."""
    half, quarter = len(samples) // 2, len(samples) // 4
    before, after = samples[half : len(samples) - quarter], samples[len(samples) - quarter :]
    risen = min(it.anonymous for it in after) - min(it.anonymous for it in before)
    return risen / (after[0].changes - before[0].changes)


def measured(churn: Churn) -> Iterator[Sample]:
    """Run a service under the changes of a case, and sample what it holds."""
    rng = np.random.default_rng(SEED)
    with (
        TemporaryDirectory(prefix="freshet-bench-") as directory,
        service(Path(directory), churn.settings) as (port, process),
    ):
        call(port, "POST", "/v1/tables", {"sql": TABLE})
        for name, sql in VIEWS.items():
            call(port, "POST", "/v1/views", {"name": name, "sql": sql})
        sent = 0
        for bodies in _rounds(churn, rng):
            drive(("127.0.0.1", port), bodies, 1)
            sent += churn.batch * churn.posts
            yield _sample(port, process, sent)


def _rounds(churn: Churn, rng: np.random.Generator) -> Iterator[list[bytes]]:
    number = 0
    kind = NDJSON if churn.batch > 1 else JSON
    for _ in range(churn.rounds):
        bodies = []
        for _ in range(churn.posts):
            lines = []
            for id, a in zip(*rng.integers(0, ROWS, (2, churn.batch)).tolist(), strict=True):
                row = f'{{"id":{id},"g":{id % GROUPS},"a":{a},"s":"{churn.text(number)}"}}'
                lines.append(f'{{"upsert":{row}}}')
                number += 1
            body = "\n".join(lines) if churn.batch > 1 else f"[{lines[0]}]"
            bodies.append(post(CHANGES, body.encode(), kind))
        yield bodies


def _sample(port: int, process: int, changes: int) -> Sample:
    held = json.loads(call(port, "GET", "/v1/status"))["held"]
    kinds = [held[f"{kind}_bytes"] for kind in ("dictionary", "history", "trace", "remembered")]
    return Sample(changes, measure.anonymous(process), measure.mapped(process), held["texts"], *kinds)
