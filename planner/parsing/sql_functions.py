"""SQL functions and macros: a query with parameters, which stands in the place of each call.

    CREATE FUNCTION gross(net numeric) RETURNS numeric LANGUAGE SQL AS 'SELECT net * 1.07'
    gross(price)            (COALESCE((price) * 1.07, ...))

A function of PostgreSQL's casts its arguments and its result to the declared types; a macro of DuckDB's takes
them as they are. The body is kept as text. Where it refers to parameters is found once per dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidQuery, Unsupported
from planner.identifiers import fold
from planner.parsing.checked_trees import checked_trees
from planner.parsing.script import Piece, split
from planner.relation_names import own_name

Parts = tuple[str | int, ...]
"""A text with the numbers of parameters where their arguments go."""
_MARK = "freshet_argument_{}_"
_MARKED = re.compile(r"freshet_argument_([0-9]+)_")
_NUMERIC = frozenset({"DECIMAL", "NUMERIC"})
_POLYMORPHIC = frozenset(
    {"ANYELEMENT", "ANYARRAY", "ANYNONARRAY", "ANYENUM", "ANYCOMPATIBLE", "ANYCOMPATIBLEARRAY", "ANY"}
)
_SOURCES = ("from_", "joins", "where", "group", "having", "limit", "offset", "order", "distinct", "with_")
"""Parts of a SELECT without which it is one expression."""


@dataclass(frozen=True)
class FunctionParameter:
    """`name` is empty for one that only has a number; `type` is None if any value may come. A `default` is
    an expression."""

    name: str
    type: str | None = None
    default: str | None = None


@dataclass(frozen=True)
class SqlFunction:
    """`body` is one query in `dialect`. A scalar function gives its value, cast to `returns` if that is
    given; one that `is_table` gives its rows, under the names and types of `columns` if there are some.

    With `strict`, a NULL among the arguments makes the result NULL. `is_macro` says that names in the body
    are parameters first, as in DuckDB; in PostgreSQL they are columns first.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    body: str
    dialect: str
    is_table: bool = False
    returns: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    strict: bool = False
    is_macro: bool = False
    _parts: dict[str, Parts] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def required(self) -> int:
        """The number of arguments that a call must give."""
        return sum(parameter.default is None for parameter in self.parameters)

    @property
    def signature(self) -> str:
        """The name with the parameters, for messages."""
        shown = (" ".join(filter(None, (p.name, p.type))) for p in self.parameters)
        return f"{self.name}({', '.join(shown)})"

    def with_texts(self, change: Callable[[str], str]) -> SqlFunction:
        """The function with its body, its defaults and the types that it names changed by `change`."""

        def changed(text: str | None) -> str | None:
            return None if text is None else change(text)

        parameters = (replace(p, type=changed(p.type), default=changed(p.default)) for p in self.parameters)
        return replace(
            self,
            parameters=tuple(parameters),
            body=change(self.body),
            returns=changed(self.returns),
            columns=tuple((name, change(type)) for name, type in self.columns),
        )

    def template(self, dialect: str) -> Parts:
        """The text in `dialect` that stands for a call, with the places of the arguments. Raises a
        PlannerError for a body that cannot be read."""
        if dialect not in self._parts:
            self._parts[dialect] = _Template(self, dialect).parts
        return self._parts[dialect]

    @property
    def has_scopes(self) -> bool:
        """Whether names in the body may mean something else than they do around a call: it has a query or a
        lambda."""
        found = None if self.is_table else _only_expression(self)
        return found is None or found[0].find(exp.Query, exp.Lambda) is not None

    def bare(self, dialect: str) -> Parts | None:
        """The text of a body that is one call of a function, which OVER or FILTER may follow."""
        found = None if self.returns or self.strict or self.is_table else _only_expression(self)
        if found is None or not isinstance(found[0], exp.Func):
            return None
        return _in_dialect(self, dialect, _references(self, found[1]))


