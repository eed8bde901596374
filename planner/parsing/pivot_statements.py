"""DuckDB's statements PIVOT and UNPIVOT, read as queries of their rows: `SELECT * FROM (PIVOT ...)`.

So WITH, ORDER BY and LIMIT belong to them as to any other query.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp


class PivotStatements:
    """Reads the statements. A mixin that comes before a parser class among the bases."""

    def _parse_simplified_pivot(self: Any, is_unpivot: bool | None = None) -> exp.Expr | None:
        pivot = super()._parse_simplified_pivot(is_unpivot)  # type: ignore[misc]
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=pivot)))
        return self._parse_query_modifiers(query)  # type: ignore[no-any-return]
