"""DuckDB's SQL as templates: text with `{0}`, `{1}`, ... for the user's nodes.

A template's own text is DuckDB's and is not translated again; the nodes in its places are. A node in several
places is one value: its copies carry one number (`shared`), so that it is bound once. A `whole` template is
one expression and is computed at once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import sqlglot
from sqlglot import exp

from engine.schema import Kind
from planner.native.subscripts import keeping_subscripts, remember_first

Args = Sequence[exp.Expression]
"""The arguments of a call, in their order."""
Made = Callable[[Args], exp.Expression]
Meanings = Mapping[str, str | Made]
"""By signatures: what calls mean, as a template or as a function that makes it."""
N = TypeVar("N", bound=exp.Expr)
_NATIVE = "native"
_SHARED = "shared"
_CALLED = "called"
_WHOLE = "whole"
_GIVEN = "given"
_PLACE = "__given_"
_numbers = itertools.count()


@dataclass(frozen=True)
class Whole:
    """A template `{0}`, `{1}`, ... of DuckDB's SQL that is one expression, and the nodes in its places.

    If `kinds` is not empty, the first node must have one of these kinds.
    """

    template: str
    args: tuple[exp.Expression, ...]
    kinds: frozenset[Kind] = frozenset()


def is_native(node: exp.Expr) -> bool:
    """Whether the node comes from a template."""
    return _NATIVE in node.meta


def shared(node: exp.Expr) -> int | None:
    """The number that all copies of a template's argument share, or None."""
    return node.meta.get(_SHARED)


def with_parts(node: N, mark: str = "", /, **parts: object) -> N:
    """A copy of the node with other parts, and with a mark that its meaning is known."""
    found = node.copy()
    if mark:
        found.meta[mark] = True
    for part, value in parts.items():
        found.set(part, value)
    return found


def sql(template: str, args: Sequence[exp.Expr]) -> exp.Expression:
    """DuckDB's SQL with these nodes in its places."""
    numbers = [next(_numbers) for _ in args]
    tree = _apart(_parsed(template), args)

    def given(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name.startswith(_PLACE):
            place = int(node.name.removeprefix(_PLACE))
            copy = args[place].copy()
            if isinstance(copy, exp.Binary | exp.Unary | exp.Between | exp.In):
                copy = exp.Paren(this=copy)
            copy.meta[_SHARED] = numbers[place]
            return copy
        if isinstance(node, exp.Var) and node.name.lower().startswith(_PLACE):
            return exp.var(args[int(node.name[len(_PLACE) :])].name)
        return node

    whole = exp.paren(tree.transform(given), copy=False)
    whole.meta[_NATIVE] = True
    return whole


def _apart(tree: exp.Expression, args: Sequence[exp.Expr]) -> exp.Expression:
    """The template with other names of its lambdas' variables than those in the nodes that it is given."""
    given = {name.name.lower() for node in args for name in node.find_all(exp.Identifier)}
    variables = {v.name.lower() for each in tree.find_all(exp.Lambda) for v in each.expressions} & given
    if not variables:
        return tree
    apart = tree.copy()
    for name in apart.find_all(exp.Identifier):
        if name.name.lower() in variables:
            name.set("this", f"{name.name}_of_lambda")
    return apart


def call_of(name: str, args: Sequence[exp.Expression], called: str) -> exp.Expression:
    """A call of an overload; the user's name for it is `called`."""
    call = sql(f"{name}({', '.join(f'{{{place}}}' for place in range(len(args)))})", args)
    call.this.meta[_CALLED] = called
    return call


def called(node: exp.Expr) -> str:
    """The user's name for the function of an overload."""
    return node.meta.get(_CALLED, "the function")


def whole(template: str, *args: exp.Expression, kinds: frozenset[Kind] = frozenset()) -> exp.Expression:
    """`sql` as one expression, whose parts no other translation looks at."""
    node = sql(template, args)
    node.meta[_WHOLE] = Whole(template, args, kinds)
    return node


def whole_of(node: exp.Expression) -> Whole | None:
    """The `Whole` from which the node was made, or None."""
    return node.meta.get(_WHOLE)


@cache
def _parsed(template: str) -> exp.Expression:
    text = re.sub(r"\{(\d+)\}", rf"{_PLACE}\1", template)
    tree = sqlglot.parse_one(text, read=keeping_subscripts("duckdb"))
    remember_first(tree, "duckdb")
    for node in tree.walk():
        node.meta.clear()  # its places belong to the template's text
        node.meta[_NATIVE] = True
    return tree  # type: ignore[return-value]


def keep_native(node: exp.Expr, given: exp.Expr) -> None:
    """Remember what a node stands for, where DuckDB itself can answer it."""
    node.meta[_GIVEN] = given.copy()


def with_native_items(query: exp.Expression) -> None:
    """Put back what DuckDB itself can answer."""
    for node in list(query.walk()):
        given = node.meta.pop(_GIVEN, None)
        if given is not None:
            node.replace(given)
