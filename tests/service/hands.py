"""A clock that is set by hand, for a service that shall know no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.service.client import Client

_1970 = datetime(1970, 1, 1, tzinfo=UTC)


class Hands:
    """It shows `at` until that is changed."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return (self.at - _1970) // timedelta(microseconds=1)

    def set(self, at: datetime, client: Client) -> None:
        """Let it show another time, and the client's service make the epoch that is due then, if one is."""
        self.at = at
        for _ in range(
            2
        ):  # the writer looks at the clock after a job, and has looked when the next one is done
            client.run(client.runtime.transact(lambda transaction: None))
