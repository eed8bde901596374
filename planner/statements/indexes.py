"""An index of a table or a view, as the catalog keeps it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SecondaryIndex:
    """The rows by `columns`, which are known by name; `included` columns are read from the index too."""

    name: str
    columns: tuple[str, ...]
    included: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.columns, *self.included)

    def renamed_column(self, old: str, new: str) -> SecondaryIndex:
        """The index of the relation with a column renamed."""
        columns, included = (
            tuple(new if name == old else name for name in names) for names in (self.columns, self.included)
        )
        return replace(self, columns=columns, included=included)
