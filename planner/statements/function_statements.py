"""CREATE FUNCTION, CREATE MACRO, DROP FUNCTION and DROP MACRO, read word by word.

A FUNCTION is PostgreSQL's: its parameters may have types, and its body is a text or follows RETURN. A MACRO
is DuckDB's: its body follows AS, and several overloads may stand in one statement. DuckDB's FUNCTION is its
MACRO. Words that only guide PostgreSQL's planner are passed over; any other option is refused by its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokens import TokenType

from planner.errors import PlannerError
from planner.identifiers import fold
from planner.parsing.namespace import Namespace
from planner.parsing.parse import spelled_names
from planner.parsing.rewritten_text import spliced
from planner.parsing.script import Excerpt, Piece
from planner.parsing.sql_functions import SqlFunction, body_tree
from planner.relation_names import schema_of
from planner.statements.function_parts import parameters_of, pass_type, text_of, type_of
from planner.statements.statements import Statement
from planner.statements.word_reader import WordReader

_FUNCTION_FORM = (
    "CREATE [OR REPLACE] FUNCTION name(parameter type [DEFAULT value], ...) RETURNS type | TABLE (column "
    "type, ...) LANGUAGE SQL AS $$ SELECT ... $$"
)
_MACRO_FORM = "CREATE [OR REPLACE] MACRO name(parameter [:= default], ...) AS expression | TABLE query"
_TEXTS = (TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING)
_GUIDES = (
    *(("IMMUTABLE",), ("STABLE",), ("VOLATILE",), ("LEAKPROOF",), ("NOT", "LEAKPROOF"), ("WINDOW",)),
    *(("PARALLEL", "SAFE"), ("PARALLEL", "UNSAFE"), ("PARALLEL", "RESTRICTED"), ("SECURITY", "INVOKER")),
    *(("EXTERNAL", "SECURITY", "INVOKER"), ("CALLED", "ON", "NULL", "INPUT"), ("NOT", "DETERMINISTIC")),
    *(("DETERMINISTIC",), ("CONTAINS", "SQL"), ("READS", "SQL", "DATA"), ("NO", "SQL")),
)
_SYSTEM = "pg_"
"""How names of PostgreSQL's catalogs begin."""


@dataclass(frozen=True)
class CreateFunction(Statement):
    """CREATE FUNCTION or MACRO: overloads of one name."""

    name: str
    functions: tuple[SqlFunction, ...]
    or_replace: bool
    if_not_exists: bool


@dataclass(frozen=True)
class DropFunction(Statement):
    """`dropped` has names, each with the number of parameters, or None for the one function or, of macros,
    for all of the name."""

    dropped: tuple[tuple[str, int | None], ...]
    if_exists: bool
    is_macro: bool


def create_function(piece: Piece) -> CreateFunction:
    reader = WordReader(piece, 1, _FUNCTION_FORM)
    or_replace = reader.skip("OR", "REPLACE")
    if reader.skip("TEMP") or reader.skip("TEMPORARY"):
        raise piece.unsupported("a temporary function is not supported", "leave the word out", reader.at - 1)
    is_macro = reader.skip("MACRO")
    if not is_macro:
        reader.expect("FUNCTION")
    is_macro = is_macro or piece.dialect == "duckdb"
    if is_macro:
        reader.form = _MACRO_FORM
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.made()
    functions = _macros(reader, name) if is_macro else [_function(reader, name)]
    functions = [_with_types(function, piece.names) for function in functions]
    for function in functions:
        _check(function, piece)
    qualified = tuple(replace(function, body=_qualified(function, piece.names)) for function in functions)
    return CreateFunction(piece, name, qualified, or_replace, if_not_exists)


def drop_function(piece: Piece) -> DropFunction:
    """DROP FUNCTION [IF EXISTS] name[(type, ...)], ... [RESTRICT], and DROP MACRO [TABLE] name."""
    reader = WordReader(piece, 2, "write DROP FUNCTION [IF EXISTS] name(type, ...), ...")
    is_macro = piece.words(2)[1:] == ("MACRO",) or piece.dialect == "duckdb"
    if is_macro:
        reader.skip("TABLE")
    # Nothing depends on a function: what uses it keeps its body.
    dropped, if_exists, _ = reader.dropped(lambda: _dropped(reader), cascades=True)
    return DropFunction(piece, dropped, if_exists, is_macro)


def _dropped(reader: WordReader) -> tuple[str, int | None]:
    """A function's full name, and the number of its parameters if the statement tells it."""
    full = reader.existing(reader.piece.names.functions)
    if not reader.skip("("):
        return full, None
    count = 0
    while not reader.skip(")"):
        pass_type(reader, (",",))
        count += 1
        reader.skip(",")
    return full, count


# Macros


def _macros(reader: WordReader, name: str) -> list[SqlFunction]:
    """The overloads of a macro, each with its parameters and its body."""
    found = []
    while True:
        parameters = parameters_of(reader, by_type=False)
        reader.expect("AS")
        is_table = reader.skip("TABLE")
        begin = reader.at
        _pass_body(reader, ends_at_overload=not is_table)
        text = text_of(reader, begin, reader.at)
        body = text if is_table else f"SELECT {text}"
        found.append(
            SqlFunction(name, parameters, body, reader.piece.dialect, is_table=is_table, is_macro=True)
        )
        if not reader.skip(","):
            return found


def _pass_body(reader: WordReader, ends_at_overload: bool) -> None:
    depth, begin = 0, reader.at
    while not reader.is_done:
        depth += (reader.word == "(") - (reader.word == ")")
        if reader.word == "," and depth == 0 and ends_at_overload:
            break
        reader.at += 1
    if reader.at == begin:
        raise reader.failure("the body is missing")


