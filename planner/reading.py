"""Reading statements: a script's pieces to what they say.

`parse_script` reads all; `split` and `parse_statement` go one at a time, for a caller
that runs what comes before a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.altering import alter
from planner.ddl import create_table, create_type, drop, drop_type, view_head
from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import column_name, fold, relation_name
from planner.positions import fail
from planner.script import Piece, split
from planner.statements import (
    NAMED_STAGES,
    Begin,
    Comment,
    Commit,
    CreateView,
    Delete,
    Explain,
    Insert,
    Merge,
    Rollback,
    Select,
    ShowColumns,
    ShowCreate,
    ShowTables,
    ShowViews,
    Statement,
    Truncate,
    Update,
)

_SHOW_HINT = "SHOW TABLES, VIEWS, COLUMNS FROM name, or CREATE TABLE or VIEW name; DESCRIBE name"
_MUTUAL = ("WITH", "MUTUALLY", "RECURSIVE")


def parse_script(sql: str, dialect: str = "postgres") -> tuple[Statement, ...]:
    """All statements of a script; PlannerError, with its place, for the first that is wrong."""
    return tuple(parse_statement(piece) for piece in split(sql, dialect))


def parse_statement(piece: Piece) -> Statement:
    """The statement that `piece` is; PlannerError, always with its place, if it is none."""
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
        raise piece.failure(f'syntax error at or near "{piece.tokens[0].text}"')
    hint = _INSTEAD.get(
        first,
        "there are SELECT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE, CREATE, ALTER and DROP of TABLE "
        "and VIEW, COMMENT, EXPLAIN, SHOW, BEGIN, COMMIT and ROLLBACK",
    )
    raise piece.unsupported(f"{first} is not supported", hint)


def _create(piece: Piece) -> Statement:
    words = piece.words(8)
    if "VIEW" in words and "TABLE" not in words[: words.index("VIEW")]:
        return _create_view(piece)
    return create_table(piece)


def _create_view(piece: Piece) -> CreateView:
    head = view_head(piece)
    return CreateView(
        piece,
        head.name,
        piece.excerpt(head.query),
        head.column_names,
        head.or_replace,
        head.if_not_exists,
        head.materialized,
    )


def _query(piece: Piece) -> Statement:
    """A SELECT, or with WITH before it any statement that has a query in it."""
    if piece.words(3) == _MUTUAL:
        raise piece.unsupported(
            "WITH MUTUALLY RECURSIVE outside a view is not supported",
            "CREATE VIEW name AS WITH MUTUALLY RECURSIVE ..., and SELECT from the view",
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
    """REPLACE INTO, which is an INSERT whose rows take the place of others."""
    first = piece.tokens[0]
    insert = Token(TokenType.INSERT, "INSERT", first.line, first.col, first.start, first.end)
    tree = replace(piece, tokens=(insert, *piece.tokens[1:])).parse()
    if not isinstance(tree, exp.Insert):
        raise piece.failure("REPLACE of what?", "REPLACE INTO name VALUES (...)")
    return _insert(piece, tree, True)


def _truncate(piece: Piece, tree: exp.TruncateTable) -> Truncate:
    if tree.args.get("option") == "CASCADE" or tree.args.get("is_database"):
        raise piece.unsupported(
            "TRUNCATE ... CASCADE is not supported", "name the tables", piece.find("CASCADE")
        )
    if tree.args.get("identity") == "RESTART":
        raise piece.unsupported(
            "TRUNCATE ... RESTART IDENTITY is not supported", "columns go on counting", piece.find("RESTART")
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


_EXPLAINED = f"EXPLAIN [{' | '.join(NAMED_STAGES).upper()}] query, or VIEW name"


def _explain(piece: Piece) -> Explain:
    words = piece.words(3)
    stage = words[1].lower() if words[1:2] and words[1].lower() in NAMED_STAGES else None
    begin = 1 if stage is None else 2
    if begin >= len(piece.tokens):
        raise piece.failure("EXPLAIN of what?", _EXPLAINED)
    rest = piece.from_token(begin)
    first = rest.words(1)[:1]
    if first == ("VIEW",) and len(rest.tokens) == 2:
        return Explain(piece, stage, None, _token_name(rest.tokens[1]))
    if first == ("CREATE",):
        return Explain(piece, stage, _create_view(rest).query, None)
    if first and first[0] in ("SELECT", "WITH", "VALUES", "TABLE", "FROM", "("):
        return Explain(piece, stage, rest.excerpt(0), None)
    if len(rest.tokens) == 1:
        return Explain(piece, stage, None, _token_name(rest.tokens[0]))
    raise rest.unsupported(
        f"EXPLAIN {rest.tokens[0].text} is not supported",
        _EXPLAINED,
    )


def _token_name(token: Token) -> str:
    return token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()


def _show(piece: Piece) -> Statement:
    words = piece.words(4)[1:]
    if words[:2] in (("COLUMNS", "FROM"), ("COLUMNS", "IN")):
        return ShowColumns(piece, _last_name(piece, 3))
    if words[:1] == ("CREATE",) and len(piece.tokens) > 2:
        kind = piece.words(4)[2:3]
        if kind in (("TABLE",), ("VIEW",)):
            return ShowCreate(piece, _last_name(piece, 3), kind == ("VIEW",))
    match words:
        case ("TABLES",):
            return ShowTables(piece)
        case ("VIEWS",) | ("MATERIALIZED", "VIEWS"):
            return ShowViews(piece)
    raise piece.unsupported(f"{' '.join(piece.words(4))} is not supported", _SHOW_HINT)


def _describe(piece: Piece) -> ShowColumns:
    return ShowColumns(piece, _last_name(piece, 2 if piece.words(2)[1:] in (("TABLE",), ("VIEW",)) else 1))


def _last_name(piece: Piece, place: int) -> str:
    """The name that the statement ends with, its token `place`."""
    if len(piece.tokens) != place + 1:
        raise piece.failure("the name of a table or view is expected", _SHOW_HINT)
    return _token_name(piece.tokens[place])


def _comment(piece: Piece) -> Comment:
    *tokens, last = piece.tokens
    if last.text.upper() == "NULL":
        nothing = Token(TokenType.STRING, "", last.line, last.col, last.start, last.end)
        tree = replace(piece, tokens=(*tokens, nothing)).parse()
    else:
        tree = piece.parse()
    kind = tree.args.get("kind")
    if not isinstance(tree, exp.Comment) or kind not in ("TABLE", "VIEW", "COLUMN"):
        raise piece.unsupported(
            f"{' '.join(piece.words(3))} is not supported", "COMMENT ON TABLE, VIEW or COLUMN ... IS '...'"
        )
    text = tree.expression.name or None
    if kind != "COLUMN":
        return Comment(piece, relation_name(tree.this), None, text, kind == "VIEW")
    if not tree.this.args.get("table"):
        fail(InvalidQuery(f"{tree.this.sql()} names no table", "COMMENT ON COLUMN t.a IS '...'"), tree.this)
    return Comment(piece, fold(tree.this.args["table"]), fold(tree.this.this), text, None)


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


_INSERT_OPTIONS = {
    "overwrite": "OVERWRITE",
    "partition": "PARTITION",
    "where": "REPLACE WHERE",
}
_INSTEAD = {
    "SET": "a session has no settings: leave it out",
    "RESET": "a session has no settings: leave it out",
    "USE": "there is one database: leave it out",
    "SAVEPOINT": "a block is one epoch or none: split it",
    "RELEASE": "a block is one epoch or none: split it",
    "GRANT": "there are no users",
    "REVOKE": "there are no users",
    "VACUUM": "what is no longer kept goes by itself",
    "ANALYZE": "there are no statistics to gather",
}
_PARSERS: dict[tuple[str, ...], Callable[[Piece], Statement]] = {
    ("SELECT",): _query,
    ("WITH",): _query,
    ("VALUES",): _query,
    ("TABLE",): _query,
    ("FROM",): _query,
    ("(",): _query,
    ("INSERT",): _query,
    ("UPDATE",): _query,
    ("DELETE",): _query,
    ("CREATE", "TYPE"): create_type,
    ("CREATE",): _create,
    ("DROP", "TYPE"): drop_type,
    ("DROP",): drop,
    ("ALTER",): alter,
    ("COMMENT",): _comment,
    ("MERGE",): _query,
    ("REPLACE",): _replace_into,
    ("TRUNCATE",): _query,
    ("DESCRIBE",): _describe,
    ("DESC",): _describe,
    ("EXPLAIN",): _explain,
    ("SHOW",): _show,
    ("BEGIN",): _begin,
    ("START", "TRANSACTION"): _begin,
    ("COMMIT",): _commit,
    ("END",): _commit,
    ("ROLLBACK",): _rollback,
    ("ABORT",): _rollback,
}
