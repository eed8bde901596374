"""The circumstances of a prepared statement: what its names meant when it was prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engine.schema import Type
from planner.parsing.search_path import namespace, search_path
from service.accounts.principals import Principal
from service.definitions.known_relations import KnownRelations
from service.running.runtime import Runtime


class Naming(NamedTuple):
    """What a session finds names by: the text of its search path, and the schema of its temporary tables."""

    path: str
    temporary: str | None = None


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Each of the mappings is replaced as a whole when something is defined."""

    known: KnownRelations
    types: Mapping[str, Type]
    schemas: Mapping[str, int]
    naming: Naming

    @classmethod
    def now(cls, runtime: Runtime, naming: Naming) -> Circumstances:
        return cls(runtime.readable.known, runtime.types(), runtime.schemas(), naming)

    def hold(self, runtime: Runtime, naming: Naming) -> bool:
        """Whether the statement still means the same."""
        return (
            self.known is runtime.readable.known
            and self.types is runtime.types()
            and self.schemas is runtime.schemas()
            and self.naming == naming
        )

    def are_public(self, principal: Principal) -> bool:
        """Whether names without a schema are those of `public`, whatever exists."""
        path, temporary = self.naming
        names = namespace(search_path(path), principal.name, self.schemas, tuple, tuple, temporary)
        return names.is_default
