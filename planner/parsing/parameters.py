"""Parameters of a statement: `$1`, `:name`, `?` and each dialect's other forms, bound as values.

A value becomes a node of the statement's tree, never text, so nothing in it can be read as SQL. The node has
the place of the parameter in the text. A value without a type is the literal that a person would write: a
number, TRUE, NULL, or a text that takes the type that its place wants. A value with a type is written as the
REST contract writes values of that type.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from engine.codec.values import encoder
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.scalar.duck_literals import literal
from engine.schema import DOUBLE, Type
from engine.state.dictionary import Dictionary
from planner.errors import InvalidQuery, PlannerError
from planner.suggestions import did_you_mean

_MARKS = frozenset(
    {TokenType.PARAMETER, TokenType.COLON, TokenType.PLACEHOLDER, TokenType.L_BRACE, TokenType.L_PAREN}
)
_NAMES = (exp.Column, exp.Dot, exp.Identifier, exp.Schema, exp.Table, exp.TableAlias)
"""Nodes whose parts are names."""
_ORDINALS = (exp.Ordered, exp.Group)
"""Where SQL reads a literal as the number of a column."""
_NAMED = (exp.Alias, exp.Aliases, exp.PropertyEQ)
_MOST = 10**38
_SEND = 'send "parameters": [value, ...] or {"name": value, ...} beside the SQL'


class Given(NamedTuple):
    """A JSON value, and the type that it is written for; None for a plain literal."""

    value: object
    type: Type | None = None


@dataclass(frozen=True)
class Parameters:
    """Values by name; those of an array have the names `1`, `2`, ...

    `alone` says whether the script has one statement, so that it is clear what a `?` counts.
    """

    given: Mapping[str, Given] = field(default_factory=dict)
    positional: bool = False
    alone: bool = True

    @property
    def length(self) -> int:
        """About the number of characters of the values as SQL would write them."""
        return sum(_length(given.value) for given in self.given.values())


NO_PARAMETERS = Parameters()


def mark(node: exp.Expr, token: Token) -> None:
    """Keep the place of a parameter's first token in its node."""
    node.meta.update(line=token.line, col=token.col, start=token.start, end=token.end)


def check_used(parameters: Parameters, tokens: Iterable[Token]) -> None:
    """Raises InvalidQuery for a value that none of the tokens can stand for."""
    if not parameters.given:
        return
    names, questions = set(), 0
    before = None
    for token in tokens:
        questions += token.text == "?"
        if before in _MARKS:
            names.add(token.text)
        before = token.token_type
    for name in parameters.given:
        if name not in names and not (parameters.positional and int(name) <= questions):
            near = did_you_mean(name, names, "leave the value out")
            raise InvalidQuery(f"a value is given for parameter {name}, which the SQL does not have", near)


def with_values(tree: exp.Expression, parameters: Parameters, definition: bool) -> exp.Expression:
    """The tree with values for its parameters. Raises InvalidQuery, with the place, for one without a value.

    In a `definition`, which is kept, there can be none.
    """
    name_columns(tree)
    questions = 0
    for node in places_of(tree):
        questions += _name(node) == ""
        try:
            if definition:
                raise InvalidQuery("a definition cannot have parameters", "write the values themselves")
            _replace(node, _given(node, parameters, questions))
        except PlannerError as error:
            raise error.at(*_place(node)) from None
    return tree


def places_of(tree: exp.Expression) -> list[exp.Expr]:
    """The parameters of a statement, in the order of its text."""
    return sorted(tree.find_all(exp.Parameter, exp.Placeholder), key=_start)


def names_of(tree: exp.Expression) -> dict[int, str]:
    """The name of each parameter's value, by the `id` of its node: that of the nth `?` is n."""
    names: dict[int, str] = {}
    questions = 0
    for node in places_of(tree):
        questions += _name(node) == ""
        names[id(node)] = _name(node) or str(questions)
    return names


