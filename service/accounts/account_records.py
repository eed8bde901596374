"""Keys and roles as the catalog stores them."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import sqlalchemy as sa

from service.accounts.account_tables import keys, roles
from service.accounts.keys import ApiKey, KeptSecret
from service.accounts.privileges import Permission, Permissions, Privilege


@dataclass(frozen=True)
class Role:
    name: str
    permissions: Permissions
    created_at: int


def keys_of(connection: sa.Connection) -> list[ApiKey]:
    """Every key, revoked ones too, in the order of creation."""
    query = sa.select(keys).order_by(keys.c.created_at, keys.c.id)
    return [_key(row) for row in connection.execute(query)]


def roles_of(connection: sa.Connection) -> list[Role]:
    """Every role that was made, by name."""
    return [_role(row) for row in connection.execute(sa.select(roles).order_by(roles.c.name))]


def add_key(connection: sa.Connection, key: ApiKey) -> None:
    connection.execute(sa.insert(keys).values(_key_row(key)))


def change_key(connection: sa.Connection, key: ApiKey) -> None:
    connection.execute(sa.update(keys).where(keys.c.id == key.id).values(_key_row(key)))


def mark_used(connection: sa.Connection, id: str, at: int) -> None:
    connection.execute(sa.update(keys).where(keys.c.id == id).values(used_at=at))


def add_role(connection: sa.Connection, role: Role) -> None:
    connection.execute(sa.insert(roles).values(_role_row(role)))


def change_role(connection: sa.Connection, role: Role) -> None:
    connection.execute(sa.update(roles).where(roles.c.name == role.name).values(_role_row(role)))


def remove_role(connection: sa.Connection, name: str) -> None:
    connection.execute(sa.delete(roles).where(roles.c.name == name))


def _key_row(key: ApiKey) -> dict[str, object]:
    old = key.old
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role,
        "relations": None if key.relations is None else orjson.dumps(key.relations).decode(),
        "salt": key.secret.salt,
        "digest": key.secret.digest,
        "old_salt": None if old is None else old.salt,
        "old_digest": None if old is None else old.digest,
        "old_until": None if old is None else old.until,
        "created_at": key.created_at,
        "used_at": key.used_at,
        "revoked_at": key.revoked_at,
        "scram": key.secret.scram,
        "old_scram": None if old is None else old.scram,
    }


def _key(row: sa.Row) -> ApiKey:
    relations = None if row.relations is None else tuple(orjson.loads(row.relations))
    old = (
        None
        if row.old_salt is None
        else KeptSecret(row.old_salt, row.old_digest, row.old_until, row.old_scram)
    )
    secret = KeptSecret(row.salt, row.digest, scram=row.scram)
    times = (row.created_at, old, row.used_at, row.revoked_at)
    return ApiKey(row.id, row.name, row.role, relations, secret, *times)


def _role_row(role: Role) -> dict[str, object]:
    permissions = [(p.privilege, p.pattern) for p in sorted(role.permissions)]
    return {
        "name": role.name,
        "permissions": orjson.dumps(permissions).decode(),
        "created_at": role.created_at,
    }


def _role(row: sa.Row) -> Role:
    pairs = orjson.loads(row.permissions)
    return Role(
        row.name, frozenset(Permission(Privilege(p), pattern) for p, pattern in pairs), row.created_at
    )
