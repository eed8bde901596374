"""Reads CREATE TABLE and CREATE VIEW; a view's query stays text.

`planner.statements.declarations` reads the parentheses of a CREATE TABLE. Any other option of a table is
refused by its name and place, never ignored.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokens import TokenType

from planner.dialects.traits import Trait, has
from planner.identifiers import column_name, relation_name
from planner.parsing.namespace import makes_temporary
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Piece
from planner.relation_names import is_temporary
from planner.rewriting.valid_times import VALID_TIME
from planner.statements.declarations import HINT as DECLARATIONS
from planner.statements.declarations import Declarations, check_columns
from planner.statements.statements import CreateTable, CreateTableAs, CreateTableLike, CreateView, Statement
from planner.statements.view_budgets import without_budget

_SELECT_1 = tuple(Dialect().tokenize("SELECT 1"))
_VIEW_FORM = "CREATE [OR REPLACE] [MATERIALIZED] VIEW name [(column, ...)] [WITH (budget_... = ...)] AS query"
_NO_COLUMN = ("a table needs at least one column", "CREATE TABLE name (column type, ...)")
_OPTION_HINTS = {
    "AS SELECT": "create the table with its columns, then fill it with INSERT INTO ... SELECT",
}
_TEMPORARY = ("TEMP", "TEMPORARY")


def create_table(piece: Piece) -> Statement:
    piece, append_only = _append_only(_without_scope(piece))
    piece, valid_time = _valid_time(piece)
    tree = piece.parse()
    if not isinstance(tree, exp.Create) or tree.kind != "TABLE":
        kind = tree.kind if isinstance(tree, exp.Create) else " ".join(piece.words(2)[1:])
        raise piece.unsupported(
            f"CREATE {kind} is not supported", "create a table, a view, a type or a schema"
        )
    like = _like(tree)
    _refuse_options(tree, piece)
    named = isinstance(tree.this, exp.Schema)
    name = relation_name(tree.this.this if named else tree.this)
    exists, replaces = bool(tree.args.get("exists")), bool(tree.args.get("replace"))
    if exists and replaces:
        raise piece.failure("OR REPLACE and IF NOT EXISTS exclude each other", DECLARATIONS, 1)
    if replaces and like is not None:
        raise piece.unsupported(
            "CREATE OR REPLACE TABLE with LIKE is not supported", "drop the table first", 1
        )
    if makes_temporary(tree):
        _check_temporary(name, piece)
    if append_only and (like is not None or tree.expression is not None):
        raise piece.unsupported("APPEND ONLY without columns is not supported", "declare the columns")
    if valid_time and (like is not None or tree.expression is not None):
        raise piece.unsupported("PERIOD VALID_TIME without columns is not supported", "declare the columns")
    if like is not None:
        return CreateTableLike(piece, name, relation_name(like.this), _takes_rules(like, piece), exists)
    parts = tree.this.expressions if named else []
    if tree.expression is not None:
        if not all(isinstance(part, exp.Identifier) for part in parts):
            raise piece.unsupported(
                "AS SELECT after column types is not supported", _OPTION_HINTS["AS SELECT"]
            )
        names = tuple(map(column_name, parts))
        return CreateTableAs(piece, name, names, tree.expression, _with_data(tree), exists, replaces)
    declared = _declared(name, parts, piece)
    if valid_time:
        declared.add_period()
    rules = declared.rules
    if append_only:
        rules = replace(rules, append_only=True)
    elif rules.watermark is not None:
        raise piece.unsupported(
            "WATERMARK of a table that is not APPEND ONLY is not supported",
            "write APPEND ONLY behind the columns",
            piece.find("WATERMARK"),
        )
    columns = declared.schema()
    return CreateTable(piece, name, columns, declared.key, exists, rules, declared.comments, replaces)


def _append_only(piece: Piece) -> tuple[Piece, bool]:
    """The statement without APPEND ONLY at its end, which sqlglot does not parse, and whether it had it."""
    if [token.text.upper() for token in piece.tokens[-2:]] != ["APPEND", "ONLY"]:
        return piece, False
    return replace(piece, tokens=piece.tokens[:-2]), True


def _valid_time(piece: Piece) -> tuple[Piece, bool]:
    """The statement without PERIOD VALID_TIME among its columns, or WITH (valid_time) at its end, which
    sqlglot does not parse, and whether it had one of them."""
    words = [token.text.upper() for token in piece.tokens]
    if words[-4:] == ["WITH", "(", VALID_TIME, ")"]:
        return replace(piece, tokens=piece.tokens[:-4]), True
    for at in range(1, len(words) - 2):
        before, *period, behind = words[at - 1 : at + 3]
        if period == ["PERIOD", VALID_TIME] and before in (",", "(") and behind in (",", ")"):
            first, end = (at - 1, at + 2) if before == "," else (at, at + 2 + (behind == ","))
            return replace(piece, tokens=(*piece.tokens[:first], *piece.tokens[end:])), True
    return piece, False


def _without_scope(piece: Piece) -> Piece:
    """CREATE GLOBAL or LOCAL TEMPORARY TABLE without the first word, which means nothing."""
    words = piece.words(3)
    if words[1:2] not in (("GLOBAL",), ("LOCAL",)) or words[-1] not in _TEMPORARY:
        return piece
    return replace(piece, tokens=(piece.tokens[0], *piece.tokens[2:]))


def _check_temporary(name: str, piece: Piece) -> None:
    """Raises Unsupported for a temporary table that would be in a schema like any other."""
    if is_temporary(name):
        return
    at = next(piece.find(word) for word in _TEMPORARY if piece.find(word))
    if piece.names.temporary is None:
        hint = "over HTTP every table is permanent: leave the word out"
        raise piece.unsupported("CREATE TEMPORARY TABLE needs a session of PostgreSQL's protocol", hint, at)
    raise piece.unsupported(f"table {name} cannot be temporary in a schema", "leave the schema out", at)


def _declared(name: str, parts: list[exp.Expression], piece: Piece) -> Declarations:
    declared = Declarations(name, piece)
    definitions = [part for part in parts if isinstance(part, exp.ColumnDef)]
    for definition in definitions:
        declared.column(definition)
    for part in parts:
        if not isinstance(part, exp.ColumnDef):
            declared.constraint(part)
    if not definitions:
        raise piece.failure(*_NO_COLUMN)
    check_columns(declared, [column.name for column in declared.columns])
    return declared


def _like(create: exp.Create) -> exp.LikeProperty | None:
    """The LIKE of a table that consists of LIKE alone."""
    schema, properties = create.this, create.args.get("properties")
    parts = schema.expressions if isinstance(schema, exp.Schema) else []
    parts = parts or (properties.expressions if properties is not None else [])
    if len(parts) != 1 or not isinstance(parts[0], exp.LikeProperty):
        return None
    create.set("properties", None)
    return parts[0]


def _takes_rules(like: exp.LikeProperty, piece: Piece) -> bool:
    """Whether LIKE copies more than columns: in MySQL always, elsewhere with INCLUDING ALL."""
    options = [f"{option.name} {option.args['value']}".upper() for option in like.expressions]
    for option in options:
        if option not in ("INCLUDING ALL", "EXCLUDING ALL"):
            raise piece.unsupported(
                f"LIKE ... {option} is not supported",
                "write INCLUDING ALL or no option",
                piece.find(option.split()[0]),
            )
    return "INCLUDING ALL" in options or (not options and has(piece.dialect, Trait.LIKE_COPIES_RULES))


def _with_data(create: exp.Create) -> bool:
    properties = create.args.get("properties")
    options = properties.expressions if properties is not None else []
    return not any(isinstance(o, exp.WithDataProperty) and o.args.get("no") for o in options)


def create_view(statement: Piece) -> CreateView:
    piece, budget = without_budget(statement, _query_token(statement))
    piece = _without_cluster(piece)
    recursive = "RECURSIVE" in piece.words(5)
    if recursive:  # sqlglot does not parse the word
        at = piece.find("RECURSIVE")
        piece = replace(piece, tokens=(*piece.tokens[:at], *piece.tokens[at + 1 :]))
    query = _query_token(piece)
    tree = replace(piece, tokens=(*piece.tokens[:query], *_SELECT_1)).parse()
    if not isinstance(tree, exp.Create):
        raise piece.failure("the definition of the view cannot be read", _VIEW_FORM)
    materialized = False
    for option in tree.args["properties"].expressions if tree.args.get("properties") else ():
        if not isinstance(option, exp.MaterializedProperty):
            word = option.sql(piece.dialect)
            raise piece.unsupported(f"CREATE VIEW with {word} is not supported", _VIEW_FORM, piece.find(word))
        materialized = True
    named = isinstance(tree.this, exp.Schema)
    if recursive and not named:
        raise piece.failure(
            "a recursive view needs names for its columns",
            "CREATE RECURSIVE VIEW name (column, ...) AS query",
        )
    return CreateView(
        statement,
        name=relation_name(tree.this.this if named else tree.this),
        query=qualified_text(piece.excerpt(query), piece.dialect, piece.names),
        column_names=tuple(column_name(c) for c in tree.this.expressions) if named else (),
        or_replace=bool(tree.args.get("replace")),
        if_not_exists=bool(tree.args.get("exists")),
        materialized=materialized,
        recursive=recursive,
        budget=budget,
    )


def _without_cluster(piece: Piece) -> Piece:
    """The statement without Materialize's IN CLUSTER name, because one process maintains all views."""
    at = piece.find("CLUSTER")
    is_there = 0 < at < _query_token(piece) - 1 and piece.tokens[at - 1].text.upper() == "IN"
    if not is_there or piece.dialect != "materialize":
        return piece
    return replace(piece, tokens=(*piece.tokens[: at - 1], *piece.tokens[at + 2 :]))


