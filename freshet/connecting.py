"""`connect` and `connect_async`: connections by an address, or to a service inside this process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from freshet.async_connection import AsyncConnection
from freshet.connection import Connection
from freshet.errors import InvalidRequestError
from freshet.sending.retrying import Retries
from freshet.sending.senders import AsyncHttpSender, HttpSender, Verify

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
    embedded: bool = False,
    data: str | Path | None = None,
) -> Connection:
    """A connection to the service at `url`, or to one inside this process if `embedded`.

    `key` is sent as a bearer token. A call fails if the service is silent for `timeout` seconds. It is
    repeated up to `retries` times, with pauses up to five seconds, if that is safe. `verify` is an SSLContext
    for a service whose certificate this machine does not trust.

    An embedded service keeps its state in the directory `data`; without one, in a temporary directory that
    goes when the connection is closed.
    """
    if embedded:
        module = _embedded()
        return Connection(module.EmbeddedSender(module.EmbeddedService(data)), Retries(retries))
    _check_remote(data)
    return Connection(HttpSender(url, key, timeout, verify), Retries(retries))


def connect_async(
    url: str = URL,
    key: str | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    verify: Verify = True,
    embedded: bool = False,
    data: str | Path | None = None,
) -> AsyncConnection:
    """The same with methods to be awaited. An embedded service blocks until it has started."""
    if embedded:
        module = _embedded()
        return AsyncConnection(module.AsyncEmbeddedSender(module.EmbeddedService(data)), Retries(retries))
    _check_remote(data)
    return AsyncConnection(AsyncHttpSender(url, key, timeout, verify), Retries(retries))


def _embedded() -> Any:
    """The module that runs a service. It takes seconds to load, and connections over HTTP do without it."""
    return import_module("freshet.sending.embedded")


def _check_remote(data: object) -> None:
    if data is not None:
        raise InvalidRequestError("data is for an embedded service", "pass embedded=True, or leave out data")
