"""A text of an operator's form that is independent of the names and numbers of its columns.

It gives the relations of a join an order that does not depend on how the query is written. Equal operators
have equal texts; different operators may share one.
"""

from __future__ import annotations

from planner.ir import Aggregate, Project, Relational, Selection, TableScan, ThetaJoin, Values
from planner.ir.scalar_text import ScalarText, aggregate_text
from planner.ir.scalars import conjuncts


def signature(operator: Relational) -> str:
    """Scans by relation and position, operators by kind and inputs, and their expressions over those."""
    return _Signature().of(operator)


class _Signature:
    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.count = 0
        self.text = ScalarText(lambda id: self.names.get(id, "?"))

    def of(self, operator: Relational) -> str:
        inputs = ", ".join(self.of(i) for i in operator.inputs)
        written = [self.text(e) for e in operator.expressions]
        self._name(operator)
        match operator:
            case TableScan(name=name):
                return name
            case Values(rows=rows):
                written = [repr(row) for row in rows]
            case Selection(predicate=predicate):
                written = sorted(self.text(part) for part in conjuncts(predicate))
            case ThetaJoin(kind=kind, condition=condition):
                written = [kind.value, *sorted(self.text(part) for part in conjuncts(condition))]
            case Project():
                written.sort()
            case Aggregate(keys=keys, items=items):
                written = sorted(self.names.get(key, "?") for key in keys)
                written += sorted(
                    aggregate_text(item, [self.names.get(a, "?") for a in item.arguments]) for item in items
                )
        return f"{type(operator).__name__}({'; '.join((inputs, *written))})"

    def _name(self, operator: Relational) -> None:
        """Name the columns that the operator produces."""
        self.count += 1
        places = operator.positions if isinstance(operator, TableScan) else range(len(operator.columns))
        for column, place in zip(operator.columns, places, strict=True):
            self.names.setdefault(column.id, f"{self.count}.{place}")
