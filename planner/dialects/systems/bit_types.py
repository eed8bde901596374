"""PostgreSQL's types of bits that sqlglot does not know: `BIT VARYING(5)`, also called `VARBIT(5)`.

`BIT` is `BIT(1)` where somebody writes it. The type BIT without a length, which has bits of any, is ours.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType


class BitTypes:
    """Reads the types. A mixin that comes before a parser class among the bases."""

    is_ours = False
    """Whether BIT is our type, as answers of the service name it."""

    def _parse_types(self: Any, *args: Any, **options: Any) -> exp.Expr | None:
        found: exp.Expr | None = super()._parse_types(*args, **options)  # type: ignore[misc]
        if not isinstance(found, exp.DataType):
            return found
        for inner in found.find_all(exp.DataType):
            if inner.this is exp.DType.USERDEFINED and inner.text("kind").upper() == "VARBIT":
                _name(inner, inner.expressions or self._length())
        is_varying = found.this is exp.DType.BIT and not found.expressions
        if is_varying and self._match_text_seq("VARYING"):
            found.set("this", exp.DType.USERDEFINED)
            _name(found, self._length())
            while self._match_pair(TokenType.L_BRACKET, TokenType.R_BRACKET):
                found = exp.DataType(this=exp.DType.ARRAY, expressions=[found], nested=True)
        for inner in () if self.is_ours else found.find_all(exp.DataType):
            if inner.this is exp.DType.BIT and not inner.expressions:
                inner.set("expressions", [exp.DataTypeParam(this=exp.Literal.number(1))])
        return found

    def _length(self: Any) -> list[exp.Expr]:
        """The length in parentheses that may follow."""
        if not self._match(TokenType.L_PAREN):
            return []
        found: list[exp.Expr] = self._parse_csv(self._parse_type_size)
        self._match_r_paren()
        return found


def _name(type: exp.DataType, lengths: list[exp.Expr]) -> None:
    """Name a type of bits of any length, or of up to the one that is given."""
    length = f"({', '.join(each.name for each in lengths)})" if lengths else ""
    type.set("kind", f"BIT VARYING{length}")
    type.set("expressions", None)
