"""Accounts: keys, roles and the audit log, for admins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service.accounts.accounts import Accounts
from service.accounts.audit import about
from service.accounts.keys import ApiKey
from service.accounts.privileges import PREDEFINED, Permissions
from service.http.access import lanes_of, runtime_of
from service.http.routes.strict import StrictRoute
from service.names import fold_name, fold_pattern

router = APIRouter(route_class=StrictRoute, prefix="/v1", tags=["accounts"])
_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400


class NewKey(BaseModel):
    """A key for `role`: `read`, `write`, `admin`, or one that CREATE ROLE has made. With `relations`, which
    are names of tables and views or patterns such as `sales_*`, the key is for these alone."""

    model_config = ConfigDict(extra="forbid")

    name: str
    role: str
    relations: list[str] | None = Field(default=None, max_length=1000)


class Rotation(BaseModel):
    """`grace_seconds` is how long the last secret stays valid."""

    model_config = ConfigDict(extra="forbid")

    grace_seconds: float = Field(default=0, ge=0, le=30 * _DAY)


class NamedKey(BaseModel):
    id: str
    name: str
    role: str
    relations: list[str] | None


class CreatedKey(NamedKey):
    """`key` is the text to send. Nobody can find it out later."""

    key: str


class KeyModel(NamedKey):
    """`used` is known to ten minutes. A revoked key is listed, and good for nothing."""

    created: datetime
    used: datetime | None
    revoked: datetime | None


class KeyList(BaseModel):
    keys: list[KeyModel]


class RoleModel(BaseModel):
    """`permissions` has the names and patterns of relations by privilege."""

    name: str
    permissions: dict[str, list[str]]


class RoleList(BaseModel):
    roles: list[RoleModel]


class EntryModel(BaseModel):
    """`key` and `name` are null if no key was needed. `outcome` is `done`, or the status of the refusal."""

    number: int
    at: datetime
    key: str | None
    name: str | None
    address: str
    action: str
    outcome: str


class AuditLog(BaseModel):
    entries: list[EntryModel]


@router.post("/keys", status_code=201)
async def create_key(request: Request, new: NewKey, response: Response) -> CreatedKey:
    """Make a key. This answer is the only one that has it. The first key has to be an admin's."""
    relations = None if new.relations is None else [fold_pattern(text) for text in new.relations]
    about(f"make key {new.name} of role {new.role}")
    accounts = accounts_of(request)
    key, text = await lanes_of(request).jobs.run(accounts.add, new.name, fold_name(new.role), relations)
    response.headers["Location"] = f"/v1/keys/{key.id}"
    response.headers["Cache-Control"] = "no-store"
    return CreatedKey(**_named(key), key=text)


@router.get("/keys")
async def list_keys(request: Request) -> KeyList:
    """List all keys, the oldest first."""
    accounts = accounts_of(request)
    return KeyList(keys=[_model(accounts, key) for key in accounts.known.keys.values()])


@router.post("/keys/{key}/rotate")
async def rotate_key(
    request: Request, key: str, response: Response, rotation: Rotation | None = None
) -> CreatedKey:
    """Give a key a new secret. The last one stays valid for `grace_seconds`."""
    grace = 0.0 if rotation is None else rotation.grace_seconds
    rotated, text = await lanes_of(request).jobs.run(accounts_of(request).rotate, key, grace)
    response.headers["Cache-Control"] = "no-store"
    return CreatedKey(**_named(rotated), key=text)


@router.delete("/keys/{key}", status_code=204)
async def revoke_key(request: Request, key: str) -> None:
    """Revoke a key for ever. 409 for the last key of an admin."""
    await lanes_of(request).jobs.run(accounts_of(request).revoke, key)


@router.get("/roles")
async def list_roles(request: Request) -> RoleList:
    """List all roles, those that are always there first."""
    made = {role.name: role.permissions for role in accounts_of(request).known.roles.values()}
    found = {**PREDEFINED, **made}
    return RoleList(roles=[RoleModel(name=n, permissions=_by_privilege(p)) for n, p in found.items()])


@router.get("/audit")
async def read_audit(
    request: Request,
    since: Annotated[int, Query(ge=0, le=1 << 62, description="Entries after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="The most entries to return.")] = 100,
) -> AuditLog:
    """The log of who changed definitions and accounts, the oldest entries first."""
    found = await lanes_of(request).jobs.run(accounts_of(request).entries, since, limit)
    return AuditLog(entries=[EntryModel(**vars(entry) | {"at": _time(entry.at)}) for entry in found])


def accounts_of(request: Request) -> Accounts:
    return runtime_of(request).accounts


def _named(key: ApiKey) -> dict[str, Any]:
    relations = None if key.relations is None else list(key.relations)
    return {"id": key.id, "name": key.name, "role": key.role, "relations": relations}


def _model(accounts: Accounts, key: ApiKey) -> KeyModel:
    used, revoked = accounts.used_at(key), key.revoked_at
    return KeyModel(
        **_named(key),
        created=_time(key.created_at),
        used=None if used is None else _time(used),
        revoked=None if revoked is None else _time(revoked),
    )


def _by_privilege(permissions: Permissions) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for permission in sorted(permissions):
        found.setdefault(permission.privilege, []).append(permission.pattern)
    return found


def _time(microseconds: int) -> datetime:
    return _1970 + timedelta(microseconds=microseconds)
