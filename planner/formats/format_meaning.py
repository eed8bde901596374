"""The meaning of a call with a format: DuckDB's SQL, or a refusal.

It uses parsed nodes alone, without types: DuckDB's cast refuses a value that is not a moment.
"""

from __future__ import annotations

import re

from sqlglot import exp

from engine.schema import Kind
from planner.errors import PlannerError, Unsupported
from planner.formats import oracle_numbers, postgres_numbers
from planner.formats.converting import converted
from planner.formats.dotnet_numbers import in_english, number_format
from planner.formats.format_functions import UNKNOWN
from planner.formats.format_scanner import UnknownToken
from planner.formats.number_formats import grouped
from planner.formats.read_formats import read_expression
from planner.formats.read_functions import READERS, ReadFunction
from planner.formats.write_formats import written
from planner.formats.write_functions import CAST_AS_TEXT, WRITERS, WriteFunction
from planner.native.templates import whole
from planner.positions import position, refuse


def formatted(node: exp.Expression, dialect: str) -> exp.Expression:
    """A DuckDB node for a call with a format; the node itself for any other node."""
    match node:
        case exp.Anonymous():
            return _call(node, dialect)
        case exp.Cast(args={"format": exp.Expression() as form}) if dialect == "bigquery":
            return _written(node, CAST_AS_TEXT, node.this, form)
        case exp.StrToTime(this=exp.Literal() as moment) if dialect == "oracle":
            is_zoned = _ZONED.search(moment.name)  # sqlglot's reading of TIMESTAMP '...'
            return exp.cast(moment.copy(), "TIMESTAMPTZ" if is_zoned else "TIMESTAMP")
        case (
            exp.StrToDate(args={"format": exp.Expression()})
            | exp.StrToTime(args={"format": exp.Expression()})
        ):
            refuse(node, "a cast to a date or time by a format is not supported", _BY_FUNCTION)
        case exp.Convert(args={"style": exp.Expression()}):
            return converted(node)
        case exp.NumberToStr() if dialect in _NUMERALS:
            return grouped(node)
    return node


_BY_FUNCTION = "write it with a function, TO_DATE or PARSE_DATE"
_ZONED = re.compile(r":\d\d(?:\.\d+)?\s*[-+]\d\d?:\d\d$")
_NUMBERS = {
    "oracle": (oracle_numbers.is_number_format, oracle_numbers.number_text),
    "postgres": (postgres_numbers.is_number_format, postgres_numbers.number_text),
}
"""Whether a format of TO_CHAR is one of numbers, and how it writes them."""
_DOTNET = frozenset({"fabric", "tsql"})
_NUMERALS = frozenset({"mysql", "doris", "starrocks", "singlestore"})


def _call(node: exp.Anonymous, dialect: str) -> exp.Expression:
    if node.name.upper() == "FORMAT" and dialect in _DOTNET and len(node.expressions) > 1:
        node = in_english(node)
        if (number := number_format(node)) is not None:
            return number
    name, args = node.name.upper(), node.expressions
    if name == "TO_CHAR" and len(args) == 2 and dialect in _NUMBERS:
        is_number, written_number = _NUMBERS[dialect]
        if is_number(args[1]):
            return written_number(*args)
    if name in UNKNOWN.get(dialect, ()):
        refuse(node, f"formats of {dialect} are not supported: {name.lower()}", _CAST)
    if dialect == "duckdb" and name == "STRFTIME":
        _refuse_nanoseconds(node)
    writer = WRITERS.get(dialect, {}).get(name)
    reader = READERS.get(dialect, {}).get(name)
    if (writer is None and reader is None) or len(args) < 2:
        return node
    if len(args) > 2:
        what = f"{name.lower()} with {len(args)} arguments is not supported"
        refuse(node, what, "pass a value and a format")
    if writer is not None:
        return _written(node, writer, args[writer.value], args[writer.form])
    return _read(node, reader, args[reader.value], args[reader.form]) if reader is not None else node


def _refuse_nanoseconds(node: exp.Anonymous) -> None:
    """Refuse DuckDB's %n, which writes uninitialized memory: another text each time."""
    for form in node.find_all(exp.Literal):
        if "%n" in form.name.replace("%%", ""):
            refuse(form, "'%n' in the format of strftime is not supported", "use %f for microseconds")


_CAST = "use casts and date functions instead"


def _written(
    node: exp.Expression, writer: WriteFunction, value: exp.Expression, form: exp.Expression
) -> exp.Expression:
    literal = _constant(form)
    try:
        parts = list(writer.scan(literal.this))
    except UnknownToken as unknown:
        raise _refused(node, writer.system, literal, unknown) from None
    return whole(written(parts, writer.source, writer.guard), value, kinds=writer.kinds)


def _read(
    node: exp.Anonymous, reader: ReadFunction, value: exp.Expression, form: exp.Expression
) -> exp.Expression:
    literal = _constant(form)
    seconds = reader.result == "SECONDS"
    try:
        template = read_expression(
            list(reader.scan(literal.this)), reader.rules, "TIMESTAMP" if seconds else reader.result
        )
    except UnknownToken as unknown:
        raise _refused(node, reader.system, literal, unknown) from None
    template = f"CAST(epoch({template}) AS BIGINT)" if seconds else template
    return whole(template, value, kinds=_TEXTS)


_TEXTS = frozenset({Kind.TEXT})


def _constant(form: exp.Expression) -> exp.Literal:
    literal = _literal(form)
    if literal is None:
        refuse(form, f"a format that is not a constant is not supported: {form.sql()}", _CONSTANT)
    return literal


def _refused(node: exp.Expression, system: str, literal: exp.Literal, unknown: UnknownToken) -> PlannerError:
    """The error for a token, at its place in the user's text."""
    function = node.name.lower() if isinstance(node, exp.Anonymous) else "CAST"
    if not unknown.token:
        message = f"the format {literal.this!r} of {function} does not determine the date"
        return Unsupported(message, _WHOLE_DATE).at(*position(literal))
    message = f"{unknown.token!r} in the format of {function} is not supported"
    hint = f"use tokens of {system}, listed in docs/sql.md, and put other text in quotes"
    return Unsupported(message, hint).at(*_inside(literal, unknown.offset))


_WHOLE_DATE = "give a year, in most languages a month and a day, and AM or PM only with hours up to 12"
_CONSTANT = "write the format as a literal; choose between formats with CASE"


def _literal(form: exp.Expression) -> exp.Literal | None:
    """The literal of the format, possibly in parentheses, in a cast or concatenated; None for any other
    node."""
    while isinstance(form, exp.Paren) or (
        isinstance(form, exp.Cast) and form.is_type(*exp.DataType.TEXT_TYPES)
    ):
        form = form.this
    if isinstance(form, exp.National | exp.RawString):
        return exp.Literal.string(form.this)
    if isinstance(form, exp.Concat):
        pieces = [_literal(piece) for piece in form.expressions]
        known = [piece.this for piece in pieces if piece is not None]
        return exp.Literal.string("".join(known)) if len(known) == len(pieces) else None
    return form if isinstance(form, exp.Literal) and form.is_string else None


def _inside(literal: exp.Literal, offset: int) -> tuple[int | None, int | None]:
    """The place of a character of the literal; of the literal itself if it has escapes."""
    line, column = position(literal)
    written_plainly = literal.meta.get("end", 0) - literal.meta.get("start", 0) == len(literal.this) + 1
    plain = written_plainly and "\n" not in literal.this
    return line, column + 1 + offset if column is not None and plain else column
