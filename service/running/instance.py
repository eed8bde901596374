"""What a service stands on, whatever its state: its directory's lock, its catalog, its accounts, its place
among the services that share the catalog.

A catalog in PostgreSQL has one leader at a time, which alone writes to it (`service/catalog/leadership.py`).
A service that finds another leader follows that one if it is a standby, and refuses to start otherwise.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from engine.spark.sessions import Sessions
from service.accounts.accounts import Accounts
from service.accounts.audit import witness
from service.catalog.catalog import Catalog
from service.catalog.leadership import Leadership, has_leaders
from service.clock import Time
from service.errors import ServiceError
from service.metrics import Metrics
from service.settings.doors import is_loopback
from service.settings.settings import Settings

_log = logging.getLogger("freshet.leadership")
_PAUSE = 0.1
_PATIENCE = 20
"""Pauses after which a service that is no standby does not wait any longer for the lock of one that has
ended."""

Deposing = Callable[[], None]
"""Called on any thread, maybe more than once, when the service does not lead any more: it has to end."""


UNFINISHED = "restoring"
"""A file in a data directory into which a backup is being restored, or was until the restore was killed."""


class DirectoryInUse(ServiceError):
    """Another process has locked the data directory."""


@dataclass(eq=False)
class Instance:
    settings: Settings
    metrics: Metrics
    catalog: Catalog
    accounts: Accounts
    lock: int
    leadership: Leadership | None
    sessions: Sessions | None
    time: Time
    on_deposed: Deposing

    @classmethod
    def open(
        cls,
        settings: Settings,
        metrics: Metrics,
        sessions: Sessions | None,
        time: Time,
        on_deposed: Deposing,
    ) -> Instance:
        """Raises ServiceError if another process has the directory or leads, or if others could reach a
        service that has no keys."""
        with ExitStack() as undo:
            lock = lock_directory(settings)
            undo.callback(os.close, lock)
            leadership = leadership_of(settings)
            if leadership is not None:
                undo.callback(leadership.close)
            catalog = _opened(settings, leadership)
            undo.callback(catalog.close)
            catalog.witness = witness
            accounts = Accounts(
                catalog.transaction,
                reading=catalog.connections.reading_aside,
                refusals=settings.audit_refusals,
            )
            _check_address(settings, accounts)
            parts = (settings, metrics, catalog, accounts, lock, leadership, sessions, time, on_deposed)
            instance = cls(*parts)
            if leadership is not None and instance.leads:
                instance.lead()
            undo.pop_all()
        return instance

    @property
    def leads(self) -> bool:
        """Whether this service may make changes."""
        return not self.catalog.connections.follows

    def lead(self) -> None:
        """Takes the next token. Call it while having the lock."""
        assert self.leadership is not None
        connections = self.catalog.connections
        connections.on_deposed = self.on_deposed
        connections.lead(self.leadership.take())
        self.leadership.give_signs(self.on_deposed)
        _log.info("this service leads, with token %d", connections.token)

    def close(self) -> None:
        """Closes the database, lets another service lead and releases the directory."""
        self.catalog.close()
        if self.leadership is not None:
            self.leadership.close()
        os.close(self.lock)


def leadership_of(settings: Settings) -> Leadership | None:
    """The place among the services that share the catalog; None for a catalog that cannot be shared."""
    if not has_leaders(settings.url):
        return None
    scheme = "https" if settings.tls_certificate else "http"
    address = settings.advertised_url or f"{scheme}://{settings.host}:{settings.port}"
    return Leadership(settings.url, address, settings.leader_milliseconds / 1000)


def _opened(settings: Settings, leadership: Leadership | None) -> Catalog:
    """The catalog: of a leader, or of a standby once the leader has made it."""
    if leadership is None:
        return Catalog(settings.url)
    for waited in range(1 << 62):
        if leadership.acquire():
            return Catalog(settings.url, leadership.instance)
        if settings.is_standby:
            catalog = Catalog(settings.url, leadership.instance, follows=True)
            if catalog.connections.is_current:
                return catalog
            catalog.close()
        elif waited == _PATIENCE:
            break
        time.sleep(_PAUSE)
    raise ServiceError(
        "another service leads this catalog (FRESHET_DATABASE_URL)",
        "end it, or let this one wait for its end with FRESHET_STANDBY=yes",
    )


def _check_address(settings: Settings, accounts: Accounts) -> None:
    """Raises ServiceError if others could reach a service that has no keys."""
    if (
        not accounts.are_needed
        and not is_loopback(settings.host)
        and settings.open_to_anyone.lower() != "yes"
    ):
        raise ServiceError(
            f"the service would listen on {settings.host} (FRESHET_HOST), and there is no key",
            "make one with freshet keys add, or let anyone do anything with FRESHET_OPEN_TO_ANYONE=yes",
        )


def lock_directory(settings: Settings, *, restoring: bool = False) -> int:
    """Locks the data directory for this process, until the descriptor is closed.

    Raises DirectoryInUse if another process has it, ServiceError if a restore has not finished, unless this
    is one.
    """
    descriptor = os.open(settings.data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise DirectoryInUse(f"another process uses the data directory {settings.data}") from None
    if not restoring and (settings.data / UNFINISHED).exists():
        os.close(descriptor)
        raise ServiceError(
            f"a backup was being restored into {settings.data}, and was not finished",
            "run freshet restore again, or remove the directory",
        )
    return descriptor


@contextmanager
def stopped(settings: Settings) -> Iterator[None]:
    """Keeps services from the data directory and from its catalog. Raises DirectoryInUse if one runs."""
    with ExitStack() as closing:
        closing.callback(os.close, lock_directory(settings))
        leadership = leadership_of(settings)
        if leadership is not None:
            closing.callback(leadership.close)
            if not leadership.acquire(may_depose=False):
                raise DirectoryInUse("another service leads the catalog (FRESHET_DATABASE_URL)")
        yield
