"""Carries messages as Spark may: tasks run more than once, and messages of any attempt count.

Of a superstep that two attempts have made, each shard may have got another's: where an executor is
lost, some have read what the first had sent, and the others get what the second sends.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from engine.supersteps.executor import SuperstepTask
from engine.supersteps.messages import Message, MessageKind, decode_messages, encode_messages
from engine.supersteps.scan import scan
from engine.supersteps.worker import Worker, worker_of

Attempt = Callable[[], Iterable[Message]]
FILE = re.compile(r"[0-9a-f]{32}(\.batch|\.texts)?")


class Carrier:
    """A scan's frame is a list of lists of record batches, one a task. `compared` counts equal attempts."""

    def __init__(self, seed: int) -> None:
        self.compared = 0
        self._random = random.Random(seed)

    def run(self, task: SuperstepTask) -> list[Message]:
        worker = worker_of(task.spec)
        inboxes: list[list[Message]] = [[] for _ in range(task.shards)]
        for table, rows in task.scans.items():
            for number, batches in enumerate(rows.frame):
                for message in self._one_of([partial(scan, worker, table, number, batches)] * 2, worker):
                    inboxes[message.to].append(message)
        while True:
            sent = [m for number, inbox in enumerate(inboxes) for m in self._superstep(worker, number, inbox)]
            if all(message.kind is MessageKind.REPORT for message in sent):
                return sent
            inboxes = [[message for message in sent if message.to == to] for to in range(task.shards)]

    def _superstep(self, worker: Worker, number: int, inbox: list[Message]) -> list[Message]:
        """Two attempts that get the same, and one that gets it in another order."""
        shuffled = self._random.sample(inbox, len(inbox))
        orders = (inbox, inbox, shuffled)
        return self._one_of([partial(worker.superstep, number, order) for order in orders], worker)

    def _one_of(self, attempts: list[Attempt], worker: Worker) -> list[Message]:
        """For each shard what any of the attempts sends to it; the first two send the same."""
        sent = [
            [m for batch in encode_messages(attempt()) for m in decode_messages(batch)]
            for attempt in attempts
        ]
        contents = [[_content(message, worker) for message in messages] for messages in sent[:2]]
        assert contents[0] == contents[1]
        self.compared += 1
        chosen = [self._random.choice(sent) for _ in range(worker.spec.shards)]
        return [m for to, messages in enumerate(chosen) for m in messages if m.to == to]


def _content(message: Message, worker: Worker) -> object:
    """All that a message says, with what files hold in place of their names."""
    rows = None if message.array is None else message.array.tolist()
    return message.to, message.kind, _without_names(message.about, worker), rows


def _without_names(value: object, worker: Worker) -> object:
    match value:
        case str() if FILE.fullmatch(value):
            places = (worker.spec.directory / value, worker.spec.scratch / value)
            return next(path.read_bytes() for path in places if path.exists())
        case list() | tuple():
            return [_without_names(each, worker) for each in value]
        case Mapping():
            return {key: _without_names(each, worker) for key, each in value.items()}
        case _:
            return value
