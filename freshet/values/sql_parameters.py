"""Parameters of SQL, written into its text as literals of their types.

`$1` stands for a value of a sequence, `:name` for one of a mapping. They count only where SQL has an
expression: not in strings, quoted names, comments, or casts (`::`). The scanner knows PostgreSQL's quoting,
so other dialects are refused: one that reads a backslash in a string as an escape would read literals
differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from freshet.errors import InvalidRequestError
from freshet.values.row_bodies import json_value

Parameters = Sequence[Any] | Mapping[str, Any]
_DIALECTS = frozenset({"postgres", "duckdb"})

_TOKEN = re.compile(
    r"""
    (?P<skip> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | ::
      | \$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$ )
    | (?P<comment> /\* )
    | (?P<word> [^\W\d][\w$]* | \d[\w.]* )
    | \$(?P<place>\d+)
    | :(?P<name>[^\W\d]\w*)
    | (?P<open>['"])
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def with_parameters(sql: str, parameters: Parameters | None, dialect: str) -> str:
    """The SQL with its parameters in it. Raises InvalidRequestError if it names others than are given."""
    if parameters is None:
        return sql
    if dialect not in _DIALECTS:
        raise InvalidRequestError(
            f"parameters cannot be used in dialect {dialect}",
            "write the SQL in postgres, or without parameters",
        )
    if isinstance(parameters, str | bytes):
        raise InvalidRequestError("the parameters are one text", "pass a list, or a dict by names")
    used: set[int | str] = set()
    text = "".join(_pieces(sql, parameters, used))
    known = parameters.keys() if isinstance(parameters, Mapping) else range(len(parameters))
    for key in known:
        if key not in used:
            raise InvalidRequestError(
                f"the SQL has no parameter {_name(key)}", "leave out values that it does not use"
            )
    return text


def _name(key: int | str) -> str:
    return f":{key}" if isinstance(key, str) else f"${key + 1}"


def _pieces(sql: str, parameters: Parameters, used: set[int | str]) -> Iterator[str]:
    at = 0
    by_name = isinstance(parameters, Mapping)
    while match := _TOKEN.search(sql, at):
        yield sql[at : match.start()]
        end = match.end()
        if match["open"]:
            raise _error("a quote is not closed", "close it, or double it inside a text", sql, match.start())
        if match["comment"]:
            end = _comment_end(sql, match.start())
        found = match["name"] if by_name else match["place"]
        if found is None:
            yield sql[match.start() : end]
        else:
            key = found if by_name else int(found) - 1
            yield literal(_value(sql, match.start(), parameters, key))
            used.add(key)
        at = end
    yield sql[at:]


def _value(sql: str, at: int, parameters: Any, key: int | str) -> object:
    is_known = key in parameters if isinstance(parameters, Mapping) else 0 <= int(key) < len(parameters)
    if is_known:
        return parameters[key]
    raise _error(f"parameter {_name(key)} has no value", f"{len(parameters)} values are given", sql, at)


def _error(message: str, hint: str, sql: str, at: int) -> InvalidRequestError:
    """The error of a place in the SQL."""
    line, column = sql.count("\n", 0, at) + 1, at - sql.rfind("\n", 0, at)
    return InvalidRequestError(message, hint, line=line, column=column)


def _comment_end(sql: str, at: int) -> int:
    """The end of the comment at `at`; comments nest."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)


def literal(value: Any) -> str:
    """A value as an SQL expression in parentheses where it needs them."""
    if isinstance(value, np.generic):
        value = value.item()
    for kind, write in _LITERALS:
        if isinstance(value, kind):
            return write(value)
    raise InvalidRequestError(f"a value of {type(value).__name__} has no form in SQL: {str(value)[:80]!r}")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _cast(value: object, type: str) -> str:
    return f"CAST({_text(str(value))} AS {type})"


def _number(value: int | Decimal) -> str:
    if isinstance(value, Decimal) and not value.is_finite():
        raise InvalidRequestError(f"NUMERIC has no {value}")
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    return f"({text})" if text.startswith("-") else text


def _datetime(value: datetime) -> str:
    return _cast(value.isoformat(), "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ")


def _interval(value: timedelta) -> str:
    microseconds = value.seconds * 10**6 + value.microseconds
    return f"INTERVAL '{value.days} days {microseconds} microseconds'"


def _array(value: Sequence[Any]) -> str:
    if not value:
        raise InvalidRequestError(
            "an empty list has no type in SQL", "write an empty array of the type that you mean in the SQL"
        )
    return f"ARRAY[{', '.join(map(literal, value))}]"


def _document(value: Mapping[str, Any]) -> str:
    return _cast(json.dumps(json_value(value), ensure_ascii=False), "JSON")


_LITERALS: tuple[tuple[type | tuple[type, ...], Callable[[Any], str]], ...] = (
    (type(None), lambda value: "NULL"),
    (bool, lambda value: "TRUE" if value else "FALSE"),
    ((int, Decimal), _number),
    (float, lambda value: _cast(json_value(value), "DOUBLE PRECISION")),
    (str, _text),
    (UUID, lambda value: _cast(value, "UUID")),
    (datetime, _datetime),
    (date, lambda value: _cast(value, "DATE")),
    (time, lambda value: _cast(value.isoformat(), "TIME")),
    (timedelta, _interval),
    ((bytes, bytearray), lambda value: f"decode('{value.hex()}', 'hex')"),
    (Mapping, _document),
    ((list, tuple), _array),
)
"""How a value of each class is written; the first that fits, for a bool is an int, and a datetime a date."""
