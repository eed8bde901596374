"""The start-up of a connection: TLS, who the client is, and what it is told first.

As long as no key was ever made, everybody is let in, as over HTTP. From the first key on, the user name is
the name of a key, or its id, and the password is the key. The password travels as SCRAM-SHA-256 says; a key
that was made before there was SCRAM can be sent as it is, but only over TLS.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from typing import Protocol

from service.accounts.accounts import Accounts
from service.accounts.principals import ANYONE, Principal
from service.accounts.scram import MECHANISM, ScramExchange, ScramMalformed, WrongPassword
from service.errors import Unauthenticated
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.hall import Hall
from service.postgres.known_settings import REPORTED
from service.postgres.row_sending import Outlet
from service.sql.open_sessions import CancelKey

_log = logging.getLogger("freshet.accounts")
_MOCK = secrets.token_bytes(32)
"""What the salts of users that do not exist are made from."""
_OWN = frozenset({"user", "database", "options", "replication"})
"""Parameters of the start-up that are not settings."""


class Door(Protocol):
    """The connection, as the start-up needs it."""

    is_secure: bool

    async def next(self) -> f.Startup | f.Frontend | None: ...

    async def secure(self) -> None: ...

    def known(self) -> None: ...


async def greet(door: Door, outlet: Outlet, hall: Hall) -> f.StartupMessage | None:
    """The start-up message, after requests for encryption were answered; None if there is none."""
    while True:
        message = await door.next()
        match message:
            case f.SslRequest() if hall.certificate is not None and not door.is_secure:
                await door.secure()
            case f.SslRequest() | f.GssEncRequest():
                outlet.write(b"N")
            case f.CancelRequest(pid=pid, secret=secret):
                hall.sessions.cancel(CancelKey(pid, secret))
                return None
            case f.StartupMessage():
                return message
            case _:
                return None


async def authenticate(
    start: f.StartupMessage, door: Door, outlet: Outlet, accounts: Accounts, hall: Hall, address: str
) -> Principal:
    """Who the client is. Raises Unauthenticated and Overloaded."""
    if not accounts.are_needed:
        return ANYONE
    user = start.parameters.get("user", "")
    keys = accounts.verifiers(user)
    try:
        if keys or not accounts.has_plain_only(user):
            return await _by_scram(user, accounts, door, outlet)
        if not door.is_secure:
            raise Unauthenticated(
                f"the key {user} was made before SCRAM: it can only be sent over TLS",
                "rotate the key, or connect with sslmode=require",
                code="plain_connection",
            )
        return await _by_password(user, accounts, door, outlet)
    except (WrongPassword, Unauthenticated) as error:
        if isinstance(error, Unauthenticated) and error.code != "key_invalid":
            raise
        _log.warning("%s: a key that is not valid", address)
        await hall.slowing.failed(address)
        raise Unauthenticated(
            f'password authentication failed for user "{user[:100]}"',
            "the user is the name or the id of a key, the password the key itself, fr_...",
            code="key_invalid",
        ) from None


async def _by_scram(user: str, accounts: Accounts, door: Door, outlet: Outlet) -> Principal:
    verifiers = accounts.verifiers(user)
    salt = hmac.digest(_MOCK, user.encode(errors="replace"), hashlib.sha256)[:16]
    exchange = ScramExchange([verifier for verifier, _ in verifiers], salt)
    outlet.write(out.ask_sasl(MECHANISM))
    try:
        mechanism, _, first = (await _credentials(door, outlet)).partition(b"\0")
        if mechanism != MECHANISM.encode():
            raise ScramMalformed(f"the mechanism is not {MECHANISM}")
        length = int.from_bytes(first[:4], "big", signed=True)
        if length != len(first) - 4:
            raise ScramMalformed("the first message of SCRAM has another length than it says")
        outlet.write(out.sasl_continue(exchange.challenge(first[4:])))
        answer, place = exchange.verify(await _credentials(door, outlet))
    except ScramMalformed as error:
        raise f.Malformed(str(error)) from None
    outlet.write(out.sasl_final(answer))
    return accounts.used(verifiers[place][1])


async def _by_password(user: str, accounts: Accounts, door: Door, outlet: Outlet) -> Principal:
    outlet.write(out.ASK_PASSWORD)
    text = (await _credentials(door, outlet)).rstrip(b"\0").decode(errors="replace")
    principal = accounts.principal(text)
    if user not in (principal.name, principal.id):
        raise WrongPassword
    return principal


async def _credentials(door: Door, outlet: Outlet) -> bytes:
    await outlet.drain()
    message = await door.next()
    if message is None:
        raise ConnectionResetError
    if not isinstance(message, f.Credentials):
        raise f.Malformed("a password is expected")
    return message.data


def introduce(session: ClientSession, start: f.StartupMessage, principal: Principal, key: CancelKey) -> None:
    """Tells the client what it has to know, and takes the settings that it has given. Raises Invalid."""
    outlet, settings = session.outlet, session.settings
    runtime = session.runs.runtime
    settings.fix("is_superuser", "on" if principal.is_admin else "off")
    settings.fix("session_authorization", start.parameters.get("user", ""))
    settings.fix("in_hot_standby", "off" if runtime.leads else "on")
    given = {name: value for name, value in start.parameters.items() if name not in _OWN}
    unknown = [name for name in given if name.startswith("_pq_.")]
    if start.minor > 0 or unknown:
        outlet.write(out.negotiate_version(0, unknown))
    settings.begin({name: value for name, value in given.items() if name not in unknown})
    settings.begin(options_of(start.parameters.get("options", "")))
    outlet.write(out.AUTHENTICATED)
    for name in REPORTED:
        outlet.write(out.parameter_status(name, settings.get(name)))
    outlet.write(out.backend_key(key.pid, key.secret))
    session.is_known = True


def options_of(text: str) -> dict[str, str]:
    """The settings in `options`: `-c name=value` and `--name=value`, where a backslash keeps a space."""
    words: list[str] = [""]
    escaped = False
    for letter in text:
        if escaped:
            words[-1] += letter
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter.isspace():
            words.append("")
        else:
            words[-1] += letter
    found: dict[str, str] = {}
    words = [word for word in words if word]
    while words:
        word = words.pop(0)
        pair = words.pop(0) if word == "-c" and words else word.removeprefix("-c").removeprefix("--")
        name, separator, value = pair.partition("=")
        if separator:
            found[name.replace("-", "_")] = value
    return found
