"""Tables: create, list, describe, drop."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from planner.limits import within
from planner.parsing.script import split
from planner.parsing.vocabulary import with_vocabulary
from planner.relation_names import schema_of
from planner.statements.statement_reader import parse_statement
from planner.statements.statements import CreateTable, Statement
from service.accounts.audit import about
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.catalog.details import Details
from service.definitions.definition import Definition
from service.errors import Invalid
from service.http.access import lanes_of, principal_of, runtime_of
from service.http.models import (
    CreatedTable,
    NewTable,
    TableModel,
    Tables,
    key_of,
    requested_schema,
    table_model,
)
from service.http.routes.strict import StrictRoute
from service.http.watermark_model import watermark_model
from service.names import fold_relation, in_path
from service.reading.lanes import Lane
from service.running.runtime import Runtime
from service.sql.allowing import allow

router = APIRouter(route_class=StrictRoute, prefix="/v1/tables", tags=["tables"])


@router.post("", status_code=201)
async def create_table(request: Request, new: NewTable, response: Response) -> CreatedTable:
    """Create a table from its columns, or from a CREATE TABLE statement."""
    runtime = runtime_of(request)
    if new.sql is not None:
        definition = await _create_from_sql(runtime, lanes_of(request).planning, new, principal_of(request))
    elif new.name is None or new.columns is None:
        raise Invalid("a table needs name and columns, or sql", code="invalid_request")
    else:
        about(f"create table {new.name}")
        schema = requested_schema(new.columns, runtime.types())
        name = fold_relation(new.name)
        principal_of(request).require_defining(schema_of(name))
        definition = await runtime.create_table(name, schema, key_of(new.primary_key, schema))
    response.headers["Location"] = f"/v1/tables/{in_path(definition.name)}"
    return CreatedTable(
        **table_model(definition, runtime.readable).model_dump(), epoch=runtime.snapshot.upper - 1
    )


async def _create_from_sql(
    runtime: Runtime, planning: Lane, new: NewTable, principal: Principal
) -> Definition:
    if new.name is not None or new.columns is not None or new.primary_key is not None:
        raise Invalid("a table is given by sql or by its columns, not both", code="invalid_request")
    statements = await planning.run(_statements, new.sql or "", new.dialect, runtime)
    if len(statements) != 1 or not isinstance(statements[0], CreateTable):
        raise Invalid("sql is not one CREATE TABLE statement", "use /v1/sql", code="invalid_request")
    statement = statements[0]
    about(f"create table {statement.name}")
    allow(statement, principal)
    return await runtime.create_table(
        statement.name,
        statement.columns,
        key_of([f'"{name}"' for name in statement.primary_key or ()], statement.columns),
        exists_ok=statement.if_not_exists,
        details=Details(statement.rules, statement.comments),
    )


def _statements(sql: str, dialect: str, runtime: Runtime) -> Sequence[Statement]:
    with within(runtime.settings.planning_limits):
        vocabulary = runtime.vocabulary()
        return [parse_statement(with_vocabulary(piece, vocabulary)) for piece in split(sql, dialect)]


@router.get("")
async def list_tables(request: Request) -> Tables:
    """List all tables, by name."""
    readable, principal = runtime_of(request).readable, principal_of(request)
    definitions = sorted(readable.known.all.items())
    shown = (d for name, d in definitions if not d.is_view and principal.sees(name))
    return Tables(tables=[table_model(definition, readable) for definition in shown])


@router.get("/{table}")
async def describe_table(request: Request, table: str) -> TableModel:
    """Describe a table."""
    runtime, name = runtime_of(request), fold_relation(table)
    definition, readable = runtime.definition(name, view=False), runtime.readable
    reads = principal_of(request).may(Privilege.SELECT, name)
    watermark = watermark_model(definition, readable, runtime.metrics.late_rows, reads)
    return table_model(definition, readable, watermark)


@router.delete("/{table}", status_code=204)
async def drop_table(request: Request, table: str) -> None:
    """Drop a table and its history. 409 while a view reads it."""
    await runtime_of(request).drop_table(fold_relation(table))
