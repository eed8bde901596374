"""The accounts of a service: keys and roles, made and changed in the catalog, and looked up in memory.

As long as no key was ever made, requests need none. From the first key on, which must be an admin's, every
request needs one; revoking all keys does not open the service again. One admin's key always stays.

Changes are made one at a time, by any thread, which they block; a change is in the catalog before it counts.
Looking up costs two lookups and a hash.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import sqlalchemy as sa

from service.accounts import account_records as records
from service.accounts.account_records import Role
from service.accounts.audit import DONE, Act, AuditEntry, Transaction, entries, record, witness
from service.accounts.audited_refusals import Refusals
from service.accounts.keys import ApiKey, parts_of
from service.accounts.known_accounts import KnownAccounts
from service.accounts.principals import Principal
from service.accounts.privileges import PREDEFINED, Permission, Permissions, covers, overlap
from service.accounts.scram import Verifier
from service.errors import Conflict, Invalid, NotLeader, Unauthenticated
from service.names import check_name
from service.settings.observing_settings import AUDIT_REFUSALS

USED_SECONDS = 600
"""The last use of a key is known to this precision, so that requests write nothing."""


def _microseconds() -> int:
    return time.time_ns() // 1000


class Accounts:
    def __init__(
        self,
        transaction: Transaction,
        now: Callable[[], int] = _microseconds,
        reading: Transaction | None = None,
        refusals: int = AUDIT_REFUSALS,
    ) -> None:
        """Reads the catalog. `transaction` gives transactions of the catalog database, `reading` those that
        only read, `now` is the time in microseconds. `refusals` of one key have entries in the audit log."""
        self._transaction = transaction
        self._reading = reading or transaction
        self._now = now
        self._refusals = Refusals(refusals)
        self._lock = threading.Lock()
        self.read_again()
        self._noted = {id: key.used_at or 0 for id, key in self.known.keys.items()}
        self._used: dict[str, int] = {}

    def read_again(self) -> None:
        """Reads the accounts that another service has changed."""
        with self._lock, self._reading() as connection:
            self.known = _read(connection)

    @property
    def are_needed(self) -> bool:
        """Whether requests need a key."""
        return bool(self.known.keys)

    # Looking up

    def principal(self, text: str) -> Principal:
        """Whose key this is. Raises Unauthenticated, for all texts that are not a valid key alike."""
        known, parts = self.known, parts_of(text)
        if parts is not None:
            id, secret = parts
            key, principal, now = known.keys.get(id), known.principals.get(id), self._now()
            kept = None if key is None else key.fitting(secret, now)
            if kept is not None and principal is not None:
                self._used[id] = now
                return _holding(principal, kept.salt, kept.until)
        raise Unauthenticated("the key is not valid", "ask an admin for another", code="key_invalid")

    def verifiers(self, user: str) -> list[tuple[Verifier, Principal]]:
        """What SCRAM compares with for a user, the id or the name of a key. Of several keys of one name, the
        newest counts."""
        key = self._key_of_user(user)
        principal = None if key is None else self.known.principals.get(key.id)
        if key is None or principal is None:
            return []
        verifiers = key.verifiers(self._now())
        return [(verifier, _holding(principal, kept.salt, kept.until)) for verifier, kept in verifiers]

    def has_plain_only(self, user: str) -> bool:
        """Whether the user's key is valid and older than SCRAM."""
        key = self._key_of_user(user)
        return key is not None and key.secret.scram is None

    def used(self, principal: Principal) -> Principal:
        """Notes that the key of the principal was used now."""
        self._used[principal.id] = self._now()
        return principal

    def _key_of_user(self, user: str) -> ApiKey | None:
        valid = [key for key in self.known.keys.values() if key.revoked_at is None]
        named = [key for key in valid if user in (key.id, f"fr_{key.id}")]
        named = named or [key for key in valid if key.name == user]
        return max(named, key=lambda key: key.created_at, default=None)

    def is_current(self, principal: Principal) -> bool:
        """Whether a principal still has the key and the rights that it had when it was looked up.

        A rotation ends that, and for those who have come with the old secret since then, the end of its time.
        """
        if not principal.id:
            return not self.are_needed
        found = self.known.principals.get(principal.id)
        if found is None or not principal.has_rights_of(found):
            return False
        if principal.until is None:
            return principal.stamp == found.stamp
        return self.known.keys[principal.id].has_valid(principal.stamp, self._now())

    def renewed(self, principal: Principal) -> Principal:
        """The principal with the rights of this moment, for what has taken a while since it was looked up.

        Raises Unauthenticated if its key is not valid any more.
        """
        known, id = self.known, principal.id
        if not id and not self.are_needed:
            return principal
        found = known.principals.get(id)
        if found is None or not known.keys[id].has_valid(principal.stamp, self._now()):
            raise Unauthenticated(
                "the key is not valid any more", "ask an admin for another", code="key_invalid"
            )
        return _holding(found, principal.stamp, principal.until)

    def is_use_due(self, id: str) -> bool:
        """Whether the stored time of a key's last use is too old."""
        return self._used.get(id, 0) - self._noted.get(id, 0) > USED_SECONDS * 1_000_000

    def note_use(self, id: str) -> None:
        """Stores when a key was used last, as far as that was here: a standby stores nothing."""
        at = self._noted[id] = self._used[id]
        with suppress(NotLeader), self._transaction() as connection:
            records.mark_used(connection, id, at)

    def used_at(self, key: ApiKey) -> int | None:
        """When a key was used last, as far as this is known."""
        return self._used.get(key.id, key.used_at)

    # Keys

    def add(self, name: str, role: str, relations: Collection[str] | None = None) -> tuple[ApiKey, str]:
        """Makes a key. Returns it, and its text, which nobody can find out later.

        Raises NotFound for a role that does not exist, Invalid and Conflict.
        """
        check_name(name)
        if not name.isprintable():
            raise Invalid("the name of a key is text on one line", "choose another", code="invalid_name")
        limits = None if relations is None else tuple(dict.fromkeys(relations))
        with self._changing() as connection:
            permissions = self.known.permissions(role)
            is_admin = permissions >= PREDEFINED["admin"]
            if is_admin and limits is not None:
                raise Invalid(
                    "a key of an admin cannot be limited", "leave out relations", code="invalid_limits"
                )
            if not is_admin and not self.known.admins:
                raise Conflict(
                    "there is no admin: nobody could manage the keys",
                    "make a key of the role admin first",
                    code="admin_needed",
                )
            key, text = ApiKey.new(name, role, limits, self._now())
            records.add_key(connection, key)
        return key, text

    def rotate(self, id: str, grace_seconds: float = 0) -> tuple[ApiKey, str]:
        """Gives a key a new secret. The last one is valid for some seconds more. Raises NotFound."""
        with self._changing() as connection:
            key, text = self.known.key(id).rotated(self._now() + int(grace_seconds * 1_000_000) - 1)
            records.change_key(connection, key)
        return key, text

    def revoke(self, id: str) -> None:
        """Revokes a key for ever. Raises NotFound, and Conflict for the last key of an admin."""
        with self._changing() as connection:
            key = self.known.key(id)
            if self.known.principals[id].is_admin and self.known.admins == 1:
                raise Conflict(
                    "this is the last key of an admin: nobody could manage the keys",
                    "make another first, or rotate this one",
                    code="admin_needed",
                )
            records.change_key(connection, replace(key, revoked_at=self._now(), old=None))

    # Roles

    def create_role(self, name: str) -> None:
        """Makes a role without permissions. Raises Conflict and Invalid."""
        check_name(name)
        with self._changing() as connection:
            if name in PREDEFINED or name in self.known.roles:
                raise Conflict(f"there is a role called {name}", "choose another name", code="role_exists")
            records.add_role(connection, Role(name, frozenset(), self._now()))

    def drop_role(self, name: str, missing_ok: bool = False) -> None:
        """Drops a role that no valid key has. Raises NotFound and Conflict."""
        if missing_ok and name not in self.known.roles and name not in PREDEFINED:
            return
        with self._changing() as connection:
            self._own(name)
            owners = [p.id for p in self.known.principals.values() if p.role == name]
            if owners:
                raise Conflict(
                    f"key {owners[0]} has role {name}", "revoke the keys of the role first", code="in_use"
                )
            records.remove_role(connection, name)

    def grant(self, names: Iterable[str], permissions: Permissions) -> None:
        """Gives roles permissions besides those that they have. Raises NotFound and Conflict."""
        self._set(names, lambda role: role.permissions | permissions)

    def withdraw(self, names: Iterable[str], permissions: Permissions) -> None:
        """Takes permissions from roles. Raises NotFound, and Conflict if a pattern still allows one."""
        self._set(names, lambda role: _without(role, permissions))

    def _set(self, names: Iterable[str], change: Callable[[Role], Permissions]) -> None:
        with self._changing() as connection:
            for role in [self._own(name) for name in names]:
                records.change_role(connection, replace(role, permissions=change(role)))
            if self.known.admins and not _read(connection).admins:
                raise Conflict(
                    "nobody could manage the keys any more",
                    "make a key of the role admin first",
                    code="admin_needed",
                )

    def _own(self, name: str) -> Role:
        """A role that can be changed. Raises NotFound and Conflict."""
        if name in PREDEFINED:
            raise Conflict(
                f"role {name} is always there, and as it is",
                "use CREATE ROLE for another",
                code="role_exists",
            )
        return self.known.role(name)

    # The audit log

    def record(self, act: Act, outcome: str) -> None:
        """Writes the entry of an act that has changed nothing; a standby writes none. Of many refusals of one
        key, not each has an entry."""
        if outcome != DONE:
            left_out = self._refusals.entered(act.principal.id)
            if left_out is None:
                return
            if left_out:
                act.action = f"({left_out} refusals before this one have no entry) {act.action}"
        with suppress(NotLeader), self._transaction() as connection:
            record(connection, act, outcome)

    def entries(self, since: int, limit: int) -> list[AuditEntry]:
        """Entries of the audit log after number `since`, the oldest first."""
        with self._reading() as connection:
            return entries(connection, since, limit)

    @contextmanager
    def _changing(self) -> Iterator[sa.Connection]:
        """A transaction that changes accounts; what it has changed counts when it has committed."""
        with self._lock:
            with self._transaction() as connection:
                yield connection
                witness(connection)
                found = _read(connection)
            self.known = found


def _holding(principal: Principal, stamp: bytes, until: int | None) -> Principal:
    """The principal as one who has sent the secret with this salt."""
    is_it = (principal.stamp, principal.until) == (stamp, until)
    return principal if is_it else replace(principal, stamp=stamp, until=until)


def _read(connection: sa.Connection) -> KnownAccounts:
    return KnownAccounts.of(records.keys_of(connection), records.roles_of(connection))


def _without(role: Role, gone: Permissions) -> Permissions:
    """What a role keeps: a pattern takes all that it covers. Raises Conflict if a part is kept by another."""
    left = {had for had in role.permissions if not any(_alike(t, had, covers) for t in gone)}
    for taken in sorted(gone):
        for kept in sorted(left):
            if _alike(kept, taken, overlap):
                raise Conflict(
                    f"role {role.name} keeps {_shown(kept)}, which allows a part of {_shown(taken)}",
                    "revoke that first",
                )
    return frozenset(left)


def _alike(permission: Permission, other: Permission, compare: Callable[[str, str], bool]) -> bool:
    return permission.privilege is other.privilege and compare(permission.pattern, other.pattern)


def _shown(permission: Permission) -> str:
    return f"{permission.privilege} on {permission.pattern}"
