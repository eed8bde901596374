"""Columns of JSON_TABLE, as PostgreSQL, MySQL and Oracle write them, and other calls of JSON.

sqlglot knows PATH and NESTED PATH alone; EXISTS, ON EMPTY and ON ERROR become parts of its node.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

_WORDS = ("NULL", "ERROR")


class JsonColumns:
    """Reads the columns. A mixin that comes before a parser class among the bases."""

    def _parse_json_table(self: Any) -> exp.JSONTable:
        found = super()._parse_json_table()  # type: ignore[misc]
        handling = self._parse_on_handling("ERROR", "ERROR", "EMPTY", "NULL")
        if handling is not None:
            found.set("error_handling", handling)
        return found  # type: ignore[no-any-return]

    def _parse_values_of_array(self: Any) -> exp.JSONArray:
        """The values of JSON_ARRAY, and what becomes of those that are NULL."""
        values = self._parse_csv(lambda: self._parse_format_json(self._parse_bitwise()))
        handling = self._parse_on_handling("NULL", "NULL", "ABSENT")
        return exp.JSONArray(expressions=values, null_handling=handling)

    def _parse_object_of_texts(self: Any) -> exp.Expr | None:
        """JSON_OBJECT of the texts of arrays, or of keys and values."""
        is_text = self._curr is not None and self._curr.token_type is TokenType.STRING
        if not is_text or not self._curr.text.lstrip().startswith("{"):
            return self._parse_json_object()  # type: ignore[no-any-return]
        name = self._tokens[self._index - 2]
        found = exp.Anonymous(this="JSONB_OBJECT", expressions=self._parse_csv(self._parse_bitwise))
        return found.update_positions(name)

    def _parse_document_query(self: Any) -> exp.JSONExtract:
        """JSON_QUERY with Oracle's wrappers."""
        document = self._parse_format_json(self._parse_bitwise())
        self._match(TokenType.COMMA)
        found = exp.JSONExtract(this=document, expression=self._parse_string(), json_query=True)
        if self._match_text_seq("RETURNING"):
            found.set("returning", self._parse_types())
        for words in (("WITHOUT",), ("WITH", "CONDITIONAL"), ("WITH", "UNCONDITIONAL"), ("WITH",)):
            if self._match_text_seq(*words):
                self._match_text_seq("ARRAY")
                self._match_text_seq("WRAPPER")
                found.set("option", exp.var(" ".join(words)))
                break
        found.set("on_condition", self._parse_on_condition())
        return found

    def _parse_json_column_def(self: Any) -> exp.JSONColumnDef:
        if self._match_text_seq("NESTED"):
            self._match_text_seq("PATH")
            path = self._parse_string()
            if self._match(TokenType.ALIAS):
                self._parse_id_var()
            return exp.JSONColumnDef(path=path, nested_schema=self._parse_json_schema())
        name = self._parse_id_var()
        if self._match_pair(TokenType.FOR, TokenType.ORDINALITY):
            return exp.JSONColumnDef(this=name, ordinality=True)
        column = exp.JSONColumnDef(this=name, kind=self._parse_types(allow_identifiers=False))
        column.set("format_json", self._match_text_seq("FORMAT", "JSON"))
        column.set("exists", self._match(TokenType.EXISTS))
        column.set("path", self._match_text_seq("PATH") and self._parse_string())
        for _ in range(2):  # in either order
            for part, on in (("empty", "EMPTY"), ("error", "ERROR")):
                handling = self._parse_on_handling(on, *_WORDS)
                if handling is not None:
                    column.set(part, handling)
        return column
