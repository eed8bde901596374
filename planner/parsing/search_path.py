"""Search paths as clients write them: `analytics, public`, quoted as SQL quotes names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache

from sqlglot import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidQuery
from planner.parsing.namespace import DEFAULT, DEFAULT_PATH, Namespace, SearchPath, Types
from planner.relation_names import ALIASES

USER = "$user"
"""Stands in a path for the schema that is called as its user."""
_HINT = "write names of schemas, separated by commas"


@lru_cache(maxsize=1 << 8)  # a session asks for its path at every statement
def search_path(text: str) -> SearchPath:
    """The schemas that a text names, in order. Raises InvalidQuery."""
    try:
        tokens = Dialect.get_or_raise("postgres").tokenize(text)
    except SqlglotError:
        raise InvalidQuery(f"{text!r} is not a search path", _HINT) from None
    return path_of(tokens)


def path_of(tokens: list[Token]) -> SearchPath:
    """The schemas that tokens name: identifiers or strings, separated by commas, or DEFAULT; or none."""
    if [token.text.upper() for token in tokens] == ["DEFAULT"]:
        return DEFAULT_PATH
    if not tokens:
        return ()
    commas = [token.token_type is TokenType.COMMA for token in tokens]
    if len(tokens) % 2 == 0 or commas != [place % 2 == 1 for place in range(len(tokens))]:
        raise InvalidQuery("the search path is not a list of names", _HINT)
    return tuple(_schema(token) for token in tokens[::2])


def _schema(token: Token) -> str:
    quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
    name = token.text if quoted else token.text.lower()
    return ALIASES.get(name, name)


def namespace(
    path: SearchPath,
    user: str,
    schemas: Mapping[str, int],
    relations: Callable[[], Collection[str]],
    types: Callable[[], Types],
    temporary: str | None = None,
    functions: Callable[[], Collection[str]] = tuple,
) -> Namespace:
    """What names mean for a user with a search path. Schemas that do not exist are passed over. `temporary`
    is the schema of the session's temporary tables.

    Most paths come down to `public`: then nobody asks which relations and types there are.
    """
    if path == DEFAULT_PATH and temporary is None:
        return DEFAULT
    meant = tuple(user if schema == USER else schema for schema in path)
    there = tuple(dict.fromkeys(schema for schema in meant if schema in schemas))
    if there == DEFAULT_PATH and temporary is None:
        return DEFAULT
    return Namespace(
        there or meant, frozenset(schemas), relations(), dict(types()), temporary, frozenset(functions())
    )
