"""The planner's relational language: frozen operators over bags of rows, with columns known by number.

Every column that an operator produces is an `Attribute` with its own number, so an expression means the same
everywhere: `ColumnRef.index` is an attribute's number here (not a position, as in the engine). An operator
may refer to numbers that none of its inputs produces: these are an outer query's columns, and the operator is
*correlated* (`free`).

Scalar expressions are the engine's, and three that hold a query: `Exists`, `Some` and `ScalarSubquery`. The
decorrelation pass removes them and every `free` reference. `Now` and `Reached` depend on the time of the
epoch.

A `RelationalProgram` is a root over numbered definitions, which `SharedRef` refers to: a query that is used
more than once is planned once. A definition may refer to earlier definitions only.

Operators are checked when they are built. Nothing here knows SQL text or the engine's plans.
"""

from planner.ir.aggregates import (
    AggregateFunction,
    AggregateItem,
    First,
    GeneralAggregate,
    function_name,
    nothing_of,
)
from planner.ir.algebra import (
    UNIT,
    Aggregate,
    Distinct,
    JoinKind,
    Project,
    Selection,
    SetKind,
    SetOp,
    TableScan,
    ThetaJoin,
    Values,
    as_nullable,
)
from planner.ir.core import (
    Attribute,
    Exists,
    Expression,
    Item,
    Now,
    Reached,
    Relational,
    Renaming,
    ScalarSubquery,
    Some,
    Subquery,
    children,
    references,
    subqueries,
)
from planner.ir.orders import Nearest, Top
from planner.ir.programs import (
    Context,
    Fixpoint,
    Prioritized,
    RecursiveBinding,
    RecursiveRef,
    RelationalProgram,
    SharedRef,
)
from planner.ir.unnested import UnnestedList, UnnestLists
from planner.ir.window_items import Edge, Frame, FrameSide, Over, PlaceFunction, Unit, WindowItem

__all__ = [
    "UNIT",
    "Aggregate",
    "AggregateFunction",
    "AggregateItem",
    "Attribute",
    "Context",
    "Distinct",
    "Edge",
    "Exists",
    "Expression",
    "First",
    "Fixpoint",
    "Frame",
    "FrameSide",
    "GeneralAggregate",
    "Item",
    "JoinKind",
    "Nearest",
    "Now",
    "Over",
    "PlaceFunction",
    "Prioritized",
    "Project",
    "Reached",
    "RecursiveBinding",
    "RecursiveRef",
    "Relational",
    "RelationalProgram",
    "Renaming",
    "ScalarSubquery",
    "Selection",
    "SetKind",
    "SetOp",
    "SharedRef",
    "Some",
    "Subquery",
    "TableScan",
    "ThetaJoin",
    "Top",
    "Unit",
    "UnnestLists",
    "UnnestedList",
    "Values",
    "WindowItem",
    "as_nullable",
    "children",
    "function_name",
    "nothing_of",
    "references",
    "subqueries",
]
