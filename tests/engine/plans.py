"""Random plans without expressions: joins, reduces, thresholds, top-k and loops, nested up to three deep."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from engine.plan.expressions import ColumnRef
from engine.plan.group_queries import GroupQuery
from engine.plan.list_elements import Elements, Unnest
from engine.plan.multijoins import multi_join
from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Constant,
    Entry,
    FlatMap,
    Function,
    GroupBy,
    Join,
    LoopBinding,
    Negate,
    Node,
    OnLimit,
    Ordering,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Variable,
    project,
)
from engine.plan.window_functions import ENDS, PLACES, Window, Windowed, WindowFunction
from engine.schema import BIGINT, Schema
from tests.engine.harness import schema, source

SOURCES = (source("s0", 1), source("s1", 2), source("s2", 2))
MOST_DEPTH = 3


GROUP_QUERIES = (
    "SELECT g, quantile_disc(c0, 0.5) FROM groups GROUP BY g",
    "SELECT g, max(c0) - min(c0) FROM groups GROUP BY g HAVING count(*) > 1",
    "SELECT g, c0 FROM groups QUALIFY row_number() OVER (PARTITION BY g ORDER BY c0) BETWEEN 2 AND 3",
)


def widest(key: tuple, rows: list) -> list:
    """A function of groups that sees negative counts too: how many values there are, once or twice."""
    return [((len(rows) % 4,), 1 + (rows[-1][0][0] or 0) % 2)]


def up_to_three(*row: int) -> list:
    """A function of rows that gives none, one or two."""
    first = row[0] or 0
    return [(value, *row[1:]) for value in range(first // 2, min(first, 2))]


@dataclass
class PlanMaker:
    """Makes plans of a given width; `budget` bounds their height."""

    rng: random.Random
    _names: int = field(default=0)

    def plan(self, width: int, budget: int, variables: tuple[Variable, ...] = (), depth: int = 0) -> Node:
        if budget <= 0 or self.rng.random() < 0.15:
            return self._leaf(width, variables)
        makers = [
            self._join,
            self._join,
            self._multijoin,
            self._concat,
            self._difference,
            self._distinct,
            self._top,
            self._nearest,
        ]
        if width == 2:
            makers += [self._reduce, self._group_query if self.rng.random() < 0.2 else self._group_by]
            makers.append(self._window)
        makers += [self._flat_map, self._unnest]
        if depth < MOST_DEPTH:
            makers += [self._loop, self._loop]
        return self.rng.choice(makers)(width, budget, variables, depth)

    def _leaf(self, width: int, variables: tuple[Variable, ...]) -> Node:
        node = self.rng.choice(SOURCES + variables)
        return self._columns(node, width)

    def _columns(self, node: Node, width: int) -> Node:
        """Some columns of `node`, perhaps one of them twice."""
        return project(node, tuple(self.rng.randrange(len(node.schema)) for _ in range(width)))

    def _join(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        left, right = self.rng.choice((1, 2)), self.rng.choice((1, 2))
        join = Join(
            self.plan(left, budget - 1, variables, depth),
            self.plan(right, budget - 2, variables, depth),
            (self.rng.randrange(left),),
            (self.rng.randrange(right),),
        )
        return self._columns(join, width)

    def _multijoin(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        parts = [
            self.plan(self.rng.choice((1, 2)), budget - self.rng.choice((2, 3, 5)), variables, depth)
            for _ in range(self.rng.choice((2, 3, 3, 4)))
        ]
        places = [(i, c) for i, part in enumerate(parts) for c in range(len(part.schema))]
        classes = [self.rng.sample(places, 2) for _ in range(self.rng.randint(1, len(parts)))]
        return self._columns(multi_join(parts, classes), width)

    def _concat(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        return Concat(tuple(self.plan(width, budget - 1, variables, depth) for _ in range(2)))

    def _difference(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        left, right = (self.plan(width, budget - 1, variables, depth) for _ in range(2))
        return Threshold(Concat((left, Negate(right))), self.rng.choice(list(Clamp)))

    def _distinct(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        return Threshold(self.plan(width, budget - 1, variables, depth), Clamp.DISTINCT)

    def _top(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        columns = list(range(width))
        order = tuple(
            Ordering(c, self.rng.random() < 0.5, self.rng.random() < 0.5)
            for c in self.rng.sample(columns, self.rng.randint(0, width))
        )
        keys = tuple(self.rng.sample(columns, self.rng.randint(0, width)))
        limit = self.rng.choice((None, 1, 1, 2, 3))
        return TopK(
            self.plan(width, budget - 1, variables, depth), keys, order, limit, self.rng.choice((0, 0, 1, 2))
        )

    def _nearest(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        left, right = self.rng.choice((1, 2)), self.rng.choice((1, 2, 2))
        keys = self.rng.choice((0, 1, 1))
        order = tuple(
            Ordering(c, self.rng.random() < 0.5, bool(i) and self.rng.random() < 0.5)
            for i, c in enumerate(self.rng.sample(range(right), self.rng.randint(1, right)))
        )
        join = NearestJoin(
            self.plan(left, budget - 1, variables, depth),
            self.plan(right, budget - 2, variables, depth),
            tuple(self.rng.randrange(left) for _ in range(keys)),
            tuple(self.rng.randrange(right) for _ in range(keys)),
            self.rng.randrange(left),
            order,
            self.rng.random() < 0.5,
            self.rng.random() < 0.5,
        )
        return self._columns(join, width)

    def _reduce(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        functions = [Function.COUNT, Function.MIN, Function.MAX]
        if not depth:
            functions.append(Function.SUM)  # in a loop it may have no fixed point
        chosen = self.rng.sample(functions, 1 if depth else self.rng.choice((1, 2)))
        aggregates = tuple(AggregateSpec(f, None if f is Function.COUNT else 1, BIGINT) for f in chosen)
        reduce = Reduce(self.plan(2, budget - 1, variables, depth), (0,), aggregates)
        return project(reduce, (0, len(aggregates)))

    def _window(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        """A column and a window function; in a loop one whose values are bounded."""
        functions = [f for f in WindowFunction if f is not WindowFunction.AVG]
        if depth:
            functions.remove(WindowFunction.SUM)
        order = tuple(
            Ordering(c, self.rng.random() < 0.5, self.rng.random() < 0.5)
            for c in self.rng.sample((0, 1), self.rng.choice((0, 1, 1, 2)))
        )
        keys = self.rng.choice(((), (0,), (0,), (1,)))
        peers = self.rng.randint(0, len(order))
        has_distances = peers == 1 and order[0].column not in keys
        made = tuple(
            self._windowed(self.rng.choice(functions), has_distances)
            for _ in range(self.rng.choice((1, 1, 2)))
        )
        window = Window(self.plan(2, budget - 1, variables, depth), keys, order, peers, made)
        return project(window, (self.rng.randrange(2), self.rng.randrange(2, len(window.schema))))

    def _windowed(self, function: WindowFunction, has_distances: bool) -> Windowed:
        if function in PLACES:
            return Windowed(function, None, BIGINT)
        start, end = sorted(self.rng.choices((-2, -1, 0, 1, 2), k=2))
        if function is WindowFunction.VALUE:
            return Windowed(function, 1, BIGINT, start, start, default=self.rng.choice((None, 3)))
        if function in ENDS:
            return Windowed(function, 1, BIGINT, start, end)
        if has_distances and self.rng.random() < 0.5:
            return Windowed(function, self.rng.randrange(2), BIGINT, distances=(start, end))
        if self.rng.random() < 0.4:
            return Windowed(function, self.rng.randrange(2), BIGINT, peers=True)
        return Windowed(function, 1, BIGINT, self.rng.choice((None, start)), end)

    def _group_by(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        return GroupBy(self.plan(2, budget - 1, variables, depth), (0,), widest, schema(1))

    def _group_query(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        query = self.rng.choice(GROUP_QUERIES)
        return GroupQuery(self.plan(2, budget - 1, variables, depth), (0,), query, schema(1))

    def _flat_map(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        return FlatMap(self.plan(width, budget - 1, variables, depth), up_to_three, schema(width))

    def _unnest(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        """The numbers between two columns; in a loop without their places, which could grow for ever."""
        ends = self.plan(2, budget - 1, variables, depth)
        stepped = Join(ends, Constant(((1,),), schema(1)), (), ())
        elements = Elements((0, 1, 2), self.rng.random() < 0.3)
        unnest = Unnest(stepped, (elements,), not depth and self.rng.random() < 0.5, self.rng.random() < 0.2)
        return self._columns(unnest, width)

    def _loop(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        bound = tuple(
            self._variable(w) for w in [width, *self.rng.choices((1, 2), k=self.rng.choice((0, 0, 1)))]
        )
        entered = tuple(self._variable(2) for _ in range(self.rng.choice((0, 0, 0, 1))))
        entries = tuple(
            Entry(v.name, self.plan(2, budget - 2, variables, depth), ColumnRef(1, BIGINT)) for v in entered
        )
        bindings = tuple(
            LoopBinding(
                variable.name,
                self._body(variable, budget, variables + bound + entered, depth + 1),
                self._initial(variable, budget, variables, depth),
            )
            for variable in bound
        )
        limit = self.rng.choice((None, None, 1, 2, 3))
        on_limit = OnLimit.RETURN if limit else OnLimit.ERROR
        return Recursive(bindings, bound[0].name, limit, on_limit, entries)

    def _initial(
        self, variable: Variable, budget: int, variables: tuple[Variable, ...], depth: int
    ) -> Node | None:
        if self.rng.random() < 0.6:
            return None
        return self.plan(len(variable.schema), budget - 2, variables, depth)

    def _variable(self, width: int) -> Variable:
        """It may hold NULLs: the lists of what it is set to may be empty."""
        self._names += 1
        columns = tuple(replace(column, nullable=True) for column in schema(width).columns)
        return Variable(f"v{self._names}", Schema(columns))

    def _body(self, variable: Variable, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        width = len(variable.schema)
        parts = tuple(self.plan(width, budget - 2, variables, depth) for _ in range(2))
        return Threshold(Concat(parts), Clamp.DISTINCT)
