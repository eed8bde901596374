"""Names of tables, views and columns, read as PostgreSQL reads identifiers.

An unquoted name is lower-cased; a name in double quotes keeps its case. The catalog holds names in the
forms that `fold_name` and, for relations, `fold_relation` return.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote

from planner.relation_names import (
    EVERY,
    PUBLIC,
    full_name,
    schema_named,
    schema_pattern,
    split_name,
)
from planner.statements.show_create import relation_text
from service.errors import Invalid

LONGEST = 63
"""The longest name in bytes, as in PostgreSQL."""
OPERATION = "_op"
"""The column of CSV, Arrow and Parquet bodies that names each row's operation."""
_UNQUOTED = r"[^\W\d]\w*"
_QUOTED = r'"(?:[^"\0]|"")+"'
_IDENTIFIER = re.compile(rf"{_UNQUOTED}|{_QUOTED}", re.ASCII)
_BEFORE = rf"(?:(?:{_UNQUOTED}|{_QUOTED})\.){{0,2}}"
_QUALIFIED = re.compile(rf"{_BEFORE}(?:{_UNQUOTED}|{_QUOTED})", re.ASCII)
_PATTERN = re.compile(rf"{_BEFORE}(?:{_UNQUOTED}|\w*\*[\w*]*|{_QUOTED})", re.ASCII)
_PART = re.compile(rf"{_QUOTED}|[\w*]+", re.ASCII)


def fold_name(identifier: str) -> str:
    """The name that a client's identifier stands for. Raises Invalid if it is not an identifier."""
    if not _IDENTIFIER.fullmatch(identifier):
        if _QUALIFIED.fullmatch(identifier):
            raise Invalid(
                f"{_shown(identifier)} has a schema, which is not possible here",
                "leave it out",
                code="invalid_name",
            )
        raise _no_name(identifier)
    name = _folded(identifier)
    check_name(name)
    return name


@lru_cache(1000)
def fold_relation(identifier: str) -> str:
    """The full name of the relation that a client's identifier stands for: `name`, `schema.name`, or with
    a database before both. Raises Invalid."""
    return full_name(*_parts(identifier, _QUALIFIED))


def in_path(full: str) -> str:
    """The full name of a relation as a part of a path: as SQL writes it, and percent-encoded."""
    return quote(relation_text(full), safe="")


def fold_pattern(text: str) -> str:
    """The pattern of relations that a client's text stands for: a relation's name, whose own part may have
    `*` for any letters. `*` alone stands for every relation."""
    if text == EVERY:
        return text
    schema, name = _parts(text, _PATTERN)
    if EVERY in schema:
        raise Invalid(
            f"{_shown(text)!r} is a pattern of schemas, which is not possible",
            "send a pattern for each schema",
            code="invalid_name",
        )
    return schema_pattern(schema, name)


def _parts(text: str, form: re.Pattern[str]) -> tuple[str, str]:
    """The schema and the name of a relation or of a pattern."""
    if not form.fullmatch(text):
        raise _no_name(text)
    *before, name = (_folded(part) for part in _PART.findall(text))
    schema = schema_named(before) or PUBLIC
    for part in (schema, name):
        check_name(part)
    return schema, name


def _folded(identifier: str) -> str:
    quoted = identifier.startswith('"')
    return identifier[1:-1].replace('""', '"') if quoted else identifier.lower()


def _no_name(text: str) -> Invalid:
    return Invalid(
        f"{_shown(text)!r} is not a name",
        "use letters, digits and underscores, or put the name in double quotes",
        code="invalid_name",
    )


def _shown(text: str) -> str:
    return text[:LONGEST]


def check_relation_name(full: str) -> None:
    """Raises Invalid if the catalog cannot store the full name of a relation."""
    for part in split_name(full):
        check_name(part)


def check_name(name: str) -> None:
    """Raises Invalid if the catalog cannot store the name."""
    if not name or "\0" in name or len(name.encode("utf-8", "replace")) > LONGEST:
        raise Invalid(
            f"{name[:LONGEST]!r} is not a name", f"a name has 1 to {LONGEST} bytes", code="invalid_name"
        )


def check_columns(names: Sequence[str]) -> None:
    """Raises Invalid unless there is at least one column, and the names are valid and distinct."""
    if not names:
        raise Invalid("a relation has at least one column", code="no_columns")
    for name in names:
        check_name(name)
        if name == OPERATION:
            raise Invalid(f"a column cannot be called {OPERATION}: bodies use it", code="invalid_name")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Invalid(
                f"two columns are called {name}", "give one another name with AS", code="duplicate_column"
            )
        seen.add(name)
