"""sqlglot's parsers, changed to keep distinctions that sqlglot's trees lose.

To sqlglot, a comma between tables and a JOIN without a condition are the same node, although a comma binds
less tightly; CROSS APPLY and OUTER APPLY look like commas too. Here a comma alone is a join without any mark.
A JOIN without a condition is a CROSS JOIN if its dialect has that. An APPLY is the equivalent join with a
LATERAL. Joins after a LATERAL, an UNNEST or VALUES in parentheses, or before a second ON, which sqlglot
refuses or does not write back, belong to a Table around them. Calls with formats and date functions stay as
they are written (`planner.formats.format_calls` and `planner.dialects.as_written`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.tokens import Token, TokenType

from planner.dialects.as_written import keeping_dates
from planner.dialects.own_calls import keeping_own
from planner.dialects.systems.bit_types import BitTypes
from planner.dialects.traits import Trait, has
from planner.dialects.units import ABBREVIATIONS, INTERVALS
from planner.formats import keeping_formats
from planner.limits import check_time
from planner.native.subscripts import keeping_subscripts, remember_first
from planner.parsing.column_names import WHOLE_TEXT
from planner.parsing.found_calls import FunctionCalls
from planner.parsing.hints import PriorityHints
from planner.parsing.interval_texts import is_of_months, read_interval
from planner.parsing.json_columns import JsonColumns
from planner.parsing.ksql_windows import WindowClauses
from planner.parsing.limit_by import LimitBy
from planner.parsing.mutually import MutualRecursion
from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.parameters import mark
from planner.parsing.pivot_statements import PivotStatements
from planner.parsing.recursion_clauses import RecursionClauses
from planner.parsing.rewritten_text import Replaced
from planner.parsing.system_words import MaterializeWords, RisingWaveWords
from planner.parsing.table_clauses import TableClauses
from planner.parsing.tuple_places import TuplePlaces
from planner.parsing.type_names import TypeNames
from planner.parsing.variadic import VariadicArguments
from planner.parsing.version_clauses import VersionClauses
from planner.parsing.watermarks import Watermarks
from planner.parsing.whole_literals import with_numerals
from planner.parsing.window_calls import WindowCalls
from planner.rewriting import rewritten

_CONDITIONS = ("on", "using", "method", "match_condition")
"""Parts of a join that determine which rows it pairs."""

_DOUBLES = {"FLOAT": Trait.FLOATS_ARE_DOUBLE, "REAL": Trait.REALS_ARE_DOUBLE}


def trees(text: str, dialect: str) -> list[exp.Expr | None]:
    """The trees of a text in a dialect, statement by statement. Raises sqlglot's errors."""
    return trees_of(Dialect.get_or_raise(dialect).tokenize(text), text, dialect)


def trees_of(
    tokens: list[Token], text: str, dialect: str, names: Namespace = DEFAULT
) -> list[exp.Expr | None]:
    """The trees of these tokens of a text, with the types that `names` has."""
    return read_trees(tokens, text, dialect, names)[0]


def read_trees(
    tokens: list[Token],
    text: str,
    dialect: str,
    names: Namespace,
    is_type: bool = False,
) -> tuple[list[exp.Expr | None], list[Replaced]]:
    """The trees of statements, or of a type in our own words, and what stands in them for the names of types,
    and for calls of functions."""
    parser = _parser_class(dialect)(dialect=keeping_subscripts(dialect))
    parser.know(names, len(text))
    tokens = with_numerals(tokens, dialect)
    parser.is_ours = is_type
    found = parser.parse_into(exp.DataType, tokens, text) if is_type else parser.parse(tokens, text)
    for place, tree in enumerate(found):
        if isinstance(tree, exp.Expression):
            remember_first(tree, dialect)
            found[place] = rewritten(tree, dialect)
            if parser.spelled:
                found[place].meta[WHOLE_TEXT] = parser.sql
    return found, parser.meanings()


_WORDS: Mapping[str, tuple[type, ...]] = {
    "materialize": (MaterializeWords,),
    "postgres": (BitTypes,),
    "risingwave": (RisingWaveWords,),
}