def name_columns(tree: exp.Expression) -> None:
    """Names each column of a select list that has a parameter, so that no name depends on a value."""
    for select in tree.find_all(exp.Select):
        for column in select.expressions:
            if not isinstance(column, _NAMED) and any(column.find_all(exp.Parameter, exp.Placeholder)):
                name = exp.to_identifier(column.sql("duckdb", normalize_functions="lower"), quoted=True)
                column.replace(exp.Alias(this=column.copy(), alias=name))


def _given(node: exp.Expr, parameters: Parameters, question: int) -> Given:
    """The value of a parameter; that of `?` has the number `question`."""
    name = _name(node) or str(question)
    shown = _name(node) or f"?, number {question} of the statement,"
    if not _name(node) and not parameters.alone:
        raise InvalidQuery("? counts the parameters of one statement", "write $1, $2 or :name in a script")
    found = parameters.given.get(name)
    if found is None or (not _name(node) and not parameters.positional):
        near = did_you_mean(name, parameters.given) if parameters.given else ""
        raise InvalidQuery(f"parameter {shown} has no value", near or _SEND)
    return found


def _replace(node: exp.Expr, given: Given) -> None:
    if isinstance(node.parent, _NAMES) or node.arg_key == "alias":
        raise InvalidQuery("a parameter stands for a value, not for a name", "write the name in the SQL")
    inner: exp.Expr = node
    while isinstance(inner.parent, exp.Paren):
        inner = inner.parent
    if isinstance(inner.parent, _ORDINALS):
        raise InvalidQuery(
            "a parameter in ORDER BY or GROUP BY is one value for all rows, not the number of a column",
            "write the number, or the column's name, in the SQL",
        )
    value = _node(given)
    kind = node.args.get("kind")
    if isinstance(kind, exp.DataType):
        value = exp.Cast(this=value, to=kind)
    for part in value.walk():
        part.meta.update(node.meta)
    node.replace(value)


def _node(given: Given) -> exp.Expr:
    return _plain(given.value) if given.type is None else _typed(given.value, given.type)


def _plain(value: object) -> exp.Expr:
    """A value as the literal that a person would write."""
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case float() if not math.isfinite(value):
            return _typed(value, DOUBLE)
        case Decimal() if not value.is_finite():
            return exp.cast(exp.Literal.string(str(value)), exp.DType.DECIMAL)
        case int() if abs(value) >= _MOST:
            raise InvalidQuery("the value of a parameter has more than 38 digits", "send it as a DOUBLE")
        case int() | float() | Decimal():
            digits = format(value.copy_abs(), "f") if isinstance(value, Decimal) else repr(abs(value))
            number = exp.Literal.number(digits)
            return exp.Neg(this=number) if value < 0 else number
        case str() if "\0" in value:
            raise InvalidQuery("the value of a parameter has a character that SQL cannot have: U+0000")
        case str():
            return exp.Literal.string(value)
        case list():
            return exp.Array(expressions=[_plain(element) for element in value])
    raise InvalidQuery(
        "an object is not the value of a parameter", 'for JSON, send {"type": "JSON", "value": ...}'
    )


def _typed(value: object, type: Type) -> exp.Expr:
    """A value of exactly the type. Raises InvalidQuery for one that a row could not have."""
    dictionary = Dictionary()
    try:
        word = NULL if value is None else encoder(type)(value, dictionary)
    except InvalidValue as error:
        raise InvalidQuery(error.message, error.hint) from None
    text = literal(word, type, dictionary)
    if text is None:
        raise InvalidQuery(f"SQL cannot write this value of type {type}")
    return sqlglot.parse_one(text, read="duckdb")


def _length(value: object) -> int:
    match value:
        case str():
            return len(value) + 2
        case list():
            return sum(map(_length, value))
        case dict():
            return sum(map(_length, (*value, *value.values())))
    return 8


def _name(node: exp.Expr) -> str:
    """The name of a parameter; empty for `?`."""
    this = node.this
    return this.name if isinstance(this, exp.Expr) else str(this or "")


def _start(node: exp.Expr) -> int:
    return node.meta.get("start", 0)


def _place(node: exp.Expr) -> tuple[int | None, int | None]:
    meta = node.meta
    return (meta["line"], meta["col"] - meta["end"] + meta["start"]) if "line" in meta else (None, None)
