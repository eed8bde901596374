"""Date functions read as they are written: by their name and arguments, not by what sqlglot takes them for.

sqlglot's trees say too little of them: ADD_MONTHS and DATEADD are one node in some dialects. `parser` is
sqlglot's parser of a dialect that knows none of their names. `remember_dialect` marks the nodes that may mean
something else in another dialect, so that a tree can be translated that knows no dialect any more.
"""

from __future__ import annotations

from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser

from planner.dialects.dates import all_names, functions
from planner.dialects.tables import FAMILIES

_DIALECT = "dialect"
_MARKED = (exp.Func, exp.Binary)
_KEYWORDS = frozenset({"EXTRACT"})


@cache
def _parser_class(dialect: str) -> type[Parser]:
    known = Dialect.get_or_raise(dialect).parser_class
    family = FAMILIES.get(dialect)
    if family is None:
        return known
    own = set(functions(family)) | (all_names() & (set(known.FUNCTIONS) | set(known.FUNCTION_PARSERS)))
    names = own - _KEYWORDS
    found = {name: build for name, build in known.FUNCTIONS.items() if name not in names}
    parsers = {name: parse for name, parse in known.FUNCTION_PARSERS.items() if name not in names}
    return type("Reader", (known,), {"FUNCTIONS": found, "FUNCTION_PARSERS": parsers})


def parser(dialect: str) -> Parser:
    """A parser of the dialect's texts."""
    return _parser_class(dialect)(dialect=Dialect.get_or_raise(dialect))


def remember_dialect(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree, its marks added."""
    for node in tree.walk():
        if isinstance(node, _MARKED) or (isinstance(node, exp.Literal) and node.name == ""):
            node.meta[_DIALECT] = dialect
    return tree


def dialect_of(node: exp.Expr) -> str | None:
    """The dialect that a node was marked with."""
    return node.meta.get(_DIALECT)
