"""COMMENT ON."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidQuery
from planner.identifiers import fold, relation_name, schema_name
from planner.parsing.script import Piece
from planner.positions import fail
from planner.relation_names import full_name, schema_named
from planner.statements.statements import Statement


@dataclass(frozen=True)
class Comment(Statement):
    """COMMENT ON a table or view, or on its column `of_column`; without a `text`, the comment is removed."""

    name: str
    of_column: str | None
    text: str | None
    view: bool | None


@dataclass(frozen=True)
class CommentOnSchema(Statement):
    """Without a `text`, the comment is removed."""

    name: str
    text: str | None


def comment(piece: Piece) -> Comment | CommentOnSchema:
    *tokens, last = piece.tokens
    if last.text.upper() == "NULL":
        nothing = Token(TokenType.STRING, "", last.line, last.col, last.start, last.end)
        tree = replace(piece, tokens=(*tokens, nothing)).parse()
    else:
        tree = piece.parse()
    kind = str(tree.args.get("kind")).upper()
    if not isinstance(tree, exp.Comment) or kind not in ("TABLE", "VIEW", "COLUMN", "SCHEMA"):
        raise piece.unsupported(
            f"{' '.join(piece.words(3))} is not supported",
            "write COMMENT ON TABLE, VIEW, COLUMN or SCHEMA ... IS '...'",
        )
    text = tree.expression.name or None
    if kind == "SCHEMA":
        return CommentOnSchema(piece, _schema(tree.this), text)
    if kind != "COLUMN":
        return Comment(piece, relation_name(tree.this), None, text, kind == "VIEW")
    if not tree.this.args.get("table"):
        fail(
            InvalidQuery(f"{tree.this.sql()} does not name a table", "write COMMENT ON COLUMN t.a IS '...'"),
            tree.this,
        )
    table, schema = fold(tree.this.args["table"]), schema_name(tree.this)
    names = piece.names
    full = names.meant(table, names.relations) if schema is None else full_name(schema, table)
    return Comment(piece, full, fold(tree.this.this), text, None)


def _schema(node: exp.Expression) -> str:
    """The name of a schema, perhaps behind that of the database."""
    parts = node.parts if isinstance(node, exp.Table) else []
    found = schema_named([fold(part) for part in parts if isinstance(part, exp.Identifier)])
    if found is None:
        fail(InvalidQuery(f"{node.sql()} is not the name of a schema"), node)
    return found
