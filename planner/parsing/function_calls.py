"""What stands for a call of an SQL function: its body with the arguments in it.

Calls in the arguments are replaced first, then those in the body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.allowed.open_functions import AGGREGATES
from planner.errors import InvalidQuery, SqlTooDeep, SqlTooLarge, Unsupported
from planner.limits import check_time
from planner.parsing.checked_trees import checked_trees
from planner.parsing.found_calls import FoundCall, closing
from planner.parsing.namespace import DEFAULT
from planner.parsing.parse import spelled_names
from planner.parsing.script import split
from planner.parsing.sql_functions import Parts, SqlFunction, argument
from planner.relation_names import own_name

Functions = Mapping[str, tuple[SqlFunction, ...]]
"""By full name: those that take different numbers of arguments."""
_MOST = 1 << 17
"""Characters that a statement may have with the bodies of its functions."""
_DEEPEST = 32
"""Functions that may call each other in a row."""
_VOLATILE = re.compile(
    r"(?i)\b(random|gen_random_uuid|uuid|uuidv[47]|clock_timestamp|timeofday|nextval|setval)\s*\("
)
_AGGREGATES = AGGREGATES | {"every"}
_AFTER_CALL = ("OVER", "FILTER", "WITHIN")
_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_Key = tuple[str, int]
Tokens = Sequence[Token]


def _key(function: SqlFunction) -> _Key:
    return function.name, len(function.parameters)


class SqlFunctions:
    """Functions by their full names, and what stands for calls of them in texts that stand in `bodies`."""

    def __init__(self, functions: Functions, bodies: tuple[_Key, ...] = ()) -> None:
        self._functions = functions
        self._bodies = bodies

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def are_named(self, text: str) -> bool:
        lower = text.lower()
        return any(name in text or name in lower for name in {own_name(name) for name in self._functions})

    def replacement(self, call: FoundCall) -> tuple[str, tuple[_Key, ...]]:
        check_time()
        bodies = (*self._bodies, *call.bodies)
        given = _Arguments(call)
        function = self._chosen(call.name, len(given.by_place), given.by_name)
        if _key(function) in bodies:
            raise Unsupported(
                f"function {function.name} would call itself",
                "write the recursion as WITH RECURSIVE in a view",
            )
        if len(bodies) > _DEEPEST:
            raise SqlTooDeep.of(f"function {function.name}")
        if function.is_table != call.in_from:
            raise InvalidQuery(
                f"function {function.name} returns "
                + ("rows" if function.is_table else "a value, which FROM cannot read"),
                f"SELECT * FROM {function.name}(...)"
                if function.is_table
                else f"SELECT {function.name}(...)",
            )
        is_bare = call.follows in _AFTER_CALL
        parts = function.bare(call.dialect) if is_bare else function.template(call.dialect)
        if parts is None:
            raise Unsupported(
                f"{call.follows} after a call of function {function.name} is not supported",
                "its body would have to be one call of an aggregate: write it out here",
            )
        return self._filled(function, parts, call, given), (*call.bodies, _key(function))

    def _chosen(self, name: str, given: int, named: Mapping[str, object]) -> SqlFunction:
        """The function of the name that takes so many arguments: the one with the fewest defaults."""
        candidates = self._functions[name]
        fitting = [f for f in candidates if _fits(f, given, named)]
        if not fitting:
            shown = " or ".join(f.signature for f in candidates)
            count = given + len(named)
            said = f" named {', '.join(named)}" if named else ""
            raise InvalidQuery(
                f"function {name} does not take {count} argument{'' if count == 1 else 's'}{said}",
                f"it is {shown}",
            )
        return min(fitting, key=lambda f: len(f.parameters))

    def _filled(self, function: SqlFunction, parts: Parts, call: FoundCall, given: _Arguments) -> str:
        texts: list[str] = []
        outside: dict[int, str] = {}
        for place, parameter in enumerate(function.parameters):
            tokens = given.of(place, parameter.name)
            if tokens is None:
                texts.append(argument(parameter.default or "NULL", parameter.type, False))
                continue
            text = _text(call.text, tokens)
            uses = sum(part == place for part in parts if isinstance(part, int))
            if uses > 1 and _VOLATILE.search(text):
                raise Unsupported(
                    f"function {function.name} uses its argument {parameter.name or place + 1} {uses} times, "
                    "and this one has another value each time",
                    "compute it in a subquery, and pass its column",
                )
            is_text = len(tokens) == 1 and tokens[0].token_type == TokenType.STRING
            text = argument(text, parameter.type, is_text, _is_closed(tokens))
            if function.has_scopes and not _is_constant(function, text, call.dialect):
                outside[place] = text
                text = _quoted(_scope(function), call.dialect) + "." + _quoted(str(place + 1), call.dialect)
            texts.append(text)
        if outside:
            parts = _scoped(function, parts, outside, call.dialect)
        size = sum(len(part) if isinstance(part, str) else len(texts[part]) for part in parts)
        _check_size(size, function)
        return "".join(part if isinstance(part, str) else texts[part] for part in parts)


class _Arguments:
    """The tokens of a call's arguments, by their places and by their names."""

    def __init__(self, call: FoundCall) -> None:
        self.by_place: list[Tokens] = []
        self.by_name: dict[str, Tokens] = {}
        self._function = call.name
        depth, begin = 0, 0
        tokens = call.arguments
        for i in range(len(tokens) + 1):
            word = tokens[i].text if i < len(tokens) and tokens[i].token_type not in _QUOTED else ""
            depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
            if i == len(tokens) or (word == "," and depth == 0):
                if i > begin:
                    self._add(tokens[begin:i])
                elif tokens:
                    raise InvalidQuery(f"an argument of function {call.name} is empty")
                begin = i + 1

    def of(self, place: int, name: str) -> Tokens | None:
        """The argument for a parameter, if there is one."""
        return self.by_place[place] if place < len(self.by_place) else self.by_name.get(name)

    def _add(self, tokens: Tokens) -> None:
        first = tokens[0]
        if len(tokens) > 2 and tokens[1].text in ("=>", ":="):
            name = first.text if first.token_type == TokenType.IDENTIFIER else first.text.lower()
            if name in self.by_name:
                raise InvalidQuery(f"argument {name} of function {self._function} is given twice")
            self.by_name[name] = tokens[2:]
            return
        if self.by_name:
            raise InvalidQuery(
                f"an argument of function {self._function} without a name follows one with a name",
                "write those without a name first",
            )
        words = ["" if token.token_type in _QUOTED else token.text.upper() for token in tokens]
        refused = "?" if "?" in words else words[0]
        if refused in ("?", "DISTINCT", "ALL", "*", "VARIADIC"):
            raise Unsupported(
                f"{refused} in a call of function {self._function} is not supported",
                "write parameters as $1, and DISTINCT and * in the body of the function",
            )
        self.by_place.append(tokens)


