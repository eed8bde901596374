"""Versions behind a table without an alias: BigQuery's parser would take their first word for one."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

_KINDS = ("VERSION", "TIMESTAMP")


class VersionClauses:
    """Reads the clauses. A mixin that comes before a parser class among the bases."""

    def _parse_table_alias(self: Any, *args: Any, **kwargs: Any) -> exp.TableAlias | None:
        """An alias without AS is not the first word of a version."""
        begin = self._index
        words = [token.text.upper() for token in self._tokens[begin : begin + 3]]
        if words[1:] == ["AS", "OF"] and words[0] in _KINDS:
            return None
        return super()._parse_table_alias(*args, **kwargs)  # type: ignore[misc, no-any-return]