class _Template:
    def __init__(self, function: SqlFunction, dialect: str) -> None:
        self._function = function
        self._dialect = dialect
        found = None if function.is_table else _only_expression(function)
        text = function.body if found is None else found[1]
        parts = _in_dialect(function, dialect, _references(function, text))
        self.parts = self._of_table(parts) if function.is_table else self._of_value(parts, found is None)

    def _of_value(self, parts: Parts, is_query: bool) -> Parts:
        function = self._function
        if is_query and not function.is_macro:
            parts = _first_row(function, parts)
        inner = ("(", *parts, ")")
        if function.returns is not None:
            inner = _cast(inner, function.returns)
        if not function.strict or not function.parameters:
            return inner
        nulls = _joined([(i, " IS NULL") for i in range(len(function.parameters))], " OR ")
        return ("(CASE WHEN ", *nulls, " THEN NULL ELSE ", *inner, " END)")

    def _of_table(self, parts: Parts) -> Parts:
        function = self._function
        inner: Parts = ("(", *parts, ")")
        if not function.columns and not function.strict:
            return inner
        own = self._quoted(own_name(function.name))
        items, names = ["*"], ""
        if function.columns:
            quoted = [self._quoted(name) for name, _ in function.columns]
            names = f"({', '.join(quoted)})"
            items = []
            for name, (_, type) in zip(quoted, function.columns, strict=True):
                cast = "".join(map(str, _cast((name,), type)))
                items.append(f"{cast} AS {name}")
        nulls = _joined([(i, " IS NOT NULL") for i in range(len(function.parameters))], " AND ")
        where: Parts = (" WHERE ", *nulls) if function.strict and nulls else ()
        return (f"(SELECT {', '.join(items)} FROM ", *inner, f" AS {own}{names}", *where, ")")

    def _quoted(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(self._dialect)


def argument(text: str, type: str | None, is_text: bool, is_closed: bool = False) -> str:
    """An argument as the body reads it; `is_text` says that it is a literal text alone, `is_closed` that it
    needs no parentheses."""
    closed = text if is_closed else f"({text})"
    if type is None:
        return closed
    if is_text and not is_polymorphic(type):
        return f"CAST({text} AS {type})"
    return "".join(map(str, _cast((closed,), type)))


def _cast(parts: Parts, type: str) -> Parts:
    """A value as one of the type. A NUMERIC without digits keeps those that the value has."""
    word = type.upper()
    if is_polymorphic(type):
        return parts
    if word in _NUMERIC:
        return ("COALESCE(", *parts, ", CAST(NULL AS NUMERIC(1, 0)))")
    return ("CAST(", *parts, f" AS {type})")


def is_polymorphic(type: str) -> bool:
    """Whether values of any type may come for a parameter of the type."""
    return type.upper() in _POLYMORPHIC


def _joined(of: Sequence[Parts], between: str) -> Parts:
    found: list[str | int] = []
    for parts in of:
        found += [between] * bool(found)
        found += parts
    return tuple(found)


def body_piece(function: SqlFunction) -> Piece:
    """The body's one statement. Raises InvalidQuery if it has more or none, or is no query."""
    pieces = split(function.body, function.dialect)
    if len(pieces) != 1:
        raise InvalidQuery(
            f"the body of function {function.name} has {len(pieces)} statements", "write one SELECT"
        )
    return pieces[0]


@lru_cache(maxsize=256)
def _tree(body: str, dialect: str, name: str) -> exp.Expression:
    pieces = split(body, dialect)
    trees = checked_trees(pieces[0].tokens, body, dialect) if len(pieces) == 1 else []
    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values):
        raise Unsupported(
            f"the body of function {name} is not one query",
            "write one SELECT: a function cannot change rows, and has no statements of a procedure",
        )
    return trees[0]


def body_tree(function: SqlFunction) -> exp.Expression:
    """The tree of the body, which nobody may change. Raises a PlannerError."""
    return _tree(function.body, function.dialect, function.name)


