"""Names of tables, views and columns: read as PostgreSQL reads identifiers.

An unquoted name is lower-cased; one in double quotes is kept as it is. The catalog
holds names as they come out of here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.errors import Invalid

LONGEST = 63
"""Bytes of a name, PostgreSQL's limit."""
OPERATION = "_op"
"""The column of CSV, Arrow and Parquet bodies that says what a row does."""
_UNQUOTED = re.compile(r"[^\W\d]\w*", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"\0]|"")+"')
_QUALIFIED = re.compile(
    rf"(?:(?:{_UNQUOTED.pattern}|{_QUOTED.pattern})\.)+(?P<last>{_UNQUOTED.pattern}|{_QUOTED.pattern})"
)
_SHOWN = 2 * LONGEST


def fold(identifier: str) -> str:
    """The name that a client's identifier stands for; Invalid if it is none."""
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
            f"{identifier[:LONGEST]!r} is no name",
            "letters, digits and underscores, or anything in double quotes",
            code="invalid_name",
        )
    check_name(name)
    return name


def check_name(name: str) -> None:
    """Invalid if the catalog cannot take the name."""
    if not name or "\0" in name or len(name.encode("utf-8", "replace")) > LONGEST:
        raise Invalid(
            f"{name[:LONGEST]!r} is no name", f"a name has 1 to {LONGEST} bytes", code="invalid_name"
        )


def check_columns(names: Sequence[str]) -> None:
    """Invalid unless the columns are some, named, and each differently."""
    if not names:
        raise Invalid("a relation has at least one column", code="no_columns")
    for name in names:
        check_name(name)
        if name == OPERATION:
            raise Invalid(f"a column cannot be called {OPERATION}: bodies use it", code="invalid_name")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise Invalid(
                f"two columns are called {name}", "give one another name with AS", code="duplicate_column"
            )
