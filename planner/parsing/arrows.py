"""JSON arrows that sqlglot reads as lambdas: `f(doc -> 'a')` in dialects without lambdas."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

_ARROWS = frozenset({"postgres", "redshift", "materialize", "risingwave", "mysql", "singlestore", "sqlite"})
"""Dialects whose `->` is always JSON's."""


def restore(tree: exp.Expression, dialect: str) -> exp.Expression:
    """Replace every lambda whose arrow is JSON's; return the tree."""
    if dialect not in _ARROWS:
        return tree
    for found in list(tree.find_all(exp.Lambda)):
        if len(found.expressions) == 1:
            found.replace(_extraction(found.expressions[0], found.this, Dialect.get_or_raise(dialect)))
    return tree


def _extraction(name: exp.Expression, body: exp.Expression, dialect: Dialect) -> exp.Expression:
    """`name -> body` read from the left: the arrow binds the first operand after it."""
    document = exp.Column(this=name) if isinstance(name, exp.Identifier) else name
    first = body
    while isinstance(first, exp.Binary):
        first = first.this
    path = dialect.to_json_path(first.copy())
    extraction = exp.JSONExtract(this=document, expression=path, only_json_types=True)
    if first is body:
        return extraction
    first.replace(extraction)
    return body