def _only_expression(function: SqlFunction) -> tuple[exp.Expression, str] | None:
    """The expression that the body selects, and its text, if it does no more than that."""
    tree = body_tree(function)
    if not isinstance(tree, exp.Select) or any(tree.args.get(part) for part in _SOURCES):
        return None
    if len(tree.expressions) != 1 or tree.expressions[0].is_star:
        return None
    tokens = list(body_piece(function).tokens[1:])
    item = tree.expressions[0]
    if isinstance(item, exp.Alias):
        item = item.this
        tokens = tokens[:-2] if tokens[-2].token_type == TokenType.ALIAS else tokens[:-1]
    return item, function.body[tokens[0].start : tokens[-1].end + 1]


def _first_row(function: SqlFunction, parts: Parts) -> Parts:
    """The query limited to its first row, which is the value of a function in PostgreSQL."""
    tree = body_tree(function)
    limited = tree.args.get("limit") is not None or _is_one_row(tree)
    return parts if limited else (*parts, " LIMIT 1")


def _is_one_row(tree: exp.Expression) -> bool:
    """Whether the query aggregates without groups."""
    if not isinstance(tree, exp.Select) or tree.args.get("group") or not tree.expressions:
        return False
    aggregates = (
        node
        for item in tree.expressions
        for node in item.find_all(exp.AggFunc)
        if node.find_ancestor(exp.Select, exp.Window) is tree
    )
    return next(aggregates, None) is not None


def _references(function: SqlFunction, text: str) -> Parts:
    """The text of the body, or of its expression, with the places of the parameters."""
    whole = text if text == function.body else f"SELECT {text}"
    before = len(whole) - len(text)
    (piece,) = split(whole, function.dialect)
    tree = checked_trees(piece.tokens, whole, function.dialect)[0]
    named = {p.name: i for i, p in enumerate(function.parameters) if p.name}
    places = [*_named_places(tree, named, own_name(function.name)), *_numbered(piece.tokens, function)]
    parts: list[str | int] = []
    at = before
    for start, end, number in sorted(places):
        parts += [whole[at:start], number]
        at = end + 1
    return (*parts, whole[at:])


def _named_places(
    tree: exp.Expression, named: Mapping[str, int], function: str
) -> Iterator[tuple[int, int, int]]:
    """Where the body names a parameter: first and last character, and the parameter's number."""
    for column in tree.find_all(exp.Column):
        first = last = column.this
        qualifier = column.args.get("table")
        if not isinstance(last, exp.Identifier) or column.args.get("db") is not None:
            continue
        if qualifier is not None:
            if fold(qualifier) != function:
                continue
            first = qualifier
        if fold(last) in named and "start" in last.meta and "start" in first.meta:
            yield first.meta["start"], last.meta["end"], named[fold(last)]


def _numbered(tokens: Sequence[Token], function: SqlFunction) -> Iterator[tuple[int, int, int]]:
    """The same for `$1`."""
    for token, number in pairwise(tokens):
        if token.text == "$" and number.token_type == TokenType.NUMBER and number.start == token.end + 1:
            place = int(number.text)
            if not 1 <= place <= len(function.parameters):
                raise InvalidQuery(f"function {function.signature} has no parameter ${place}")
            yield token.start, number.end, place - 1


def _in_dialect(function: SqlFunction, dialect: str, parts: Parts) -> Parts:
    """The parts of a text in the function's dialect as those of the same text in another."""
    if dialect == function.dialect:
        return parts
    text = "".join(part if isinstance(part, str) else f" {_MARK.format(part)} " for part in parts)
    is_query = text.lstrip().upper().startswith(("SELECT", "WITH", "VALUES", "FROM", "("))
    whole = text if is_query else f"SELECT {text}"
    (piece,) = split(whole, function.dialect)
    written = checked_trees(piece.tokens, whole, function.dialect)[0].sql(dialect, comments=False)
    pieces = _MARKED.split(written if is_query else written.removeprefix("SELECT "))
    return tuple(int(each) if place % 2 else each for place, each in enumerate(pieces))
