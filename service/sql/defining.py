"""Statements that define: CREATE, ALTER, DROP and COMMENT, as calls of the runtime."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from engine.codec.arrow import encode_arrow
from engine.schema import BIGINT, Column, Schema
from planner.adhoc.adhoc_query import AdhocQuery, Relations, adhoc_query
from planner.errors import InvalidQuery, PlannerError
from planner.parsing.script import Excerpt
from planner.sql_types import from_duckdb
from planner.statements.alter_statements import AlterTable, RenameView
from planner.statements.alterations import RenameTable
from planner.statements.assertion_statements import CreateAssertion
from planner.statements.comment_statements import Comment, CommentOnSchema
from planner.statements.drop_statements import (
    DropAssertion,
    DropIndex,
    DropSchema,
    DropSequence,
    DropTable,
    DropType,
    DropView,
)
from planner.statements.function_statements import CreateFunction, DropFunction
from planner.statements.index_statements import CreateIndex
from planner.statements.owner_statements import SetOwner
from planner.statements.schema_statements import CreateSchema, RenameSchema
from planner.statements.sequence_statements import AlterSequence, CreateSequence
from planner.statements.statements import CreateTable, CreateTableAs, CreateTableLike, CreateView, Statement
from planner.statements.type_statements import AddLabel, CreateType
from planner.suggestions import did_you_mean
from service.accounts.principals import MayRead
from service.catalog.details import Details
from service.changes.table_changes import ChangeOp, TableChanges
from service.definitions.assertions import must_assert, must_be_view
from service.definitions.indexing import NewIndex
from service.definitions.named_schemas import require_schema
from service.definitions.relabelling import NewLabel
from service.errors import NotFound
from service.pgcatalog.system_tables import RELATIONS, SystemTables
from service.reading.duck import Answer
from service.running.runtime import Runtime
from service.running.timeline import Timeline
from service.running.view_timeline import ViewTimeline
from service.sql.catalog_reading import is_about_catalogs, over_catalogs
from service.sql.new_functions import create_function

DEFINING = (
    CreateTable
    | CreateTableAs
    | CreateTableLike
    | CreateView
    | CreateAssertion
    | DropAssertion
    | CreateSchema
    | RenameSchema
    | DropSchema
    | DropTable
    | DropView
    | CreateType
    | AddLabel
    | DropType
    | CreateSequence
    | AlterSequence
    | DropSequence
    | CreateFunction
    | DropFunction
    | CreateIndex
    | DropIndex
    | AlterTable
    | RenameView
    | SetOwner
    | Comment
    | CommentOnSchema
)
OF_VIEWS = CreateView | DropView
"""Those that define views, which branches can have of their own."""
Notices = tuple[str, ...]
Ask = Callable[[AdhocQuery], Awaitable[Answer]]


async def define(
    statement: Statement, runtime: Runtime, ask: Ask, readable: MayRead, system: Callable[[], SystemTables]
) -> tuple[int, Notices]:
    """Runs a statement that defines. Returns its epoch, and what its author should know. `ask` answers a
    query over the newest state; `readable` says what the author may read, if that is not all; `system` gives
    the catalogs."""
    if isinstance(statement, OF_VIEWS):
        return await define_view(statement, runtime, readable), ()
    if isinstance(statement, CreateAssertion):
        return await _create_assertion(statement, runtime, readable), ()
    notices: Notices = ()
    if isinstance(statement, CreateFunction):
        await create_function(statement, runtime, ask, readable)
    elif isinstance(statement, CreateTableAs):
        await _create_as(statement, runtime, ask, readable, system)
    else:
        notices = await _define(statement, runtime)
    return runtime.snapshot.upper - 1, notices


async def _define(statement: Statement, runtime: Runtime) -> Notices:
    match statement:
        case CreateTable(name=name, columns=columns, primary_key=names):
            key = None if names is None else tuple(columns.index(column) for column in names)
            details = Details(statement.rules, statement.comments)
            options = {"exists_ok": statement.if_not_exists, "or_replace": statement.or_replace}
            await runtime.create_table(name, columns, key, details=details, **options)
        case CreateTableLike():
            await _create_like(statement, runtime)
        case DropTable(names=names):
            await runtime.drop_table(*names, missing_ok=statement.if_exists, cascade=statement.cascade)
        case DropAssertion(names=names):
            for name in names:
                must_assert(name, runtime.definitions(), statement.if_exists)
            await runtime.drop_view(*names, missing_ok=statement.if_exists)
        case CreateSchema(name=name):
            await runtime.objects.create_schema(name, exists_ok=statement.if_not_exists)
        case RenameSchema(name=name, to=to):
            await runtime.objects.rename_schema(name, to)
        case DropSchema(names=names):
            await runtime.objects.drop_schemas(
                *names, missing_ok=statement.if_exists, cascade=statement.cascade
            )
        case CreateType(name=name, type=type):
            await runtime.objects.create_type(name, type, exists_ok=statement.if_not_exists)
        case AddLabel(name=name, label=label, neighbour=neighbour, before=before):
            added = NewLabel(label, neighbour, before)
            await runtime.objects.add_label(name, added, exists_ok=statement.if_not_exists)
        case DropType(names=names):
            await runtime.objects.drop_type(*names, missing_ok=statement.if_exists)
        case CreateSequence(name=name, counting=counting):
            await runtime.objects.create_sequence(name, counting, exists_ok=statement.if_not_exists)
        case AlterSequence(name=name, restarts=restarts, number=number):
            if restarts:
                await runtime.objects.set_sequence(
                    name, number, is_taken=False, missing_ok=statement.if_exists
                )
        case DropSequence(names=names):
            for name in names:
                await runtime.objects.drop_sequence(name, missing_ok=statement.if_exists)
        case DropFunction(dropped=dropped):
            options = {"missing_ok": statement.if_exists, "all_overloads": statement.is_macro}
            for name, parameters in dropped:
                await runtime.objects.drop_function(name, parameters, **options)
        case CreateIndex(name=name, relation=relation, columns=of, included=included):
            exists_ok = statement.if_not_exists
            await runtime.objects.create_index(
                NewIndex(name, relation, of, included, statement.unique, exists_ok)
            )
        case DropIndex(names=names):
            await runtime.objects.drop_index(*names, missing_ok=statement.if_exists)
        case AlterTable(name=name, actions=(RenameTable(to=to),)) if _is_view(runtime, name):
            await runtime.rename_view(name, to)  # PostgreSQL's ALTER TABLE renames views too
        case AlterTable(name=name, actions=actions):
            return await runtime.alter_table(name, actions, missing_ok=statement.if_exists)
        case RenameView(name=name, to=to):
            await runtime.rename_view(name, to, missing_ok=statement.if_exists)
        case SetOwner(kind=kind, name=name):
            if not statement.if_exists:
                _must_exist(kind, name, runtime)
        case Comment(name=name, of_column=column, text=text, view=view):
            await runtime.comment(name, column, text, view)
        case CommentOnSchema(name=name, text=text):
            await runtime.objects.comment_on_schema(name, text)
    return ()


def _must_exist(kind: str, name: str, runtime: Runtime) -> None:
    """Raises NotFound unless there is a relation, a schema or a type of the name."""
    match kind:
        case "SCHEMA":
            require_schema(name, runtime.schemas())
        case "TYPE" if name not in runtime.types():
            hint = did_you_mean(name, runtime.types())
            raise NotFound(f"there is no type called {name}", hint)
        case "TABLE":
            runtime.definition(name, view=None)


def _is_view(timeline: Timeline, name: str) -> bool:
    there = timeline.definitions().get(name)
    return there is not None and there.is_view


async def define_view(statement: OF_VIEWS, timeline: ViewTimeline, readable: MayRead) -> int:
    """Creates or drops views of a timeline. Returns the epoch at which that is visible."""
    if isinstance(statement, DropView):
        for name in statement.names:
            must_be_view(name, timeline.definitions())
        options = {"missing_ok": statement.if_exists, "cascade": statement.cascade}
        await timeline.drop_view(*statement.names, **options)
        return timeline.readable.newest
    if statement.if_not_exists and _is_view(timeline, statement.name):
        return timeline.readable.newest
    query, dialect = statement.definition, statement.piece.dialect
    with _placed_in(query):
        made = await timeline.create_view(
            statement.name,
            query.text,
            dialect,
            or_replace=statement.or_replace,
            readable=readable,
            budget=statement.budget,
        )
    return made.created


async def _create_assertion(statement: CreateAssertion, runtime: Runtime, readable: MayRead) -> int:
    """Creates an assertion. Returns the epoch from which it holds."""
    query, dialect = statement.query, statement.piece.dialect
    if statement.if_not_exists and _is_view(runtime, statement.name):
        return runtime.snapshot.upper - 1
    with _placed_in(query):
        made = await runtime.create_view(
            statement.name, query.text, dialect, readable=readable, breach=statement.breach
        )
    return made.created


@contextmanager
def _placed_in(query: Excerpt) -> Iterator[None]:
    """Gives errors about a query's text their places in the script."""
    try:
        yield
    except PlannerError as error:
        query.relocate(error)
        raise


