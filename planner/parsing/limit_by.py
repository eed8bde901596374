"""LIMIT BY, also with a LIMIT behind it: `LIMIT 2 BY k LIMIT 5`. A query has it as `limit_by`."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

_BY = "limit_by"


class LimitBy:
    """Reads both. A mixin that comes before a parser class among the bases."""

    def _parse_limit(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        found = super()._parse_limit(*args, **kwargs)  # type: ignore[misc]
        is_last = self._curr is None or self._curr.token_type is not TokenType.LIMIT
        if not isinstance(found, exp.Limit) or not found.expressions or is_last:
            return found  # type: ignore[no-any-return]
        last = super()._parse_limit(*args, **kwargs)  # type: ignore[misc]
        last.set(_BY, found)
        return last  # type: ignore[no-any-return]

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        query = super()._parse_query_modifiers(this)  # type: ignore[misc]
        if not isinstance(query, exp.Select) or not isinstance(limit := query.args.get("limit"), exp.Limit):
            return query  # type: ignore[no-any-return]
        offset = query.args.get("offset")
        if (first := limit.args.get(_BY)) is not None:
            limit.set(_BY, None)
            query.set(_BY, first)
        elif limit.expressions or (offset is not None and offset.expressions):
            keys = limit.expressions or offset.expressions  # type: ignore[union-attr]
            skipped = offset.expression if offset is not None else None
            query.set(_BY, exp.Limit(expression=limit.expression, offset=skipped, expressions=keys))
            query.set("limit", None)
            query.set("offset", None)
        return query
