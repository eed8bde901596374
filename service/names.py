"""Names of tables, views and columns, read as PostgreSQL reads identifiers.

An unquoted name is lower-cased; a name in double quotes keeps its case. The catalog holds names in the
form that `fold_name` returns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.errors import Invalid

LONGEST = 63
"""The longest name in bytes, as in PostgreSQL."""
OPERATION = "_op"
"""The column of CSV, Arrow and Parquet bodies that names each row's operation."""
_UNQUOTED = re.compile(r"[^\W\d]\w*", re.ASCII)
_PATTERN = re.compile(r"[\w*]+", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"\0]|"")+"')
_QUALIFIED = re.compile(
    rf"(?:(?:{_UNQUOTED.pattern}|{_QUOTED.pattern})\.)+(?P<last>{_UNQUOTED.pattern}|{_QUOTED.pattern})"
)
_SHOWN = 2 * LONGEST


def fold_name(identifier: str) -> str:
    """The name that a client's identifier stands for. Raises Invalid if it is not an identifier."""
    if _UNQUOTED.fullmatch(identifier):
        name = identifier.lower()
    elif _QUOTED.fullmatch(identifier):
        name = identifier[1:-1].replace('""', '"')
    elif qualified := _QUALIFIED.fullmatch(identifier):
        raise Invalid(
            f"there are no schemas: {identifier[:_SHOWN]}",
            f"write {qualified['last'][:_SHOWN]}",
            code="invalid_name",
        )
    else:
        raise Invalid(
            f"{identifier[:LONGEST]!r} is not a name",
            "use letters, digits and underscores, or put the name in double quotes",
            code="invalid_name",
        )
    check_name(name)
    return name


def fold_pattern(text: str) -> str:
    """The pattern of names that a client's text stands for: a name, in which `*` stands for any letters."""
    if "*" not in text or text.startswith('"'):
        return fold_name(text)
    if not _PATTERN.fullmatch(text):
        raise Invalid(
            f"{text[:LONGEST]!r} is not a pattern of names",
            "use letters, digits, underscores and *, or put it in double quotes",
            code="invalid_name",
        )
    return text.lower()


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
