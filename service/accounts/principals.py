"""Principals: who sends a request, and what they may do.

Every question of access is asked here. A key's limits narrow what its role grants. The error for a relation
that a principal may not use is the same whether the relation exists or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from service.accounts.privileges import EVERY, OF_ROWS, PREDEFINED, Permissions, Privilege, matcher
from service.errors import Forbidden


@dataclass(frozen=True, eq=False)
class Principal:
    """The holder of key `id`; both `id` and `name` are empty where no keys are needed.

    `limits` are patterns of the only relations that the key is for; None for no limits.
    """

    id: str
    name: str
    role: str
    permissions: Permissions
    limits: tuple[str, ...] | None = None
    stamp: bytes = b""
    """The salt of the secret that was sent: it tells the secrets of a key apart."""
    until: int | None = None
    """The last microsecond of a secret that was replaced before it was sent."""

    @cached_property
    def is_admin(self) -> bool:
        return self.limits is None and PREDEFINED["admin"] <= self.permissions

    def has_rights_of(self, other: Principal) -> bool:
        """Whether it is the same key with the same rights."""
        rights = self.id, self.permissions, self.limits
        return rights == (other.id, other.permissions, other.limits)

    @cached_property
    def defines(self) -> bool:
        """Whether tables, views, sources and sinks may be defined: by those who may do all with all rows."""
        return self.is_admin or (self.limits is None and PREDEFINED["write"] <= self.permissions)

    @cached_property
    def reads_all(self) -> bool:
        return self.is_admin or (self.limits is None and PREDEFINED["read"] <= self.permissions)

    def may(self, privilege: Privilege, relation: str) -> bool:
        if self.is_admin:
            return True
        return self._granted[privilege].fullmatch(relation) is not None and self._is_inside(relation)

    def sees(self, relation: str) -> bool:
        """Whether the relation is on lists that this principal gets: with any privilege it is."""
        return self.defines or any(self.may(privilege, relation) for privilege in OF_ROWS)

    def require(self, privilege: Privilege, *relations: str) -> None:
        """Raises Forbidden unless the principal has the privilege on all of the relations."""
        for relation in relations:
            if not self.may(privilege, relation):
                raise self.refusal(
                    f"{privilege} on {relation}", f"GRANT {privilege} ON {relation} TO {self.role}"
                )

    def require_any(self, privileges: Iterable[Privilege], relation: str) -> None:
        """Raises Forbidden unless the principal has one of the privileges on the relation."""
        privileges = tuple(privileges)
        if not any(self.may(privilege, relation) for privilege in privileges):
            raise self.refusal(
                f"{' or '.join(privileges)} on {relation}",
                f"GRANT {privileges[0]} ON {relation} TO {self.role}",
            )

    def require_defining(self) -> None:
        """Raises Forbidden unless the principal may define."""
        if not self.defines:
            raise self.refusal(
                "a key without limits, of the role write or of one with ALL on all tables",
                f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {self.role}",
            )

    def require_reading_all(self) -> None:
        """Raises Forbidden unless the principal may read every relation."""
        if not self.reads_all:
            raise self.refusal(
                "a key without limits, of a role with SELECT on all tables",
                f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {self.role}",
            )

    def require_admin(self) -> None:
        """Raises Forbidden unless the principal is an admin."""
        if not self.is_admin:
            raise self.refusal("the role admin", "ask an admin")

    def refusal(self, needed: str, grant: str) -> Forbidden:
        """The error for a request that needs more; `grant` is the statement that would allow it."""
        hint = grant
        if grant.startswith("GRANT"):
            hint = f"an admin can say {grant}"
            if self.role in PREDEFINED or self.limits is not None:
                hint = "use a key of another role, or one with other limits"
        return Forbidden(f"key {self.name} of role {self.role} may not do this: it needs {needed}", hint)

    @cached_property
    def _granted(self) -> dict[Privilege, re.Pattern[str]]:
        return {
            privilege: matcher(p.pattern for p in self.permissions if p.privilege is privilege)
            for privilege in OF_ROWS
        }

    @cached_property
    def _limit(self) -> re.Pattern[str]:
        return matcher((EVERY,) if self.limits is None else self.limits)

    def _is_inside(self, relation: str) -> bool:
        return self.limits is None or self._limit.fullmatch(relation) is not None


ANYONE = Principal("", "", "admin", PREDEFINED["admin"])
"""Everybody, as long as no key was ever made; and the service itself."""
