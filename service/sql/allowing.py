"""What each statement needs, and what of the definitions its author sees.

A statement is held against its author's privileges twice: before it is planned, by the names that stand in
it, and afterwards, by the relations that its queries read. In between, and while it runs, only those
relations exist that its author sees, so that no message tells of others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.costs.view_cost import ViewCost
from engine.runtime.observation import Observed
from planner.adhoc.adhoc_query import AdhocQuery
from planner.catalog_queries import CATALOG, is_system
from planner.identifiers import fold, relation_name
from planner.relation_names import PUBLIC, schema_of
from planner.statements.alter_statements import AlterTable, RenameView
from planner.statements.alterations import AddColumn, AddConstraint, RenameTable, SetSequence
from planner.statements.assertion_statements import CreateAssertion
from planner.statements.branch_statements import CreateBranch, MergeBranch
from planner.statements.comment_statements import Comment, CommentOnSchema
from planner.statements.drop_statements import (
    DropAssertion,
    DropBranch,
    DropRole,
    DropSchema,
    DropSequence,
    DropTable,
    DropType,
    DropView,
)
from planner.statements.function_statements import CreateFunction, DropFunction
from planner.statements.owner_statements import SetOwner
from planner.statements.refresh_statements import RefreshView
from planner.statements.replacement_statements import REPLACING
from planner.statements.role_statements import CreateRole, Grant, Revoke
from planner.statements.schema_statements import CreateSchema, RenameSchema
from planner.statements.sequence_statements import AlterSequence, CreateSequence
from planner.statements.show_statements import Explain, ShowColumns, ShowCreate
from planner.statements.statements import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Delete,
    Insert,
    Merge,
    Select,
    Statement,
    Truncate,
    Update,
)
from planner.statements.table_rules import ForeignKey, TableRules
from planner.statements.type_statements import AddLabel, CreateType
from service.accounts.principals import Principal
from service.accounts.privileges import OF_ROWS, Privilege
from service.definitions.definition import Definition
from service.definitions.known_relations import KnownRelations
from service.errors import ServiceError
from service.pgcatalog.system_tables import RELATIONS
from service.sql.defining import DEFINING

ACCOUNTS = CreateRole | DropRole | Grant | Revoke
"""Statements about accounts."""
_SELECT, _INSERT, _UPDATE, _DELETE = OF_ROWS


def allow(statement: Statement, principal: Principal) -> None:
    """Raises Forbidden if the names in a statement tell that its author may not run it."""
    if principal.is_admin:
        return
    match statement:
        case CreateRole() | DropRole() | Grant() | Revoke():
            principal.require_admin()
        case CreateBranch() | DropBranch() | MergeBranch():
            principal.require_defining_all()
        case _ if isinstance(statement, REPLACING):
            principal.require_defining_all()
        case CreateSchema() | RenameSchema() | DropSchema() | AddLabel():  # a label reaches all schemas
            principal.require_defining_all()
        case CommentOnSchema(name=name):
            principal.require_defining(name)
        case SetOwner(kind="SCHEMA"):
            principal.require_defining_all()
        case _ if isinstance(statement, DEFINING):
            principal.require_defining(*sorted({schema_of(name) for name in _named(statement)}))
            if isinstance(statement, CreateTableLike):
                principal.require_any(OF_ROWS, statement.like)
        case Insert(table=table, tree=tree):
            _require(principal, table, _of_insert(statement))
            _allow_reading(tree, principal, tree.this)
        case Update(table=table, tree=tree):
            _require(principal, table, (_UPDATE, _SELECT))
            _allow_reading(tree, principal)
        case Delete(table=table, tree=tree):
            _require(principal, table, (_DELETE, _SELECT))
            _allow_reading(tree, principal)
        case Merge(table=table, tree=tree):
            _require(principal, table, (_SELECT, *_of_merge(tree)))
            _allow_reading(tree, principal)
        case Truncate(names=names):
            principal.require(_DELETE, *names)
        case Select(query=query):
            _allow_reading(query, principal)
        case Explain(view=str(view)):
            principal.require(_SELECT, view)
        case ShowColumns(name=name) | ShowCreate(name=name) | RefreshView(name=name):
            principal.require_any(OF_ROWS, name)


def _named(statement: Statement) -> Iterator[str]:
    """The full names of what a statement defines, of the tables that its foreign keys refer to, and of the
    sequences that it counts with."""
    rules: list[TableRules] = []
    match statement:
        case CreateTable(name=name):
            yield name
            rules.append(statement.rules)
        case AlterTable(name=name, actions=actions):
            yield name
            yield from (action.to for action in actions if isinstance(action, RenameTable))
            yield from (action.sequence for action in actions if isinstance(action, SetSequence))
            rules += [a.rules for a in actions if isinstance(a, AddConstraint | AddColumn)]
        case RenameView(name=name, to=to):
            yield from (name, to)
        case (
            DropTable(names=names)
            | DropView(names=names)
            | DropAssertion(names=names)
            | DropType(names=names)
            | DropSequence(names=names)
        ):
            yield from names
        case DropFunction(dropped=dropped):
            yield from (name for name, _ in dropped)
        case (
            CreateTableAs(name=name)
            | CreateTableLike(name=name)
            | CreateView(name=name)
            | CreateAssertion(name=name)
            | CreateType(name=name)
            | CreateFunction(name=name)
            | CreateSequence(name=name)
            | AlterSequence(name=name)
            | SetOwner(name=name)
            | Comment(name=name)
        ):
            yield name
        case _:
            raise ServiceError(f"{type(statement).__name__} does not say what it defines")
    yield from (key.table for each in rules for key in each.of(ForeignKey))
    counted = (identity.sequence for each in rules for identity in each.identities.values())
    yield from (sequence for sequence in counted if sequence is not None)


def allow_queries(queries: Iterable[AdhocQuery], principal: Principal) -> None:
    """Raises Forbidden unless the principal may read all that the queries read."""
    if not principal.reads_all:
        for query in queries:
            for reference in query.references:
                if not is_system(reference.relation):  # its rows are only those that the principal sees
                    principal.require(_SELECT, reference.relation)


def seen(definitions: Mapping[str, Definition], principal: Principal) -> Mapping[str, Definition]:
    """The definitions that a principal sees."""
    if principal.reads_all:
        return definitions
    return {name: definition for name, definition in definitions.items() if principal.sees(name)}


def seen_of(
    known: KnownRelations, principal: Principal, statement: Statement | None = None
) -> KnownRelations:
    """What is known, as a principal sees it; for EXPLAIN only what it may read. Constraints hold unseen."""
    if principal.reads_all:
        return known
    definitions = seen(known.all, principal)
    if isinstance(statement, Explain):
        definitions = {name: d for name, d in definitions.items() if principal.may(_SELECT, name)}
    relations = {name: known.relations[name] for name in definitions}
    return replace(known, all=definitions, relations=relations)


def observed_by(principal: Principal, operators: Sequence[Observed]) -> Sequence[Observed]:
    """The operators of a view without the names of views that a principal does not see."""
    if principal.reads_all:
        return operators
    return [replace(one, shared=tuple(filter(principal.sees, one.shared))) for one in operators]


def cost_seen_by(principal: Principal, cost: ViewCost) -> ViewCost:
    """The cost of a view without the names of views that a principal does not see, nor what changes of tables
    take that it does not see."""
    if principal.reads_all:
        return cost
    operators = observed_by(principal, [each.operator for each in cost.operators])
    return replace(
        cost,
        operators=tuple(
            replace(each, operator=shown) for each, shown in zip(cost.operators, operators, strict=True)
        ),
        changes={name: change for name, change in cost.changes.items() if principal.sees(name)},
        parts={name: part for name, part in cost.parts.items() if principal.sees(name)},
    )


def schemas_seen(
    schemas: Collection[str], definitions: Iterable[str], principal: Principal
) -> frozenset[str]:
    """The schemas that a principal sees: those in which it sees something or may define."""
    if principal.reads_all:
        return frozenset(schemas)
    held = {schema_of(name) for name in definitions}
    return frozenset(s for s in schemas if s == PUBLIC or s in held or principal.defines_in(s))


def _require(principal: Principal, table: str, privileges: Iterable[Privilege]) -> None:
    for privilege in privileges:
        principal.require(privilege, table)


def _of_insert(insert: Insert) -> tuple[Privilege, ...]:
    """What an INSERT needs on its table. Without SELECT nobody learns which rows are there already."""
    conflict = insert.tree.args.get("conflict")
    if insert.replace:
        return (_INSERT, _SELECT, _DELETE)
    if conflict is not None and conflict.expressions:
        return (_INSERT, _SELECT, _UPDATE)
    if conflict is not None or insert.tree.args.get("ignore") or insert.tree.args.get("alternative"):
        return (_INSERT, _SELECT)
    return (_INSERT,)


def _of_merge(merge: exp.Merge) -> Iterator[Privilege]:
    """What the branches of a MERGE do."""
    for when in merge.find_all(exp.When):
        match when.args.get("then"):
            case exp.Update():
                yield _UPDATE
            case exp.Insert():
                yield _INSERT
            case exp.Expression() as then if then.name.upper() == "DO NOTHING":
                continue
            case _:
                yield _DELETE


def _allow_reading(tree: exp.Expression, principal: Principal, target: exp.Expression | None = None) -> None:
    """Raises Forbidden for the name of a relation in a tree that the principal may not read.

    It passes over names of CTEs, which may hide relations: what is read in the end is asked again.
    """
    if principal.reads_all:
        return
    inside = target.this if isinstance(target, exp.Schema) else target
    named = {fold(cte.args["alias"].this) for cte in tree.find_all(exp.CTE) if cte.args.get("alias")}
    for table in tree.find_all(exp.Table):
        if table is inside or not isinstance(table.this, exp.Identifier):
            continue
        bare = None if table.args.get("db") else fold(table.this)
        if is_system(relation_name(table)) or (bare is not None and f"{CATALOG}.{bare}" in RELATIONS):
            continue
        if bare not in named:
            principal.require(_SELECT, relation_name(table))
