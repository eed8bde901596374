"""What is known of accounts at one moment: an immutable table, replaced when a key or a role changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from planner.suggestions import did_you_mean
from service.accounts.account_records import Role
from service.accounts.keys import ApiKey
from service.accounts.principals import Principal
from service.accounts.privileges import PREDEFINED, Permissions
from service.errors import NotFound


@dataclass(frozen=True, eq=False)
class KnownAccounts:
    """Keys by id, revoked ones too, and the roles that were made, by name."""

    keys: Mapping[str, ApiKey]
    roles: Mapping[str, Role]

    @classmethod
    def of(cls, keys: Iterable[ApiKey], roles: Iterable[Role]) -> KnownAccounts:
        return cls({key.id: key for key in keys}, {role.name: role for role in roles})

    @cached_property
    def principals(self) -> Mapping[str, Principal]:
        """The principals of the keys that are not revoked, by the key's id."""
        return {key.id: self._principal(key) for key in self.keys.values() if key.revoked_at is None}

    def _principal(self, key: ApiKey) -> Principal:
        permissions = self.permissions(key.role)
        return Principal(key.id, key.name, key.role, permissions, key.relations, key.secret.salt)

    @property
    def admins(self) -> int:
        """The number of keys that may manage accounts."""
        return sum(principal.is_admin for principal in self.principals.values())

    def permissions(self, role: str) -> Permissions:
        """The permissions of a role. Raises NotFound."""
        if role in PREDEFINED:
            return PREDEFINED[role]
        return self.role(role).permissions

    def role(self, name: str) -> Role:
        """A role that was made. Raises NotFound."""
        if name not in self.roles:
            hint = did_you_mean(name, [*PREDEFINED, *self.roles])
            raise NotFound(f"there is no role called {name}", hint, code="unknown_role")
        return self.roles[name]

    def key(self, id: str) -> ApiKey:
        """A key that is not revoked. Raises NotFound."""
        key = self.keys.get(id)
        if key is None or key.revoked_at is not None:
            raise NotFound(f"there is no key {id}", "GET /v1/keys lists the keys", code="unknown_key")
        return key
