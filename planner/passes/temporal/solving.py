"""Comparisons with the time, solved for it: the moments from which, or until which, they are true.

    ts > now() - INTERVAL '1 hour'          →    NOT now() >= ts + INTERVAL '1 hour'
    d = CURRENT_DATE                        →    now() >= d AND NOT now() >= d + 1
    now() - ts < INTERVAL '10 minutes'      →    NOT now() >= ts + INTERVAL '10 minutes'
    date_diff('day', ts, now()) <= 7        →    NOT now() >= date_trunc('day', ts) + INTERVAL '8 days'
    timestampdiff(hour, ts, now()) < 5      →    NOT now() >= ts + INTERVAL '5 hours'

One side is a function of the time that never falls, such as `date_trunc('month', now()) - INTERVAL '1 day'`,
made of steps that each have an inverse. The other side depends on the row alone.
"""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Op
from engine.schema import DATE, INTERVAL, TIMESTAMP
from planner.ir import Expression, Reached
from planner.ir.scalars import FALSE, call, conjoin, disjoin, negate
from planner.passes.temporal.equations import Equation, Unsolvable, is_now, mentions_now, without_parentheses

_OPS: dict[type[exp.Expression], Op] = {
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.EQ: Op.EQ,
    exp.NEQ: Op.NE,
}
_TURNED = {Op.GT: Op.LT, Op.GE: Op.LE, Op.LT: Op.GT, Op.LE: Op.GE, Op.EQ: Op.EQ, Op.NE: Op.NE}
_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "QUARTER", "YEAR")
"""The units whose boundaries are at the same times for `date_diff` and `date_trunc`."""

MONTHS = 4
"""The most days by which month arithmetic can exceed the plain sum: month lengths differ."""


def solve(comparison: Expression) -> Expression:
    """A comparison with the time, as an expression over moments. Raises Unsolvable."""
    equation = Equation(comparison)
    tree = equation.tree
    if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        low, high = tree.args["low"], tree.args["high"]
        return conjoin([_part(equation, Op.GE, tree.this, low), _part(equation, Op.LE, tree.this, high)])
    if type(tree) not in _OPS:
        raise Unsolvable
    return _part(equation, _OPS[type(tree)], tree.this, tree.expression)


def _part(equation: Equation, op: Op, left: exp.Expression, right: exp.Expression) -> Expression:
    """`left` op `right`; either may contain the time."""
    left, right = without_parentheses(left), without_parentheses(right)
    if not mentions_now(left) and not mentions_now(right):
        return call(op, equation.value(left), equation.value(right))
    if not mentions_now(left):
        left, right, op = right, left, _TURNED[op]
    if mentions_now(right):
        raise Unsolvable
    return _Solver(equation).compare(op, left, right)


