"""Supersteps in one process, one shard after the other: the reference for transports, without a cluster.

Messages are encoded and decoded as on a cluster, and arrive in a random order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Protocol

from engine.supersteps.messages import Message, MessageKind, decode_messages, encode_messages


class Superstep(Protocol):
    """What the shards do: a `Worker`, or one that watches it."""

    def superstep(self, number: int, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages that shard `number` sends after it received `messages`."""


def run_here(worker: Superstep, shards: int, seed: int = 0) -> list[Message]:
    """The reports of all shards of the worker's epoch."""
    random_order = random.Random(seed)
    inboxes: list[list[Message]] = [[] for _ in range(shards)]
    while True:
        sent = [m for number, inbox in enumerate(inboxes) for m in _passed(worker.superstep(number, inbox))]
        random_order.shuffle(sent)
        if all(message.kind is MessageKind.REPORT for message in sent):
            return sent
        inboxes = [[message for message in sent if message.to == number] for number in range(shards)]


def _passed(messages: Iterable[Message]) -> Iterator[Message]:
    for batch in encode_messages(messages):
        yield from decode_messages(batch)
