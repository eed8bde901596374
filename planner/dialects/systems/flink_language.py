"""Flink SQL as a dialect of sqlglot, which has none: Calcite's grammar with backticks around names.

sqlglot knows a dialect by its class as soon as this module is there.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import Dialect, exp, parser, tokens
from sqlglot.tokens import TokenType

NAME = "flink"


class Flink(Dialect):
    """Texts have no escapes but the doubled quote, and the first element of an array has number 1."""

    INDEX_OFFSET = 1
    NULL_ORDERING = "nulls_are_small"
    TYPED_DIVISION = True

    class Tokenizer(tokens.Tokenizer):
        IDENTIFIERS: ClassVar = ["`"]
        QUOTES: ClassVar = ["'", ("_UTF8'", "'")]
        HEX_STRINGS: ClassVar = [("x'", "'"), ("X'", "'")]
        UNICODE_STRINGS: ClassVar = [(prefix + "'", "'") for prefix in ("U&", "u&")]

    class Parser(parser.Parser):
        LOG_DEFAULTS_TO_LN = True
        FUNCTION_PARSERS: ClassVar = {
            **parser.Parser.FUNCTION_PARSERS,
            "JSON_VALUE": lambda self: self._parse_json_scalar(),
            "JSON_QUERY": lambda self: self._parse_json_part(),
            "JSON_ARRAY": lambda self: self._parse_json_items(),
        }

        def _parse_json_scalar(self: Any) -> exp.Expr:
            """JSON_VALUE(json, path [RETURNING type] [NULL | DEFAULT value ON EMPTY])."""
            args = self._parse_csv(self._parse_bitwise)
            found: exp.Expr = exp.Anonymous(this="JSON_SCALAR_AT", expressions=args)
            if self._match_text_seq("RETURNING"):
                found = exp.Cast(this=found, to=self._parse_types())
            while not self._match_text_seq("NULL", "ON", "EMPTY") and self._match_text_seq("DEFAULT"):
                other = self._parse_bitwise()
                if not self._match_text_seq("ON", "EMPTY"):
                    self.raise_error("DEFAULT ... ON ERROR is not supported")
                there = exp.Anonymous(this="JSON_EXISTS", expressions=[arg.copy() for arg in args])
                found = exp.Case(ifs=[exp.If(this=there, true=found)], default=other)
            self._match_text_seq("NULL", "ON", "ERROR")
            return found

        def _parse_json_part(self: Any) -> exp.Expr:
            """JSON_QUERY(json, path [WITH | WITHOUT [ARRAY] WRAPPER])."""
            args = self._parse_csv(self._parse_bitwise)
            wraps = self._match_text_seq("WITH")
            if wraps or self._match_text_seq("WITHOUT"):
                self._match_text_seq("UNCONDITIONAL")
                self._match_text_seq("ARRAY")
                if not self._match_text_seq("WRAPPER"):
                    self.raise_error("WRAPPER is expected")
            return exp.Anonymous(this="JSON_WRAPPED_AT" if wraps else "JSON_PART_AT", expressions=args)

        def _parse_json_items(self: Any) -> exp.Expr:
            """JSON_ARRAY(value, ... [NULL | ABSENT ON NULL]); a NULL is left out."""
            at_end = self._curr is not None and self._curr.token_type is TokenType.R_PAREN
            args = [] if at_end else self._parse_csv(self._parse_bitwise)
            keeps = self._match_text_seq("NULL", "ON", "NULL")
            if not keeps:
                self._match_text_seq("ABSENT", "ON", "NULL")
            return exp.Anonymous(this="JSON_ARRAY_WITH_NULLS" if keeps else "JSON_ARRAY_OF", expressions=args)

        def _parse_bracket(self: Any, this: exp.Expr | None = None) -> exp.Expr | None:
            """`MAP['a', 1]`: a map of keys and values in turn."""
            is_map = isinstance(this, exp.Column) and not this.table and this.name.upper() == "MAP"
            if not is_map or not self._match(TokenType.L_BRACKET):
                return super()._parse_bracket(this)  # type: ignore[no-any-return]
            parts = self._parse_csv(self._parse_disjunction)
            self._match(TokenType.R_BRACKET)
            return super()._parse_bracket(exp.Anonymous(this="MAP_OF", expressions=parts))  # type: ignore[no-any-return]
