"""Scalar expressions: from sqlglot's nodes to typed expressions over the columns of a scope.

The binder knows the scope and what the clause allows: aggregates are allowed if there is a collector.
`queries` binds the queries inside expressions within the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from engine.plan.expressions import Case, Literal, Op
from engine.schema import BOOLEAN, Kind
from planner.bind.aggregate_calls import is_aggregate
from planner.bind.aggregate_uses import Collector
from planner.bind.arrays import subscript
from planner.bind.attempts import attempted, is_attempt
from planner.bind.coercion import interval_literal, number_literal, text_literal
from planner.bind.documents import along_path
from planner.bind.expressions.bound_calls import bind_cardinality, bind_overloaded, bind_size, bind_whole
from planner.bind.expressions.bound_casts import bind_cast
from planner.bind.expressions.bound_comparisons import COMPARISONS, bind_comparing
from planner.bind.expressions.bound_operators import (
    ARITHMETIC,
    bind_alternatives,
    bind_array,
    bind_between,
    bind_case,
    bind_concatenation,
    bind_containment,
    bind_in,
    bind_is,
    bind_negative,
    bind_operation,
)
from planner.bind.expressions.bound_uses import (
    bind_aggregation,
    bind_elements,
    bind_grouping,
    bind_spread,
    bind_window,
)
from planner.bind.expressions.comparable_sides import bind_comparison, condition
from planner.bind.expressions.merged_columns import rounded_type, written_column
from planner.bind.lists import LISTS, SelectLists, series
from planner.bind.name_scope import NameScope
from planner.bind.nested_values import constructed, field_of, subscript_of_map, whole_row, written_map
from planner.bind.now import time_of_epoch
from planner.bind.scalar_functions import bind_function
from planner.bind.session import Bound, Session, Taken
from planner.bind.subqueries import exists, scalar
from planner.bind.window_uses import WindowUses
from planner.dialects import translated
from planner.dialects.byte_strings import byte_meaning
from planner.dialects.overloads import overload
from planner.dialects.row_comparisons import row_parts
from planner.dialects.systems.postgres_bits import bit_meaning
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, PlannerError, TypeMismatch, UnknownColumn
from planner.identifiers import parts_of
from planner.ir import Attribute, Expression
from planner.ir.failing import check_constant
from planner.ir.scalars import call, conjoin, disjoin, negate
from planner.limits import check_time
from planner.native.reference import constant
from planner.native.templates import is_native, shared, whole_of
from planner.positions import fail, position, refuse
from planner.rewriting.valid_times import moments_left_out
from planner.sql_types import UNTYPED

SELECT_LIST = "the select list"
"""The clause that may use names that it defines itself."""
_CONSTRUCTS: dict[type[exp.Expression], str] = {
    exp.Lambda: "a lambda",
    exp.Collate: "COLLATE",
}

Queries = Callable[[exp.Expression, NameScope], Bound]


class ExpressionBinder:
    """Binds the expressions of one clause over one scope; errors name the `clause`."""

    def __init__(
        self,
        session: Session,
        scope: NameScope,
        queries: Queries,
        clause: str,
        collector: Collector | None = None,
        windows: WindowUses | None = None,
        lists: SelectLists | None = None,
    ) -> None:
        self.session = session
        self.scope = scope
        self.queries = queries
        self.clause = clause
        self.collector = collector
        self.windows = windows
        self.lists = lists
        self._expanding: set[str] = set()
        self._shared: dict[int, Expression] = {}
        self._tries = 0

    def bind(self, node: exp.Expression) -> Expression:
        """The typed expression. An error has the place of the node that caused it."""
        check_time()
        dialect = self.session.dialect
        number = shared(node)
        if number is not None and number in self._shared:
            return self._shared[number]
        try:
            meant = byte_meaning(node, dialect, self._has_bytes)
            if meant is node and dialect == "postgres":
                meant = bit_meaning(node, self._has_bits)
            bound = self._bind(translated(meant, dialect))
            if not (self._tries or is_native(node)):
                check_constant(bound, node, dialect)
        except PlannerError as error:
            raise error.at(*position(node)) from None
        if number is not None:
            self._shared[number] = bound
        return bound

    def _has_bytes(self, node: exp.Column) -> bool:
        """Whether a column has bytes."""
        return self._is_of(node, Kind.BYTEA)

    def _has_bits(self, node: exp.Column) -> bool:
        """Whether a column has bits."""
        return self._is_of(node, Kind.BIT)

    def _is_of(self, node: exp.Column, kind: Kind) -> bool:
        try:
            return self._column(node).type.kind is kind
        except PlannerError:
            return False

    def item(self, node: exp.Expression, name: str) -> Expression:
        """An item of the select list: in its own expression its name means a column."""
        is_named = self.scope.aliases.get(name.lower()) is node
        return self._alias(name.lower(), node) if is_named else self.bind(node)

    def predicate(self, node: exp.Expression) -> Expression:
        try:
            bound = condition(self.bind(node), self.clause, self.session.dialect)
            if not isinstance(node, exp.And):
                self.session.provenance.condition(bound, node)
            return bound
        except TypeMismatch as error:
            raise error.at(*position(node)) from None

    def _bind(self, node: exp.Expression) -> Expression:
        self._refuse(node)
        given = whole_of(node)
        if given is not None:
            return bind_whole(self, given, node)
        time = time_of_epoch(node)
        if time is not None:
            self.session.asks_time(node)
            return time
        if type(node) in COMPARISONS:
            return bind_comparing(self, node)
        if type(node) in ARITHMETIC:
            return bind_operation(self, node)
        if isinstance(node, LISTS):
            return bind_elements(self, node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return bind_grouping(self, node)
        if is_aggregate(node):
            return bind_spread(self, node) or bind_aggregation(self, node)
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Window():
                return bind_spread(self, node) or bind_window(self, node)
            case exp.Paren() | exp.Alias():
                return self.bind(node.this)
            case exp.Anonymous(expressions=[inner]) if node.name.lower() == "cardinality" and not is_native(
                node
            ):
                return bind_cardinality(self, node, self.bind(inner))
            case exp.Anonymous() if is_attempt(node):
                return self._attempt(node)
            case exp.Anonymous() if is_native(node) and (overloaded := overload(node.name)):
                return bind_overloaded(self, overloaded, node)
            case exp.ByteString() if has(self.session.dialect, Trait.FORMATS_LIKE_C):
                known, text = constant(node.sql("duckdb"))
                return text_literal(str(text)) if known else self.function(node)
            case exp.Literal() if node.is_string:
                return text_literal(node.this)
            case exp.Literal():
                return number_literal(node.this)
            case exp.Boolean():
                return Literal(bool(node.this), BOOLEAN)
            case exp.Null():
                return Literal(None, UNTYPED)
            case exp.Cast():
                return bind_cast(self, node)
            case exp.Interval():
                return interval_literal(self.function(node))
            case exp.Tuple() | exp.Struct():
                return constructed(node, self.bind, self.session.dialect)
            case exp.Anonymous() if row_parts(node, self.session.dialect) is not None:
                return constructed(node, self.bind, self.session.dialect)
            case exp.Dot(expression=exp.Identifier() as name):
                return field_of(self.bind(node.this), name.this, node, self.session.dialect)
            case exp.ToMap(this=exp.Struct()):
                return written_map(node, self.bind, self.session.dialect)
            case exp.ToMap(this=exp.Bracket(this=exp.Struct())):
                return self.bind(subscript_of_map(node))
            case exp.Bracket():
                return subscript(node, self.bind, self.session.dialect)
            case exp.DPipe():
                return bind_concatenation(self, node)
            case exp.JSONBExtract() | exp.JSONBExtractScalar():
                return along_path(node, self.bind, self.session.dialect)
            case exp.ArrayContainsAll() | exp.ArrayContainedBy():
                return bind_containment(self, node)
            case exp.Array() if _has_own_digits(node, self.session.dialect):
                return bind_array(self, node)
            case exp.GenerateSeries():
                return series(node, self.bind)
            case exp.Exists():
                return exists(self.query(node.this))
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return scalar(self.query(node))
            case _:
                return self._logic(node)

    def _logic(self, node: exp.Expression) -> Expression:
        match node:
            case exp.And() | exp.Or():
                op = Op.AND if isinstance(node, exp.And) else Op.OR
                parts = list(flat(node))
                sides = [
                    condition(self.bind(part), f"an operand of {op.name}", self.session.dialect)
                    for part in parts
                ]
                if op is Op.AND:
                    for side, part in zip(sides, parts, strict=True):
                        self.session.provenance.condition(side, part)
                return conjoin(sides) if op is Op.AND else disjoin(sides)
            case exp.Not():
                return negate(condition(self.bind(node.this), "the operand of NOT", self.session.dialect))
            case exp.Is():
                return bind_is(self, node)
            case exp.Between():
                return bind_between(self, node)
            case exp.In():
                return bind_in(self, node)
            case exp.Neg():
                return bind_negative(self, node)
            case exp.Case() | exp.If():
                return bind_case(self, node)
            case exp.Coalesce():
                return bind_alternatives(self, Op.COALESCE, [node.this, *node.expressions])
            case exp.Greatest() | exp.Least():
                op = Op.GREATEST if isinstance(node, exp.Greatest) else Op.LEAST
                return bind_alternatives(self, op, [node.this, *node.expressions])
            case exp.ArraySize(this=this) if not node.args.get("expression"):
                return bind_size(self, node, self.bind(this))
            case exp.Nullif():
                value = self.bind(node.this)
                if value.type is UNTYPED:
                    return value
                equal = self.compared(Op.EQ, value, self.bind(node.expression))
                return Case(((equal, Literal(None, value.type)),), value, value.type)  # type: ignore[arg-type]
            case exp.Abs():
                value = self.bind(node.this)
                if value.type.is_numeric and value.type is not UNTYPED:
                    return call(Op.ABS, value, type=value.type)
                return self.function(node, {id(node.this): value})
        return self.function(node)

    def within(
        self, clause: str, collector: Collector | None = None, windows: WindowUses | None = None
    ) -> ExpressionBinder:
        """A binder over the same scope for a clause inside of this one."""
        inside = ExpressionBinder(self.session, self.scope, self.queries, clause, collector, windows)
        inside._expanding = self._expanding
        return inside

    def function(self, node: exp.Expression, known: Mapping[int, Expression] | None = None) -> Expression:
        """A DuckDB function; `known` has the arguments that are already bound, by the identity of their
        nodes."""
        bound = known or {}
        return bind_function(node, lambda n: bound.get(id(n)) or self.bind(n), self.session.dialect)

    def _attempt(self, node: exp.Anonymous) -> Expression:
        """A TRY, inside which constants may fail."""
        self._tries += 1
        try:
            return attempted(self.bind(node.expressions[0]), node)
        finally:
            self._tries -= 1

    def _refuse(self, node: exp.Expression) -> None:
        construct = _CONSTRUCTS.get(type(node))
        if construct is not None:
            refuse(node, f"{construct} is not supported: {node.sql(self.session.dialect)}")
        if isinstance(node, exp.Parameter | exp.Placeholder):
            refuse(node, "a parameter is not supported in a definition", "write the value itself")
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            fail(InvalidQuery("* is not a value here"), node)

    def _column(self, node: exp.Column) -> Expression:
        name = node.name.lower()
        alias = self.scope.aliases.get(name) if not node.table and name not in self._expanding else None
        if alias is not None and has(self.session.dialect, Trait.ALIASES_BEFORE_COLUMNS):
            return self._alias(name, alias)
        hides = alias is not None and has(self.session.dialect, Trait.ALIASES_BEFORE_OUTER_COLUMNS)
        first = self.scope.chain()[:1] if hides else None
        for scope in first or self.scope.chain():
            attribute = scope.local(node)
            if attribute is not None:
                self._note_merged(node, attribute, scope)
                return attribute.ref
            path = scope.path(node)
            if path is not None:
                return self._fields(path[0].ref, path[1], node)
        if alias is not None:
            return self._alias(name, alias)
        row = self.scope.row(node)
        if row is not None:
            return whole_row(row, node, self.session.dialect)
        names = parts_of(node)
        if len(names) > 1 and names[0].name.lower() in self.scope.aliases:
            return self._fields(self._column(exp.Column(this=names[0])), names[1:], node)
        catalog = self.session.catalog
        error = self._early(node) or moments_left_out(node, catalog) or self.scope.missing(node, catalog)
        fail(error, node)

    def _note_merged(self, node: exp.Column, attribute: Attribute, scope: NameScope) -> None:
        """Note how a merged column is written where DuckDB would round the decimals of which it is made."""
        if attribute.id in self.session.merged:
            type = rounded_type(attribute.id, scope, self.session.merged)
            written = written_column(attribute.id, scope, self.session.merged)
            if type is not None and written is not None and has(self.session.dialect, Trait.KEEPS_DIGITS):
                self.session.takes(node, Taken(type, written=written))

    def _fields(self, value: Expression, names: list[exp.Identifier], node: exp.Column) -> Expression:
        """A field of a struct, or of a struct inside it."""
        for name in names:
            value = field_of(value, name.this, node, self.session.dialect)
        return value

    def _early(self, node: exp.Column) -> UnknownColumn | None:
        """The error for a name of the select list that this clause cannot see yet."""
        select = node.find_ancestor(exp.Select)
        aliases = {e.alias.lower() for e in select.expressions if e.alias} if select is not None else set()
        if node.table or self.clause == SELECT_LIST or node.name.lower() not in aliases:
            return None
        hint = f'"{node.name}" is defined in the select list, which comes after {self.clause}'
        return UnknownColumn(f'unknown column "{node.name}"', hint)

    def _alias(self, name: str, node: exp.Expression) -> Expression:
        """A name of the select list. Columns of the tables take precedence; in DuckDB's dialect, only those
        of this query."""
        known = name in self._expanding
        self._expanding.add(name)
        try:
            return self.bind(node)
        finally:
            if not known:
                self._expanding.discard(name)

    def compared(self, op: Op, left: Expression, right: Expression) -> Expression:
        return bind_comparison(op, left, right, self.session.dialect)

    def query(self, node: exp.Expression) -> Bound:
        return self.queries(node, self.scope)

    def row(self, node: exp.Expression) -> list[Expression]:
        """The values of a row, or the one value."""
        return [self.bind(part) for part in row_parts(node, self.session.dialect) or [node]]


def flat(node: exp.Expression) -> list[exp.Expression]:
    """The operands of a chain of AND or of OR, in order; iterative, because chains can be long."""
    kind, found, stack = type(node), [], [node]
    while stack:
        top = stack.pop()
        if type(top) is kind:
            stack += [top.expression, top.this]
        else:
            found.append(top)
    return found


def _has_own_digits(node: exp.Array, dialect: str) -> bool:
    """Whether an array is written out in a dialect in which decimals keep their digits."""
    is_query = any(isinstance(element, exp.Query) for element in node.expressions)
    return has(dialect, Trait.KEEPS_DIGITS) and not is_query and not is_native(node)
