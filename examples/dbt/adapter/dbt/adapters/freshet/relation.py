"""Relations of dbt under Freshet's names.

Freshet has one database and no schemas. A relation of the schema `public` has its own name; one of another
schema has both in one name, as in `"raw.orders"`. So schemas keep developers and environments apart, and
`GRANT ... ON "raw.*"` is about one of them. A name beyond Freshet's 63 bytes ends in a digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName
from dbt_common.exceptions import DbtRuntimeError

DATABASE = "freshet"
PUBLIC = "public"
"""The schema whose relations have no prefix, as in `GRANT ... IN SCHEMA public`."""
SEPARATOR = "."
LONGEST = 63
"""The longest name in bytes."""
_DIGEST = 8


def stored_name(schema: str | None, identifier: str) -> str:
    """The name in Freshet of a relation. Raises DbtRuntimeError if two relations could have it."""
    if schema is None:
        return identifier
    for part, word in ((schema, "schema"), (identifier, "relation")):
        if SEPARATOR in part:
            raise DbtRuntimeError(
                f"the {word} {part} has a dot, which separates schema and relation in Freshet's names: "
                "choose a name without one"
            )
    return _short(identifier if schema == PUBLIC else f"{schema}{SEPARATOR}{identifier}")


def split_name(name: str) -> tuple[str, str]:
    """The schema and the identifier of a name in Freshet."""
    schema, dot, identifier = name.partition(SEPARATOR)
    return (schema, identifier) if dot and schema and identifier else (PUBLIC, name)


def _short(name: str) -> str:
    written = name.encode()
    if len(written) <= LONGEST:
        return name
    kept = written[: LONGEST - _DIGEST - 1].decode(errors="ignore")
    return f"{kept}_{sha256(written).hexdigest()[:_DIGEST]}"


@dataclass(frozen=True, eq=False, repr=False)
class FreshetRelation(BaseRelation):
    @property
    def stored(self) -> str:
        """The name in Freshet."""
        identifier = self.identifier or ""
        if not self.quote_policy.get_part(ComponentName.Identifier):
            identifier = identifier.lower()
        return stored_name(self.schema, identifier)

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        if self.database and self.database != DATABASE:
            raise DbtRuntimeError(
                f"Freshet has one database, called {DATABASE}: leave {self.database} out, or use a schema"
            )
        if self.identifier is None:
            yield ComponentName.Schema, self.schema
        elif self.schema is None:
            quoted = self.quote_policy.get_part(ComponentName.Identifier)
            yield ComponentName.Identifier, self.quoted(self.identifier) if quoted else self.identifier
        elif self.include_policy.get_part(ComponentName.Identifier):
            yield ComponentName.Identifier, self.quoted(self.stored)