async def _create_as(
    statement: CreateTableAs,
    runtime: Runtime,
    ask: Ask,
    readable: MayRead,
    system: Callable[[], SystemTables],
) -> None:
    """Creates a table, then inserts the rows of a query in an epoch of their own."""
    there = runtime.definitions().get(statement.name)
    if statement.if_not_exists and there is not None and not there.is_view:
        return
    answer = await answered(statement.query, statement.piece.dialect, runtime, ask, readable, system)
    schema = answer_schema(answer, statement.column_names)
    definition = await runtime.create_table(statement.name, schema, None, or_replace=statement.or_replace)
    if statement.with_data and answer.table.num_rows:
        with runtime.dictionary.holding():
            words = encode_arrow(answer.table, definition.schema, runtime.dictionary)
            changes = TableChanges.of(ChangeOp.INSERT, definition.schema, words)
            await runtime.apply({definition.name: changes})


async def answered(
    query: exp.Expression,
    dialect: str,
    runtime: Runtime,
    ask: Ask,
    readable: MayRead,
    system: Callable[[], SystemTables],
) -> Answer:
    """The answer to the query of a statement, which may read the catalogs too."""
    known = runtime.definitions()
    if readable is not None:
        known = {name: definition for name, definition in known.items() if readable(name)}
    query = _unwrapped(query)
    relations: Relations = known
    if is_about_catalogs(query, dialect):
        query, relations = over_catalogs(query, system()), {**known, **RELATIONS}
    return await ask(adhoc_query(query, relations))