class _Solver:
    def __init__(self, equation: Equation) -> None:
        self.equation = equation

    def compare(self, op: Op, time: exp.Expression, value: exp.Expression) -> Expression:
        """`time` op `value`; only `time` contains the time."""
        time = without_parentheses(time)
        if isinstance(time, exp.DateDiff):
            return self._difference(op, time, value)
        if isinstance(time, exp.IntDiv):
            return self._elapsed(op, time, value)
        if isinstance(time, exp.Extract) and isinstance(without_parentheses(time.expression), exp.Sub):
            return self._seconds(op, time, value)
        if isinstance(time, exp.Sub) and self.equation.type(time) not in (DATE, TIMESTAMP):
            return self._distance(op, time, value)
        time, value = self._alike(time, value)
        match op:
            case Op.GE:
                return self._reached(time, value)
            case Op.LT:
                return negate(self._reached(time, value))
            case Op.GT:
                return self._reached(time, self._next(value))
            case Op.LE:
                return negate(self._reached(time, self._next(value)))
            case Op.EQ:
                return conjoin([self.compare(Op.GE, time, value), self.compare(Op.LE, time, value)])
            case _:
                return disjoin([self.compare(Op.LT, time, value), self.compare(Op.GT, time, value)])

    def _alike(self, time: exp.Expression, value: exp.Expression) -> tuple[exp.Expression, exp.Expression]:
        """Both as dates, or both as timestamps."""
        types = [self.equation.type(time), self.equation.type(value)]
        if any(type not in (DATE, TIMESTAMP) for type in types):
            raise Unsolvable
        if types[0] == types[1]:
            return time, value
        return (_timestamp(time), value) if types[0] == DATE else (time, _timestamp(value))

    def _next(self, value: exp.Expression) -> exp.Expression:
        """The smallest value of its type that is greater."""
        if self.equation.type(value) == DATE:
            return exp.Add(this=_within(value), expression=exp.Literal.number(1))
        return exp.Add(this=_within(value), expression=_interval(1, "MICROSECOND"))

    def _difference(self, op: Op, time: exp.DateDiff, value: exp.Expression) -> Expression:
        """`date_diff(unit, from, to)` op `value`: it counts the unit boundaries between two times."""
        unit = time.text("unit").upper()
        later, earlier = without_parentheses(time.this), without_parentheses(time.expression)
        if unit not in _UNITS or mentions_now(later) == mentions_now(earlier):
            raise Unsolvable
        if op in (Op.EQ, Op.NE):
            both = conjoin([self._difference(part, time, value) for part in (Op.GE, Op.LE)])
            return both if op is Op.EQ else negate(both)
        if not mentions_now(later):
            later, earlier, op, value = earlier, later, _TURNED[op], exp.Neg(this=_within(value))
        if op in (Op.GT, Op.LE):
            value = exp.Add(this=_within(value), expression=exp.Literal.number(1))
            op = Op.GE if op is Op.GT else Op.LT
        start = _start(unit, _timestamp(earlier))
        bound = exp.Add(this=start, expression=exp.Interval(this=exp.paren(value.copy()), unit=exp.var(unit)))
        return self.compare(op, _timestamp(later), bound)

    def _distance(self, op: Op, time: exp.Sub, value: exp.Expression) -> Expression:
        """`later - earlier` op `value`: days between two dates, or an interval between two timestamps."""
        later, earlier = without_parentheses(time.this), without_parentheses(time.expression)
        if mentions_now(later) == mentions_now(earlier):
            raise Unsolvable
        if self.equation.type(time) != INTERVAL:
            if self.equation.type(later) != DATE or self.equation.type(earlier) != DATE:
                raise Unsolvable
            value = exp.cast(value.copy(), "INTEGER", dialect="duckdb")
        elif not self.equation.is_fixed(value):
            raise Unsolvable
        if mentions_now(later):
            return self.compare(op, later, exp.Add(this=_within(earlier), expression=_within(value)))
        return self.compare(_TURNED[op], earlier, exp.Sub(this=_within(later), expression=_within(value)))

    def _seconds(self, op: Op, time: exp.Extract, value: exp.Expression) -> Expression:
        """The seconds, `EXTRACT(EPOCH FROM later - earlier)`, op a constant number."""
        number = self.equation.number(value)
        if time.name.upper() != "EPOCH" or number is None or number != round(number * 1_000_000) / 1_000_000:
            raise Unsolvable
        return self.compare(
            op, without_parentheses(time.expression), _interval(round(number * 1_000_000), "MICROSECOND")
        )

    def _elapsed(self, op: Op, time: exp.IntDiv, value: exp.Expression) -> Expression:
        """The whole units between two moments, `(epoch_us(later) - epoch_us(earlier)) // unit`, op a constant
        number.

        A difference of less than one unit is 0, whether positive or negative.
        """
        distance, unit, number = without_parentheses(time.this), self.equation.number(time.expression), None
        if isinstance(distance, exp.Sub) and unit is not None:
            number = self.equation.number(value)
        if number is None or unit is None or number != int(number):
            raise Unsolvable
        if op in (Op.EQ, Op.NE):
            both = conjoin([self._elapsed(part, time, value) for part in (Op.GE, Op.LE)])
            return both if op is Op.EQ else negate(both)
        least = int(number) + (op in (Op.GT, Op.LE))
        microseconds = least * int(unit) if least > 0 else (least - 1) * int(unit) + 1
        between = exp.Sub(this=_moment(distance.this), expression=_moment(distance.expression))
        reached = self.compare(Op.GE, between, _interval(microseconds, "MICROSECOND"))
        return reached if op in (Op.GE, Op.GT) else negate(reached)

    def _reached(self, time: exp.Expression, value: exp.Expression) -> Expression:
        """Whether `time` >= `value`; both have the same type."""
        time = without_parentheses(time)
        if is_now(time):
            return Reached(self.equation.expression(value, TIMESTAMP))
        match time:
            case exp.Cast() if self.equation.type(time) == DATE:
                inner = without_parentheses(time.this)
                return self._reached(inner, value if self.equation.is_date(inner) else _timestamp(value))
            case exp.Cast() if self.equation.type(time) == TIMESTAMP:
                inner = without_parentheses(time.this)
                return self._reached(inner, _date_from(value) if self.equation.is_date(inner) else value)
            case exp.Add() | exp.Sub() | exp.DateAdd() | exp.DateSub():
                return self._shifted(time, value)
            case exp.TimestampTrunc() | exp.DateTrunc():
                return self._truncated(time, value)
        raise Unsolvable

    def _shifted(self, time: exp.Expression, value: exp.Expression) -> Expression:
        """The same for a sum or difference of a part with the time and a part without it."""
        inner, by = without_parentheses(time.this), without_parentheses(time.expression)
        is_sum = isinstance(time, exp.Add | exp.DateAdd)
        if mentions_now(by):
            inner, by = by, inner
            if mentions_now(by) or not is_sum:
                raise Unsolvable
        back = exp.Sub if is_sum else exp.Add
        before = back(this=_within(value), expression=_within(by))
        if self.equation.is_date(time):
            return self._reached(inner, before)
        if self.equation.type(by) != INTERVAL:
            raise Unsolvable
        if self.equation.is_fixed(by):
            return self._reached(inner, _date_from(before) if self.equation.is_date(inner) else before)
        if self.equation.is_date(inner):
            return self._reached(inner, self._by_months(type(time), by, value, before))
        return self._months_later(inner, by, value, 1 if is_sum else -1)

    def _by_months(
        self, kind: type[exp.Expression], by: exp.Expression, value: exp.Expression, before: exp.Expression
    ) -> exp.Expression:
        """The smallest date from which adding `by`, with its months, gives `value` or later.

        Months have different lengths, so it may be some days later than `before`, the value moved back.
        """
        first = exp.cast(exp.paren(before), "DATE", dialect="duckdb")
        numbers = map(exp.Literal.number, range(MONTHS + 1))
        days = [exp.paren(exp.Add(this=first.copy(), expression=number)) for number in numbers]
        case = exp.Case()
        for day in days[:-1]:
            reaches = exp.GTE(this=kind(this=day.copy(), expression=by.copy()), expression=_within(value))
            case = case.when(reaches, day.copy())
        return exp.paren(case.else_(days[-1].copy()))

    def _months_later(
        self, inner: exp.Expression, by: exp.Expression, value: exp.Expression, sign: int
    ) -> Expression:
        """Whether a time of day, moved by `by` with its months, has reached `value`.

        From the last days of a month, several days lead to the same day of a shorter month, and on each of
        them the hours repeat: between midnight and the hour of `value`, it is again not reached.
        """
        months = self.equation.months(by)
        if months is None:
            raise Unsolvable
        away = _interval(sign * months, "MONTH")
        rest = exp.paren(exp.Sub(this=_within(by), expression=_interval(months, "MONTH")))
        value = exp.paren((exp.Sub if sign > 0 else exp.Add)(this=_within(value), expression=rest))
        start = exp.paren(exp.Add(this=value, expression=_interval(-sign * months, "MONTH")))
        is_exact = exp.GTE(this=exp.Add(this=start.copy(), expression=away.copy()), expression=value.copy())
        following = exp.Add(this=_start("MONTH", start), expression=_interval(1, "MONTH"))
        parts = [self._reached(inner, exp.paren(exp.Case().when(is_exact, start.copy()).else_(following)))]
        for number in range(1, MONTHS):
            day = exp.paren(exp.Add(this=_start("DAY", start), expression=_interval(number, "DAY")))
            is_before = exp.LT(this=exp.Add(this=day, expression=away.copy()), expression=value.copy())
            hour = exp.paren(exp.Sub(this=value.copy(), expression=_start("DAY", value)))
            again = exp.Add(this=day.copy(), expression=hour)
            begins, ends = (exp.paren(exp.Case().when(is_before.copy(), it)) for it in (day.copy(), again))
            parts.append(negate(conjoin([self._surely(inner, begins), negate(self._surely(inner, ends))])))
        return conjoin(parts)

    def _surely(self, time: exp.Expression, value: exp.Expression) -> Expression:
        """Whether it has been reached; false if it is NULL."""
        return call(Op.COALESCE, self._reached(time, value), FALSE)

    def _truncated(self, time: exp.Expression, value: exp.Expression) -> Expression:
        """The same for a time that is truncated to a unit."""
        unit, inner = time.text("unit").upper(), without_parentheses(time.this)
        start = _start(unit, value)
        after = exp.Add(this=start.copy(), expression=_interval(1, unit))
        whole = exp.EQ(this=start.copy(), expression=_within(value))
        least = exp.paren(exp.Case().when(whole, start.copy()).else_(after))
        return self._reached(inner, _date_from(least) if self.equation.is_date(inner) else least)


