"""CREATE FUNCTION: what a new function's body must be before it is stored.

A function whose parameters all have types is asked for no rows, so that its author learns at once of a name
or a type that is wrong; a macro is read when it is called, as in DuckDB.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from typing import Any

from sqlglot import exp

from planner.adhoc.adhoc_query import AdhocQuery, adhoc_query
from planner.catalog_queries import is_system
from planner.dialects.reserved_words import RESERVED
from planner.errors import AmbiguousColumn, InvalidQuery, PlannerError
from planner.identifiers import fold, relation_name
from planner.parsing.mutually import declaration_of
from planner.parsing.script import split
from planner.parsing.sql_functions import SqlFunction, body_tree, is_polymorphic
from planner.parsing.vocabulary import Vocabulary, spelled_out
from planner.relation_names import own_name
from planner.statements.function_statements import CreateFunction
from planner.statements.show_create import relation_text
from service.accounts.principals import MayRead
from service.definitions.definition import Definition
from service.pgcatalog.builtin_objects import builtin_rows
from service.reading.duck import Answer
from service.running.runtime import Runtime

_WORDS = frozenset(
    {"conflict", "cube", "filter", "identity", "include", "insert", "key", "over", "rollup", "sets", "within"}
)
_RENAME = "write the function's name or $1 for the parameter, or give it another name"


async def create_function(
    statement: CreateFunction,
    runtime: Runtime,
    ask: Callable[[AdhocQuery], Awaitable[Answer]],
    readable: MayRead,
) -> None:
    """Checks a function's overloads and stores them. Raises a PlannerError with the statement's place."""
    if own_name(statement.name) in _system_names():
        raise InvalidQuery(
            f"there is a function called {own_name(statement.name)} already, of the system",
            "choose another name",
        ).at(*statement.piece.place())
    known = runtime.definitions()
    if readable is not None:
        known = {name: definition for name, definition in known.items() if readable(name)}
    vocabulary = runtime.vocabulary()
    for function in statement.functions:
        try:
            _check_names(function, known)
            count = len(function.parameters)
            others = [f for f in vocabulary.functions.get(function.name, ()) if len(f.parameters) != count]
            after = {**vocabulary.functions, function.name: (function, *others)}
            query = _probe(statement, function, Vocabulary(vocabulary.types, after), known)
        except PlannerError as error:
            raise _of_body(error, statement) from None
        if query is not None:
            try:
                await ask(query)
            except PlannerError as error:
                raise _of_body(error, statement) from None
    options: dict[str, Any] = {"or_replace": statement.or_replace, "exists_ok": statement.if_not_exists}
    try:
        await runtime.objects.create_function(*statement.functions, **options)
    except PlannerError as error:
        raise error.at(*statement.piece.place()) from None


def _of_body(error: PlannerError, statement: CreateFunction) -> PlannerError:
    place = statement.piece.place()
    message = f"the body of function {statement.name}: {error.message}"
    return type(error)(message, error.hint, line=place[0], column=place[1])


@cache
def _system_names() -> frozenset[str]:
    """The names of PostgreSQL's own functions, and words before a parenthesis that call nothing."""
    return _WORDS.union(RESERVED, (str(row["proname"]) for row in builtin_rows("pg_proc")))


def _check_names(function: SqlFunction, known: Mapping[str, Definition]) -> None:
    """Raises AmbiguousColumn if a name is a parameter's and a column's too: PostgreSQL takes the column, and
    its author has nearly always meant the parameter."""
    if function.is_macro:
        return
    tree = body_tree(function)
    columns = set(_columns(tree, known))
    named = {parameter.name for parameter in function.parameters}
    for column in tree.find_all(exp.Column):
        if column.args.get("table") is None and isinstance(column.this, exp.Identifier):
            name = fold(column.this)
            if name in columns and name in named:
                raise AmbiguousColumn(f"{name} is a parameter, and a column that the body reads", _RENAME)


def _columns(tree: exp.Expression, known: Mapping[str, Definition]) -> Iterator[str]:
    """The names of columns that a body with a FROM can mean."""
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    for table in tables:
        definition = known.get(relation_name(table))
        yield from () if definition is None else definition.schema.names
    for alias in tree.find_all(exp.TableAlias):
        yield from (fold(column) for column in alias.columns if isinstance(column, exp.Identifier))
    if tables or tree.find(exp.Subquery, exp.CTE):
        inner = (alias for alias in tree.find_all(exp.Alias) if alias.find_ancestor(exp.Subquery, exp.CTE))
        yield from (alias.alias for alias in inner)


def _probe(
    statement: CreateFunction,
    function: SqlFunction,
    vocabulary: Vocabulary,
    known: Mapping[str, Definition],
) -> AdhocQuery | None:
    """A query that calls the function for no row; None if it cannot be known how it is called, or asked."""
    typed = all(p.type is not None and not is_polymorphic(p.type) for p in function.parameters)
    body = body_tree(function)
    with_ = body.args.get("with_")
    if not typed or (with_ is not None and declaration_of(with_) is not None):
        return None
    if any(is_system(relation_name(table)) for table in body.find_all(exp.Table) if _is_named(table)):
        return None
    given = ", ".join(f"CAST(NULL AS {parameter.type})" for parameter in function.parameters)
    call = f"{relation_text(function.name)}({given})"
    text = f"SELECT * FROM {call} LIMIT 0" if function.is_table else f"SELECT {call} LIMIT 0"
    names = statement.piece.names
    spelled = spelled_out(text, function.dialect, vocabulary, names)
    (piece,) = split(spelled, function.dialect, names=names)
    return adhoc_query(piece.parse(), known)


def _is_named(table: exp.Table) -> bool:
    return isinstance(table.this, exp.Identifier)
