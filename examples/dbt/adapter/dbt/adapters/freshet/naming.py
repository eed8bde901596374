"""Names of dbt's relations in Freshet.

Freshet has one database and no schemas. A relation of the schema `public` has its own name; one of another
schema has both in one name, as in `"raw.orders"`. So schemas keep developers and environments apart, and
`GRANT ... ON "raw.*"` is about one of them. A name beyond Freshet's 63 bytes ends in a digest.
"""

from __future__ import annotations

from hashlib import sha256

DATABASE = "freshet"
PUBLIC = "public"
"""The schema whose relations have no prefix, as in `GRANT ... IN SCHEMA public`."""
SEPARATOR = "."
LONGEST = 63
"""The longest name in bytes."""
_DIGEST = 8


def stored_name(schema: str | None, identifier: str) -> str:
    """The name in Freshet of a relation. Raises ValueError if two relations could have it."""
    if schema is None:
        return identifier
    for part, word in ((schema, "schema"), (identifier, "relation")):
        if SEPARATOR in part:
            raise ValueError(
                f"the {word} {part} has a dot, which separates schema and relation in Freshet's names: "
                "choose a name without one"
            )
    return _short(identifier if schema == PUBLIC else f"{schema}{SEPARATOR}{identifier}")


def split_name(name: str) -> tuple[str, str]:
    """The schema and the identifier of a name in Freshet."""
    schema, _, identifier = name.partition(SEPARATOR)
    return (schema, identifier) if schema and identifier else (PUBLIC, name)


def _short(name: str) -> str:
    written = name.encode()
    if len(written) <= LONGEST:
        return name
    kept = written[: LONGEST - _DIGEST - 1].decode(errors="ignore")
    return f"{kept}_{sha256(written).hexdigest()[:_DIGEST]}"