def _within(tree: exp.Expression) -> exp.Expression:
    return exp.paren(tree.copy()) if isinstance(tree, exp.Binary | exp.Neg) else tree.copy()


def _moment(microseconds: exp.Expression) -> exp.Expression:
    """The moment that many microseconds after the start of 1970."""
    tree = without_parentheses(microseconds)
    if isinstance(tree, exp.Anonymous) and tree.name.lower() == "epoch_us":
        return tree.expressions[0].copy()
    return exp.Anonymous(this="make_timestamp", expressions=[tree.copy()])


def _timestamp(tree: exp.Expression) -> exp.Expression:
    return exp.cast(tree.copy(), "TIMESTAMP", dialect="duckdb")


def _date_from(tree: exp.Expression) -> exp.Expression:
    """The first date whose midnight is at the time or later."""
    end = exp.Add(this=_within(tree), expression=_interval(86_399_999_999, "MICROSECOND"))
    return exp.cast(exp.paren(end), "DATE", dialect="duckdb")


def _start(unit: str, time: exp.Expression) -> exp.Expression:
    """The time truncated to a unit."""
    return exp.TimestampTrunc(this=time.copy(), unit=exp.var(unit))


def _interval(count: int, unit: str) -> exp.Expression:
    return exp.Interval(this=exp.Literal.string(str(count)), unit=exp.var(unit))
