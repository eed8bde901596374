"""Rows about roles. No row has a password, and `pg_authid` and `pg_shadow` have no rows at all."""

from __future__ import annotations

from collections.abc import Iterator

from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import CatalogDescription


def roles(catalog: CatalogDescription) -> Iterator[Row]:
    for role in catalog.roles:
        yield {
            "oid": role.oid,
            "rolname": role.name,
            "rolsuper": role.is_superuser,
            "rolinherit": True,
            "rolcreaterole": role.is_superuser,
            "rolcreatedb": False,
            "rolcanlogin": role.can_login,
            "rolreplication": False,
            "rolconnlimit": -1,
            "rolpassword": "********",
            "rolbypassrls": role.is_superuser,
        }


def users(catalog: CatalogDescription) -> Iterator[Row]:
    for role in catalog.roles:
        if role.can_login:
            yield {
                "usename": role.name,
                "usesysid": role.oid,
                "usecreatedb": False,
                "usesuper": role.is_superuser,
                "userepl": False,
                "usebypassrls": role.is_superuser,
                "passwd": "********",
            }


def groups(catalog: CatalogDescription) -> Iterator[Row]:
    for role in catalog.roles:
        if not role.can_login:
            members = [other.oid for other in catalog.roles if role.name in other.member_of]
            yield {"groname": role.name, "grosysid": role.oid, "grolist": members}


def memberships(catalog: CatalogDescription) -> Iterator[Row]:
    """Each key is a member of its role."""
    owner = next(role.oid for role in catalog.roles if role.is_superuser)
    for role in catalog.roles:
        for name in role.member_of:
            above = catalog.role(name)
            if above is not None:
                yield {"roleid": above.oid, "member": role.oid, "grantor": owner, "admin_option": False}


ROLE_ROWS = {"pg_roles": roles, "pg_user": users, "pg_group": groups, "pg_auth_members": memberships}
