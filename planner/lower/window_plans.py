"""Window functions: the engine's Window where possible, else combinations of other operators.

| function | becomes |
|---|---|
| row_number, rank; lag and lead by a constant; frames of ROWS, or RANGE from the first row | Window |
| frames of RANGE between distances | Window |
| frames that end with the last row | Window in the reverse order |
| aggregates of the whole partition, or of the peers | Aggregate, joined to the rows |
| first_value and last_value of these | TopK, joined to the rows |
| dense_rank | Window over the distinct values of the order, joined to the rows |
| percent_rank, cume_dist, ntile | expressions over some of these |
| any other | GroupQuery, a query over the partition |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from engine.plan.expressions import ColumnRef, Literal
from engine.plan.nodes import Function, Ordering, TopK
from engine.plan.nodes import Join as EngineJoin
from engine.plan.window_functions import PLACES, Windowed, WindowFunction
from engine.plan.window_functions import Window as EngineWindow
from engine.schema import BIGINT, Type
from planner import ir
from planner.ir.window_items import CURRENT, END, START
from planner.lower.aggregate import lower_aggregate
from planner.lower.distances import Distances, distances
from planner.lower.lowered import Lowered, distinct, projected, taken
from planner.lower.partition_queries import asked
from planner.lower.place_expressions import cumulative, percentage, tile
from planner.lower.time_filters import mapped_over_time

_AGGREGATES = {
    Function.COUNT: WindowFunction.COUNT,
    Function.SUM: WindowFunction.SUM,
    Function.AVG: WindowFunction.AVG,
    Function.MIN: WindowFunction.MIN,
    Function.MAX: WindowFunction.MAX,
}
_COUNT = Windowed(WindowFunction.COUNT, None, BIGINT)
Ids = tuple[int, ...]


def lower_window(window: ir.Over, input: Lowered) -> Lowered:
    return _Lowering(window, input).lowered()


@dataclass
class _Lowering:
    """Finds the engine functions that the items need, then combines their columns.

    Intermediate columns have negative numbers, which no attribute has.
    """

    window: ir.Over
    input: Lowered
    forward: dict[Windowed, ColumnRef] = field(default_factory=dict)
    backward: dict[Windowed, ColumnRef] = field(default_factory=dict)
    aggregates: dict[tuple[Ids, ir.AggregateItem], ColumnRef] = field(default_factory=dict)
    ends: dict[tuple[Ids, bool, int], ColumnRef] = field(default_factory=dict)
    dense: ColumnRef | None = None
    asked: list[ir.WindowItem] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(-2, -(2**31), -1)))

    def lowered(self) -> Lowered:
        values = [(item.attribute.id, self._value(item)) for item in self.window.items]
        rows = _windowed(self.window, self.input, self.forward, turned=False)
        rows = _windowed(self.window, rows, self.backward, turned=True)
        for by in dict.fromkeys(by for by, _ in self.aggregates):
            rows = self._with_aggregates(rows, by)
        for by, is_last in dict.fromkeys((by, is_last) for by, is_last, _ in self.ends):
            rows = self._with_ends(rows, by, is_last)
        if self.dense is not None:
            rows = self._with_dense(rows, self.dense)
        if self.asked:
            rows = asked(self.window, rows, self.asked)
        handed_on = [(c.id, c.ref) for c in self.window.input.columns if c.id in self.input.ids]
        return mapped_over_time(rows, [*handed_on, *values])

    # The functions of an item

    @property
    def keys(self) -> Ids:
        return tuple(dict.fromkeys(self.window.keys))

    @property
    def peers(self) -> Ids:
        """The columns in which peers agree."""
        return tuple(dict.fromkeys((*self.keys, *(ordering.column for ordering in self.window.order))))

    def _value(self, item: ir.WindowItem) -> ir.Expression:
        if item.frame.varying:
            return self._asked(item)
        if isinstance(item.function, Function | ir.GeneralAggregate):
            return self._aggregate(item)
        number = Windowed(WindowFunction.ROW_NUMBER, None, BIGINT)
        rank = Windowed(WindowFunction.RANK, None, BIGINT)
        match item.function:
            case ir.PlaceFunction.ROW_NUMBER:
                return self._placed(number)
            case ir.PlaceFunction.RANK:
                return self._placed(rank)
            case ir.PlaceFunction.DENSE_RANK:
                self.dense = self.dense or self._new(BIGINT)
                return self.dense
            case ir.PlaceFunction.PERCENT_RANK:
                return percentage(self._placed(rank), self._size())
            case ir.PlaceFunction.CUME_DIST:
                return cumulative(self._placed(replace(_COUNT, peers=True)), self._size())
            case ir.PlaceFunction.NTILE if isinstance(item.arguments[0], Literal):
                return tile(self._placed(number), self._size(), item.arguments[0])
            case ir.PlaceFunction.LAG | ir.PlaceFunction.LEAD:
                return self._shifted(item)
            case ir.PlaceFunction.FIRST_VALUE | ir.PlaceFunction.LAST_VALUE:
                return self._end(item)
        return self._asked(item)

    def _size(self) -> ColumnRef:
        """The number of rows in the partition."""
        return self._grouped(self.keys, Function.COUNT, (), BIGINT)

    def _aggregate(self, item: ir.WindowItem) -> ir.Expression:
        arguments = tuple(argument for argument in item.arguments if isinstance(argument, int))
        if isinstance(item.function, ir.PlaceFunction) or len(arguments) < len(item.arguments):
            return self._asked(item)
        by = self._group(item.frame)
        if by is not None:
            return self._grouped(by, item.function, arguments, item.attribute.type, item.distinct)
        if item.distinct or item.frame.exclude or isinstance(item.function, ir.GeneralAggregate):
            return self._asked(item)
        position = self.input.position(arguments[0]) if arguments else None
        function = Windowed(_AGGREGATES[item.function], position, item.attribute.type)
        start, end = item.frame.start, item.frame.end
        if item.frame.unit is ir.Unit.ROWS:
            if start == START and end.place is not None:
                return self._placed(replace(function, end=end.place))
            if start.place is not None and end == END:
                return self._placed(replace(function, end=-start.place), turned=True)
            if start.place is not None and end.place is not None:
                return self._placed(replace(function, start=start.place, end=end.place))
        if (start, end) == (START, CURRENT):
            return self._placed(replace(function, peers=True))
        if (start, end) == (CURRENT, END):
            return self._placed(replace(function, peers=True), turned=True)
        near = self._distances(item.frame, position)
        return self._asked(item) if near is None else self._placed(replace(function, distances=near))

    def _distances(self, frame: ir.Frame, argument: int | None) -> Distances | None:
        """A frame of RANGE by distances, which the engine takes unless the argument may be a wide number."""
        types = self.input.node.schema.types
        is_wide = argument is not None and types[argument].may_be_wide
        if frame.unit is not ir.Unit.RANGE or len(self.window.order) != 1 or is_wide:
            return None
        by = self.window.order[0].column
        return None if by in self.keys else distances(frame, types[self.input.position(by)])

    def _group(self, frame: ir.Frame) -> Ids | None:
        """The columns that tell the frame's rows from all others, or None."""
        if frame.is_all:
            return self.keys
        are_peers = (frame.start, frame.end) == (CURRENT, CURRENT) and frame.unit is not ir.Unit.ROWS
        return self.peers if are_peers and not frame.exclude else None

    def _shifted(self, item: ir.WindowItem) -> ir.Expression:
        column, offset, *default = item.arguments
        constants = [a for a in (offset, *default) if isinstance(a, Literal)]
        if item.ignores_nulls or len(constants) < 1 + len(default) or not isinstance(constants[0].value, int):
            return self._asked(item)
        distance = constants[0].value if item.function is ir.PlaceFunction.LEAD else -constants[0].value
        given = constants[1].value if default else None
        return self._of_row(item, column, WindowFunction.VALUE, distance, distance, given)

    def _end(self, item: ir.WindowItem) -> ir.Expression:
        """The first or last value of a frame that certainly contains the current row, or of a bounded
        frame."""
        frame, column = item.frame, item.arguments[0]
        is_last = item.function is ir.PlaceFunction.LAST_VALUE
        near, far = (frame.end, frame.start) if is_last else (frame.start, frame.end)
        if item.ignores_nulls or frame.exclude or not isinstance(column, int):
            return self._asked(item)
        reached = far == (START if is_last else END) or far == CURRENT
        reached = reached or (far.place is not None and (far.place <= 0 if is_last else far.place >= 0))
        if reached and near == (END if is_last else START):
            return self._of_group(self.keys, is_last, column, item.attribute.type)
        if reached and near == CURRENT and frame.unit is not ir.Unit.ROWS:
            return self._of_group(self.peers, is_last, column, item.attribute.type)
        if frame.unit is not ir.Unit.ROWS or near.place is None:
            return self._asked(item)
        if far.place is not None:
            function = WindowFunction.LAST if is_last else WindowFunction.FIRST
            places = (far.place, near.place) if is_last else (near.place, far.place)
            return self._of_row(item, column, function, *places)
        if near.place <= 0 if not is_last else near.place >= 0:
            function = WindowFunction.LAST if is_last else WindowFunction.FIRST
            places = (0, near.place) if is_last else (near.place, 0)
            return self._of_row(item, column, function, *places)
        return self._of_row(item, column, WindowFunction.VALUE, near.place, near.place)

    # The engine's functions

    def _new(self, type: Type) -> ColumnRef:
        return ColumnRef(next(self.numbers), type)

    def _placed(self, function: Windowed, turned: bool = False) -> ColumnRef:
        functions = self.backward if turned else self.forward
        return functions.setdefault(function, self._new(function.type))

    def _of_row(
        self,
        item: ir.WindowItem,
        column: object,
        function: WindowFunction,
        start: int,
        end: int,
        default: object = None,
    ) -> ColumnRef:
        position = self.input.position(column)  # type: ignore[arg-type]
        return self._placed(Windowed(function, position, item.attribute.type, start, end, False, default))

    def _asked(self, item: ir.WindowItem) -> ColumnRef:
        """The item's own column, computed by a query over the partition."""
        self.asked.append(item)
        return item.attribute.ref

    def _grouped(
        self,
        by: Ids,
        function: Function | ir.GeneralAggregate,
        arguments: Ids,
        type: Type,
        distinct: bool = False,
    ) -> ColumnRef:
        item = ir.AggregateItem(
            ir.Attribute(0, ir.function_name(function), type), function, arguments, distinct
        )
        return self.aggregates.setdefault((by, item), self._new(type))

    def _of_group(self, by: Ids, is_last: bool, column: int, type: Type) -> ColumnRef:
        return self.ends.setdefault((by, is_last, column), self._new(type))

    # The rows with these columns

    def _with_aggregates(self, rows: Lowered, by: Ids) -> Lowered:
        found = [(item, ref) for (group, item), ref in self.aggregates.items() if group == by]
        items = tuple(replace(item, attribute=replace(item.attribute, id=ref.index)) for item, ref in found)
        return _joined(rows, lower_aggregate(ir.Aggregate(self.window.input, by, items), self.input), by)

    def _with_ends(self, rows: Lowered, by: Ids, is_last: bool) -> Lowered:
        names = {
            column: ref.index for (b, last, column), ref in self.ends.items() if (b, last) == (by, is_last)
        }
        used = (*by, *(o.column for o in self.window.order), *self.window.ties, *names)
        input = projected(self.input, tuple(dict.fromkeys(used)))
        order = _order(self.window, input, ties=True, turned=is_last)
        first = replace(input, node=TopK(input.node, input.positions(by), order, 1))
        ends = taken(first, input.positions((*by, *names)))
        return _joined(rows, replace(ends, ids=(*by, *names.values())), by)

    def _with_dense(self, rows: Lowered, dense: ColumnRef) -> Lowered:
        peers = replace(self.window, input=self.window.input, ties=())
        groups = distinct(projected(self.input, self.peers))
        number = {Windowed(WindowFunction.ROW_NUMBER, None, BIGINT): dense}
        return _joined(rows, _windowed(peers, groups, number, turned=False), self.peers)