def answer_schema(answer: Answer, column_names: Sequence[str] = ()) -> Schema:
    """The columns of an answer as those of a table. Raises InvalidQuery for too many or too few names."""
    names = column_names or tuple(name.lower() for name in answer.names)
    if len(names) > len(answer.names):
        raise InvalidQuery(f"there are {len(names)} names for {len(answer.names)} columns")
    names = (*names, *(name.lower() for name in answer.names[len(names) :]))
    columns = (Column(n, from_duckdb(type, huge=BIGINT)) for n, type in zip(names, answer.types, strict=True))
    return Schema(tuple(columns))


def _unwrapped(query: exp.Expression) -> exp.Expression:
    """The query without parentheses around it."""
    while isinstance(query, exp.Subquery) and not query.alias:
        query = query.this
    return query.copy()


async def _create_like(statement: CreateTableLike, runtime: Runtime) -> None:
    like = runtime.definition(statement.like, view=None)
    if not statement.rules:
        await runtime.create_table(statement.name, like.strict, None, exists_ok=statement.if_not_exists)
        return
    rules = like.details.rules
    own = rules.with_targets(lambda f: replace(f, table=statement.name) if f.table == like.name else f)
    details = Details(own, like.details.comments)
    key = like.relation.key
    await runtime.create_table(
        statement.name, like.strict, key, exists_ok=statement.if_not_exists, details=details
    )
