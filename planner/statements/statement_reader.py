"""Reads statements: from the pieces of a script to statement objects.

`parse_script` reads all; `split` and `parse_statement` read one at a time, for a caller that runs the
statements before a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import column_name, relation_name
from planner.parsing.script import Piece, split
from planner.parsing.syntax_errors import STATEMENTS
from planner.positions import fail
from planner.statements.alter_statements import alter
from planner.statements.assertion_statements import create_assertion
from planner.statements.branch_statements import create_branch, merge_branch, reset_branch, set_branch
from planner.statements.comment_statements import comment
from planner.statements.copy_files import copy_files
from planner.statements.create_statements import create_table, create_view
from planner.statements.drop_statements import drop
from planner.statements.function_statements import create_function, drop_function
from planner.statements.index_statements import create_index
from planner.statements.refresh_statements import refresh
from planner.statements.replacement_statements import (
    apply_replacement,
    create_replacement,
    preview_replacement,
)
from planner.statements.role_statements import create_role, grant, revoke
from planner.statements.schema_statements import create_schema, set_search_path
from planner.statements.sequence_statements import alter_sequence, create_sequence
from planner.statements.show_statements import describe, explain, show
from planner.statements.statements import (
    Begin,
    Commit,
    Delete,
    Insert,
    Merge,
    Rollback,
    Select,
    Statement,
    Truncate,
    Update,
)
from planner.statements.stream_statements import create_sink, create_source, is_connected
from planner.statements.type_statements import create_type
from planner.suggestions import did_you_mean

_MUTUAL = ("WITH", "MUTUALLY", "RECURSIVE")


def parse_script(sql: str, dialect: str = "postgres") -> tuple[Statement, ...]:
    """All statements of a script. Raises a PlannerError with its place for the first faulty one."""
    return tuple(parse_statement(piece) for piece in split(sql, dialect))


def parse_statement(piece: Piece) -> Statement:
    """The statement of `piece`. Raises a PlannerError, always with its place, if it is not a statement."""
    try:
        return _parser(piece)(piece)
    except PlannerError as error:
        raise error.at(*piece.place()) from None


def _parser(piece: Piece) -> Callable[[Piece], Statement]:
    words = piece.words(5)
    for head, parser in _PARSERS.items():
        if words[: len(head)] == head:
            return parser
    first = words[0] if words else piece.tokens[0].text
    if first not in _INSTEAD and piece.tokens[0].token_type == TokenType.VAR:
        raise piece.failure(
            f'syntax error at or near "{piece.tokens[0].text}"', did_you_mean(first, STATEMENTS)
        )
    hint = _INSTEAD.get(
        first,
        "use SELECT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE, CREATE, ALTER and DROP of TABLE "
        "and VIEW, CREATE SCHEMA, COMMENT, EXPLAIN, SHOW, GRANT, REVOKE, BEGIN, COMMIT and ROLLBACK",
    )
    raise piece.unsupported(f"{first} is not supported", hint)


def _create(piece: Piece) -> Statement:
    words = piece.words(8)
    if words[1] == "TABLE" and is_connected(piece):
        return create_source(piece)
    made = next((word for word in words[1:] if word not in _BEFORE_KIND), "")
    if made in ("FUNCTION", "MACRO"):
        return create_function(piece)
    if "VIEW" in words and "TABLE" not in words[: words.index("VIEW")]:
        return create_view(piece)
    return create_table(piece)


def _query(piece: Piece) -> Statement:
    """A SELECT or, with WITH before it, any statement that contains a query."""
    if piece.words(3) == _MUTUAL:
        raise piece.unsupported(
            "WITH MUTUALLY RECURSIVE outside a view is not supported",
            "write CREATE VIEW name AS WITH MUTUALLY RECURSIVE ..., and SELECT from the view",
        )
    tree = piece.parse()
    match tree:
        case exp.Insert():
            return _insert(piece, tree)
        case exp.Update():
            _refuse(piece, tree, {"order": "ORDER BY", "limit": "LIMIT"})
            return Update(piece, relation_name(tree.this), tree)
        case exp.Delete():
            _refuse(piece, tree, {"order": "ORDER BY", "limit": "LIMIT", "tables": "FROM"})
            return Delete(piece, relation_name(tree.this), tree)
        case exp.Merge():
            return Merge(piece, relation_name(tree.this), tree)
        case exp.TruncateTable():
            return _truncate(piece, tree)
        case _ if _is_query(tree):
            _refuse(piece, tree, {"into": "INTO", "locks": "FOR UPDATE"})
            return Select(piece, tree)
    raise piece.unsupported(f"{' '.join(piece.words(1))} is not supported here")


def _insert(piece: Piece, tree: exp.Insert, replaces: bool = False) -> Insert:
    alternative = tree.args.get("alternative")
    if alternative not in (None, "REPLACE", "IGNORE"):
        raise piece.unsupported(f"INSERT OR {alternative} is not supported", "", piece.find("OR"))
    _refuse(piece, tree, _INSERT_OPTIONS)
    query: exp.Expression | None = tree.expression
    if tree.args.get("default"):
        query = None
    elif query is None or not _is_query(query):
        raise piece.failure(
            "VALUES or a query is expected", "INSERT INTO name (column, ...) VALUES (...), ..."
        )
    named = isinstance(tree.this, exp.Schema)
    columns = tuple(column_name(c) for c in tree.this.expressions) if named else ()
    for i, name in enumerate(columns):
        if name in columns[:i]:
            fail(InvalidQuery(f"column {name} is named twice"), tree.this.expressions[i])
    table = relation_name(tree.this.this if named else tree.this)
    return Insert(piece, table, columns, query, tree, replaces or alternative == "REPLACE")


def _replace_into(piece: Piece) -> Insert:
    """REPLACE INTO, which is an INSERT whose rows replace others."""
    first = piece.tokens[0]
    insert = Token(TokenType.INSERT, "INSERT", first.line, first.col, first.start, first.end)
    tree = replace(piece, tokens=(insert, *piece.tokens[1:])).parse()
    if not isinstance(tree, exp.Insert):
        raise piece.failure("REPLACE needs a table", "write REPLACE INTO name VALUES (...)")
    return _insert(piece, tree, True)


def _truncate(piece: Piece, tree: exp.TruncateTable) -> Truncate:
    if tree.args.get("option") == "CASCADE" or tree.args.get("is_database"):
        raise piece.unsupported(
            "TRUNCATE ... CASCADE is not supported", "name all tables to empty", piece.find("CASCADE")
        )
    if tree.args.get("identity") == "RESTART":
        raise piece.unsupported(
            "TRUNCATE ... RESTART IDENTITY is not supported",
            "identity columns continue counting",
            piece.find("RESTART"),
        )
    return Truncate(piece, tuple(map(relation_name, tree.expressions)))


def _is_query(tree: exp.Expression) -> bool:
    return isinstance(tree, exp.Query | exp.Values)


def _refuse(piece: Piece, tree: exp.Expression, options: Mapping[str, str]) -> None:
    for option, word in options.items():
        if tree.args.get(option):
            raise piece.unsupported(
                f"{piece.words(1)[0]} ... {word} is not supported", "", piece.find(word.split()[0])
            )


def _begin(piece: Piece) -> Begin:
    _no_options(piece)
    return Begin(piece)


def _commit(piece: Piece) -> Commit:
    _no_options(piece)
    return Commit(piece)


def _rollback(piece: Piece) -> Rollback:
    _no_options(piece)
    return Rollback(piece)


def _no_options(piece: Piece) -> None:
    if len(piece.tokens) > 1 and piece.words(3)[1:] not in (("TRANSACTION",), ("WORK",), ("TRAN",)):
        raise piece.unsupported(f"{piece.source} is not supported", "write BEGIN and COMMIT alone", 1)


_BEFORE_KIND = ("OR", "REPLACE", "TEMP", "TEMPORARY")
_INSERT_OPTIONS = {
    "overwrite": "OVERWRITE",
    "partition": "PARTITION",
    "where": "REPLACE WHERE",
}
_INSTEAD = {
    "SUBSCRIBE": "use it over PostgreSQL's protocol; over HTTP, GET /v1/views/{view}/changes follows a view",
    "RESET": "a session has no settings: remove the statement",
    "USE": "there is only one database: remove the statement",
    "SAVEPOINT": "a block becomes one epoch or none: split it into several",
    "RELEASE": "a block becomes one epoch or none: split it into several",
    "VACUUM": "old data is removed automatically",
    "ANALYZE": "there are no statistics to gather",
}
_PARSERS: dict[tuple[str, ...], Callable[[Piece], Statement]] = {
    ("SELECT",): _query,
    ("WITH",): _query,
    ("VALUES",): _query,
    ("TABLE",): _query,
    ("FROM",): _query,
    ("PIVOT",): _query,
    ("UNPIVOT",): _query,
    ("(",): _query,
    ("INSERT",): _query,
    ("UPDATE",): _query,
    ("DELETE",): _query,
    ("CREATE", "TYPE"): create_type,
    ("CREATE", "ROLE"): create_role,
    ("CREATE", "SCHEMA"): create_schema,
    ("CREATE", "BRANCH"): create_branch,
    ("CREATE", "REPLACEMENT"): create_replacement,
    ("APPLY", "REPLACEMENT"): apply_replacement,
    ("PREVIEW", "REPLACEMENT"): preview_replacement,
    ("CREATE", "INDEX"): create_index,
    ("CREATE", "UNIQUE", "INDEX"): create_index,
    ("CREATE", "SOURCE"): create_source,
    ("CREATE", "SINK"): create_sink,
    ("COPY",): copy_files,
    ("CREATE", "ASSERTION"): create_assertion,
    ("CREATE", "SEQUENCE"): create_sequence,
    ("CREATE", "TEMP", "SEQUENCE"): create_sequence,
    ("CREATE", "TEMPORARY", "SEQUENCE"): create_sequence,
    ("ALTER", "SEQUENCE"): alter_sequence,
    ("CREATE",): _create,
    ("DROP", "FUNCTION"): drop_function,
    ("DROP", "MACRO"): drop_function,
    ("DROP",): drop,
    ("ALTER",): alter,
    ("COMMENT",): comment,
    ("GRANT",): grant,
    ("REVOKE",): revoke,
    ("REFRESH",): refresh,
    ("MERGE", "BRANCH"): merge_branch,
    ("MERGE",): _query,
    ("REPLACE",): _replace_into,
    ("TRUNCATE",): _query,
    ("DESCRIBE",): describe,
    ("DESC",): describe,
    ("EXPLAIN",): explain,
    ("SHOW",): show,
    ("SET", "BRANCH"): set_branch,
    ("SET", "SESSION", "BRANCH"): set_branch,
    ("RESET", "BRANCH"): reset_branch,
    ("SET",): set_search_path,
    ("BEGIN",): _begin,
    ("START", "TRANSACTION"): _begin,
    ("COMMIT",): _commit,
    ("END",): _commit,
    ("ROLLBACK",): _rollback,
    ("ABORT",): _rollback,
}
