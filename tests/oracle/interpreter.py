"""The oracle: an engine plan evaluated from scratch, in plain Python, by its specification alone.

It shares no code with the engine but the frozen specifications. A bag is a Counter of tuples
of Python values; multiplicities may be negative inside a plan, never in its result and never
where a Reduce reads. Recursion is naive: from empty, round by round, until nothing changes; in a
round every node is evaluated once, over the variables of the round before. It is for small inputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest

from engine.plan.clocked import Temporal, Today
from engine.plan.expressions import Expression
from engine.plan.group_queries import GroupQuery
from engine.plan.list_elements import MOST_ELEMENTS, Unnest
from engine.plan.multijoins import MultiJoin
from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Constant,
    Entry,
    Filter,
    FlatMap,
    Function,
    GroupBy,
    Join,
    Map,
    Negate,
    Node,
    OnLimit,
    Ordering,
    Recursive,
    Reduce,
    Source,
    Threshold,
    TopK,
    Variable,
    WithRound,
)
from engine.plan.row_ids import Intern
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import BIGINT, Column, Kind, Schema
from tests.oracle.evaluation import NAN, Row, RowFailure, evaluate, normal, order_key, queried
from tests.oracle.interning import ids_of

Bag = Counter[Row]
MAX_ROUNDS = 2_000
MOST_IN_LOOP = 10_000
"""Distinct rows of a variable."""
COUNT_BITS = 200
"""Bits of a row's count in a variable."""
DAY = 24 * 60 * 60 * 1_000_000


class OracleError(Exception):
    """A row failed, a recursion did not end, or a plan is wrong."""


def interpret(plan: Node, sources: Mapping[str, Bag]) -> Bag:
    """The plan's rows; OracleError if a row fails or a multiplicity is negative."""
    oracle = Oracle(sources)
    rows = oracle.rows(plan)
    if oracle.errors:
        raise OracleError(f"rows failed: {dict(oracle.errors)}")
    return rows


class _Round(dict[str, Bag]):
    """What the variables are in one round; `known` has the nodes that were evaluated over them."""

    def __init__(self, variables: Mapping[str, Bag]) -> None:
        super().__init__(variables)
        self.known: dict[Node, Bag] = {}


