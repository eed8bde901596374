"""Rows about SQL functions and macros."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.schema import Type
from planner.errors import PlannerError
from planner.parsing.sql_functions import SqlFunction
from planner.sql_types import data_type
from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import CatalogDescription, DescribedFunction
from service.pgcatalog.object_numbers import OWNER
from service.pgcatalog.postgres_types import internal_name, standard_name

_SQL = 14
_ANY, _RECORD = 2283, 2249
"""OIDs: PostgreSQL's language SQL, and its types anyelement and record."""


def _procedures(catalog: CatalogDescription) -> Iterator[Row]:
    for described in catalog.functions:
        function = described.function
        given = [_number(catalog, function, parameter.type) for parameter in function.parameters]
        columns = [_number(catalog, function, type) for _, type in function.columns]
        names = [parameter.name for parameter in function.parameters]
        result = columns[0] if len(columns) == 1 else _RECORD
        yield {
            "oid": described.oid,
            "proname": described.name,
            "pronamespace": catalog.schemas[described.schema],
            "proowner": OWNER,
            "prolang": _SQL,
            "procost": 100.0,
            "prorows": 1000.0 if function.is_table else 0.0,
            "prokind": "f",
            "prosecdef": False,
            "proleakproof": False,
            "proisstrict": function.strict,
            "proretset": function.is_table,
            "provolatile": "v",
            "proparallel": "u",
            "pronargs": len(given),
            "pronargdefaults": len(given) - function.required,
            "prorettype": result if function.is_table else _number(catalog, function, function.returns),
            "proargtypes": given,
            "proallargtypes": [*given, *columns] if columns else None,
            "proargmodes": ["i"] * len(given) + ["t"] * len(columns) if columns else None,
            "proargnames": [*names, *(name for name, _ in function.columns)] if any(names) else None,
            "prosrc": function.body,
        }


def _routines(catalog: CatalogDescription) -> Iterator[Row]:
    for described in catalog.functions:
        function, database = described.function, catalog.session.database
        type = None if function.is_table else _type(function, function.returns)
        yield {
            **_of(described, database),
            "routine_catalog": database,
            "routine_schema": described.schema,
            "routine_name": described.name,
            "routine_type": "FUNCTION",
            "data_type": "record" if function.is_table else _shown(type),
            "type_udt_catalog": database,
            "type_udt_schema": "pg_catalog",
            "type_udt_name": "record" if function.is_table else _internal(type),
            "dtd_identifier": "0",
            "routine_body": "SQL",
            "routine_definition": function.body,
            "external_language": "SQL",
            "parameter_style": "SQL",
            "is_deterministic": "NO",
            "sql_data_access": "MODIFIES",
            "is_null_call": "YES" if function.strict else "NO",
            "schema_level_routine": "YES",
            "is_user_defined_cast": "NO",
            "security_type": "INVOKER",
        }


def _parameters(catalog: CatalogDescription) -> Iterator[Row]:
    for described in catalog.functions:
        for place, parameter in enumerate(described.function.parameters, 1):
            type = _type(described.function, parameter.type)
            yield {
                **_of(described, catalog.session.database),
                "ordinal_position": place,
                "parameter_mode": "IN",
                "is_result": "NO",
                "as_locator": "NO",
                "parameter_name": parameter.name or None,
                "data_type": _shown(type),
                "udt_catalog": catalog.session.database,
                "udt_schema": "pg_catalog",
                "udt_name": _internal(type),
                "dtd_identifier": str(place),
                "parameter_default": parameter.default,
            }


def _of(described: DescribedFunction, database: str) -> Row:
    return {
        "specific_catalog": database,
        "specific_schema": described.schema,
        "specific_name": f"{described.name}_{described.oid}",
    }


def _type(function: SqlFunction, text: str | None) -> Type | None:
    """The type that a function's text names; None for any type, and for one that is not known alone."""
    if text is None:
        return None
    try:
        return data_type(exp.DataType.build(text, dialect=function.dialect, udt=True), function.dialect)
    except (PlannerError, SqlglotError, ValueError):
        return None


def _number(catalog: CatalogDescription, function: SqlFunction, text: str | None) -> int:
    named = next((e.oid for e in catalog.enumerations if text is not None and e.name == text.lower()), None)
    type = _type(function, text)
    return named or (_ANY if type is None else catalog.type_number(type))


def _shown(type: Type | None) -> str:
    return "anyelement" if type is None else standard_name(type)


def _internal(type: Type | None) -> str:
    return "anyelement" if type is None else internal_name(type)


FUNCTION_ROWS = {"pg_proc": _procedures}
INFORMATION_ROUTINES = {"routines": _routines, "parameters": _parameters}
