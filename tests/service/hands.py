"""A clock that is set by hand, for tests of a service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.service.client import Client

_1970 = datetime(1970, 1, 1, tzinfo=UTC)


class Hands:
    """Shows `at` until that is changed."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return (self.at - _1970) // timedelta(microseconds=1)

    def set(self, at: datetime, client: Client) -> None:
        """Sets the time, and waits until the client's service has made the epoch that is due then, if any."""
        self.at = at
        for _ in range(
            2
        ):  # the writer looks at the clock after each job, so it has looked once the next job is done
            client.run(client.runtime.transact(lambda transaction: None))
