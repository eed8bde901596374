"""PREPARE, EXECUTE and DEALLOCATE in scripts: statements that are kept for the session by their names.

A script's session ends with it; one of PostgreSQL's protocol reads these statements itself.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokens import TokenType

from planner.errors import InvalidQuery, PlannerError, Unsupported
from planner.parsing.dialect_parsers import trees
from planner.parsing.parameters import Given, Parameters
from planner.parsing.script import Excerpt, Piece
from planner.sql_types import from_duckdb
from planner.statements.prepare_statements import Deallocate, Execute, Prepare, deallocate, execute, prepare
from planner.suggestions import did_you_mean
from service.errors import NotFound
from service.reading.duck import Answer
from service.reading.results import answer_document

_KEPT = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "(", "INSERT", "UPDATE", "DELETE", "MERGE"})
_NUMBER = re.compile(r"[0-9]{1,5}")
_MOST = 1_000
"""Statements that a session keeps at most."""
Prepared = dict[str, Prepare]
Kept = Prepare | Execute | Deallocate
AskText = Callable[[str, str], Awaitable[Answer]]
"""Answers a query in a dialect."""
_READERS: Mapping[str, Callable[[Piece], Kept]] = {
    "PREPARE": prepare,
    "EXECUTE": execute,
    "DEALLOCATE": deallocate,
}


def kept_statement(piece: Piece) -> Kept | None:
    """What a piece says of prepared statements; None for any other statement. Raises InvalidSyntax."""
    read = _READERS.get("".join(piece.words(1)))
    return None if read is None else read(piece)


def keep(statement: Prepare | Deallocate, prepared: Prepared) -> str:
    """Keeps or forgets statements. Returns the name of what was done. Raises a PlannerError or NotFound."""
    if isinstance(statement, Prepare):
        first = "".join(statement.statement.words(1)) or statement.statement.tokens[0].text
        if first not in _KEPT:
            raise Unsupported(f"PREPARE of {first} is not supported", "prepare a query, or changes of rows")
        if statement.name in prepared:
            raise InvalidQuery(f"there is a prepared statement called {statement.name} already")
        if len(prepared) >= _MOST:
            raise InvalidQuery(f"a session keeps at most {_MOST} prepared statements", "DEALLOCATE some")
        prepared[statement.name] = statement
        return "PREPARE"
    if statement.name is None:
        prepared.clear()
        return "DEALLOCATE ALL"
    del prepared[found(statement.name, prepared).name]
    return "DEALLOCATE"


def found(name: str, prepared: Prepared) -> Prepare:
    """The statement of a name. Raises NotFound."""
    if name not in prepared:
        raise NotFound(f"there is no prepared statement called {name}", did_you_mean(name, prepared))
    return prepared[name]


async def executed(statement: Execute, at: Piece, prepared: Prepared, ask: AskText) -> Piece:
    """The prepared statement with the values of its parameters, in the place of EXECUTE in its script. Raises
    a PlannerError or NotFound."""
    kept = found(statement.name, prepared)
    inner, arguments = kept.statement, statement.arguments
    wanted = _parameters(inner)
    if len(arguments) != wanted:
        raise InvalidQuery(
            f"{len(arguments)} values are given, and the statement {kept.name} has {wanted} parameters"
        )
    given = {}
    for number, argument in enumerate(arguments, 1):
        type = kept.types[number - 1] if number <= len(kept.types) else None
        given[str(number)] = await _value(argument, type, inner.dialect, ask)
    return replace(inner, index=at.index, parameters=Parameters(given, True))


def _parameters(piece: Piece) -> int:
    """The number of the greatest parameter, or the number of question marks."""
    texts = [token.text for token in piece.tokens]
    marks = [token.token_type is TokenType.PARAMETER for token in piece.tokens]
    numbers = [int(b) for mark, b in zip(marks, texts[1:], strict=False) if mark and _NUMBER.fullmatch(b)]
    questions = sum(token.token_type is TokenType.PLACEHOLDER for token in piece.tokens)
    return max(numbers, default=questions)


async def _value(argument: Excerpt, type: str | None, dialect: str, ask: AskText) -> Given:
    """The value of an argument: a literal takes the type of its place, unless the parameter has one."""
    try:
        (tree,) = trees(argument.text, dialect)
        if type is None and isinstance(tree, exp.Literal | exp.Null | exp.Boolean):
            return Given(_plain(tree))
        written = f"({argument.text})" if type is None else f"CAST(({argument.text}) AS {type})"
        answer = await ask(f"SELECT {written} AS value", dialect)
        _, ((value,),) = answer_document(answer)
        return Given(value, from_duckdb(answer.types[0]))
    except PlannerError as error:
        error.line = error.column = None
        raise error.at(argument.line, argument.column) from None


def _plain(tree: exp.Literal | exp.Null | exp.Boolean) -> object:
    if isinstance(tree, exp.Null):
        return None
    if isinstance(tree, exp.Boolean) or tree.is_string:
        return tree.this
    return int(tree.this) if tree.this.isdigit() else float(tree.this)
