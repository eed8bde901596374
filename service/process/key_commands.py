"""`freshet keys`: makes, lists, rotates and revokes keys in the catalog, while no service runs.

A running service keeps its accounts in memory, so its keys are changed through it: the commands refuse then.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
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
from service.running.instance import leadership_of, lock_directory
from service.settings.settings import Settings

_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_ONCE = "This is the only time that it is shown."


def run(arguments: argparse.Namespace) -> None:
    """Runs a command, and ends the process: with one sentence if it cannot be done."""
    keep_private()
    try:
        settings = Settings.from_environment()
        with _accounts(settings) as accounts:
            token = acting.set(Act(ANYONE, "", f"freshet keys {arguments.action}"))
            try:
                _ACTIONS[arguments.action](arguments, accounts, settings)
            finally:
                acting.reset(token)
    except (ValueError, OSError, ServiceError, SQLAlchemyError) as error:
        sys.exit(f"freshet: {start_failure(error) or error}")


def _add(arguments: argparse.Namespace, accounts: Accounts, settings: Settings) -> None:
    if arguments.if_none and (accounts.are_needed or settings.open_to_anyone.lower() == "yes"):
        return
    limits = None
    if arguments.relations is not None:
        limits = [fold_pattern(name.strip()) for name in arguments.relations.split(",")]
    key, text = accounts.add(arguments.name, fold_name(arguments.role), limits)
    print(f"key {key.name} of role {key.role}, id {key.id}. {_ONCE}\n{text}")


def _list(arguments: argparse.Namespace, accounts: Accounts, settings: Settings) -> None:
    for key in accounts.known.keys.values():
        limits = "all" if key.relations is None else ",".join(key.relations)
        state = "revoked" if key.revoked_at is not None else f"used {_time(key.used_at)}"
        print(key.id, key.name, key.role, limits, f"made {_time(key.created_at)}", state, sep="  ")


def _rotate(arguments: argparse.Namespace, accounts: Accounts, settings: Settings) -> None:
    key, text = accounts.rotate(arguments.id, arguments.grace)
    print(f"key {key.name}, id {key.id}, has a new secret. {_ONCE}\n{text}")


def _revoke(arguments: argparse.Namespace, accounts: Accounts, settings: Settings) -> None:
    accounts.revoke(arguments.id)
    print(f"key {arguments.id} is revoked")


_ACTIONS: dict[str, Callable[[argparse.Namespace, Accounts, Settings], None]] = {
    "add": _add,
    "list": _list,
    "rotate": _rotate,
    "revoke": _revoke,
}


@contextmanager
def _accounts(settings: Settings) -> Iterator[Accounts]:
    """The accounts of the data directory. Raises Conflict if a service uses it."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as closing:
        try:
            closing.callback(os.close, lock_directory(settings))
        except ServiceError:
            raise _running(f"a service runs over {settings.data}") from None
        leadership = leadership_of(settings)
        if leadership is not None:
            closing.callback(leadership.close)
            if not leadership.acquire(may_depose=False):
                raise _running("a service runs over this catalog")
        catalog = Catalog(settings.url)
        closing.callback(catalog.close)
        yield Accounts(catalog.transaction)


def _running(fact: str) -> Conflict:
    return Conflict(fact, "use its API: POST /v1/keys, GET /v1/keys")


def _time(microseconds: int | None) -> str:
    if microseconds is None:
        return "never"
    return (_1970 + timedelta(microseconds=microseconds)).isoformat(timespec="seconds")
