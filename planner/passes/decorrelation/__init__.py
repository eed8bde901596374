"""Subqueries become joins, by one rule: each is planned against the distinct bindings of the outer columns
that it refers to (`dependent`), and joined back to the rows that use it.

As a condition of a filter, EXISTS and IN become semijoins, and antijoins below NOT; as a value, they become a
mark join, which adds whether there is a match. IN is true if a row is equal, NULL if one could be, else
false. A query as a value becomes an aggregate over its rows, so that there is always one row: its value is
that of the one row, and several rows are an error of the outer row.

After this pass no expression holds a query, and no operator refers to an outer column.
"""

from __future__ import annotations

from dataclasses import replace

from engine.plan.expressions import Call, Case, Foreign, Literal, Op
from engine.plan.nodes import Function
from engine.schema import BIGINT, BOOLEAN
from planner import ir
from planner.ir.column_numbers import Numbers
from planner.ir.nullability import known_columns
from planner.ir.renumber import renumbered
from planner.ir.rewrite import identity, map_expression, with_inputs
from planner.ir.scalars import (
    TRUE,
    call,
    conjoin,
    conjuncts,
    disjoin,
    inline,
    may_be_null,
    null_safe,
    rewrite,
)
from planner.passes.decorrelation.dependent import Carried, DependentJoin, Outer, value_of_nothing, with_outer
from planner.passes.decorrelation.outer import outer_join
from planner.passes.decorrelation.subquery_predicates import negations_inward, outer_operands, possible

MANY_ROWS = "more than one row returned by a subquery used as an expression"


def decorrelate(program: ir.RelationalProgram, numbers: Numbers) -> ir.RelationalProgram:
    return _Decorrelation(program, numbers).program()