@dataclass
class Oracle:
    """One evaluation over given sources; `errors` counts the rows that failed, by reason."""

    sources: Mapping[str, Bag]
    errors: Counter[str] = field(default_factory=Counter)
    _outside: _Round = field(default_factory=lambda: _Round({}))

    def rows(self, plan: Node) -> Bag:
        result = self._value(plan, self._outside)
        negative = [row for row, count in result.items() if count < 0]
        if negative:
            raise OracleError(f"the result has negative rows: {negative[:3]}")
        return result

    def _value(self, node: Node, variables: _Round) -> Bag:
        """The node's rows; a node that refers to no variable has the same ones in every round."""
        home = variables if node.free else self._outside
        if node not in home.known:
            home.known[node] = self._compute(node, home)
        return home.known[node]

    def _compute(self, node: Node, variables: _Round) -> Bag:
        if isinstance(node, Recursive):
            return self._fixed_point(node, variables)
        inputs = [self._value(i, variables) for i in node.inputs]
        match node:
            case Source(name=name, schema=schema):
                rows = self.sources[name]
                return _clean(
                    Counter({tuple(map(normal, row, schema.types)): count for row, count in rows.items()})
                )
            case Constant(rows=rows, schema=schema):
                return Counter(tuple(map(normal, row, schema.types)) for row in rows)
            case Variable(name=name):
                return variables[name]
            case Map(expressions=expressions):
                return self._map(expressions, inputs[0])
            case Filter(predicate=predicate):
                kept = self._map((predicate,), inputs[0], keep=True)
                return kept
            case Concat():
                return _sum(inputs)
            case Negate():
                return Counter({row: -count for row, count in inputs[0].items()})
            case Join(left_keys=left_keys, right_keys=right_keys):
                return _join(inputs[0], inputs[1], left_keys, right_keys)
            case MultiJoin(equalities=equalities):
                return _multijoin(inputs, equalities)
            case Reduce():
                return self._reduce(node, inputs[0])
            case TopK():
                return _top(node, inputs[0])
            case NearestJoin():
                return _nearest(node, inputs[0], inputs[1])
            case Window():
                return _windows(node, inputs[0])
            case FlatMap():
                return self._flat_map(node, inputs[0])
            case Unnest():
                return _unnest(node, inputs[0])
            case GroupQuery():
                return self._group_query(node, inputs[0])
            case GroupBy():
                return self._group_by(node, inputs[0])
            case Threshold(clamp=Clamp.DISTINCT):
                return Counter({row: 1 for row, count in inputs[0].items() if count > 0})
            case Threshold():
                return Counter({row: count for row, count in inputs[0].items() if count > 0})
            case Intern(hash=hash):
                live = [row for row, count in inputs[0].items() if count > 0]
                return Counter((*row, id) for row, id in ids_of(live, hash).items())
            case Temporal(since=since, until=until):
                return _during(inputs[0], since, until, _shown(inputs[1]))
            case Today():
                return Counter((now // DAY,) for now in _shown(inputs[0]))
        raise OracleError(f"{type(node).__name__} is unknown")

    def _map(self, expressions: tuple[Expression, ...], rows: Bag, keep: bool = False) -> Bag:
        """The rows' values; with `keep`, the rows themselves where the first value is true."""
        result: Bag = Counter()
        for row, count in rows.items():
            try:
                values = tuple(evaluate(e, row) for e in expressions)
            except RowFailure as failure:
                self.errors[str(failure)] += count
                continue
            if not keep:
                result[values] += count
            elif values[0] is True:
                result[row] += count
        return _clean(result)

    def _reduce(self, node: Reduce, rows: Bag) -> Bag:
        groups: dict[Row, list[tuple[Row, int]]] = {}
        for row, count in rows.items():
            if count < 0:
                raise OracleError(f"a reduce reads a row {count} times: {row}")
            groups.setdefault(tuple(row[i] for i in node.keys), []).append((row, count))
        result: Bag = Counter()
        for key, members in groups.items():
            try:
                result[key + tuple(_aggregate(a, members) for a in node.aggregates)] += 1
            except RowFailure as failure:
                self.errors[str(failure)] += 1
        return result

    def _fixed_point(self, node: Recursive, variables: _Round) -> Bag:
        now = {b.name: self._value(b.initial, variables) if b.initial else Counter() for b in node.bindings}
        entering = [(e, self._value(e.input, variables)) for e in node.entries]
        rounds = {e.name: {row: self._round(e, row) for row in rows} for e, rows in entering}
        last = max((r for of_rows in rounds.values() for r in of_rows.values()), default=0)
        if node.limit is None and not node.reads_itself:
            return self._without_feedback(node, variables, rounds, entering)

        def entered(current: int) -> dict[str, Bag]:
            return {
                entry.name: Counter({row: n for row, n in rows.items() if rounds[entry.name][row] <= current})
                for entry, rows in entering
            }

        for current in range(node.limit or MAX_ROUNDS):
            before = now
            now = self._values(node, {**variables, **entered(current), **before})
            if now == before and current >= last:
                return now[node.result]
            _require_bearable(now)
        if node.limit is not None and node.on_limit is OnLimit.RETURN:
            return now[node.result]
        raise OracleError("a recursion did not reach its fixed point")

    def _without_feedback(
        self,
        node: Recursive,
        variables: _Round,
        rounds: dict[str, dict[Row, int]],
        entering: list[tuple[Entry, Bag]],
    ) -> Bag:
        """The result over all that enters; with rounds, what each round changes."""
        value = next(binding.value for binding in node.bindings if binding.name == node.result)
        if not isinstance(value, WithRound):
            inside = {entry.name: rows for entry, rows in entering}
            return self._values(node, {**variables, **inside})[node.result]
        result: Bag = Counter()
        before: Bag = Counter()
        for current in sorted({0, *(r for of_rows in rounds.values() for r in of_rows.values())}):
            inside = {
                entry.name: Counter({row: n for row, n in rows.items() if rounds[entry.name][row] <= current})
                for entry, rows in entering
            }
            now = self._value(value.input, _Round({**variables, **inside}))
            for row, count in _sum([now, Counter({row: -n for row, n in before.items()})]).items():
                result[(*row, current)] += count
            before = now
        return _clean(result)

    def _values(self, node: Recursive, variables: Mapping[str, Bag]) -> dict[str, Bag]:
        inside = _Round(variables)
        return {binding.name: self._value(binding.value, inside) for binding in node.bindings}

    def _round(self, entry: Entry, row: Row) -> int:
        value = evaluate(entry.round, row)
        return max(0, value) if isinstance(value, int) else 0

    def _flat_map(self, node: FlatMap, rows: Bag) -> Bag:
        result: Bag = Counter()
        for row, count in rows.items():
            for made in node.function(*row):
                result[made] += count
        return _clean(result)

    def _group_by(self, node: GroupBy, rows: Bag) -> Bag:
        groups: dict[Row, list[tuple[Row, int]]] = {}
        for row in sorted(rows, key=_null_last):
            values = tuple(value for c, value in enumerate(row) if c not in node.keys)
            groups.setdefault(tuple(row[k] for k in node.keys), []).append((values, rows[row]))
        result: Bag = Counter()
        for key, members in groups.items():
            for row, count in node.function(key, members):
                result[key + row] += count
        return _clean(result)

    def _group_query(self, node: GroupQuery, rows: Bag) -> Bag:
        """Each group by a query of its own."""
        groups: dict[Row, list[Row]] = {}
        for row in (+rows).elements():
            values = tuple(value for c, value in enumerate(row) if c not in node.keys)
            groups.setdefault(tuple(row[k] for k in node.keys), []).append((7, *values))
        schema = Schema((Column("g", BIGINT), *node.columns.columns))
        result: Bag = Counter()
        for key, members in groups.items():
            for _, *answer in queried(node.query, "groups", schema, tuple(sorted(members, key=repr))):
                result[key + tuple(map(normal, answer, node.results.types))] += 1
        return _clean(result)


def _null_last(row: Row) -> tuple[tuple[bool, object], ...]:
    """The order of rows in a group, as `GroupBy` has it."""
    return tuple((value is None, 0 if value is None else value) for value in row)


def _clean(bag: Bag) -> Bag:
    return Counter({row: count for row, count in bag.items() if count})


def _require_bearable(values: Mapping[str, Bag]) -> None:
    """Raises OracleError if variables grow so that later rounds would not fit into memory. A join of one with
    itself squares its counts in each round."""
    for name, bag in values.items():
        if len(bag) > MOST_IN_LOOP or any(abs(count) >> COUNT_BITS for count in bag.values()):
            raise OracleError(f"{name} grows too large for a fixed point")


def _sum(bags: list[Bag]) -> Bag:
    result: Bag = Counter()
    for bag in bags:
        for row, count in bag.items():
            result[row] += count
    return _clean(result)


def _join(left: Bag, right: Bag, left_keys: tuple[int, ...], right_keys: tuple[int, ...]) -> Bag:
    index: dict[Row, list[tuple[Row, int]]] = {}
    for row, count in right.items():
        index.setdefault(tuple(row[i] for i in right_keys), []).append((row, count))
    result: Bag = Counter()
    for row, count in left.items():
        for other, times in index.get(tuple(row[i] for i in left_keys), []):
            result[row + other] += count * times
    return _clean(result)


def _multijoin(inputs: list[Bag], equalities: tuple[tuple[tuple[int, int], ...], ...]) -> Bag:
    """By nested loops; a choice of rows is given up as soon as two of them disagree."""
    choices: list[tuple[tuple[Row, ...], int]] = [((), 1)]
    for part, bag in enumerate(inputs):
        pairs = [
            (column, i, c)
            for equal in equalities
            for p, column in equal
            if p == part
            for i, c in equal
            if i < p
        ]
        choices = [
            ((*rows, row), count * times)
            for rows, count in choices
            for row, times in bag.items()
            if all(row[column] == rows[i][c] for column, i, c in pairs)
        ]
    result: Bag = Counter()
    for rows, count in choices:
        result[tuple(value for row in rows for value in row)] += count
    return _clean(result)


def _unnest(node: Unnest, rows: Bag) -> Bag:
    result: Bag = Counter()
    for row, count in rows.items():
        lists = [_elements([row[c] for c in each.columns], each.exclusive) for each in node.lists]
        made = list(zip_longest(*lists)) or ([(None,) * len(lists)] if node.outer else [])
        for place, values in enumerate(made, 1):
            ordinal = (place if any(lists) else None,) if node.ordinality else ()
            result[(*row, *values, *ordinal)] += count
    return result


def _elements(values: list[object], exclusive: bool) -> list[object]:
    if None in values:
        return []
    if len(values) == 1:
        return list(values[0])  # type: ignore[call-overload]
    start, stop, step = values
    end = stop if exclusive else stop + (1 if step > 0 else -1)  # type: ignore[operator]
    series = range(start, end, step)  # type: ignore[call-overload]
    if len(series) > MOST_ELEMENTS:
        raise OracleError("a list has too many elements")
    return list(series)


def _top(node: TopK, rows: Bag) -> Bag:
    stop = None if node.limit is None else node.offset + node.limit
    result: Bag = Counter()
    for members in _sorted_groups(rows, node.keys, node.order, stop):
        result.update(members[node.offset : stop])
    return result


def _sorted_groups(
    rows: Bag, keys: tuple[int, ...], order: tuple[Ordering, ...], most: int | None = None
) -> list[list[Row]]:
    """The copies of each group's rows in order, or `most` copies of each row."""
    groups: dict[Row, list[Row]] = {}
    for row, count in rows.items():
        copies = count if most is None else min(count, most)
        groups.setdefault(tuple(row[i] for i in keys), []).extend([row] * copies)
    for members in groups.values():
        members.sort(key=lambda row: [_rank(value, False, True) for value in row])
        for column, descending, nulls_first in reversed(order):
            members.sort(
                key=lambda row: _rank(row[column], descending, nulls_first),
                reverse=descending,
            )
    return list(groups.values())


def _windows(node: Window, rows: Bag) -> Bag:
    result: Bag = Counter()
    for members in _sorted_groups(rows, node.keys, node.order):
        peers = [tuple(row[o.column] for o in node.order[: node.peers]) for row in members]
        for at, row in enumerate(members):
            seen = ((f, *_near(f, node, members, peers, at)) for f in node.functions)
            result[(*row, *(_windowed(*function) for function in seen))] += 1
    return result


def _nearest(node: NearestJoin, left: Bag, right: Bag) -> Bag:
    """Every left row looks at every right row."""
    first = node.order[0]
    result: Bag = Counter()
    for row, count in (+left).items():
        found: Bag = Counter()
        for other, copies in right.items():
            mine, theirs = row[node.place], other[first.column]
            same = all(row[a] == other[b] for a, b in zip(node.left_keys, node.right_keys, strict=True))
            if not same or mine is None or theirs is None:
                continue
            a, b = order_key(mine), order_key(theirs)
            beyond = b < a if first.descending else a < b
            if beyond or (not node.is_strict and a == b):
                found[other] += copies
        nearest = _top(TopK(node.right, (), node.order, 1), found)
        nulls = (None,) * len(node.right.schema)
        for other in nearest or ([nulls] if node.pads else ()):
            result[row + other] += count
    return result


def _near(
    f: Windowed, node: Window, members: list[Row], peers: list[Row], at: int
) -> tuple[list[Row], list[Row], int]:
    """The rows within a frame's distances, as a group in which the frame is all rows; else the group."""
    if f.distances is None:
        return members, peers, at
    column, descending, _ = node.order[0]
    low, high = f.distances
    here = members[at][column]

    def is_near(value: object) -> bool:
        if value is None or here is None:
            return value is here
        ahead = here - value if descending else value - here  # type: ignore[operator]
        return bool(low <= ahead <= high)

    near = [row for row in members if is_near(row[column])]
    return near, [()] * len(near), 0


def _windowed(f: Windowed, members: list[Row], peers: list[Row], at: int) -> object:
    """The function of the row at a position, by the definition of its frame."""
    if f.function is WindowFunction.ROW_NUMBER:
        return at + 1
    if f.function is WindowFunction.RANK:
        return peers.index(peers[at]) + 1
    values = [1 if f.argument is None else row[f.argument] for row in members]
    if f.function is WindowFunction.VALUE:
        place = at + (f.start or 0)
        return values[place] if 0 <= place < len(values) else f.default
    first = 0 if f.start is None else max(at + f.start, 0)
    last = at + f.end
    if f.peers or f.distances:
        last = max((i for i, peer in enumerate(peers) if peer == peers[at]), default=-1)
    frame = values[first : max(last + 1, 0)]
    known = [value for value in frame if value is not None]
    match f.function:
        case WindowFunction.FIRST:
            return frame[0] if frame else None
        case WindowFunction.LAST:
            return frame[-1] if frame else None
        case WindowFunction.COUNT:
            return len(known)
    if not known:
        return None
    match f.function:
        case WindowFunction.SUM:
            return sum(known)
        case WindowFunction.MIN:
            return min(known)
        case WindowFunction.MAX:
            return max(known)
    raise OracleError(f"the oracle does not compute {f.function.value}")


def _rank(value: object, descending: bool, nulls_first: bool) -> tuple[int, object]:
    """A sort key in which None is where it is wanted once the order is `descending` or not."""
    if value is None:
        return (-1 if nulls_first != descending else 1, 0)
    return (0, order_key(value))


def _comoment(members: list[tuple[object, object, int]]) -> object:
    pairs = [(Fraction(x), Fraction(y), n) for x, y, n in members if x is not None and y is not None]  # type: ignore[call-overload]
    count = sum(n for _, _, n in pairs)
    products = sum(x * y * n for x, y, n in pairs)
    exact = count * products - sum(x * n for x, _, n in pairs) * sum(y * n for _, y, n in pairs)
    return float(exact) if count else None


def _aggregate(aggregate: AggregateSpec, members: list[tuple[Row, int]]) -> object:
    if aggregate.argument is None:
        return sum(count for _, count in members)
    if aggregate.other is not None:
        return _comoment([(row[aggregate.argument], row[aggregate.other], count) for row, count in members])
    values = [
        (row[aggregate.argument], count) for row, count in members if row[aggregate.argument] is not None
    ]
    if aggregate.function is Function.COUNT:
        return sum(count for _, count in values)
    if not values:
        return None
    match aggregate.function:
        case Function.MIN:
            return min((value for value, _ in values), key=order_key)
        case Function.MAX:
            return max((value for value, _ in values), key=order_key)
    total = _exact_sum(values)
    if aggregate.function is Function.AVG:
        total = NAN if total is NAN else float(total / sum(count for _, count in values))
    elif aggregate.type.kind in (Kind.REAL, Kind.DOUBLE) and total is not NAN:
        total = float(total)
    elif isinstance(total, Fraction):
        total = (
            total.numerator
            if total.denominator == 1 and aggregate.type.is_integer
            else _decimal(total, aggregate)
        )
    return normal(total, aggregate.type)


def _exact_sum(values: list) -> Fraction | float:
    """The sum without rounding; infinities and NaN as floats have them."""
    special = [v for v, _ in values if isinstance(v, float) and not math.isfinite(v)]
    if special:
        total = sum(special)
        return NAN if math.isnan(total) else total
    return sum((Fraction(value) * count for value, count in values), Fraction(0))


def _decimal(total: Fraction, aggregate: AggregateSpec) -> object:
    scale = aggregate.type.scale or 0
    from_scaled = total * 10**scale
    if from_scaled.denominator != 1:
        raise OracleError(f"{aggregate} has more digits than its scale")
    return _scaled(from_scaled.numerator, scale)


def _scaled(digits: int, scale: int) -> str:
    sign, text = ("-" if digits < 0 else ""), str(abs(digits)).rjust(scale + 1, "0")
    return f"{sign}{text[: len(text) - scale]}.{text[len(text) - scale :]}" if scale else f"{sign}{text}"


def _shown(clock: Bag) -> list[int]:
    """The time of the epoch, if there is one."""
    return [now for (now,), count in clock.items() if count > 0]  # type: ignore[misc]


def _during(rows: Bag, since: int | None, until: int | None, shown: list[int]) -> Bag:
    """The rows whose moments lie around the time; a moment that is not known is none."""

    def is_there(row: Row) -> bool:
        has_come = since is None or row[since] is None or any(row[since] <= now for now in shown)  # type: ignore
        has_gone = until is not None and row[until] is not None and any(row[until] <= now for now in shown)  # type: ignore
        return has_come and not has_gone

    return Counter({row: count for row, count in rows.items() if is_there(row)})