def _windowed(
    window: ir.Over, rows: Lowered, functions: Mapping[Windowed, ColumnRef], turned: bool
) -> Lowered:
    """The rows with the columns of the functions, in the window's order or its reverse."""
    if not functions:
        return rows
    ties = any(
        f.function is WindowFunction.ROW_NUMBER or not (f.peers or f.distances or f.function in PLACES)
        for f in functions
    )
    order = _order(window, rows, ties, turned)
    node = EngineWindow(
        rows.node, rows.positions(dict.fromkeys(window.keys)), order, len(window.order), tuple(functions)
    )
    nullable = tuple(column.nullable for column in node.schema.columns[len(rows.ids) :])
    ids = (*rows.ids, *(ref.index for ref in functions.values()))
    return Lowered(node, ids, rows.nullable + nullable, rows.key)


def _order(window: ir.Over, rows: Lowered, ties: bool, turned: bool) -> tuple[Ordering, ...]:
    order = [*window.order, *(Ordering(id) for id in window.ties if ties)]
    return tuple(Ordering(rows.position(c), down != turned, first != turned) for c, down, first in order)


def _joined(rows: Lowered, groups: Lowered, by: Ids) -> Lowered:
    """Each row with the columns of its group, whose columns begin with `by`."""
    node = EngineJoin(rows.node, groups.node, rows.positions(by), groups.positions(by))
    kept = [i for i, id in enumerate(groups.ids) if id not in by]
    both = Lowered(node, rows.ids + groups.ids, rows.nullable + groups.nullable, rows.key)
    return taken(both, (*range(len(rows.ids)), *(len(rows.ids) + i for i in kept)))
