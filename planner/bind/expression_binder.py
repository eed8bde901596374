"""Scalar expressions: from sqlglot's nodes to typed expressions over the columns of a scope.

The binder knows the scope and what the clause allows: aggregates are allowed if there is a collector.
`queries` binds the queries inside expressions within the scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from engine.plan.expressions import Call, Case, Cast, Foreign, Literal, Op
from engine.schema import (
    BIGINT,
    BOOLEAN,
    INTEGER,
    INTERVAL,
    NESTED,
    TEXT,
    TIME,
    Kind,
    Type,
    without_names,
)
from planner.bind.aggregate_calls import aggregate_call, is_aggregate
from planner.bind.aggregate_uses import Collector, bind_aggregate
from planner.bind.arrays import concatenated, each, subscript
from planner.bind.attempts import attempted, is_attempt
from planner.bind.coercion import (
    alternatives,
    as_operands,
    bind_arithmetic,
    bind_comparison,
    case_values,
    cast_of_variant,
    coerce,
    condition,
    default_of_none,
    explicit_cast,
    interval_literal,
    number_literal,
    text_literal,
)
from planner.bind.document_edits import without
from planner.bind.documents import along_path, contains, has_key
from planner.bind.lists import LISTS, SelectLists, series
from planner.bind.members import any_of
from planner.bind.name_scope import NameScope
from planner.bind.nested_values import (
    compare_rows,
    compare_values,
    constructed,
    field_of,
    subscript_of_map,
    whole_row,
    written_map,
)
from planner.bind.now import time_of_epoch
from planner.bind.scalar_functions import bind_function, foreign
from planner.bind.session import Bound, Session
from planner.bind.statistics import moment
from planner.bind.subqueries import exists, member, quantified, scalar
from planner.bind.window_uses import WindowUses
from planner.dialects import translated
from planner.dialects.day_sums import day_sum
from planner.dialects.overloads import Overload, overload
from planner.dialects.row_comparisons import expanded_comparison, row_parts
from planner.dialects.text_lengths import BYTES_AS_TEXTS
from planner.dialects.traits import Trait, has
from planner.dialects.variants import VARIANTS
from planner.errors import (
    InvalidQuery,
    PlannerError,
    TypeMismatch,
    UnknownColumn,
    Unsupported,
    UnsupportedType,
)
from planner.identifiers import parts_of
from planner.ir import Expression, references
from planner.ir.failing import check_constant
from planner.ir.scalars import call, conjoin, disjoin, may_be_null, negate
from planner.limits import check_time
from planner.native.reference import fill_places, literal_text
from planner.native.templates import Whole, called, is_native, shared, whole_of
from planner.positions import fail, position
from planner.rewriting.interval_sums import is_spread, of_intervals
from planner.sql_types import UNTYPED, data_type

SELECT_LIST = "the select list"
"""The clause that may use names that it defines itself."""
COMPARISONS: dict[type[exp.Expression], Op] = {
    exp.EQ: Op.EQ,
    exp.NEQ: Op.NE,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
    exp.NullSafeEQ: Op.NOT_DISTINCT,
    exp.NullSafeNEQ: Op.DISTINCT,
}
_ARITHMETIC: dict[type[exp.Expression], Op] = {
    exp.Add: Op.ADD,
    exp.Sub: Op.SUB,
    exp.Mul: Op.MUL,
    exp.Div: Op.DIV,
    exp.IntDiv: Op.INTDIV,
    exp.Mod: Op.MOD,
}
_CONSTRUCTS: dict[type[exp.Expression], str] = {
    exp.Lambda: "a lambda",
    exp.Collate: "COLLATE",
}
_PLAIN_NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?")
_WHOLE = "CAST(trunc({0}) AS BIGINT)"
_WHOLE_TEXT = "CASE WHEN contains({0}, '.') THEN {0} || ' is not whole' ELSE {0} END"
_DECIMAL_QUOTIENT = (
    "CAST({0} / CASE WHEN {1} = 0 THEN CAST('division by zero: ' || CAST({1} AS VARCHAR) AS DOUBLE)"
    " ELSE {1} END AS DECIMAL(38, {SCALE}))"
)
_BETWEEN_TIMES = "to_microseconds(epoch_us({0}) - epoch_us({1}))"

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
            bound = self._bind(translated(node, dialect))
            if not (self._tries or is_native(node)):
                check_constant(bound, node, dialect)
        except PlannerError as error:
            raise error.at(*position(node)) from None
        if number is not None:
            self._shared[number] = bound
        return bound

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
            return self._given(given, node)
        time = time_of_epoch(node)
        if time is not None:
            self.session.asks_time(node)
            return time
        if type(node) in COMPARISONS:
            return self._comparison(node)
        if type(node) in _ARITHMETIC:
            return self._arithmetic(node)
        if isinstance(node, LISTS):
            return self._elements(node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping(node)
        if is_aggregate(node):
            return self._of_intervals(node) or self._aggregate(node)
        match node:
            case exp.Column():
                return self._column(node)
            case exp.Window():
                return self._of_intervals(node) or self._window(node)
            case exp.Paren() | exp.Alias():
                return self.bind(node.this)
            case exp.Anonymous() if is_attempt(node):
                return self._attempt(node)
            case exp.Anonymous() if is_native(node) and (overloaded := overload(node.name)):
                return self._overloaded(overloaded, node)
            case exp.Literal() if node.is_string:
                return text_literal(node.this)
            case exp.Literal():
                return number_literal(node.this)
            case exp.Boolean():
                return Literal(bool(node.this), BOOLEAN)
            case exp.Null():
                return Literal(None, UNTYPED)
            case exp.Cast():
                return self._cast(node)
            case exp.Interval():
                return interval_literal(self._function(node))
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
                left, right = self.bind(node.this), self.bind(node.expression)
                return concatenated(left, right, node, self.session.dialect)
            case exp.JSONBExtract() | exp.JSONBExtractScalar():
                return along_path(node, self.bind, self.session.dialect)
            case exp.ArrayContainsAll() | exp.ArrayContainedBy() | exp.JSONBContainsTopKey():
                return self._containment(node)
            case exp.GenerateSeries():
                return series(node, self.bind)
            case exp.Exists():
                return exists(self._query(node.this))
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return scalar(self._query(node))
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
                return self._is(node)
            case exp.Between():
                return self._between(node)
            case exp.In():
                return self._in(node)
            case exp.Neg():
                return self._negative(node)
            case exp.Case() | exp.If():
                return self._case(node)
            case exp.Coalesce():
                return self._alternatives(Op.COALESCE, [node.this, *node.expressions])
            case exp.Greatest() | exp.Least():
                op = Op.GREATEST if isinstance(node, exp.Greatest) else Op.LEAST
                return self._alternatives(op, [node.this, *node.expressions])
            case exp.ArraySize(this=this) if not node.args.get("expression"):
                return self._size(node, self.bind(this))
            case exp.Nullif():
                value = self.bind(node.this)
                if value.type is UNTYPED:
                    return value
                equal = self._compared(Op.EQ, value, self.bind(node.expression))
                return Case(((equal, Literal(None, value.type)),), value, value.type)  # type: ignore[arg-type]
            case exp.Abs():
                value = self.bind(node.this)
                if value.type.is_numeric and value.type is not UNTYPED:
                    return call(Op.ABS, value, type=value.type)
                return self._function(node, {id(node.this): value})
        return self._function(node)

    def _function(self, node: exp.Expression, known: Mapping[int, Expression] | None = None) -> Expression:
        """A DuckDB function; `known` has the arguments that are already bound, by the identity of their
        nodes."""
        bound = known or {}
        return bind_function(node, lambda n: bound.get(id(n)) or self.bind(n), self.session.dialect)

    def _size(self, node: exp.ArraySize, value: Expression) -> Expression:
        """The number of an array's elements or of a map's entries."""
        if value.type.kind is Kind.MAP:
            return foreign("cardinality({0})", [value], node, self.session.dialect)
        return self._function(node, {id(node.this): value})

    def _attempt(self, node: exp.Anonymous) -> Expression:
        """A TRY, inside which constants may fail."""
        self._tries += 1
        try:
            return attempted(self.bind(node.expressions[0]), node)
        finally:
            self._tries -= 1

    def _given(self, given: Whole, node: exp.Expression) -> Expression:
        """DuckDB's expression for a node that is translated as a whole."""
        args = [self.bind(arg) for arg in given.args]
        if given.kinds and args[0].type is not UNTYPED and args[0].type.kind not in given.kinds:
            fail(
                TypeMismatch(f"a value of type {args[0].type} cannot be written or read in this format"), node
            )
        return foreign(given.template, args, node, self.session.dialect)

    def _overloaded(self, function: Overload, node: exp.Anonymous) -> Expression:
        """A dialect's function in the form for the type of its first argument, as a DuckDB expression."""
        values = [self.bind(argument) for argument in node.expressions]
        form = function.form(values[0].type)
        if form is None and self.session.dialect in VARIANTS and values[0].type.kind is Kind.JSON:
            values[0] = cast_of_variant(values[0], TEXT)
            form = function.form(TEXT)
        if form is None:
            hint = "cast the argument to one of these types: " + ", ".join(function.forms).lower()
            taken = f"{called(node)} takes no {values[0].type} in {self.session.dialect}"
            fail(TypeMismatch(taken, hint), node)
        places = [f"{{{place}}}" for place in range(len(values))]
        written = [
            literal_text(value) if isinstance(value, Literal) and value.type in (TEXT, INTEGER) else place
            for value, place in zip(values[1:], places[1:], strict=True)
        ]
        return foreign(fill_places(form, ["{0}", *written]), values, node, self.session.dialect)

    def _refuse(self, node: exp.Expression) -> None:
        construct = _CONSTRUCTS.get(type(node))
        if construct is not None:
            fail(Unsupported(f"{construct} is not supported: {node.sql(self.session.dialect)}"), node)
        if isinstance(node, exp.Parameter | exp.Placeholder):
            fail(Unsupported("a parameter is not supported in a definition", "write the value itself"), node)
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
        fail(self._early(node) or self.scope.missing(node, self.session.catalog), node)

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

    def _comparison(self, node: exp.Expression) -> Expression:
        quantifier = quantifier_of(node.expression)
        if quantifier is not None:
            return self._quantified(node, quantifier)
        left, right = (
            row_parts(node.this, self.session.dialect),
            row_parts(node.expression, self.session.dialect),
        )
        if left is not None and right is not None:
            return self._rows_compared(COMPARISONS[type(node)], left, right)
        try:
            return self._compared(COMPARISONS[type(node)], self.bind(node.this), self.bind(node.expression))
        except UnsupportedType:
            return self._function(node)

    def _compared(self, op: Op, left: Expression, right: Expression) -> Expression:
        return bind_comparison(op, left, right, self.session.dialect)

    def _rows_compared(
        self, op: Op, left: Sequence[exp.Expression], right: Sequence[exp.Expression]
    ) -> Expression:
        """A comparison of rows without names. In DuckDB a row is a value, and NULL in it one too."""
        a, b = ([self.bind(part) for part in side] for side in (left, right))
        compare = compare_values if self.session.dialect == "duckdb" else compare_rows
        return compare(op, a, b, self.session.dialect)

    def _arithmetic(self, node: exp.Expression) -> Expression:
        left, right = self.bind(node.this), self.bind(node.expression)
        op = _ARITHMETIC[type(node)]
        is_edit = op is Op.SUB and left.type.kind is Kind.JSON
        if is_edit and has(self.session.dialect, Trait.EDITS_DOCUMENTS):
            return without(left, right, node, self.session.dialect)
        left, right = as_operands(op, left, right, self.session.dialect)
        if has(self.session.dialect, Trait.COUNTS_TRUTH):
            left, right = (coerce(s, INTEGER) if s.type == BOOLEAN else s for s in (left, right))
        if op in (Op.ADD, Op.SUB) and has(self.session.dialect, Trait.COUNTS_SECONDS):
            left, right = self._seconds(left, right, node), self._seconds(right, left, node)
        if op is Op.SUB and left.type == right.type == TIME:
            return foreign(_BETWEEN_TIMES, [left, right], node, self.session.dialect)
        if op is Op.ADD and has(self.session.dialect, Trait.ADDS_TEXTS) and left.type == right.type == TEXT:
            return Foreign("{0} || {1}", (left, right), TEXT)  # type: ignore[arg-type]
        if has(self.session.dialect, Trait.ADDS_DAYS) and (days := day_sum(op, left.type, right.type)):
            return foreign(days, [left, right], node, self.session.dialect)
        if op is Op.DIV and node.args.get("typed") and left.type.is_whole and right.type.is_whole:
            op = Op.INTDIV
        if op is Op.DIV and has(self.session.dialect, Trait.DIVIDES_DECIMALS) and not is_native(node):
            scale = _quotient_scale(left.type, right.type)
            if scale is not None:
                form = _DECIMAL_QUOTIENT.replace("{SCALE}", str(scale))
                return foreign(form, [left, right], node, self.session.dialect)
        is_whole = left.type.is_integer and right.type.is_integer
        if isinstance(node, exp.IntDiv) and has(self.session.dialect, Trait.DIV_GIVES_WHOLE) and not is_whole:
            return foreign("CAST(trunc({0} / {1}) AS BIGINT)", [left, right], node, self.session.dialect)
        known = {id(node.this): left, id(node.expression): right}
        return bind_arithmetic(op, left, right) or self._function(node, known)

    def _seconds(self, number: Expression, moment: Expression, node: exp.Expression) -> Expression:
        """The number of seconds that is added to a moment, as an interval; any other operand itself."""
        is_count = number.type.is_integer and moment.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
        return foreign("to_seconds({0})", [number], node, self.session.dialect) if is_count else number

    def _containment(self, node: exp.Expression) -> Expression:
        """`@>`, `<@` and `?`; DuckDB has the first two for arrays."""
        left, right = self.bind(node.this), self.bind(node.expression)
        dialect = self.session.dialect
        if isinstance(node, exp.JSONBContainsTopKey):
            return has_key(left, right, node, dialect)
        whole, part = (right, left) if isinstance(node, exp.ArrayContainedBy) else (left, right)
        if whole.type.kind is Kind.JSON:
            return contains(whole, part.arg if isinstance(part, Cast) else part, node, dialect)
        return foreign("{0} @> {1}", [whole, coerce(part, whole.type)], node, dialect)

    def _negative(self, node: exp.Neg) -> Expression:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return number_literal(f"-{node.this.this}")
        value = self.bind(node.this)
        if value.type is UNTYPED:
            return value
        if not value.type.is_numeric:
            return self._function(node, {id(node.this): value})
        if value.type.whole and not value.type.bounds[0]:
            return call(Op.SUB, coerce(Literal(0, INTEGER), value.type), value, type=value.type)
        return call(Op.NEG, value, type=value.type)

    def _is(self, node: exp.Is) -> Expression:
        of_row = expanded_comparison(node, self.session.dialect)
        if of_row is not node:
            return self.bind(of_row)
        value = self.bind(node.this)
        if isinstance(node.expression, exp.Null):
            result: Expression = call(Op.IS_NULL, value)
        elif isinstance(node.expression, exp.Boolean):
            result = call(
                Op.NOT_DISTINCT,
                condition(value, "the operand of IS", self.session.dialect),
                self.bind(node.expression),
            )
        else:
            return self._function(node, {id(node.this): value})
        return negate(result) if node.args.get("negate") else result

    def _between(self, node: exp.Between) -> Expression:
        parts = [node.args[part] for part in ("this", "low", "high")]
        rows = [row_parts(part, self.session.dialect) for part in parts]
        is_of_rows = None not in rows
        compare: Callable[..., Expression] = self._rows_compared if is_of_rows else self._compared
        value, low, high = rows if is_of_rows else map(self.bind, parts)
        inside = conjoin([compare(Op.GE, value, low), compare(Op.LE, value, high)])
        if not node.args.get("symmetric"):
            return inside
        turned = conjoin([compare(Op.GE, value, high), compare(Op.LE, value, low)])
        return disjoin([inside, turned])

    def _in(self, node: exp.In) -> Expression:
        query = node.args.get("query") or next(
            (v for v in node.expressions if isinstance(v, exp.Values)), None
        )
        if query is not None:
            return member(self._row(node.this), self._query(query), self.session.dialect)
        if node.args.get("unnest") or node.args.get("field"):
            fail(Unsupported(f"this form of IN is not supported: {node.sql(self.session.dialect)}"), node)
        return self._any_of(node.this, node.expressions)

    def _any_of(self, value: exp.Expression, candidates: list[exp.Expression]) -> Expression:
        """Whether `value` (or a row of values) equals one of the candidates."""
        rows = [row_parts(candidate, self.session.dialect) for candidate in candidates]
        row = row_parts(value, self.session.dialect)
        if row is not None and None not in rows:
            if any(len(each or ()) != len(row) for each in rows):
                fail(InvalidQuery(f"IN compares rows of {len(row)} values"), value)
            return disjoin(self._rows_compared(Op.EQ, row, each or ()) for each in rows)
        return any_of(self.bind(value), [self._listed(each) for each in candidates], self.session.dialect)

    def _listed(self, node: exp.Expression) -> Expression:
        """An element of a list; a plain number or text means itself in every dialect."""
        if type(node) is exp.Literal and node.is_string and node.this:
            return text_literal(node.this)
        if type(node) is exp.Literal and not node.is_string and _PLAIN_NUMBER.fullmatch(node.this):
            return number_literal(node.this)
        return self.bind(node)

    def _case(self, node: exp.Case | exp.If) -> Expression:
        whens = [node] if isinstance(node, exp.If) else node.args["ifs"]
        default = node.args.get("false") if isinstance(node, exp.If) else node.args.get("default")
        operand = node.this if isinstance(node, exp.Case) else None
        subject = self.bind(operand) if operand is not None else None
        conditions = [
            condition(self.bind(when.this), "the condition of CASE", self.session.dialect)
            if subject is None
            else self._compared(Op.EQ, subject, self.bind(when.this))
            for when in whens
        ]
        values = [self.bind(when.args["true"]) for when in whens]
        values.append(self.bind(default) if default is not None else Literal(None, UNTYPED))
        values, type = case_values(values, self.session.dialect)
        if type is UNTYPED:
            return Literal(None, UNTYPED)
        return Case(tuple(zip(conditions, values[:-1], strict=True)), values[-1], type)  # type: ignore[arg-type]

    def _alternatives(self, op: Op, nodes: list[exp.Expression]) -> Expression:
        bound = [self.bind(node) for node in nodes]
        values, type = alternatives(f"{op.value}({{}})", bound, self.session.dialect)
        if type is UNTYPED:
            return Literal(None, UNTYPED)
        return Call(op, tuple(values), type) if len(values) > 1 else values[0]  # type: ignore[arg-type]

    def _cast(self, node: exp.Cast) -> Expression:
        if node.args.get("format"):
            return self._function(node)
        type: Type = data_type(node.to, self.session.dialect)
        value = self.bind(node.this)
        if value.type.kind in NESTED and not has(self.session.dialect, Trait.CASTS_STRUCTS_BY_NAME):
            value = coerce(value, without_names(value.type))
        if value.type is UNTYPED:
            value = Literal(None, type)
        elif value.type == type and not isinstance(value, Literal):
            return value
        is_variant = self.session.dialect in VARIANTS and not is_native(node)
        if is_variant and Kind.JSON in (value.type.kind, type.kind):
            return cast_of_variant(value, type, isinstance(node, exp.TryCast))
        is_fraction = value.type is not UNTYPED and value.type.is_numeric and not value.type.is_integer
        if (
            is_fraction
            and type.is_integer
            and has(self.session.dialect, Trait.CUTS_FRACTIONS)
            and not is_native(node)
        ):
            value = foreign("trunc({0})", [value], node, self.session.dialect)
        if (
            value.type == TEXT
            and type.is_integer
            and has(self.session.dialect, Trait.ROUNDS_NO_TEXTS)
            and not is_native(node)
        ):
            value = Foreign(_WHOLE_TEXT, (value,), TEXT)  # type: ignore[arg-type]
        if not is_native(node) and (decoded := self._decoded(value, type)) is not None:
            return decoded
        return explicit_cast(value, type, isinstance(node, exp.TryCast))

    def _decoded(self, value: Expression, type: Type) -> Expression | None:
        """Bytes as a text, or a text as bytes, where the dialect has its own form of them; else None."""
        forms = BYTES_AS_TEXTS.get(self.session.dialect)
        kinds = (value.type.kind, type.kind)
        if forms is None or set(kinds) != {Kind.TEXT, Kind.BYTEA}:
            return None
        return Foreign(forms[kinds[0] is Kind.TEXT], (value,), type)  # type: ignore[arg-type]

    def _aggregate(self, node: exp.Expression) -> Expression:
        call = aggregate_call(node, self.session.dialect)
        if self.collector is None:
            written = node.sql(self.session.dialect)
            hint = "write the condition in HAVING" if self.clause == "WHERE" else ""
            fail(InvalidQuery(f"{self.clause} cannot contain an aggregate: {written}", hint), node)
        inside = self._inside()
        only = self._filter(call.only)
        derived = moment(call, inside.bind, only)
        uses = (bind_aggregate(call, inside.bind, only),) if derived is None else derived.uses
        used = frozenset().union(*(references(e) for use in uses for e in use.arguments))
        if used and not used & self.scope.ids():
            fail(Unsupported("an aggregate over an outer query's columns is not supported"), node)
        with self.session.provenance.noting(node):
            columns: list[Expression] = [self.collector.column(use, call.name).ref for use in uses]
        defaults = has(self.session.dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node)
        if (
            defaults
            and derived is None
            and (call.name == "array_agg" or not self._may_be_null(call.arguments, inside))
        ):
            columns = [default_of_none(call.name, column) for column in columns]
        if self._is_whole_average(call.name, uses[0].arguments):
            return Foreign(_WHOLE, (columns[0],), BIGINT)  # type: ignore[arg-type]
        if derived is None:
            return columns[0]
        value = derived.value(columns)
        return (
            default_of_none(call.name, value)
            if defaults and not self._may_be_null(call.arguments, inside)
            else value
        )

    def _may_be_null(self, arguments: Sequence[exp.Expression], inside: ExpressionBinder) -> bool:
        """Whether an aggregate of these arguments takes values that may be NULL."""
        columns = {c.id: c for table in self.scope.tables for c in (*table.columns, *self.scope.star)}
        return any(may_be_null(inside.bind(argument), columns) for argument in arguments)

    def _window_or_default(self, node: exp.Window, inside: ExpressionBinder, value: Expression) -> Expression:
        """The value of a window function, or the default if a frame has no rows."""
        function = node.this.this if isinstance(node.this, exp.Filter) else node.this
        arguments = [function.this] if isinstance(function.this, exp.Expression) else []
        stars = (exp.Star, exp.IgnoreNulls)
        if not arguments or isinstance(arguments[0], stars) or self._may_be_null(arguments, inside):
            return value
        return default_of_none(function.sql_name().lower(), value)

    def _of_intervals(self, node: exp.Expression) -> Expression | None:
        """A sum or an average of intervals, also over a window; None for anything else."""
        if not is_spread(node, self.session.dialect):
            return None
        inside = self if isinstance(node, exp.Window) else self._inside()
        parts = of_intervals(node, lambda value: inside.bind(value).type == INTERVAL)
        return None if parts is None else self.bind(parts)

    def _inside(self) -> ExpressionBinder:
        return self._nested("an aggregate's argument")

    def _filter(self, condition: exp.Expression | None) -> Expression | None:
        if condition is None:
            return None
        return self._nested("FILTER").predicate(condition)

    def _nested(
        self, clause: str, collector: Collector | None = None, windows: WindowUses | None = None
    ) -> ExpressionBinder:
        """The binder of a part of the expression, in which other things are allowed."""
        inside = ExpressionBinder(self.session, self.scope, self.queries, clause, collector, windows)
        inside._expanding = self._expanding
        return inside

    def _elements(self, node: exp.Expression) -> Expression:
        if self.lists is None:
            fail(Unsupported(f"UNNEST is not supported in {self.clause}", "write it in FROM"), node)
        inside = self._nested("UNNEST", self.collector, self.windows)
        return self.lists.column(node, inside.bind).ref

    def _grouping(self, node: exp.Grouping | exp.GroupingId) -> Expression:
        if self.collector is None:
            fail(InvalidQuery(f"{self.clause} cannot contain GROUPING"), node)
        return self.collector.grouping(tuple(self.bind(part) for part in node.expressions)).ref

    def _window(self, node: exp.Window) -> Expression:
        if self.windows is None:
            fail(
                InvalidQuery(
                    f"{self.clause} cannot contain a window function: {node.sql(self.session.dialect)}",
                    "use QUALIFY, or a query around this one",
                ),
                node,
            )
        inside = self._nested("a window function", self.collector)
        with self.session.provenance.noting(node):
            value: Expression = self.windows.column(node, inside.bind, inside.predicate).ref
        if has(self.session.dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node):
            value = self._window_or_default(node, inside, value)
        averaged = [inside.bind(node.this.this)] if isinstance(node.this, exp.Avg) else []
        return Foreign(_WHOLE, (value,), BIGINT) if self._is_whole_average("avg", averaged) else value  # type: ignore[arg-type]

    def _is_whole_average(self, name: str, values: Sequence[Expression]) -> bool:
        """Whether the average of these values is a whole number in the dialect."""
        is_average = name == "avg" and has(self.session.dialect, Trait.AVERAGES_ARE_WHOLE)
        return is_average and bool(values) and values[0].type.is_integer

    def _quantified(self, node: exp.Expression, quantifier: exp.Any | exp.All) -> Expression:
        """A comparison with ANY or ALL of a query's rows or of an array's elements."""
        inner = unwrapped(quantifier.this)
        op = COMPARISONS[type(node)]
        if isinstance(inner, exp.Query):
            return quantified(op, self._row(node.this), quantifier, self._query, self.session.dialect)
        every = isinstance(quantifier, exp.All)
        if isinstance(inner, exp.Array) and op is Op.EQ and not every:
            return self._any_of(node.this, inner.expressions)
        return each(op, self.bind(node.this), self.bind(inner), every, node, self.session.dialect)

    def _query(self, node: exp.Expression) -> Bound:
        return self.queries(node, self.scope)

    def _row(self, node: exp.Expression) -> list[Expression]:
        """The values of a row, or the one value."""
        return [self.bind(part) for part in row_parts(node, self.session.dialect) or [node]]


def _quotient_scale(left: Type, right: Type) -> int | None:
    """The digits behind the point of a quotient of decimals; None for whole numbers and floats."""
    if not all(type.is_integer or type.kind is Kind.NUMERIC for type in (left, right)):
        return None
    scales = [type.scale for type in (left, right) if type.scale is not None]
    return max(scales) if scales else None


def quantifier_of(node: exp.Expression) -> exp.Any | exp.All | None:
    """The ANY, SOME or ALL on a comparison's right side, or None."""
    if isinstance(node, exp.Any | exp.All):
        return node
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        match node.name.upper():
            case "ALL":
                return exp.All(this=node.expressions[0])
            case "SOME":
                return exp.Any(this=node.expressions[0])
    return None


def unwrapped(node: exp.Expression) -> exp.Expression:
    """The node without its parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


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
