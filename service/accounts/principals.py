"""Principals: who sends a request, and what they may do.

Every question of access is asked here. A key's limits narrow what its role grants. The error for a relation
that a principal may not use is the same whether the relation exists or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from planner.relation_names import EVERY, PUBLIC, schema_of
from service.accounts.privileges import (
    OF_ROWS,
    PREDEFINED,
    Permissions,
    Privilege,
    covers,
    matcher,
    of_schema,
    subject,
)
from service.errors import Forbidden

MayRead = Callable[[str], bool] | None


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
    def defines_all(self) -> bool:
        """Whether anything may be defined anywhere: by those who may do all with all rows of all schemas."""
        return self.is_admin or (self.limits is None and PREDEFINED["write"] <= self.permissions)

    def defines_in(self, schema: str) -> bool:
        """Whether tables, views, sources and sinks of a schema may be defined: by those who may do all with
        all rows of it."""
        return self.defines_all or (self.limits is None and self._may_all(of_schema(schema)))

    def _may_all(self, wanted: Permissions) -> bool:
        return all(
            any(p.privilege is w.privilege and covers(p.pattern, w.pattern) for p in self.permissions)
            for w in wanted
        )

    @cached_property
    def defines(self) -> bool:
        """Whether there is a schema of which anything may be defined."""
        schemas = {schema_of(p.pattern) for p in self.permissions if p.pattern != EVERY}
        return self.defines_all or any(self.defines_in(schema) for schema in schemas)

    @cached_property
    def reads_all(self) -> bool:
        return self.is_admin or (self.limits is None and PREDEFINED["read"] <= self.permissions)

    def may(self, privilege: Privilege, relation: str) -> bool:
        if self.is_admin:
            return True
        asked = subject(relation)
        return self._granted[privilege].fullmatch(asked) is not None and self._is_inside(asked)

    def sees(self, relation: str) -> bool:
        """Whether the relation is on lists that this principal gets: with any privilege it is."""
        return any(self.may(privilege, relation) for privilege in OF_ROWS)

    def reads(self, relation: str) -> bool:
        """Whether this principal may read the relation's rows."""
        return self.may(Privilege.SELECT, relation)

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

    def require_defining(self, *schemas: str) -> None:
        """Raises Forbidden unless the principal may define in these schemas; without any, in some schema."""
        if not (self.defines and all(map(self.defines_in, schemas))):
            where = " and ".join(schemas) or "a schema"
            raise self.refusal(
                f"a key without limits, of the role write or of one with ALL on all tables of {where}",
                f"GRANT ALL ON ALL TABLES IN SCHEMA {', '.join(schemas) or PUBLIC} TO {self.role}",
            )

    def require_defining_all(self) -> None:
        """Raises Forbidden unless the principal may define in every schema, and make schemas."""
        if not self.defines_all:
            raise self.refusal("a key without limits, of the role write", f"GRANT write TO {self.role}")

    def require_reading_all(self, relations: Iterable[str]) -> None:
        """Raises Forbidden unless the principal may read every relation; these are those that there are."""
        if not self.reads_all and not (
            self.limits is None and all(self.may(Privilege.SELECT, relation) for relation in relations)
        ):
            raise self.refusal(
                "a key without limits, of a role with SELECT on all tables", f"GRANT read TO {self.role}"
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

    def _is_inside(self, asked: str) -> bool:
        return self.limits is None or self._limit.fullmatch(asked) is not None


def readable_by(principal: Principal) -> MayRead:
    """Which relations a principal may read; None for all."""
    if principal.reads_all:
        return None
    return lambda relation: principal.may(Privilege.SELECT, relation)


ANYONE = Principal("", "", "admin", PREDEFINED["admin"])
"""Everybody, as long as no key was ever made; and the service itself."""
