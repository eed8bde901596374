"""Turns: the order in which operators run, and which of them a change reaches.

Operators run inputs first. An operator takes a turn only if it has changes of its own or reads an operator
that has: work follows the change, however many other operators there are. An arrangement of what another
operator makes runs right after it, so that a large delta soon has its last reader; what a source emits stays
with the advance anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from engine.operators.arrangement import Arrangement, SumsArrangement
from engine.operators.equijoin import JoinOperator
from engine.operators.linear import FilterOperator, InputOperator, LinearOperator
from engine.operators.operator import Operator
from engine.operators.temporal import TemporalOperator, TodayOperator


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """An operator's place in the order.

    `readers` are the places of the operators that read it. `last_reads` are the operators whose deltas and
    batches nobody reads after this turn.
    """

    operator: Operator
    readers: tuple[int, ...]
    last_reads: tuple[Operator, ...]


class OperatorTurns:
    """The turns of operators that are given in an order in which they run."""

    def __init__(self, operators: Iterable[Operator]) -> None:
        operators = _arranged_early(operators)
        self.operators = tuple(operators)
        """The operators by place."""
        parts = [part for operator in operators for part in operator.parts()]
        self.timed = [part for part in parts if isinstance(part, TemporalOperator | TodayOperator)]
        """The operators, those in loops too, whose output changes as time passes."""
        self.pair_changes = any(part.pairs_changes for part in parts)
        """Whether one of them costs more at many epochs together than at a few after a few others."""
        self._places = {operator: place for place, operator in enumerate(operators)}
        readers: dict[Operator, list[int]] = {operator: [] for operator in self._places}
        for operator, place in self._places.items():
            for source in dict.fromkeys(operator.inputs):
                readers[source].append(place)
        self.readers = tuple(tuple(places) for places in readers.values())
        """The places of the operators that read each of them."""
        read_at: dict[Operator, int] = {}
        done: dict[int, list[Operator]] = {}
        for operator in reversed(operators):
            its = [operators[place] for place in readers[operator]]
            operator.wanted = _wanted([reader.reads for reader in its])
            last = max((read_at[reader] for reader in its), default=self._places[operator])
            done.setdefault(last, []).append(operator)
            read_at[operator] = last if _leaves_rows(operator, its) else self._places[operator]
        self._turns = tuple(
            Turn(operator, tuple(readers[operator]), tuple(done.get(place, ())))
            for operator, place in self._places.items()
        )

    def reached(self, changed: Iterable[Operator]) -> Iterator[Turn]:
        """The turns of the changed operators, and of all that their changes reach. Run each before you ask
        for the next."""
        waiting = sorted({self._places[operator] for operator in changed})
        known = set(waiting)
        while waiting:
            turn = self._turns[heappop(waiting)]
            yield turn
            for reader in turn.readers if turn.operator.has_changes else ():
                if reader not in known:
                    known.add(reader)
                    heappush(waiting, reader)


def _arranged_early(operators: Iterable[Operator]) -> list[Operator]:
    """The operators, inputs first, with arrangements right after what they arrange."""
    early: dict[Operator, list[Operator]] = {}
    others = []
    for operator in operators:
        if isinstance(operator, Arrangement) and _is_passing(operator.inputs[0]):
            early.setdefault(operator.inputs[0], []).append(operator)
        else:
            others.append(operator)
    return [it for operator in others for it in (operator, *early.get(operator, ()))]


def _is_passing(operator: Operator) -> bool:
    """Whether an operator's deltas are there only until all have read them."""
    return not isinstance(operator, InputOperator | Arrangement)


def _pulls(reader: Operator) -> bool:
    """Whether a reader asks for pieces of what is large."""
    return isinstance(reader, SumsArrangement) or (isinstance(reader, LinearOperator) and reader.is_pulled)


def _leaves_rows(operator: Operator, readers: Sequence[Operator]) -> bool:
    """Whether an operator leaves its large deltas to its readers, so that they read what it reads. Tells it
    so."""
    is_marking = False
    if isinstance(operator, FilterOperator):
        is_marking = bool(readers) and isinstance(operator.inputs[0], InputOperator)
        is_marking = operator.is_marking = is_marking and all(map(_takes_kept, readers))
    if isinstance(operator, LinearOperator | JoinOperator):
        operator.is_pulled = not is_marking and len(readers) == 1 and _pulls(readers[0])
    return is_marking or operator.is_pulled


def _takes_kept(reader: Operator) -> bool:
    """Whether a reader passes over rows that are not kept."""
    return isinstance(reader, Arrangement) and reader.takes_kept


def _wanted(by_reader: list[frozenset[int] | None]) -> frozenset[int] | None:
    """The words that some readers read, None for all; nobody knows who looks at what has no readers."""
    known = [words for words in by_reader if words is not None]
    return frozenset().union(*known) if known and len(known) == len(by_reader) else None