@cache
def _parser_class(dialect: str) -> Any:
    base = keeping_formats(Dialect.get_or_raise(dialect).parser_class, dialect)
    base = keeping_own(keeping_dates(base, dialect), dialect)
    own: dict[str, Any] = {"name": dialect, "ALTER_RENAME_REQUIRES_COLUMN": False}
    own["ADD_CONSTRAINT_KEYWORDS"] = {*base.ADD_CONSTRAINT_KEYWORDS, "CHECK"}
    if has(dialect, Trait.CASTS_FAIL):
        own["STRICT_CAST"] = True
    if has(dialect, Trait.ARROWS_ARE_OF_JSON):
        own["LAMBDAS"] = {kind: read for kind, read in base.LAMBDAS.items() if kind is not TokenType.ARROW}
    if has(dialect, Trait.ARRAYS_OMIT_NULLS):
        own["FUNCTION_PARSERS"] = {**base.FUNCTION_PARSERS, "JSON_ARRAY": JsonColumns._parse_values_of_array}
    if has(dialect, Trait.WRAPS_DOCUMENTS):
        parsers = own.get("FUNCTION_PARSERS", base.FUNCTION_PARSERS)
        own["FUNCTION_PARSERS"] = {**parsers, "JSON_QUERY": JsonColumns._parse_document_query}
    if dialect == "postgres":
        parsers = own.get("FUNCTION_PARSERS", base.FUNCTION_PARSERS)
        own["FUNCTION_PARSERS"] = {**parsers, "JSON_OBJECT": JsonColumns._parse_object_of_texts}
    ours = (
        TuplePlaces,
        Watermarks,
        WindowClauses,
        LimitBy,
        WindowCalls,
        JsonColumns,
        PivotStatements,
        VariadicArguments,
        VersionClauses,
        TableClauses,
        _Joins,
        MutualRecursion,
        FunctionCalls,
        TypeNames,
        RecursionClauses,
        PriorityHints,
    )
    return type("Parser", (*_WORDS.get(dialect, ()), *ours, base), own)


