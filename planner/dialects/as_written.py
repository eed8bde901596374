"""Keeps date functions as they are written: by their name and arguments, not by sqlglot's reading of them.

sqlglot's trees lose distinctions: ADD_MONTHS and DATEADD are one node in some dialects. So these parsers know
none of the names. `remember_dialect` marks the nodes whose meaning depends on the dialect, so that a tree can
be translated later without knowing its dialect.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.parser import Parser

from planner.dialects.date_tables import FAMILIES
from planner.dialects.dates import all_names, functions
from planner.dialects.systems.postgres_moments import is_spelled
from planner.dialects.whole_numbers import has_fraction

_DIALECT = "dialect"
_MARKED = (exp.Func, exp.Binary, exp.Between, exp.In, exp.Query, exp.Bracket, exp.BitString, exp.HexString)
_KEYWORDS = frozenset({"EXTRACT"})


def keeping_dates(base: type[Parser], dialect: str) -> type[Parser]:
    """The dialect's parser, changed to keep calls of date functions."""
    family = FAMILIES.get(dialect)
    if family is None:
        return base
    own = set(functions(family)) | (all_names() & (set(base.FUNCTIONS) | set(base.FUNCTION_PARSERS)))
    names = own - _KEYWORDS
    found = {name: build for name, build in base.FUNCTIONS.items() if name not in names}
    parsers = {name: parse for name, parse in base.FUNCTION_PARSERS.items() if name not in names}
    return type("Parser", (base,), {"FUNCTIONS": found, "FUNCTION_PARSERS": parsers})


def remember_dialect(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree, with its marks added."""
    for node in tree.walk():
        if isinstance(node, _MARKED) or (isinstance(node, exp.Literal) and _has_meaning(node)):
            node.meta[_DIALECT] = dialect
    return tree


def _has_meaning(literal: exp.Literal) -> bool:
    """Whether dialects may take the literal for different values: the empty text, 0.1, '0.1', and a moment
    in words."""
    if not literal.is_string:
        return "." in literal.name
    return literal.name == "" or has_fraction(literal.name) or is_spelled(literal.name)


def as_written_in(node: exp.Expression, dialect: str) -> exp.Expression:
    """A new node, which means what it means in the dialect."""
    node.meta[_DIALECT] = dialect
    return node


def dialect_of(node: exp.Expr) -> str | None:
    """The dialect that a node is marked with."""
    return node.meta.get(_DIALECT)


def without_dialect(node: exp.Expression) -> exp.Expression:
    """The node without its mark: it means what DuckDB takes it for."""
    node.meta.pop(_DIALECT, None)
    return node


def written_in(tree: exp.Expression) -> str:
    """The dialect that a tree's nodes are marked with; PostgreSQL's if there is no mark."""
    found = (dialect_of(node) for node in tree.walk())
    return next((dialect for dialect in found if dialect is not None), "postgres")
