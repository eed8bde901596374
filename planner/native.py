"""DuckDB's SQL with places for nodes: how a translation says what a node of another dialect means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import sqlglot
from sqlglot import exp

from engine.schema import Kind

NATIVE = "native"
"""The mark of nodes that mean what DuckDB makes of them."""
_WHOLE = "whole"


@dataclass(frozen=True)
class Whole:
    """A template `{0}`, `{1}`, ... of DuckDB's SQL that is one expression, and the nodes in its places.

    The first of them is of one of `kinds`, if it says any.
    """

    template: str
    args: tuple[exp.Expression, ...]
    kinds: frozenset[Kind] = frozenset()


@cache
def _parsed(template: str) -> exp.Expr:
    tree = sqlglot.parse_one(re.sub(r"\{(\d+)\}", r"__given_\1", template), read="duckdb")
    for node in tree.walk():
        node.meta[NATIVE] = True
    return tree


def native(template: str, args: Sequence[exp.Expression]) -> exp.Expression:
    """DuckDB's SQL with these nodes in its places."""

    def given(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Column) and node.name.startswith("__given_"):
            return args[int(node.name.removeprefix("__given_"))].copy()
        return node

    return exp.paren(_parsed(template).transform(given), copy=False)


def whole(template: str, *args: exp.Expression, kinds: frozenset[Kind] = frozenset()) -> exp.Expression:
    """The same, to be computed at once: no part of the template is of interest to anyone else."""
    node = native(template, args)
    node.meta[_WHOLE] = Whole(template, args, kinds)
    return node


def whole_of(node: exp.Expression) -> Whole | None:
    """What `whole` made the node of, if it did."""
    return node.meta.get(_WHOLE)