class _Joins:
    """Keeps joins as they are written, and the places of parameters; looks at the clock. A mixin that comes
    before a parser class among the bases."""

    def _parse_unary(self: Any) -> exp.Expr | None:
        check_time()
        is_sign = (
            self._curr is not None and self._curr.text == "@" and self._curr.token_type is TokenType.PARAMETER
        )
        if is_sign and has(type(self.dialect).__name__.lower(), Trait.FUNCTIONS_ARE_TABLES):
            self._advance()
            return exp.Abs(this=self._parse_term())
        return super()._parse_unary()  # type: ignore[misc]

    def _parse_placeholder(self: Any) -> exp.Expr | None:
        first = self._curr
        found = super()._parse_placeholder()  # type: ignore[misc]
        if found is not None:
            mark(found, first)
        return found

    def _parse_types(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        """Arrays of PostgreSQL's object identifiers too: sqlglot stops before the brackets of `oid[]`. FLOAT
        and REAL as the dialect has them."""
        first = self._curr
        found = super()._parse_types(*args, **kwargs)  # type: ignore[misc]
        if isinstance(found, exp.DataType) and found.this is exp.DType.FLOAT and self._is_double(first):
            found = exp.DataType(this=exp.DType.DOUBLE)
        while isinstance(found, exp.ObjectIdentifier | exp.DataType) and _holds_identifiers(found):
            if not self._match_pair(TokenType.L_BRACKET, TokenType.R_BRACKET):
                break
            found = exp.DataType(this=exp.DType.ARRAY, expressions=[found], nested=True)
        return found

    def _is_double(self: Any, word: Token) -> bool:
        trait = _DOUBLES.get(word.text.upper())
        return trait is not None and has(type(self.dialect).__name__.lower(), trait)

    def _parse_interval_span(self: Any, this: exp.Expr | None, *args: Any, **kwargs: Any) -> exp.Interval:
        """Refuses words that are no units: DuckDB would read `INTERVAL '1' foo` as a second named foo."""
        is_postgres = has(type(self.dialect).__name__.lower(), Trait.UNITS_ARE_POSTGRESQLS)
        if isinstance(this, exp.Literal) and this.is_string:
            is_standard = is_postgres and is_of_months(this.name)
            this.set("this", read_interval(this.name, in_standard=is_postgres))
            if is_standard:
                self._match_text_seq("YEAR", "TO", "MONTH")
        found = super()._parse_interval_span(this, *args, **kwargs)  # type: ignore[misc]
        unit = found.args.get("unit")
        if isinstance(unit, exp.Var):
            name = unit.name.upper()
            known = ABBREVIATIONS.keys() | INTERVALS
            if not is_postgres:
                known |= self.dialect.VALID_INTERVAL_UNITS
            if name not in known:
                self.raise_error(f"{name.lower()} is no unit of an interval", self._prev)
            unit.set("this", ABBREVIATIONS.get(name, unit.this))
        return found

    def _advance_any(self: Any, ignore_reserved: bool = False) -> Token | None:
        """After AS, `select` is a name like any other word, if the item of the list ends there."""
        follows = self._next is None or self._next.token_type in (TokenType.COMMA, TokenType.FROM)
        is_name = self._curr is not None and self._curr.token_type is TokenType.SELECT and follows
        is_alias = self._prev is not None and self._prev.token_type is TokenType.ALIAS
        return super()._advance_any(ignore_reserved or (is_name and is_alias))  # type: ignore[misc]

    def _parse_join(self: Any, *args: Any, **kwargs: Any) -> exp.Join | None:
        start = self._curr
        join = super()._parse_join(*args, **kwargs)  # type: ignore[misc]
        if join is None or start.token_type is TokenType.COMMA:
            return join
        if isinstance(join.this, exp.Lateral) and join.this.args.get("cross_apply") is not None:
            return _applied(join)
        if isinstance(join.this, exp.Unnest) and not any(map(join.args.get, _CONDITIONS)):
            self._parse_late_condition(join)
        if any(is_comma(inner) for inner in join.this.args.get("joins") or ()):
            self.raise_error("there is a comma between a JOIN and its ON", start)
        if not any(map(join.args.get, _CONDITIONS)):
            self._pair_all(join, start)
        join.set("this", _with_joins(join.this))
        return join

    def _parse_late_condition(self: Any, join: exp.Join) -> None:
        """A condition after further joins, which sqlglot accepts after every table except an UNNEST."""
        index = self._index
        joins = list(self._parse_joins())
        if joins and self._match(TokenType.ON):
            join.set("on", self._parse_disjunction())
        elif joins and self._match(TokenType.USING):
            join.set("using", self._parse_using_identifiers())
        else:
            self._retreat(index)
            return
        join.this.set("joins", joins)

    def _pair_all(self: Any, join: exp.Join, start: Token) -> None:
        """Mark a join without a condition as pairing all rows; a syntax error if the dialect forbids that."""
        if join.kind not in ("", "INNER", "OUTER"):
            return
        makes_rows = isinstance(join.this, exp.Unnest | exp.Lateral)  # for each row of the left side
        dialect = type(self.dialect).__name__.lower()
        if not makes_rows and not has(dialect, Trait.JOINS_WITHOUT_CONDITION):
            self.raise_error("a JOIN needs ON or USING", start)
        if join.side:
            join.set("on", exp.true())
        else:
            join.set("kind", "CROSS")

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        if not isinstance(this, exp.Lateral | exp.Unnest):
            return super()._parse_query_modifiers(this)  # type: ignore[misc]
        table = super()._parse_query_modifiers(exp.Table(this=this))  # type: ignore[misc]
        return table if table.args.get("joins") else this


def _holds_identifiers(type: exp.Expr) -> bool:
    """Whether a type is one of object identifiers, or of arrays of them."""
    while isinstance(type, exp.DataType) and type.this is exp.DType.ARRAY and type.expressions:
        type = type.expressions[0]
    return isinstance(type, exp.ObjectIdentifier)


def _with_joins(item: exp.Expr) -> exp.Expr:
    """The item of FROM; as a Table if it has joins of its own and cannot hold them itself."""
    joins = item.args.get("joins")
    if not joins or isinstance(item, exp.Table | exp.Subquery):
        return item
    item.set("joins", None)
    return exp.Table(this=item, joins=joins)


def is_comma(join: exp.Join) -> bool:
    """Whether the join is written as a comma."""
    return not any(join.args.get(part) for part in ("on", "using", "side", "kind", "method"))


def _applied(join: exp.Join) -> exp.Join:
    """The join that CROSS APPLY or OUTER APPLY means."""
    if join.this.args["cross_apply"]:
        join.set("kind", "CROSS")
    else:
        join.set("side", "LEFT")
        join.set("on", exp.true())
    join.this.set("cross_apply", None)
    return join
