"""`connect` and `connect_async`: connections by an address, or to a service inside this process."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from freshet.async_connection import AsyncConnection
from freshet.connection import Connection
from freshet.errors import InvalidRequestError
from freshet.sending.leader_senders import AsyncLeaderSender, LeaderSender
from freshet.sending.retrying import Retries
from freshet.sending.senders import AsyncHttpSender, AsyncSender, HttpSender, Sender, Verify

URL = "http://127.0.0.1:8000"
TIMEOUT = 600.0
RETRIES = 8
Addresses = str | Sequence[str]
"""One URL, or those of services that share a catalog."""


def connect(
    url: Addresses = URL,
    key: str | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
    verify: Verify = True,
    embedded: bool = False,
    data: str | Path | None = None,
) -> Connection:
    """A connection to the service at `url`, or to one inside this process if `embedded`. If there are several
    URLs, calls go to the service that leads (docs/standby.md).

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
    senders = [HttpSender(each, key, timeout, verify) for each in _urls(url)]
    sender: Sender = senders[0] if len(senders) == 1 else LeaderSender(senders)
    return Connection(sender, Retries(retries))


def connect_async(
    url: Addresses = URL,
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
    senders = [AsyncHttpSender(each, key, timeout, verify) for each in _urls(url)]
    sender: AsyncSender = senders[0] if len(senders) == 1 else AsyncLeaderSender(senders)
    return AsyncConnection(sender, Retries(retries))


def _embedded() -> Any:
    """The module that runs a service. It takes seconds to load, and connections over HTTP do without it."""
    return import_module("freshet.sending.embedded")


def _urls(url: Addresses) -> list[str]:
    urls = [url] if isinstance(url, str) else list(url)
    if not urls:
        raise InvalidRequestError("there is no address", "pass the URL of a service, or a list of them")
    return urls


def _check_remote(data: object) -> None:
    if data is not None:
        raise InvalidRequestError("data is for an embedded service", "pass embedded=True, or leave out data")