class _Decorrelation:
    def __init__(self, program: ir.RelationalProgram, numbers: Numbers) -> None:
        self.source = program
        self.numbers = numbers
        self.definitions: list[ir.Relational] = []
        self.places: dict[int, int] = {}
        self.dependent = DependentJoin(self)

    def program(self) -> ir.RelationalProgram:
        for number, operator in enumerate(self.source.definitions):
            value = self.plain(operator, {})
            self.places[number] = len(self.definitions)
            self.definitions.append(value)
        root = self.plain(self.source.root, {})
        return ir.RelationalProgram(tuple(self.definitions), root, self.source.outputs)

    # The interface of the dependent join

    def definition(self, number: int) -> ir.Relational:
        return self.source.definitions[number]

    def plain(self, operator: ir.Relational, carried: Carried) -> ir.Relational:
        """An operator that depends on no context, without subqueries."""
        if isinstance(operator, ir.SharedRef):
            return replace(operator, number=self.places[operator.number])
        if isinstance(operator, ir.ThetaJoin) and operator.is_lateral:
            return self.lateral(operator, self.plain(operator.left, carried), carried)
        below = with_inputs(operator, tuple(self.plain(i, carried) for i in operator.inputs))
        match below:
            case ir.Selection(input=input, predicate=predicate):
                return self.filtered(input, predicate, carried)
            case ir.Project(input=input, items=items):
                return self.projected(input, items, carried)
            case ir.ThetaJoin():
                return self.joined(below, carried)
            case _:
                return below

    def filtered(self, input: ir.Relational, predicate: ir.Expression, carried: Carried) -> ir.Relational:
        """The rows of `input`, which has no subqueries, for which the predicate is true."""
        parts = conjuncts(negations_inward(predicate))
        result = _filter(input, [part for part in parts if not ir.subqueries(part)])
        for part in parts:
            if ir.subqueries(part):
                result = self._condition(result, part, carried)
        return result

    def projected(self, input: ir.Relational, items: tuple[ir.Item, ...], carried: Carried) -> ir.Relational:
        values = []
        for attribute, expression in items:
            input, value = self._value(input, expression, carried)
            values.append((attribute, value))
        return ir.Project(input, tuple(values))

    def joined(self, join: ir.ThetaJoin, carried: Carried) -> ir.Relational:
        """A join of sides without subqueries: queries in its condition become columns of a side, or a filter
        above."""
        if not ir.subqueries(join.condition):
            return join
        parts = conjuncts(negations_inward(join.condition))
        asking = [part for part in parts if ir.subqueries(part)]
        if join.kind is ir.JoinKind.INNER:
            rest = conjoin(part for part in parts if not ir.subqueries(part))
            return self.filtered(replace(join, condition=rest), conjoin(asking), carried)
        left, right, known = join.left, join.right, [part for part in parts if not ir.subqueries(part)]
        for part in asking:
            used = ir.references(part)
            if not used & right.ids:
                left, value = self._value(left, part, carried)
            elif not used & left.ids:
                right, value = self._value(right, part, carried)
            else:
                return outer_join(
                    join,
                    conjoin(parts),
                    self.numbers,
                    self._define,
                    lambda i, p: self.filtered(i, p, carried),
                )
            known.append(value)
        both = replace(join, left=left, right=right, condition=conjoin(known))
        return ir.Project(both, identity(join.columns))

    def lateral(self, join: ir.ThetaJoin, left: ir.Relational, carried: Carried) -> ir.Relational:
        """A lateral join whose left side has no subqueries: its right side, computed for the left side's
        rows where each row stands alone, and else for their bindings."""
        if join.kind is ir.JoinKind.INNER and _is_rowwise(join.right):
            rows = self.dependent.apply(Outer(left, carried), join.right)
            wanted = identity((*left.columns, *_right_columns(join)))
            return self.filtered(ir.Project(rows, wanted), join.condition, carried)
        wide, rows, same = self._against(left, join.right, carried)
        both = replace(join, left=wide, right=rows, condition=conjoin([join.condition, same]))
        return ir.Project(self.joined(both, carried), identity((*left.columns, *_right_columns(join))))

    # Conditions of a filter

    def _condition(self, input: ir.Relational, part: ir.Expression, carried: Carried) -> ir.Relational:
        match part:
            case ir.Exists(query=query):
                return self._semijoin(ir.JoinKind.SEMI, input, query, carried)
            case Call(op=Op.NOT, args=(ir.Exists(query=query),)):
                return self._semijoin(ir.JoinKind.ANTI, input, query, carried)
            case ir.Some():
                wide, some = self._prepared(input, part, carried)
                query = ir.Selection(some.query, some.predicate)
                return self._narrow(self._semijoin(ir.JoinKind.SEMI, wide, query, carried), input)
            case Call(op=Op.NOT, args=(ir.Some() as inner,)):
                wide, some = self._prepared(input, inner, carried)
                for predicate in possible(some, known_columns(wide)):
                    wide = self._semijoin(
                        ir.JoinKind.ANTI, wide, ir.Selection(some.query, predicate), carried
                    )
                return self._narrow(wide, input)
        wide, value = self._value(input, part, carried, as_filter=True)
        return self._narrow(ir.Selection(wide, value), input)

    def _narrow(self, wide: ir.Relational, input: ir.Relational) -> ir.Relational:
        """The columns of `input` alone."""
        return wide if wide.ids == input.ids else ir.Project(wide, identity(input.columns))

    def _semijoin(
        self, kind: ir.JoinKind, input: ir.Relational, query: ir.Relational, carried: Carried
    ) -> ir.Relational:
        left, rows, condition = self._against(input, query, carried)
        return ir.ThetaJoin(kind, left, rows, condition)

    # Subqueries as values

    def _value(
        self, input: ir.Relational, expression: ir.Expression, carried: Carried, as_filter: bool = False
    ) -> tuple[ir.Relational, ir.Expression]:
        """The expression without subqueries, over `input` with the columns that it needs added."""
        values: dict[ir.Subquery, ir.Expression] = {}
        for subquery in ir.subqueries(expression):
            if subquery not in values:
                input, values[subquery] = self._answer(input, subquery, carried, as_filter)

        def answered(part: ir.Expression) -> ir.Expression | None:
            return values[part] if isinstance(part, ir.Subquery) else None

        return input, rewrite(expression, answered) if values else expression

    def _answer(
        self, input: ir.Relational, subquery: ir.Subquery, carried: Carried, as_filter: bool
    ) -> tuple[ir.Relational, ir.Expression]:
        match subquery:
            case ir.Exists(query=query):
                return self._mark(input, query, carried)
            case ir.ScalarSubquery():
                return self._scalar(input, subquery, carried)
            case ir.Some():
                return self._some(input, subquery, carried)

    def _mark(
        self, input: ir.Relational, query: ir.Relational, carried: Carried
    ) -> tuple[ir.Relational, ir.Expression]:
        left, rows, condition = self._against(input, query, carried)
        mark = self.numbers.attribute("matched", BOOLEAN, False)
        return ir.ThetaJoin(ir.JoinKind.MARK, left, rows, condition, mark), mark.ref

    def _some(
        self, input: ir.Relational, subquery: ir.Some, carried: Carried
    ) -> tuple[ir.Relational, ir.Expression]:
        input, some = self._prepared(input, subquery, carried)
        marks = []
        for predicate in possible(some, known_columns(input)):
            input, mark = self._mark(input, ir.Selection(some.query, predicate), carried)
            marks.append(mark)
        if len(marks) == 1:
            return input, marks[0]
        unknown = (disjoin(marks[1:]), Literal(None, BOOLEAN))
        return input, Case(((marks[0], TRUE), unknown), Literal(False, BOOLEAN), BOOLEAN)  # type: ignore[arg-type]

    def _prepared(
        self, input: ir.Relational, some: ir.Some, carried: Carried
    ) -> tuple[ir.Relational, ir.Some]:
        """The input with its operands of the predicate as columns, and the predicate over those columns."""
        known = known_columns(input)
        computed: dict[ir.Expression, ir.Attribute] = {}
        for operand in outer_operands(some, input.ids):
            computed[operand] = self.numbers.attribute("operand", operand.type, may_be_null(operand, known))
        if not computed:
            return input, some
        items = (*identity(input.columns), *((attribute, e) for e, attribute in computed.items()))
        predicate = map_expression(some.predicate, lambda e: computed[e].ref if e in computed else None)
        return self.projected(input, items, carried), ir.Some(predicate, some.query)

    def _scalar(
        self, input: ir.Relational, subquery: ir.ScalarSubquery, carried: Carried
    ) -> tuple[ir.Relational, ir.Expression]:
        aggregate, value = self._single(subquery)
        names = self._context_columns(input, aggregate.input, carried)
        if not names:
            rows = self.plain(aggregate, {})
            return ir.ThetaJoin(ir.JoinKind.INNER, input, rows, TRUE), value
        left, outer, query = self._context(input, aggregate.input, names, carried)
        keys = outer.context.columns
        rows = ir.Aggregate(self.dependent.apply(outer, query), tuple(c.id for c in keys), aggregate.items)
        columns = _columns(left, names)
        joined = ir.ThetaJoin(ir.JoinKind.LEFT, left, rows, null_safe(columns, keys))
        nothing = {i.attribute.id: value_of_nothing(i.function, i.attribute) for i in aggregate.items}
        return joined, inline(value, nothing)

    def _single(self, subquery: ir.ScalarSubquery) -> tuple[ir.Aggregate, ir.Expression]:
        """The query as an aggregate without keys, and its value over that one row."""
        value: ir.Expression = subquery.query.attribute(subquery.column).ref
        query = subquery.query
        while isinstance(query, ir.Project) and not any(ir.subqueries(e) for e in query.expressions):
            value = inline(value, {attribute.id: e for attribute, e in query.items})
            query = query.input
        if isinstance(query, ir.Aggregate) and not query.keys:
            return query, value
        query = subquery.query
        column = query.attribute(subquery.column)
        held = self.numbers.attribute(column.name, column.type, True)
        item = ir.AggregateItem(held, Function.MIN, (column.id,))
        if at_most_one(query):
            return ir.Aggregate(query, (), (item,)), held.ref
        rows = self.numbers.attribute("rows", BIGINT, False)
        counted = ir.Aggregate(query, (), (item, ir.AggregateItem(rows, Function.COUNT)))
        failure = Foreign(f"CAST(error('{MANY_ROWS}: ' || {{0}}) AS BOOLEAN)", (rows.ref,), BOOLEAN)
        many = call(Op.GT, rows.ref, Literal(1, BIGINT))
        failing = Case(((failure, Literal(None, column.type)),), Literal(None, column.type), column.type)
        return counted, Case(((many, failing),), held.ref, column.type)  # type: ignore[arg-type]

    # Contexts

    def _against(
        self, input: ir.Relational, query: ir.Relational, carried: Carried
    ) -> tuple[ir.Relational, ir.Relational, ir.Expression]:
        """The input, the query's rows for its bindings, and the condition that joins them."""
        names = self._context_columns(input, query, carried)
        if not names:
            return input, self.plain(query, {}), TRUE
        left, outer, inner = self._context(input, query, names, carried)
        columns = _columns(left, names)
        return left, self.dependent.apply(outer, inner), null_safe(columns, outer.context.columns)

    def _context_columns(self, input: ir.Relational, query: ir.Relational, carried: Carried) -> list[int]:
        """The columns of the input that the query refers to, and those that its variables carry."""
        used = query.free & input.ids
        for variable in self.dependent.variables(query) & carried.keys():
            used |= set(carried[variable])
        return [column.id for column in input.columns if column.id in used]

    def _context(
        self, input: ir.Relational, query: ir.Relational, names: list[int], carried: Carried
    ) -> tuple[ir.Relational, Outer, ir.Relational]:
        """The input, the context of its distinct bindings, and the query over the context's columns."""
        left, again, ids = self._twice(input)
        columns = self.numbers.fresh(_columns(input, names))
        new = {old: column.id for old, column in zip(names, columns, strict=True)}
        context = ir.Context(again, tuple((c, ids[id]) for c, id in zip(columns, names, strict=True)))
        inside = {v: tuple(new[i] for i in ids) for v, ids in carried.items() if set(ids) <= new.keys()}
        return left, Outer(context, inside), with_outer(query, new)

    def _define(self, operator: ir.Relational) -> int:
        self.definitions.append(operator)
        return len(self.definitions) - 1

    def _twice(self, input: ir.Relational) -> tuple[ir.Relational, ir.Relational, dict[int, int]]:
        """The input for use in two places, and its columns' numbers in the second place.

        The input becomes a definition, unless it is little work.
        """
        if _is_cheap(input):
            return input, *renumbered(input, self.numbers)
        number = self._define(input)
        again = self.numbers.fresh(input.columns)
        pairs = tuple(zip(again, (c.id for c in input.columns), strict=True))
        first = ir.SharedRef(number, tuple((c, c.id) for c in input.columns))
        return first, ir.SharedRef(number, pairs), {old: new.id for new, old in pairs}


