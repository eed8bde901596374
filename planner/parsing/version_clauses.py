"""Versions behind a table: of the state, and of the time at which rows are valid.

BigQuery's parser would take the first word of one without an alias for that.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from planner.rewriting.valid_times import VALID_TIME

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

    def _parse_version(self: Any) -> exp.Version | None:
        """One version, or two of different clocks; that of the state is then part of the other."""
        found = self._parse_one_version()
        if found is None:
            return None
        other = self._parse_one_version()
        if other is None:
            return found  # type: ignore[no-any-return]
        if (found.name == VALID_TIME) == (other.name == VALID_TIME):
            self.raise_error(f"FOR {other.name} stands twice behind a table", self._prev)
        valid, state = (found, other) if found.name == VALID_TIME else (other, found)
        valid.set("state", state)
        return valid  # type: ignore[no-any-return]

    def _parse_one_version(self: Any) -> exp.Version | None:
        if self._match_text_seq("FOR", "ALL", VALID_TIME):
            return exp.Version(this=VALID_TIME, kind="ALL")
        if self._match_text_seq("FOR", "PORTION", "OF"):
            if not self._match_text_seq(VALID_TIME) or not self._match_text_seq("FROM"):
                self.raise_error("VALID_TIME FROM ... TO ... is missing behind FOR PORTION OF")
            return self._parse_ends("PORTION", "TO")
        if not self._match_text_seq("FOR", VALID_TIME):
            return super()._parse_version()  # type: ignore[misc, no-any-return]
        if self._match_text_seq("ALL"):
            return exp.Version(this=VALID_TIME, kind="ALL")
        if self._match_text_seq("AS", "OF"):
            return exp.Version(this=VALID_TIME, kind="AS OF", expression=self._parse_bitwise())
        for kind, middle in (("FROM", "TO"), ("BETWEEN", "AND")):
            if self._match_text_seq(kind):
                return self._parse_ends(kind, middle)
        self.raise_error("AS OF, FROM, BETWEEN or ALL is missing behind FOR VALID_TIME")
        return None

    def _parse_ends(self: Any, kind: str, middle: str) -> exp.Version:
        """Two moments with a word between them."""
        first = self._parse_bitwise()
        if not self._match_text_seq(middle):
            self.raise_error(f"{middle} is missing behind the first moment of valid time")
        ends = exp.Tuple(expressions=[first, self._parse_bitwise()])
        return exp.Version(this=VALID_TIME, kind=kind, expression=ends)