def _is_closed(tokens: Tokens) -> bool:
    """Whether the tokens are a number, a literal text, or stand in parentheses, which calls of calls would
    otherwise nest ever deeper."""
    if len(tokens) == 1:
        return tokens[0].token_type in (TokenType.NUMBER, TokenType.STRING)
    return tokens[0].token_type is TokenType.L_PAREN and closing(tokens, 0) == len(tokens) - 1


def _text(text: str, tokens: Tokens) -> str:
    """The text of tokens on one line, without the comments between them."""
    parts = [text[tokens[0].start : tokens[0].end + 1]]
    for before, token in pairwise(tokens):
        parts += [" " * (token.start != before.end + 1), text[token.start : token.end + 1]]
    return "".join(parts)


def _quoted(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect)


def _scoped(function: SqlFunction, parts: Parts, outside: Mapping[int, str], dialect: str) -> Parts:
    """The text of a call whose arguments are computed outside of the body, so that no name in them can
    mean what it means there."""
    scope, own = _quoted(_scope(function), dialect), _quoted(own_name(function.name), dialect)
    given = ", ".join(f"{text} AS {_quoted(str(place + 1), dialect)}" for place, text in outside.items())
    arguments = f"(SELECT {given}) AS {scope}"
    if function.is_table:
        return (f"(SELECT {own}.* FROM {arguments}, LATERAL ", *parts, f" AS {own})")
    return ("(SELECT ", *parts, f" FROM {arguments})")


def _is_constant(function: SqlFunction, text: str, dialect: str) -> bool:
    """Whether an argument reads no column. Raises Unsupported for one that aggregates, which cannot be
    computed outside of a body."""
    whole = f"SELECT {text}"
    tree = checked_trees(split(whole, dialect)[0].tokens, whole, dialect)[0]
    aggregate = next(
        (
            node
            for node in tree.find_all(exp.AggFunc, exp.Window, exp.Anonymous)
            if node.find_ancestor(exp.Select) is tree and _depends_on_group(node)
        ),
        None,
    )
    if aggregate is not None:
        raise Unsupported(
            f"an aggregate or a window as argument of function {function.name} is not supported, because "
            "its body is a query",
            "compute it in a subquery, and pass its column",
        )
    inner = any(query is not tree for query in tree.find_all(exp.Query))
    return not inner and tree.find(exp.Column) is None


def _depends_on_group(call: exp.Expr) -> bool:
    return not isinstance(call, exp.Anonymous) or call.name.lower() in _AGGREGATES


def _scope(function: SqlFunction) -> str:
    """The name under which the body of a call reads arguments that are computed outside of it."""
    return f"{own_name(function.name)}()"


def _fits(function: SqlFunction, given: int, named: Mapping[str, object]) -> bool:
    if given + len(named) > len(function.parameters):
        return False
    rest = function.parameters[given:]
    by_name = {parameter.name for parameter in rest}
    return set(named) <= by_name and all(p.default is not None or p.name in named for p in rest)


def _check_size(size: int, function: SqlFunction) -> None:
    """Raises SqlTooLarge before a text is made that nobody could plan."""
    if size > _MOST:
        raise SqlTooLarge(
            f"with the body of function {function.name} the statement has more than {_MOST} characters",
            "call fewer functions in each other, or make a view of a part",
        )


def check_ends(functions: Functions, made: Sequence[SqlFunction]) -> None:
    """Raises Unsupported if functions that are new would call themselves, or each other, for ever."""
    for function in made:
        names = replace(DEFAULT, functions_called=SqlFunctions(functions, (_key(function),)))
        spelled_names(function.body, function.dialect, names)
