"""Full names of tables, views and types: a schema and a name, as one text.

    orders                      table orders of schema public
    analytics.orders            table orders of schema analytics
    "raw.orders"                table raw.orders of schema public
    "lake.analytics".orders     table orders of schema analytics of another system's database lake

The text is what the catalog, the engine, messages and paths call a relation. A part that has a dot, or that
begins with a double quote, stands in double quotes; any other part stands as it is. So each pair has one
text, and names of `public` read as they did before there were schemas. There is one database; texts that were
written for a system with several name schemas of `lake.analytics`, which are as good as any.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

DATABASE = "freshet"
"""The name of the one database, which may stand before a schema."""
PUBLIC = "public"
"""The schema of names that are written without one."""
ALIASES = {"main": PUBLIC}
"""Other names of schemas: DuckDB calls its own main."""
LONGEST = 63
"""The longest name in bytes, as in PostgreSQL."""
EVERY = "*"
"""In a pattern, any characters; alone, every relation of every schema."""
TEMPORARY = "pg_temp_"
"""How the name of a session's schema of temporary tables begins."""
CATALOG, INFORMATION = "pg_catalog", "information_schema"
"""The schemas of the system catalogs."""
SYSTEM = frozenset({INFORMATION})
"""Schemas that are not for clients, besides those that begin with `pg_`."""


def is_system(relation: str) -> bool:
    """Whether a reference of a query is to a relation of the catalogs, or to a lookup."""
    return relation.startswith((f"{CATALOG}.", f"{INFORMATION}."))


def full_name(schema: str, name: str) -> str:
    """The text of a schema's name and a relation's name in it."""
    return _part(name) if schema == PUBLIC else f"{_part(schema)}.{_part(name)}"


def shown_name(full: str) -> str:
    """A full name without quotes, as messages show it in theirs."""
    schema, name = split_name(full)
    return name if schema == PUBLIC else f"{schema}.{name}"


@lru_cache(maxsize=1 << 14)
def split_name(full: str) -> tuple[str, str]:
    """The schema and the name of a full name."""
    first, rest = _first(full)
    if not rest:
        return PUBLIC, first
    return first, _first(rest[1:])[0]


def schema_of(full: str) -> str:
    return split_name(full)[0]


def own_name(full: str) -> str:
    """The name without its schema."""
    return split_name(full)[1]


def is_temporary(full: str) -> bool:
    """Whether the relation is a temporary table."""
    return schema_of(full).startswith(TEMPORARY)


def schema_named(before: Sequence[str]) -> str | None:
    """The schema that the names before a relation's stand for, None if there are none: a schema's, perhaps
    with a database's before it. A schema of another database is called by both names."""
    if not before:
        return None
    *database, schema = before
    if database in ([], [DATABASE]):
        return ALIASES.get(schema, schema)
    return f"{_part(database[0])}.{_part(schema)}"


def schema_pattern(schema: str, pattern: str) -> str:
    """The pattern of the names of one schema that match `pattern`."""
    return f"{PUBLIC}.{EVERY}" if (schema, pattern) == (PUBLIC, EVERY) else full_name(schema, pattern)


def shortened(name: str) -> str:
    """The name cut to the longest that PostgreSQL has, at the end of a character."""
    return name.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")


def is_reserved(schema: str) -> bool:
    """Whether no client may make a schema of this name."""
    return schema in SYSTEM or schema in ALIASES or schema == PUBLIC or schema.startswith("pg_")


def is_catalog(full: str) -> bool:
    """Whether a name that no client has given is of PostgreSQL's catalogs: `pg_class`, with or without its
    schema, or a name of information_schema."""
    schema, name = split_name(full)
    return schema in (*SYSTEM, "pg_catalog") or (schema == PUBLIC and name.startswith("pg_"))


def _part(name: str) -> str:
    if "." not in name and not name.startswith('"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def _first(text: str) -> tuple[str, str]:
    """The first part of a full name, and the rest from the dot on."""
    if not text.startswith('"'):
        end = text.find(".")
        return (text, "") if end < 0 else (text[:end], text[end:])
    end = 1
    while not (text[end] == '"' and text[end + 1 : end + 2] != '"'):
        end += 2 if text[end] == '"' else 1
    return text[1:end].replace('""', '"'), text[end + 1 :]


def quoted_if_needed(name: str) -> str:
    """One name as SQL writes it: in double quotes, unless it is plain. Key words are taken as they are."""
    if name.isascii() and name.isidentifier() and name == name.lower():
        return name
    return '"' + name.replace('"', '""') + '"'
