"""Predicates of SQL/JSON paths, as DuckDB's conditions: `@.price > 10 && exists(@.tags)`.

A comparison of two sequences of values is true if it holds for some pair, and otherwise unknown if some pair
cannot be compared. Sequences look into arrays by themselves, as in lax paths. `@` is the value that a filter
looks at, `$` the document, and `$name` a variable whose value is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol

import orjson


class PathSteps(Protocol):
    """The steps of a path: the list of its values in a document, and the same with the elements of arrays."""

    def values(self, document: str, name: str) -> str: ...

    def elements(self, document: str, name: str) -> str: ...


ReadSteps = Callable[[str, int, int], tuple[PathSteps, int]]
"""Reads the steps of a path from a place on, with the number of filters around it; gives the place behind
them too."""
_TOKEN = re.compile(
    r"""\s*(\|\||&&|!=|<>|==|<=|>=|[()!<>@]|"(?:[^"\\]|\\.)*"|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\$\w*|\w+)"""
)
_OPERATORS = {"==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_SOME = (
    "CASE WHEN list_contains(TESTS, true) THEN true WHEN list_count(TESTS) < len(TESTS) THEN NULL"
    " ELSE false END"
)
_NUMBERS = "('BIGINT', 'UBIGINT', 'DOUBLE')"
_OF_VALUES = (
    f"CASE WHEN json_type(A) IN {_NUMBERS} AND json_type(B) IN {_NUMBERS}"
    " THEN CAST(A AS DOUBLE) OP CAST(B AS DOUBLE)"
    " WHEN json_type(A) = 'VARCHAR' AND json_type(B) = 'VARCHAR' THEN (A ->> '$') OP (B ->> '$')"
    " WHEN json_type(A) = 'BOOLEAN' AND json_type(B) = 'BOOLEAN'"
    " THEN CAST(A AS BOOLEAN) OP CAST(B AS BOOLEAN)"
    " WHEN json_type(A) = 'NULL' OR json_type(B) = 'NULL' THEN"
    " (CASE WHEN json_type(A) = json_type(B) THEN 1 ELSE 0 END) OP 1 END"
)


class NoPredicate(Exception):
    """The text is no predicate that is known here."""


class PredicateReader:
    """Reads a predicate of a path's text."""

    def __init__(
        self,
        text: str,
        place: int,
        steps: ReadSteps,
        variables: Mapping[str, object],
        depth: int,
        quoted: Callable[[str], str],
    ) -> None:
        """`quoted` writes a text as a literal of a template."""
        self._text = text
        self.place = place
        self._steps = steps
        self._variables = variables
        self._depth = depth
        self._quoted = quoted

    def whole(self) -> str:
        """The condition. Raises NoPredicate for text that cannot be read, or behind the predicate."""
        found = self.disjunction()
        if self._text[self.place :].strip():
            raise NoPredicate(self._text)
        return found

    def in_parentheses(self) -> str:
        """The condition of a predicate in parentheses."""
        self._expect("(")
        found = self.disjunction()
        self._expect(")")
        return found

    def disjunction(self) -> str:
        found = self._conjunction()
        while self._take("||"):
            found = f"({found} OR {self._conjunction()})"
        return found

    def _conjunction(self) -> str:
        found = self._unit()
        while self._take("&&"):
            found = f"({found} AND {self._unit()})"
        return found

    def _unit(self) -> str:
        if self._take("!"):
            return f"(NOT {self.in_parentheses()})"
        if self._peek() == "(":
            found = self.in_parentheses()
            if self._take("is"):
                self._expect("unknown")
                return f"({found} IS NULL)"
            return found
        if self._take("exists"):
            self._expect("(")
            steps, document, name = self._path(self._next())
            self._expect(")")
            return f"(len({steps.values(document, name)}) > 0)"
        left = self._operand()
        word = self._next()
        if word in _OPERATORS:
            return self._compared(left, _OPERATORS[word], self._operand())
        if word == "like_regex":
            return self._some(left, self._matched())
        if word == "starts":
            self._expect("with")
            start = self._quoted(_string(self._next()))
            return self._some(left, lambda name: f"starts_with({name} ->> '$', {start})")
        raise NoPredicate(self._text)

    def _matched(self) -> Callable[[str], str]:
        """The test of a regular expression, for the name of a value."""
        pattern, flags = self._quoted(_string(self._next())), "c"
        if self._take("flag"):
            flags = _string(self._next())
            if flags != "i":
                raise NoPredicate(self._text)
        return lambda name: f"regexp_matches({name} ->> '$', {pattern}, '{flags}')"

    def _some(self, values: str, test: Callable[[str], str]) -> str:
        """Whether a test of texts holds for some value."""
        name = f"a{self._depth}"
        of_text = f"CASE WHEN json_type({name}) = 'VARCHAR' THEN {test(name)} END"
        return _SOME.replace("TESTS", f"list_transform({values}, lambda {name}: {of_text})")

    def _compared(self, left: str, operator: str, right: str) -> str:
        a, b = f"a{self._depth}", f"b{self._depth}"
        test = re.sub(r"\bOP\b", operator, re.sub(r"\bB\b", b, re.sub(r"\bA\b", a, _OF_VALUES)))
        inner = f"list_transform({right}, lambda {b}: {test})"
        tests = f"flatten(list_transform({left}, lambda {a}: {inner}))"
        return _SOME.replace("TESTS", tests)

    def _operand(self) -> str:
        """The list of an operand's values."""
        token = self._next()
        if token in ("@", "$"):
            steps, document, name = self._path(token)
            return steps.elements(document, name)
        if token.startswith("$"):
            if token[1:] not in self._variables:
                raise NoPredicate(self._text)
            return self._literal(orjson.dumps(self._variables[token[1:]]).decode())
        if token[:1] == '"' or token in ("true", "false", "null") or re.fullmatch(r"[+-]?\d.*", token):
            return self._literal(token.removeprefix("+"))
        raise NoPredicate(self._text)

    def _path(self, root: str) -> tuple[PathSteps, str, str]:
        """The steps behind `@` or `$`, the document that they begin with, and a name for their variables."""
        if root not in ("@", "$"):
            raise NoPredicate(self._text)
        steps, self.place = self._steps(self._text, self.place, self._depth + 1)
        return steps, f"x{self._depth}" if root == "@" else "{0}", f"v{self._depth}"

    def _literal(self, json: str) -> str:
        return f"[CAST({self._quoted(json)} AS JSON)]"

    def _peek(self) -> str:
        found = _TOKEN.match(self._text, self.place)
        return found[1] if found else ""

    def _next(self) -> str:
        found = _TOKEN.match(self._text, self.place)
        if found is None:
            raise NoPredicate(self._text)
        self.place = found.end()
        return found[1]

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._next()
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise NoPredicate(self._text)


def _string(token: str) -> str:
    """The text that a token in quotes means."""
    try:
        found = orjson.loads(token)
    except orjson.JSONDecodeError:
        raise NoPredicate(token) from None
    if not isinstance(found, str):
        raise NoPredicate(token)
    return found
