"""CREATE INDEX.

An index answers equalities, so the directions of its columns do not matter, and are read over.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.identifiers import column_name, relation_name
from planner.parsing.script import Piece
from planner.positions import fail
from planner.statements.statements import Statement

_FORM = "CREATE [UNIQUE] INDEX [IF NOT EXISTS] [name] ON relation (column, ...) [INCLUDE (column, ...)]"
_METHODS = frozenset({"", "btree", "hash", "art"})
"""Methods whose indexes answer equalities."""
_REFUSED = {"where": "WHERE", "with_storage": "WITH", "tablespace": "TABLESPACE", "on": "ON"}


@dataclass(frozen=True)
class CreateIndex(Statement):
    """Without a `name`, the index gets one of its relation and columns."""

    name: str | None
    relation: str
    columns: tuple[str, ...]
    included: tuple[str, ...]
    unique: bool
    if_not_exists: bool


def create_index(piece: Piece) -> CreateIndex:
    tree = piece.parse()
    index = tree.this
    if not isinstance(tree, exp.Create) or not isinstance(index, exp.Index):
        raise piece.unsupported("this form of CREATE INDEX is not supported", _FORM)
    parameters = index.args.get("params") or exp.IndexParameters()
    for part, word in _REFUSED.items():
        if parameters.args.get(part):
            raise piece.unsupported(f"CREATE INDEX with {word} is not supported", _FORM, piece.find(word))
    method = parameters.args["using"].name.lower() if parameters.args.get("using") else ""
    if method not in _METHODS:
        raise piece.unsupported(
            f"CREATE INDEX USING {method} is not supported",
            "leave USING out: an index finds rows by equal values",
            piece.find("USING"),
        )
    columns = tuple(_column(node) for node in parameters.args.get("columns") or ())
    if not columns or index.args.get("table") is None:
        raise piece.failure("an index needs a relation and columns", _FORM)
    included = tuple(column_name(node) for node in parameters.args.get("include") or ())
    for place, name in enumerate((*columns, *included)):
        if name in (*columns, *included)[:place]:
            raise InvalidQuery(f"column {name} is named twice", _FORM).at(*piece.place())
    return CreateIndex(
        piece,
        None if index.this is None else column_name(index.this),
        relation_name(index.args["table"]),
        columns,
        included,
        bool(tree.args.get("unique")),
        bool(tree.args.get("exists")),
    )


def _column(node: exp.Expression) -> str:
    inner = node.this if isinstance(node, exp.Ordered) else node
    if not isinstance(inner, exp.Column | exp.Identifier):
        fail(
            InvalidQuery(
                f"an index is by columns, and {inner.sql()} is none",
                "create a view with a column of the expression, and an index on the view",
            ),
            inner,
        )
    return column_name(inner)
