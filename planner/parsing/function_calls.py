"""Calls of SQL functions in a statement, and what stands for them.

A call is a name that means a function, with parentheses behind it. It is replaced in the text, from the inner
ones to the outer ones, and then the calls in the function's own body. A call that is a whole column of a
select list keeps the name that it would have had.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.allowed.open_functions import AGGREGATES
from planner.errors import InvalidQuery, PlannerError, SqlTooDeep, SqlTooLarge, Unsupported
from planner.limits import check_time
from planner.parsing.checked_trees import checked_trees
from planner.parsing.column_names import NAMED
from planner.parsing.found_calls import AFTER_ITEM, CallFinder, FoundCall
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.nesting import check_nesting
from planner.parsing.rewritten_text import Replaced, spliced
from planner.parsing.script import split
from planner.parsing.sql_functions import SqlFunction, argument
from planner.relation_names import own_name

Functions = Mapping[str, tuple[SqlFunction, ...]]
"""By full name: those that take different numbers of arguments."""
_MOST = 1 << 20
"""Characters that a statement may have with the bodies of its functions."""
_DEEPEST = 32
"""Functions that may call each other in a row."""
_VOLATILE = re.compile(
    r"(?i)\b(random|gen_random_uuid|uuid|uuidv[47]|clock_timestamp|timeofday|nextval|setval)\s*\("
)
_AGGREGATES = AGGREGATES | {"every"}
_AFTER_CALL = ("OVER", "FILTER", "WITHIN")
_DEFINING = (("CREATE",), ("DROP",), ("COMMENT",), ("GRANT",), ("REVOKE",), ("ALTER",))


def expanded(text: str, dialect: str, functions: Functions, names: Namespace) -> list[Replaced]:
    """What takes the places of the outermost calls in a text, in order. Raises a PlannerError with the place
    of a call that is wrong."""
    own = {own_name(name) for name in functions}
    if not any(name in text or name in text.lower() for name in own):
        return []
    found: list[Replaced] = []
    for piece in split(text, dialect):
        words = piece.words(5)
        if words[:1] in _DEFINING and {"FUNCTION", "MACRO", "INDEX"} & set(words):
            continue
        check_nesting(piece.tokens)
        found += _Calls(text, piece.tokens, dialect, functions, names).replaced()
    return found


_Key = tuple[str, int]


def _key(function: SqlFunction) -> _Key:
    return function.name, len(function.parameters)


class _Calls:
    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        dialect: str,
        functions: Functions,
        names: Namespace,
        outer: tuple[_Key, ...] = (),
    ) -> None:
        """`outer` are the functions in whose bodies the text stands."""
        self._text = text
        self._found = CallFinder(tokens, functions.keys(), names)
        self._tokens = tokens
        self._words = self._found.words
        self._dialect = dialect
        self._functions = functions
        self._names = names
        self._outer = outer

    def replaced(self) -> list[Replaced]:
        check_time()
        found = []
        for call in self._found.outermost():
            try:
                found.append(self._replacement(call))
            except PlannerError as error:
                token = self._tokens[call.first]
                raise error.at(token.line, token.col - (token.end - token.start)) from None
        return found

    def _replacement(self, call: FoundCall) -> Replaced:
        given, named = self._arguments(call)
        function = self._chosen(call.name, len(given), named)
        if _key(function) in self._outer:
            raise Unsupported(
                f"function {function.name} would call itself",
                "write the recursion as WITH RECURSIVE in a view",
            )
        if len(self._outer) > _DEEPEST:
            raise SqlTooDeep.of(f"function {function.name}")
        if function.is_table != call.in_from:
            raise InvalidQuery(
                f"function {function.name} returns "
                + ("rows" if function.is_table else "a value, which FROM cannot read"),
                f"SELECT * FROM {function.name}(...)"
                if function.is_table
                else f"SELECT {function.name}(...)",
            )
        follows = self._found.word_after(call)
        is_bare = follows in _AFTER_CALL
        parts = function.bare(self._dialect) if is_bare else function.template(self._dialect)
        if parts is None:
            raise Unsupported(
                f"{follows} after a call of function {function.name} is not supported",
                "its body would have to be one call of an aggregate: write it out here",
            )
        text = self._body(function, self._filled(function, parts, given, named))
        if call.in_from:
            before = self._words[call.first - 1]
            text = f"LATERAL {text}" if before not in ("FROM", "LATERAL", "APPLY") else text
            text += self._alias_of_rows(function, follows, call)
        elif call.is_column and follows in AFTER_ITEM and not is_bare:
            text += f" AS {self._column_name(function, call)}"
        first, last = self._tokens[call.first].start, self._tokens[call.last].end
        return first, last, text + "\n" * self._text.count("\n", first, last)

    def _column_name(self, function: SqlFunction, call: FoundCall) -> str:
        """The name of a column that is a call: the function's in PostgreSQL, elsewhere the whole text."""
        name = own_name(function.name)
        if self._dialect not in NAMED:
            name = self._text[self._tokens[call.first].start : self._tokens[call.last].end + 1]
        return self._quoted(name)

    def _alias_of_rows(self, function: SqlFunction, follows: str, call: FoundCall) -> str:
        """The name of the rows in FROM, unless one follows."""
        next_token = self._tokens[call.last + 1] if call.last + 1 < len(self._tokens) else None
        if next_token is not None:
            is_name = next_token.token_type in (TokenType.IDENTIFIER, TokenType.VAR)
            if (is_name and follows not in AFTER_ITEM) or follows == "AS":
                return ""
        return f" AS {self._quoted(own_name(function.name))}"

    # The arguments

    def _arguments(self, call: FoundCall) -> tuple[list[tuple[int, int]], dict[str, tuple[int, int]]]:
        """The tokens of the arguments by place, and of those by name."""
        given: list[tuple[int, int]] = []
        named: dict[str, tuple[int, int]] = {}
        depth, begin = 0, call.opens + 1
        for i in range(call.opens + 1, call.last + 1):
            depth += (self._words[i] in ("(", "[", "{")) - (self._words[i] in (")", "]", "}"))
            is_end = i == call.last
            if (self._words[i] == "," and depth == 0) or is_end:
                if i > begin:
                    self._add(call, begin, i, given, named)
                elif not (is_end and not given and not named):
                    raise InvalidQuery(f"an argument of function {call.name} is empty")
                begin = i + 1
        return given, named

    def _add(
        self,
        call: FoundCall,
        begin: int,
        end: int,
        given: list[tuple[int, int]],
        named: dict[str, tuple[int, int]],
    ) -> None:
        if end - begin > 2 and self._words[begin + 1] in ("=>", ":="):
            token = self._tokens[begin]
            name = token.text if token.token_type == TokenType.IDENTIFIER else token.text.lower()
            if name in named:
                raise InvalidQuery(f"argument {name} of function {call.name} is given twice")
            named[name] = (begin + 2, end)
            return
        if named:
            raise InvalidQuery(
                f"an argument of function {call.name} without a name follows one with a name",
                "write those without a name first",
            )
        if self._words[begin] in ("DISTINCT", "ALL", "*", "VARIADIC") or "?" in self._words[begin:end]:
            raise Unsupported(
                f"{self._words[begin] if '?' not in self._words[begin:end] else '?'} in a call of function "
                f"{call.name} is not supported",
                "write parameters as $1, and DISTINCT and * in the body of the function",
            )
        given.append((begin, end))

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

    def _filled(
        self,
        function: SqlFunction,
        parts: tuple[str | int, ...],
        given: Sequence[tuple[int, int]],
        named: Mapping[str, tuple[int, int]],
    ) -> str:
        texts: list[str] = []
        outside: dict[int, str] = {}
        for place, parameter in enumerate(function.parameters):
            tokens = given[place] if place < len(given) else named.get(parameter.name)
            if tokens is None:
                texts.append(argument(parameter.default or "NULL", parameter.type, False))
                continue
            text = self._inner(*tokens)
            uses = sum(part == place for part in parts if isinstance(part, int))
            if uses > 1 and _VOLATILE.search(text):
                raise Unsupported(
                    f"function {function.name} uses its argument {parameter.name or place + 1} {uses} times, "
                    "and this one has another value each time",
                    "compute it in a subquery, and pass its column",
                )
            is_text = tokens[1] - tokens[0] == 1 and self._tokens[tokens[0]].token_type == TokenType.STRING
            text = argument(text, parameter.type, is_text)
            if function.has_scopes and not self._is_constant(function, text):
                outside[place] = text
                text = f"{self._quoted(_scope(function))}.{self._quoted(str(place + 1))}"
            texts.append(text)
        if outside:
            parts = self._scoped(function, parts, outside)
        size = sum(len(part) if isinstance(part, str) else len(texts[part]) for part in parts)
        _check_size(size, function)
        return "".join(part if isinstance(part, str) else texts[part] for part in parts)

    def _scoped(
        self, function: SqlFunction, parts: tuple[str | int, ...], outside: Mapping[int, str]
    ) -> tuple[str | int, ...]:
        """The text of a call whose arguments are computed outside of the body, so that no name in them can
        mean what it means there."""
        scope, own = self._quoted(_scope(function)), self._quoted(own_name(function.name))
        given = ", ".join(f"{text} AS {self._quoted(str(place + 1))}" for place, text in outside.items())
        arguments = f"(SELECT {given}) AS {scope}"
        if function.is_table:
            return (f"(SELECT {own}.* FROM {arguments}, LATERAL ", *parts, f" AS {own})")
        return ("(SELECT ", *parts, f" FROM {arguments})")

    def _is_constant(self, function: SqlFunction, text: str) -> bool:
        """Whether an argument reads no column. Raises Unsupported for one that aggregates, which cannot be
        computed outside of a body."""
        whole = f"SELECT {text}"
        tree = checked_trees(split(whole, self._dialect)[0].tokens, whole, self._dialect)[0]
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

    def _quoted(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(self._dialect)

    def _inner(self, begin: int, end: int) -> str:
        """The text of an argument on one line, with its own calls replaced."""
        tokens = self._tokens[begin:end]
        inner = _Calls(self._text, tokens, self._dialect, self._functions, self._names, self._outer)
        first, last = tokens[0].start, tokens[-1].end + 1
        text = spliced(
            self._text[first:last], [(a - first, b - first, new) for a, b, new in inner.replaced()]
        )
        if "\n" not in text:
            return text
        (piece,) = split(text, self._dialect)
        return " ".join(text[token.start : token.end + 1] for token in piece.tokens)

    def _body(self, function: SqlFunction, text: str) -> str:
        """The text of a body with the calls in it replaced."""
        own = {own_name(name) for name in self._functions}
        if not any(name in text.lower() or name in text for name in own):
            return text
        (piece,) = split(text, self._dialect)
        outer = (*self._outer, _key(function))
        calls = _Calls(text, piece.tokens, self._dialect, self._functions, self._names, outer)
        result = spliced(text, calls.replaced())
        _check_size(len(result), function)
        return result


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
        text = function.body
        (piece,) = split(text, function.dialect)
        calls = _Calls(text, piece.tokens, function.dialect, functions, DEFAULT, (_key(function),))
        calls.replaced()
