"""Relations of dbt, written in SQL by their names in Freshet (`naming.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName
from dbt.adapters.freshet.naming import DATABASE, stored_name
from dbt_common.exceptions import DbtRuntimeError


@dataclass(frozen=True, eq=False, repr=False)
class FreshetRelation(BaseRelation):
    @property
    def stored(self) -> str:
        """The name in Freshet. A name that is not quoted is in lower case, as in SQL."""
        identifier = self.identifier or ""
        if not self.quote_policy.get_part(ComponentName.Identifier):
            identifier = identifier.lower()
        try:
            return stored_name(self.schema, identifier)
        except ValueError as error:
            raise DbtRuntimeError(str(error)) from None

    def _render_iterator(self) -> Iterator[tuple[ComponentName | None, str | None]]:
        if self.database and self.database != DATABASE:
            raise DbtRuntimeError(
                f"Freshet has one database, called {DATABASE}: leave {self.database} out, or use a schema"
            )
        if self.identifier is None:
            yield ComponentName.Schema, self.schema
        elif self.schema is None:  # a CTE
            quoted = self.quote_policy.get_part(ComponentName.Identifier)
            yield ComponentName.Identifier, self.quoted(self.identifier) if quoted else self.identifier
        elif self.include_policy.get_part(ComponentName.Identifier):
            yield ComponentName.Identifier, self.quoted(self.stored)
