"""Reading statements: a script's pieces to what they say.

`parse_script` reads all; `split` and `parse_statement` go one at a time, for a caller
that runs what comes before a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.ddl import drop_target, table_columns, view_head
from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import column_name, relation_name
from planner.positions import fail
from planner.script import Piece, split
from planner.statements import (
    NAMED_STAGES,
    Begin,
    Commit,
    CreateTable,
    CreateView,
    Delete,
    DropTable,
    DropView,
    Explain,
    Insert,
    Select,
    ShowTables,
    ShowViews,
    Statement,
    Update,
)

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
        "there are SELECT, INSERT, UPDATE, DELETE, CREATE and DROP of TABLE and VIEW, EXPLAIN, SHOW, "
        "BEGIN and COMMIT",
    )
    raise piece.unsupported(f"{first} is not supported", hint)


def _create(piece: Piece) -> Statement:
    words = piece.words(8)
    if "VIEW" in words and "TABLE" not in words[: words.index("VIEW")]:
        return _create_view(piece)
    tree = piece.parse()
    if not isinstance(tree, exp.Create) or tree.kind != "TABLE":
        kind = tree.kind if isinstance(tree, exp.Create) else " ".join(words[1:2])
        raise piece.unsupported(f"CREATE {kind} is not supported", "tables and views can be created")
    columns, key = table_columns(tree, piece)
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    return CreateTable(piece, relation_name(table), columns, key, bool(tree.args.get("exists")))


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


def _drop(piece: Piece) -> Statement:
    tree = piece.parse()
    kind = tree.args.get("kind")
    if not isinstance(tree, exp.Drop) or kind not in ("TABLE", "VIEW"):
        raise piece.unsupported(
            f"{' '.join(piece.words(2))} is not supported", "tables and views can be dropped"
        )
    name, if_exists = drop_target(tree, piece)
    return DropTable(piece, name, if_exists) if kind == "TABLE" else DropView(piece, name, if_exists)


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
            _refuse(piece, tree, {"returning": "RETURNING", "order": "ORDER BY", "limit": "LIMIT"})
            return Update(piece, relation_name(tree.this), tree)
        case exp.Delete():
            _refuse(
                piece,
                tree,
                {"returning": "RETURNING", "order": "ORDER BY", "limit": "LIMIT", "tables": "FROM"},
            )
            return Delete(piece, relation_name(tree.this), tree)
        case _ if _is_query(tree):
            _refuse(piece, tree, {"into": "INTO", "locks": "FOR UPDATE"})
            return Select(piece, tree)
    raise piece.unsupported(f"{' '.join(piece.words(1))} is not supported here")


def _insert(piece: Piece, tree: exp.Insert) -> Insert:
    _refuse(piece, tree, _INSERT_OPTIONS)
    query: exp.Expression = tree.expression
    if not _is_query(query):
        raise piece.failure(
            "VALUES or a query is expected", "INSERT INTO name (column, ...) VALUES (...), ..."
        )
    named = isinstance(tree.this, exp.Schema)
    columns = tuple(column_name(c) for c in tree.this.expressions) if named else ()
    for i, name in enumerate(columns):
        if name in columns[:i]:
            fail(InvalidQuery(f"column {name} is named twice"), tree.this.expressions[i])
    return Insert(piece, relation_name(tree.this.this if named else tree.this), columns, query, tree)


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
    match piece.words(4)[1:]:
        case ("TABLES",):
            return ShowTables(piece)
        case ("VIEWS",) | ("MATERIALIZED", "VIEWS"):
            return ShowViews(piece)
    raise piece.unsupported(f"{' '.join(piece.words(4))} is not supported", "SHOW TABLES or SHOW VIEWS")


def _begin(piece: Piece) -> Begin:
    _no_options(piece)
    return Begin(piece)


def _commit(piece: Piece) -> Commit:
    _no_options(piece)
    return Commit(piece)


def _no_options(piece: Piece) -> None:
    if len(piece.tokens) > 1 and piece.words(3)[1:] not in (("TRANSACTION",), ("WORK",), ("TRAN",)):
        raise piece.unsupported(f"{piece.source} is not supported", "write BEGIN and COMMIT alone", 1)


_INSERT_OPTIONS = {
    "conflict": "ON CONFLICT",
    "returning": "RETURNING",
    "overwrite": "OVERWRITE",
    "ignore": "IGNORE",
    "alternative": "OR",
    "by_name": "BY NAME",
    "partition": "PARTITION",
    "where": "REPLACE WHERE",
    "default": "DEFAULT VALUES",
}
_INSTEAD = {
    "ROLLBACK": "a script that fails between BEGIN and COMMIT changes nothing",
    "TRUNCATE": "DELETE FROM name, without WHERE",
    "MERGE": "INSERT, UPDATE and DELETE between BEGIN and COMMIT are one epoch",
    "ALTER": "drop what is to change and create it anew",
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
    ("CREATE",): _create,
    ("DROP",): _drop,
    ("EXPLAIN",): _explain,
    ("SHOW",): _show,
    ("BEGIN",): _begin,
    ("START", "TRANSACTION"): _begin,
    ("COMMIT",): _commit,
    ("END",): _commit,
}
