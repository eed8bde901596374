"""DuckDB's refusals in the planner's words: errors with the same classes, messages and hints as the binder's.

A rule rewrites one of DuckDB's messages. What no rule knows keeps DuckDB's words, as a lowercase fact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.scalar.duck_faults import said
from planner.errors import (
    AmbiguousColumn,
    InvalidQuery,
    InvalidSyntax,
    PlannerError,
    TypeMismatch,
    UnknownColumn,
    UnknownFunction,
    UnknownTable,
    Unsupported,
    as_fact,
)
from planner.sql_types import SUPPORTED, written_type
from planner.suggestions import did_you_mean, perhaps_text, visible

_OPERATORS = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}
_LITERALS = {"STRING_LITERAL": "VARCHAR", "INTEGER_LITERAL": "INTEGER"}
"""What DuckDB calls the types of constants."""
_NAME = re.compile(r"\w+")
_SHAPES = 3
"""The most forms of a function in a hint."""
PARTS = "year, quarter, month, week, day, hour, minute, second, epoch, dow, doy and their kin"


@dataclass(frozen=True)
class Refusal:
    """DuckDB's error as a planner error, and its offset in the question's text. `is_reworded` unless the
    message is DuckDB's own."""

    error: PlannerError
    offset: int | None
    is_reworded: bool


def refusal(error: Exception, prefix: int = 0) -> Refusal:
    """DuckDB's error as a planner error; the user's text begins after `prefix` characters."""
    whole = said(error)
    details = _details(whole)
    text = str(details.get("exception_message", whole)).split("\n\nLINE ")[0]
    position = details.get("position")
    offset = int(str(position)) - prefix if position is not None else None
    known = _reworded(text)
    return Refusal(known or _as_said(text, details), offset, known is not None)


def wrong_arguments(name: str, types: list[str], shapes: list[list[str]]) -> TypeMismatch:
    """The error for a call whose arguments have types that the function or operator does not take. `shapes`
    are the types that it takes."""
    if not _NAME.fullmatch(name):
        sides = [types[0], _OPERATORS.get(name, name), *types[1:]] if len(types) == 2 else [name, *types]
        return TypeMismatch(f"there is no {' '.join(sides)}", "cast one side to the other's type")
    takes = " or ".join(f"({', '.join(shape)})" for shape in shapes[:_SHAPES])
    given = ", ".join(types)
    if shapes and not shapes[0]:
        return TypeMismatch(f"{name} takes no arguments, not ({given})")
    return TypeMismatch(f"{name} does not take ({given})", f"it takes {takes}" if takes else "")


def _arguments(found: re.Match[str], rest: str) -> PlannerError:
    shapes = [
        [_type(parameter) for parameter in _split(shape)]
        for shape in re.findall(r'^\s*"?[^\s"(]+"?\((.*)\) -> ', rest, re.MULTILINE)
    ]
    given = _split(found[2])
    if any(":=" in argument for argument in given):
        return InvalidQuery(f"{found[1]} does not take arguments by name", "write them in their order")
    return wrong_arguments(found[1], [written_type(_LITERALS.get(each, each)) for each in given], shapes)


def _type(parameter: str) -> str:
    """The type of a parameter as DuckDB lists it: after its name, if it has one."""
    named = re.fullmatch(r'("[^"]+"|[a-z_]\w*) (.+)', parameter)
    return written_type(named[2] if named else parameter)


def _split(types: str) -> list[str]:
    """The types of a list; commas inside parentheses belong to a type, and `/` is no type."""
    found = re.findall(r"(?:[^,()]|\([^()]*\))+", types)
    return [type.strip() for type in found if type.strip() not in ("", "/")]


