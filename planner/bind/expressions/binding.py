"""What binds the expressions of one clause, as the functions of single kinds of expressions see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sqlglot import exp

from engine.plan.expressions import Op
from planner.bind.aggregate_uses import Collector
from planner.bind.lists import SelectLists
from planner.bind.name_scope import NameScope
from planner.bind.session import Bound, Session
from planner.bind.window_uses import WindowUses
from planner.ir import Expression


class Binding(Protocol):
    """`collector`, `windows` and `lists` take what the clause allows, None for what it does not."""

    session: Session
    scope: NameScope
    clause: str
    collector: Collector | None
    windows: WindowUses | None
    lists: SelectLists | None

    def bind(self, node: exp.Expression) -> Expression: ...

    def predicate(self, node: exp.Expression) -> Expression: ...

    def within(
        self, clause: str, collector: Collector | None = None, windows: WindowUses | None = None
    ) -> Binding:
        """The same over the same scope for a clause inside of this one."""
        ...

    def function(self, node: exp.Expression, known: Mapping[int, Expression] | None = None) -> Expression: ...

    def compared(self, op: Op, left: Expression, right: Expression) -> Expression: ...

    def query(self, node: exp.Expression) -> Bound: ...

    def row(self, node: exp.Expression) -> list[Expression]: ...
