"""The circumstances of a prepared statement: what its names meant when it was prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.schema import Type
from planner.parsing.search_path import namespace, search_path
from service.accounts.principals import Principal
from service.definitions.known_relations import KnownRelations
from service.running.runtime import Runtime


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Each of the mappings is replaced as a whole when something is defined. `path` is the search path."""

    known: KnownRelations
    types: Mapping[str, Type]
    schemas: Mapping[str, int]
    path: str

    @classmethod
    def now(cls, runtime: Runtime, path: str) -> Circumstances:
        return cls(runtime.readable.known, runtime.types(), runtime.schemas(), path)

    def hold(self, runtime: Runtime, path: str) -> bool:
        """Whether the statement still means the same."""
        return (
            self.known is runtime.readable.known
            and self.types is runtime.types()
            and self.schemas is runtime.schemas()
            and self.path == path
        )


def is_in_public(runtime: Runtime, path: str, principal: Principal) -> bool:
    """Whether names without a schema are those of `public`, whatever exists."""
    return namespace(search_path(path), principal.name, runtime.schemas(), tuple, tuple).is_default
