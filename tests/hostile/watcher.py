"""The watcher: a process that posts one row every ten milliseconds and writes down how long each took.

Posts are due at fixed moments. If one takes long, those that were due meanwhile count as having waited until
it was answered, and are not sent. A line of its output is a post: when it was due and the delay, both in
nanoseconds of the machine's clock, and the status of the answer, 0 without one.
"""

from __future__ import annotations

import http.client
import itertools
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

EVERY = 10_000_000
"""Nanoseconds from post to post."""
NODES = 30
EDGES = 40
TICKS = 500
TIMEOUT = 600.0
"""Seconds after which a post has failed; longer than any attack."""


def post_row(number: int, chance: random.Random) -> tuple[str, str]:
    """The table and the body of a post. Every fifth changes an edge."""
    if number % 5:
        return "ticks", f'[{{"upsert":{{"id":{number % TICKS},"node":{chance.randrange(NODES)}}}}}]'
    a, b = chance.randrange(NODES), chance.randrange(NODES)
    return "edges", f'[{{"upsert":{{"id":{number // 5 % EDGES},"a":{a},"b":{b}}}}}]'


def watch(port: int) -> None:
    """Posts until the process is ended."""
    chance = random.Random(port)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    due = time.monotonic_ns()
    for number in itertools.count():
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        table, body = post_row(number, chance)
        try:
            connection.request(
                "POST", f"/v1/tables/{table}/deltas", body, {"Content-Type": "application/json"}
            )
            response = connection.getresponse()
            response.read()
            status = response.status
        except (OSError, http.client.HTTPException):
            connection.close()
            status = 0
        done = time.monotonic_ns()
        while due <= done:
            print(due, done - due, status)
            due += EVERY
        sys.stdout.flush()


@dataclass(frozen=True)
class Post:
    due: int
    delay: int
    status: int


class Watcher:
    """The running process, and what it has written so far."""

    def __init__(self, port: int) -> None:
        self._posts: list[Post] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.watcher", str(port)], stdout=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            if line.endswith("\n"):  # the last line is cut if the process was killed
                self._posts.append(Post(*map(int, line.split())))

    def posts(self, since: int, until: int) -> list[Post]:
        """The posts that were due between two moments. Those without an answer waited until the end."""
        known = list(self._posts)
        found = [post for post in known if since <= post.due <= until]
        following = known[-1].due + EVERY if known else since
        found += [Post(due, until - due, 0) for due in range(max(since, following), until, EVERY)]
        return found

    def answered_after(self, moment: int, seconds: float) -> bool:
        """Whether a post that was due after the moment succeeds before the seconds are over."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(post.due > moment and post.status == 200 for post in self._posts[-2000:]):
                return True
            time.sleep(0.02)
        return False

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


if __name__ == "__main__":
    watch(int(sys.argv[1]))
