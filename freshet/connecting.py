"""`connect`: a connection to a service by its address."""

from __future__ import annotations

from freshet.connection import Connection
from freshet.sending.retrying import Retries
from freshet.sending.senders import HttpSender, Verify

URL = "http://127.0.0.1:8000"
TIMEOUT = 600.0
RETRIES = 8


def connect(
    url: str = URL,
    key: str | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    verify: Verify = True,
) -> Connection:
    """A connection to the service at `url`.

    `key` is sent as a bearer token. A call fails if the service is silent for `timeout` seconds. It is
    repeated up to `retries` times, with pauses up to five seconds, if that is safe. `verify` is an SSLContext
    for a service whose certificate this machine does not trust.
    """
    return Connection(HttpSender(url, key, timeout, verify), Retries(retries))
