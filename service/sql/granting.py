"""Statements about accounts: CREATE ROLE, DROP ROLE, GRANT and REVOKE, as calls of the accounts."""

from __future__ import annotations

from collections.abc import Mapping

from planner.relation_names import EVERY
from planner.statements.drop_statements import DropRole
from planner.statements.role_statements import CreateRole, Grant, Revoke
from service.accounts.accounts import Accounts
from service.accounts.privileges import PREDEFINED, Permission, Permissions, Privilege
from service.definitions.known_relations import KnownRelations
from service.definitions.named_schemas import require_schema


def change_accounts(
    statement: CreateRole | DropRole | Grant | Revoke,
    accounts: Accounts,
    known: KnownRelations,
    schemas: Mapping[str, int],
) -> None:
    """Runs a statement about accounts. Blocks. Raises NotFound, Conflict and Invalid."""
    match statement:
        case CreateRole(name=name):
            accounts.create_role(name)
        case DropRole(names=names):
            for name in names:
                accounts.drop_role(name, statement.if_exists)
        case Grant(relations=relations, roles=roles):
            for schema in statement.schemas:
                require_schema(schema, schemas)
            for relation in relations:
                if EVERY not in relation:
                    known.get(relation)
            accounts.grant(roles, _permissions(statement))
        case Revoke(roles=roles):
            accounts.withdraw(roles, _permissions(statement))


def _permissions(statement: Grant | Revoke) -> Permissions:
    on_relations = {
        Permission(Privilege(privilege), relation)
        for privilege in statement.privileges
        for relation in statement.relations
    }
    return frozenset(on_relations).union(*(PREDEFINED[role] for role in statement.member_of))
