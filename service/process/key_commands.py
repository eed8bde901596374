"""`freshet keys`: makes, lists, rotates and revokes keys in the catalog, while no service runs.

A running service keeps its accounts in memory, so its keys are changed through it: the functions refuse then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from service.accounts.accounts import Accounts
from service.accounts.audit import Act, acting
from service.accounts.principals import ANYONE
from service.catalog.catalog import Catalog
from service.errors import Conflict, ServiceError, start_failure
from service.names import fold_name, fold_pattern
from service.privacy import keep_private
from service.running.instance import DirectoryInUse, stopped
from service.settings.settings import Settings

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
ONCE = "This is the only time that it is shown."


def add(name: str, role: str, relations: Sequence[str] | None, if_none: bool) -> None:
    """Makes a key and prints it; with `if_none` only if a service could not start without one."""
    with _managing("add") as (accounts, settings):
        if if_none and (accounts.are_needed or settings.open_to_anyone.lower() == "yes"):
            return
        limits = None if relations is None else [fold_pattern(relation) for relation in relations]
        key, text = accounts.add(name, fold_name(role), limits)
        _print_key(f"key {key.name} of role {key.role}, id {key.id}. {ONCE}", text)


def list_keys() -> None:
    """Prints all keys, without their secrets."""
    with _managing("list") as (accounts, _):
        for key in accounts.known.keys.values():
            limits = "all" if key.relations is None else ",".join(key.relations)
            state = "revoked" if key.revoked_at is not None else f"used {_time(key.used_at)}"
            print(key.id, key.name, key.role, limits, f"made {_time(key.created_at)}", state, sep="  ")


def rotate(id: str, grace_seconds: float) -> None:
    """Gives a key a new secret, and prints it."""
    with _managing("rotate") as (accounts, _):
        key, text = accounts.rotate(id, grace_seconds)
        _print_key(f"key {key.name}, id {key.id}, has a new secret. {ONCE}", text)


def revoke(id: str) -> None:
    """Revokes a key for ever."""
    with _managing("revoke") as (accounts, _):
        accounts.revoke(id)
        print(f"key {id} is revoked")


@contextmanager
def _managing(action: str) -> Iterator[tuple[Accounts, Settings]]:
    """The accounts, for an action that the audit log names. One sentence ends the process if it fails."""
    keep_private()
    try:
        settings = Settings.from_environment()
        with _accounts(settings) as accounts:
            token = acting.set(Act(ANYONE, "", f"freshet keys {action}"))
            try:
                yield accounts, settings
            finally:
                acting.reset(token)
    except (ValueError, OSError, ServiceError, SQLAlchemyError) as error:
        sys.exit(f"freshet: {start_failure(error) or error}")


@contextmanager
def _accounts(settings: Settings) -> Iterator[Accounts]:
    """The accounts of the data directory. Raises Conflict if a service uses it."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as closing:
        try:
            closing.enter_context(stopped(settings))
        except DirectoryInUse as error:
            raise Conflict(
                f"a service runs: {error.message}", "name its address: --url http://..., or FRESHET_URL"
            ) from None
        catalog = Catalog(settings.url)
        closing.callback(catalog.close)
        yield Accounts(catalog.transaction)


def _time(microseconds: int | None) -> str:
    if microseconds is None:
        return "never"
    return (_1970 + timedelta(microseconds=microseconds)).isoformat(timespec="seconds")


def _print_key(sentence: str, text: str) -> None:
    """The key alone goes to standard output, so that `$(freshet keys add ...)` is the key."""
    print(sentence, file=sys.stderr)
    print(text)