def _columns(operator: ir.Relational, ids: list[int]) -> tuple[ir.Attribute, ...]:
    known = known_columns(operator)
    return tuple(known[id] for id in ids)


def at_most_one(query: ir.Relational) -> bool:
    """Whether the query certainly has at most one row."""
    match query:
        case ir.Aggregate(keys=()):
            return True
        case ir.Top(keys=()) if query.has_one:
            return True
        case ir.Project(input=input) | ir.Selection(input=input):
            return at_most_one(input)
        case ir.Values(rows=rows):
            return len(rows) <= 1
        case _:
            return False


def _is_cheap(operator: ir.Relational) -> bool:
    match operator:
        case ir.TableScan() | ir.Values() | ir.SharedRef() | ir.RecursiveRef():
            return True
        case ir.Selection(input=input) | ir.Project(input=input):
            return _is_cheap(input)
        case _:
            return False


def _is_rowwise(operator: ir.Relational) -> bool:
    """Whether the operator makes its rows of one row alone: nothing that it has is compared or counted."""
    match operator:
        case ir.Selection(input=input) | ir.Project(input=input) | ir.UnnestLists(input=input):
            return not any(ir.subqueries(e) for e in operator.expressions) and _is_rowwise(input)
    return operator == ir.UNIT


def _right_columns(join: ir.ThetaJoin) -> tuple[ir.Attribute, ...]:
    return ir.as_nullable(join.right.columns) if join.kind is ir.JoinKind.LEFT else join.right.columns


def _filter(input: ir.Relational, parts: list[ir.Expression]) -> ir.Relational:
    return ir.Selection(input, conjoin(parts)) if parts else input