def _query_token(piece: Piece) -> int:
    """The index of the token after the first AS outside parentheses."""
    depth = 0
    for i, token in enumerate(piece.tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.token_type == TokenType.ALIAS:
            if i + 1 == len(piece.tokens):
                raise piece.failure("the view has no query", _VIEW_FORM, i)
            return i + 1
    raise piece.failure("AS and a query are missing", _VIEW_FORM, len(piece.tokens) - 1)


def _refuse_options(create: exp.Create, piece: Piece) -> None:
    for option, value in create.args.items():
        if not value or option in ("this", "kind", "exists", "expression", "replace"):
            continue
        if option == "properties":
            others = [option for option in value.expressions if not _is_usual(option)]
            if not others:
                continue
            word = others[0].sql(piece.dialect)
        else:
            word = option.strip("_").upper()
        raise piece.unsupported(
            f"CREATE TABLE with {word} is not supported",
            _OPTION_HINTS.get(word, DECLARATIONS),
            piece.find(word.split()[0]),
        )


def _is_usual(option: exp.Expression) -> bool:
    """Whether an option is read elsewhere, or says what holds anyway."""
    if isinstance(option, exp.UnloggedProperty):
        return True  # every table is logged
    if isinstance(option, exp.OnCommitProperty):
        return not option.args.get("delete")
    return isinstance(option, exp.WithDataProperty | exp.TemporaryProperty)