def _names(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


def _no_column(found: re.Match[str], rest: str) -> PlannerError:
    columns = _names(rest)
    hint = did_you_mean(found[1], columns, perhaps_text(found[1], visible(columns)))
    return UnknownColumn(f'unknown column "{found[1]}"', hint)


def _not_of_table(found: re.Match[str], rest: str) -> PlannerError:
    columns = _names(rest)
    hint = did_you_mean(found[2], columns, visible(columns))
    return UnknownColumn(f'table "{found[1]}" has no column "{found[2]}"', hint)


def _no_table(found: re.Match[str], rest: str) -> PlannerError:
    hint = did_you_mean(found[1], _names(rest), f"visible are {', '.join(_names(rest))}")
    return UnknownTable(f'no table "{found[1]}" is visible here', hint)


def _ambiguous(found: re.Match[str], rest: str) -> PlannerError:
    owners = re.findall(r"'([^']+)'", found[2])
    return AmbiguousColumn(f'column "{found[1]}" is ambiguous', f"write one of {', '.join(owners)}")


def _not_grouped(found: re.Match[str], rest: str) -> PlannerError:
    message = f'column "{found[1]}" must be in GROUP BY or inside an aggregate function'
    return InvalidQuery(message, f"add it to GROUP BY, or use min({found[1]})")


def _no_aggregates(found: re.Match[str], rest: str) -> PlannerError:
    return InvalidQuery("WHERE cannot contain an aggregate", "write the condition in HAVING")


def _no_window(found: re.Match[str], rest: str) -> PlannerError:
    return InvalidQuery("a window function needs a window", "write OVER (...) behind it")


def _no_pairs(found: re.Match[str], rest: str) -> PlannerError:
    return InvalidQuery("UNION, INTERSECT and EXCEPT take queries with equal numbers of columns")


def _no_type(found: re.Match[str], rest: str) -> PlannerError:
    hint = did_you_mean(found[1], _names(rest), SUPPORTED)
    return Unsupported(f"type {found[1]} is not supported", hint)


def _no_part(found: re.Match[str], rest: str) -> PlannerError:
    return InvalidQuery(f'a time has no part "{found[1].lower()}"', f"parts are {PARTS}")


def _unclear(found: re.Match[str], rest: str) -> PlannerError:
    types = [written_type(_LITERALS.get(type, type)) for type in _split(found[2])]
    error = wrong_arguments(found[1], types, [])
    return TypeMismatch(error.message, "cast a text to the type that is meant")


def _mixed(found: re.Match[str], rest: str) -> PlannerError:
    types = " and ".join(written_type(_LITERALS.get(type, type)) for type in (found[1], found[2]))
    return TypeMismatch(f"{found[3]} cannot mix {types}", "cast one of them to the other's type")


def _pivoted(found: re.Match[str], rest: str) -> PlannerError:
    return InvalidQuery(f"a PIVOT has at most {found[1]} columns", "write fewer values: IN (...)")


def _not_compared(found: re.Match[str], rest: str) -> PlannerError:
    types = [written_type(_LITERALS.get(type, type)) for type in (found[1], found[2])]
    hint = "cast one of them to the other's type"
    if "TEXT" in types:
        other = types[types[0] == "TEXT"]
        hint = f"cast the text to {other}, or the other value to TEXT"
    return TypeMismatch(f"{' and '.join(types)} cannot be compared", hint)


_Rule = Callable[[re.Match[str], str], PlannerError]
_RULES: tuple[tuple[re.Pattern[str], _Rule], ...] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"No function matches the given name and argument types '(.+?)\((.*)\)'", _arguments),
        (r'Referenced column "(.+?)" (?:not found in|was not found because the) FROM clause', _no_column),
        (r'(?:Table|Values list) "(.+?)" does not have a column named "(.+?)"', _not_of_table),
        (r'Referenced table "(.+?)" not found', _no_table),
        (r'Ambiguous reference to column name "(.+?)" \(use: (.+)\)', _ambiguous),
        (r'column "(.+?)" must appear in the GROUP BY clause', _not_grouped),
        (r"WHERE clause cannot contain aggregates", _no_aggregates),
        (r"Window functions are not supported here", _no_window),
        (r"Set operations can only apply to expressions with the same number", _no_pairs),
        (r"Type with name (\S+?) does not exist", _no_type),
        (r'extract specifier "(.+?)" not recognized', _no_part),
        (r'Could not choose a best candidate function for the function call "(.+?)\((.*)\)"', _unclear),
        (r"Pivot column limit of (\d+) exceeded", _pivoted),
        (r"Cannot compare values of type (.+?) and type (.+?) - an explicit cast is required", _not_compared),
        (r"Cannot mix values of type (\S+) and (\S+) in (\w+)", _mixed),
    )
)


def _reworded(text: str) -> PlannerError | None:
    """The error in the planner's words, if a rule knows it."""
    text = text.removeprefix("Binder Error: ").removeprefix("Catalog Error: ")
    for pattern, rule in _RULES:
        found = pattern.match(text)
        if found:
            return rule(found, text[found.end() :])
    return None


_SUBTYPES: dict[str, type[PlannerError]] = {
    "COLUMN_NOT_FOUND": UnknownColumn,
    "AMBIGUOUS_REFERENCE": AmbiguousColumn,
}


def _as_said(text: str, details: dict[str, object]) -> PlannerError:
    text = re.sub("|".join(_LITERALS), lambda found: written_type(_LITERALS[found[0]]), text)
    message, _, rest = text.replace(". ", "\n", 1).partition("\n")
    said = " ".join(rest.split("Candidate functions")[0].split())
    hint = re.sub(r'^Did you mean "([^"]+)"', r"did you mean \1", said)
    kind = str(details.get("exception_type", ""))
    cls = _SUBTYPES.get(str(details.get("error_subtype", "")), InvalidQuery)
    if kind == "Catalog":
        cls = UnknownTable if details.get("type") == "Table" else UnknownFunction
    elif kind == "Parser":
        cls = InvalidSyntax
    elif "cast" in message or "types" in message:
        cls = TypeMismatch
    return cls(as_fact(message).rstrip("!."), hint)


def _details(text: str) -> dict[str, object]:
    start = text.find("{")
    try:
        return json.loads(text[start:]) if start >= 0 else {}
    except json.JSONDecodeError:
        return {}
