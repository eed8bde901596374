"""The planner's relational language: frozen operators over bags of rows, columns known by number.

Every column that an operator brings forth is an `Attribute` with a number of its own, so an
expression means the same wherever it stands: `ColumnRef.index` is an attribute's number here
(not a position, as in the engine). An operator may refer to numbers that none of its inputs
brings forth: they are an outer query's columns, and it is *correlated* (`free`).

Scalar expressions are the engine's, and three that hold a query: `Exists`, `Some` and
`ScalarSubquery`. The decorrelation pass removes them and every `free` reference. `Now` and `Reached` are
about the time of the epoch.

A `Program` is a root over numbered definitions, which `SharedRef` refers to: a query that is
used more than once is planned once. A definition may refer to earlier ones only.

Operators are checked when they are built. Nothing here knows SQL text or the engine's plans.
"""

from planner.ir.aggregates import (
    AggregateFunction,
    AggregateItem,
    First,
    General,
    name_of,
    nothing_of,
)
from planner.ir.algebra import (
    UNIT,
    Aggregate,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Project,
    Scan,
    SetKind,
    SetOp,
    Values,
    padded,
)
from planner.ir.core import (
    Attribute,
    Exists,
    Expression,
    Item,
    Now,
    Operator,
    Reached,
    Renaming,
    ScalarSubquery,
    Some,
    Subquery,
    children,
    references,
    subqueries,
)
from planner.ir.orders import Top
from planner.ir.programs import Binding, Context, Fixpoint, Prioritized, Program, RecursiveRef, SharedRef
from planner.ir.unnested import Elements, Unnest
from planner.ir.window_items import Edge, Frame, Places, Side, Unit, Window, WindowItem

__all__ = [
    "UNIT",
    "Aggregate",
    "AggregateFunction",
    "AggregateItem",
    "Attribute",
    "Binding",
    "Context",
    "Distinct",
    "Edge",
    "Elements",
    "Exists",
    "Expression",
    "Filter",
    "First",
    "Fixpoint",
    "Frame",
    "General",
    "Item",
    "Join",
    "JoinKind",
    "Now",
    "Operator",
    "Places",
    "Prioritized",
    "Program",
    "Project",
    "Reached",
    "RecursiveRef",
    "Renaming",
    "ScalarSubquery",
    "Scan",
    "SetKind",
    "SetOp",
    "SharedRef",
    "Side",
    "Some",
    "Subquery",
    "Top",
    "Unit",
    "Unnest",
    "Values",
    "Window",
    "WindowItem",
    "children",
    "name_of",
    "nothing_of",
    "padded",
    "references",
    "subqueries",
]