# Functions


def _function(reader: WordReader, name: str) -> SqlFunction:
    piece = reader.piece
    function = SqlFunction(name, parameters_of(reader, by_type=True), "", piece.dialect)
    body: str | None = None
    while not reader.is_done:
        if reader.skip("RETURNS"):
            function = _returning(reader, function)
        elif reader.skip("LANGUAGE"):
            _language(reader)
        elif reader.skip("STRICT"):
            function = replace(function, strict=True)
        elif reader.skip("RETURN"):
            begin, reader.at = reader.at, len(piece.tokens)
            if begin == reader.at:
                raise reader.failure("the body is missing")
            body = f"SELECT {text_of(reader, begin, reader.at)}"
        elif reader.skip("AS"):
            body = _quoted_body(reader)
        elif reader.skip("COST") or reader.skip("ROWS"):
            reader.at += 1
        elif not any(reader.skip(*words) for words in _GUIDES):
            raise _refused(reader)
    if body is None:
        raise reader.failure("the function has no body")
    return replace(function, body=body)


def _refused(reader: WordReader) -> PlannerError:
    word, piece = reader.word, reader.piece
    if word in ("BEGIN", "SET", "SECURITY", "TRANSFORM", "SUPPORT"):
        hint = "write the body as AS $$ SELECT ... $$" if word == "BEGIN" else "leave it out"
        return piece.unsupported(f"{word} of a function is not supported", hint, reader.at)
    return reader.failure(f'syntax error at or near "{piece.tokens[reader.at].text}"')


def _returning(reader: WordReader, function: SqlFunction) -> SqlFunction:
    if reader.skip("NULL", "ON", "NULL", "INPUT"):
        return replace(function, strict=True)
    if reader.skip("TABLE"):
        reader.expect("(")
        columns = []
        while not reader.skip(")"):
            column = reader.name()
            columns.append((column, type_of(reader, (",",))))
            reader.skip(",")
        return replace(function, is_table=True, columns=tuple(columns))
    at = reader.at
    if reader.word in ("VOID", "TRIGGER", "RECORD"):
        hint = "a function returns a type, TABLE (column type, ...) or SETOF type"
        raise reader.piece.unsupported(f"RETURNS {reader.word} is not supported", hint, at)
    is_set = reader.skip("SETOF")
    if is_set and reader.word == "RECORD":
        reader.at += 1
        return replace(function, is_table=True)
    type = type_of(reader, ())
    if is_set:
        own = function.name.rpartition(".")[2].strip('"')
        return replace(function, is_table=True, columns=((own, type),))
    return replace(function, returns=type)


def _language(reader: WordReader) -> None:
    at = reader.at
    token = reader.piece.tokens[at] if not reader.is_done else None
    language = "" if token is None else token.text.upper()
    if language != "SQL":
        hint = "write the function in SQL: one SELECT over its parameters"
        raise reader.piece.unsupported(
            f"LANGUAGE {language} is not supported", hint, min(at, len(reader.piece.tokens) - 1)
        )
    reader.at += 1


def _quoted_body(reader: WordReader) -> str:
    """The body in the text that follows AS, without semicolons at its end."""
    if reader.is_done or reader.piece.tokens[reader.at].token_type not in _TEXTS:
        if reader.piece.dialect in ("bigquery", "databricks", "spark", "snowflake"):
            return _open_body(reader)
        raise reader.failure("the body is missing: a text is expected after AS")
    text = reader.piece.tokens[reader.at].text.strip().rstrip(";").rstrip()
    reader.at += 1
    if reader.piece.dialect in ("bigquery", "snowflake") and not text.upper().startswith(("SELECT", "WITH")):
        text = f"SELECT {text}"  # there a text may be an expression
    if not text:
        raise reader.failure("the body is empty")
    return text


def _open_body(reader: WordReader) -> str:
    """The expression in parentheses that follows AS in BigQuery's SQL."""
    begin, reader.at = reader.at, len(reader.piece.tokens)
    return f"SELECT {text_of(reader, begin, reader.at)}"


def _with_types(function: SqlFunction, names: Namespace) -> SqlFunction:
    """The function with named types spelled out in its body."""
    replaced = spelled_names(function.body, function.dialect, replace(names, functions_called=None))
    return replace(function, body=spliced(function.body, replaced)) if replaced else function


def _qualified(function: SqlFunction, names: Namespace) -> str:
    """The body with a schema before each relation, so that it means the same wherever it is called: under any
    search path, and beside common table expressions of the same name."""
    tree = body_tree(function)
    own = {fold(cte.args["alias"].this) for cte in tree.find_all(exp.CTE)}
    places = []
    for table in tree.find_all(exp.Table):
        node = table.this
        is_bare = isinstance(node, exp.Identifier) and not table.args.get("db") and "start" in node.meta
        if is_bare and fold(node) not in own and not fold(node).startswith(_SYSTEM):
            full = names.meant(fold(node), names.relations)
            schema = exp.to_identifier(schema_of(full), quoted=True).sql(function.dialect)
            places.append((node.meta["start"], schema))
    text = function.body
    for start, schema in sorted(places, reverse=True):
        text = f"{text[:start]}{schema}.{text[start:]}"
    return text


def _check(function: SqlFunction, piece: Piece) -> None:
    """Raises a PlannerError, with its place as far as it can be known, for a body that cannot be used."""
    try:
        body_tree(function)
        function.template(function.dialect)
    except PlannerError as error:
        at = next((i for i, token in enumerate(piece.tokens) if token.token_type in _TEXTS), None)
        if at is None:
            raise error.at(*piece.place()) from None
        line, column = piece.place(at)
        Excerpt(function.body, line, column).relocate(error)
        raise error.at(line, column) from None
