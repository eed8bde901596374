"""The parts of CREATE FUNCTION and CREATE MACRO: parameters, types, and texts of tokens."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError

from planner.errors import InvalidQuery
from planner.parsing.sql_functions import FunctionParameter
from planner.statements.word_reader import WordReader

_MODES = frozenset({"OUT", "INOUT", "VARIADIC"})


def parameters_of(reader: WordReader, by_type: bool) -> tuple[FunctionParameter, ...]:
    """The parameters in parentheses: `name type DEFAULT value`, or for a macro `name := value`; `by_type`
    says that a word alone is a type."""
    reader.expect("(")
    found: list[FunctionParameter] = []
    while not reader.skip(")"):
        if reader.word in _MODES:
            hint = "use RETURNS TABLE (column type, ...)" if reader.word != "VARIADIC" else "pass an array"
            raise reader.piece.unsupported(f"{reader.word} parameters are not supported", hint, reader.at)
        reader.skip("IN")
        found.append(_parameter(reader, by_type))
        if found[-1].default is None and any(p.default is not None for p in found):
            raise reader.failure("a parameter without a default follows one with a default")
        if not reader.skip(",") and reader.word != ")":
            raise reader.failure("a comma is expected")
    names = [parameter.name for parameter in found if parameter.name]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidQuery(f"parameter {name} is named twice").at(*reader.piece.place())
    return tuple(found)


def _parameter(reader: WordReader, by_type: bool) -> FunctionParameter:
    begin = reader.at
    pass_type(reader, (",", "DEFAULT", "=", ":="))
    tokens = reader.piece.tokens[begin : reader.at]
    if not tokens:
        raise reader.failure("a parameter is expected")
    name, type = "", None
    if len(tokens) > 1 and _begins_with_name(tokens[1].text):
        reader.at, end = begin, reader.at
        name = reader.name()
        type, reader.at = _checked_type(reader, reader.at, end), end
    elif by_type:
        type = _checked_type(reader, begin, reader.at)
    else:
        reader.at = begin
        name = reader.name()
    if not (reader.skip("DEFAULT") or reader.skip("=") or reader.skip(":=")):
        return FunctionParameter(name, type)
    begin = reader.at
    pass_type(reader, (",",))
    if begin == reader.at:
        raise reader.failure("the default is missing")
    return FunctionParameter(name, type, text_of(reader, begin, reader.at))


def _begins_with_name(second: str) -> bool:
    """Whether the first of two tokens is a parameter's name, not the begin of a type."""
    return second.upper() not in ("(", "[", "PRECISION", "VARYING", "WITH", "WITHOUT", ".")


def type_of(reader: WordReader, ends: tuple[str, ...]) -> str:
    begin = reader.at
    pass_type(reader, ends, is_alone=not ends)
    return _checked_type(reader, begin, reader.at)


_BIT = re.compile(r"\bbit\b(?:\s+varying)?", re.IGNORECASE)
_TYPE_WORDS = frozenset(
    {"PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "ARRAY", "[", "]", "(", ")", "."}
)


def pass_type(reader: WordReader, ends: tuple[str, ...], is_alone: bool = False) -> None:
    """Passes the tokens up to one of `ends` or the closing parenthesis. Without ends, those of one type."""
    depth, begin = 0, reader.at
    while not reader.is_done:
        word = reader.word
        if depth == 0 and (word in ends or word == ")"):
            return
        is_first_or_part = reader.at == begin or word in _TYPE_WORDS or depth > 0
        after_dot = reader.at > begin and reader.piece.tokens[reader.at - 1].text == "."
        if is_alone and not is_first_or_part and not after_dot:
            return
        depth += (word in ("(", "[")) - (word in (")", "]"))
        reader.at += 1


def _checked_type(reader: WordReader, begin: int, end: int) -> str:
    """A type without the digits or the length that PostgreSQL drops from the types of functions."""
    text = text_of(reader, begin, end)
    if not text:
        raise reader.failure("a type is expected")
    try:
        type = exp.DataType.build(text, dialect=reader.piece.dialect, udt=True)
    except (SqlglotError, ValueError):
        raise reader.piece.failure(f"{text} is not a type", reader.form, begin) from None
    if type.this is exp.DType.BIT:
        return _BIT.sub("BIT VARYING", re.sub("[(].*?[)]", "", text))
    if type.this not in (exp.DType.ARRAY, exp.DType.USERDEFINED, exp.DType.ENUM) and type.expressions:
        type.set("expressions", None)
    return text if type.this == exp.DType.USERDEFINED else type.sql(reader.piece.dialect)


def text_of(reader: WordReader, begin: int, end: int) -> str:
    """The text of tokens, in which comments do not matter."""
    tokens = reader.piece.tokens[begin:end]
    return reader.piece.script[tokens[0].start : tokens[-1].end + 1] if tokens else ""
