"""Relations of dbt, written in SQL by their names in Freshet (`naming.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName
from dbt.adapters.freshet.naming import DATABASE, PUBLIC, short_name
from dbt_common.exceptions import DbtRuntimeError


@dataclass(frozen=True, eq=False, repr=False)
class FreshetRelation(BaseRelation):
    @property
    def stored(self) -> str:
        """The name in its schema. A name that is not quoted is in lower case, as in SQL."""
        identifier = self.identifier or ""
        if not self.quote_policy.get_part(ComponentName.Identifier):
            identifier = identifier.lower()
        return short_name(identifier)

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        if self.database and self.database != DATABASE:
            raise DbtRuntimeError(
                f"Freshet has one database, called {DATABASE}: leave {self.database} out, or use a schema"
            )
        if self.identifier is None:
            yield ComponentName.Schema, self.quoted(short_name(self.schema or PUBLIC))
        elif self.schema is None:  # a CTE
            quoted = self.quote_policy.get_part(ComponentName.Identifier)
            yield ComponentName.Identifier, self.quoted(self.identifier) if quoted else self.identifier
        elif self.include_policy.get_part(ComponentName.Identifier):
            if self.schema != PUBLIC:
                yield ComponentName.Schema, self.quoted(short_name(self.schema))
            yield ComponentName.Identifier, self.quoted(self.stored)
