"""A program of the relational IR as a listing.

A column is named `step.name` after the step that produces it, wherever it is used; a number tells two columns
of one name in one step apart.
"""

from __future__ import annotations

from collections import Counter

from engine.plan.expressions import Literal
from engine.plan.nodes import Function, OnLimit, Ordering
from engine.schema import Column
from planner import ir
from planner.explain.list_texts import elements_text
from planner.explain.listing import Listing, ListingStep
from planner.explain.ordering import nearest_details, partition_details, top_details
from planner.ir.scalar_text import ScalarText, aggregate_text, shown_literal
from planner.ir.scalars import conjuncts


def relational_listing(stage: str, program: ir.RelationalProgram) -> Listing:
    return _Walk(stage, program).listing()


class _Walk:
    """Names steps and columns in the order of the walk, inputs first."""

    def __init__(self, stage: str, program: ir.RelationalProgram) -> None:
        self.stage = stage
        self.program = program
        self.steps: list[ListingStep] = []
        self.seen: dict[int, str] = {}
        self.kept: list[ir.Relational] = []
        self.columns: dict[int, str] = {}
        self.variables: dict[int, str] = {}
        self.text = ScalarText(lambda id: self.columns.get(id, f"?{id}"), self._visit)

    def listing(self) -> Listing:
        root = self._visit(self.program.root)
        outputs = [f"{c.name} := {self.columns[c.id]}" for c in self.program.outputs]
        name = self._add("output", outputs, (root,), self.program.outputs)
        return Listing(self.stage, tuple(self.steps), name)

    def _visit(self, operator: ir.Relational) -> str:
        """The step of an operator; the same object is one step."""
        if id(operator) in self.seen:
            return self.seen[id(operator)]
        self.kept.append(operator)
        if isinstance(operator, ir.SharedRef):
            name = self._shared(operator)
        elif isinstance(operator, ir.Fixpoint):
            name = self._fixpoint(operator)
        else:
            name = self._operator(operator)
        self.seen[id(operator)] = name
        return name

    def _operator(self, operator: ir.Relational) -> str:
        inputs = tuple(self._visit(i) for i in operator.inputs)
        self._ask(operator.expressions)
        self._name([column for column in operator.columns if column.id not in self.columns])
        title, details = self._described(operator)
        return self._add(title, details, inputs, operator.columns)

    def _described(self, operator: ir.Relational) -> tuple[str, list[str]]:
        match operator:
            case ir.TableScan(name=name):
                return f"scan {name}", []
            case ir.Values(rows=rows, columns=columns):
                return "values", [
                    ", ".join(shown_literal(Literal(v, c.type)) for v, c in zip(row, columns, strict=True))
                    for row in rows
                ]
            case ir.Project(items=items):
                return "project", [self._assigned(a, self.text(e)) for a, e in items]
            case ir.Selection(predicate=predicate):
                return "filter", [self.text(part) for part in conjuncts(predicate)]
            case ir.ThetaJoin(kind=kind, condition=condition):
                return f"{kind.value} join", [self.text(part) for part in conjuncts(condition)]
            case ir.Aggregate(keys=keys, items=items):
                by = ["by " + ", ".join(self.columns[key] for key in keys)] if keys else []
                return "aggregate", by + [
                    self._assigned(i.attribute, aggregate_text(i, [self.columns[a] for a in i.arguments]))
                    for i in items
                ]
            case ir.Over(keys=keys, order=order, ties=ties, items=items):
                where = partition_details(keys, order, map(Ordering, ties), self.columns.__getitem__)
                return "window", where + [self._windowed(i) for i in items]
            case ir.Distinct():
                return "distinct", []
            case ir.Top(keys=keys, order=order, limit=limit, offset=offset):
                return "top", top_details(keys, order, limit, offset, self.columns.__getitem__)
            case ir.Nearest(kind=kind):
                named = self.columns.__getitem__
                return f"{kind.value} nearest join", nearest_details(operator, named, named)
            case ir.UnnestLists(lists=lists, place=place, outer=outer):
                made = [self._assigned(e.attribute, self._elements(e)) for e in lists]
                made += [self._assigned(place, "place")] if place is not None else []
                return f"unnest{' outer' if outer else ''}", made
            case ir.Prioritized(round=round):
                return "prioritized", [f"from round {self.text(round)}"]
            case ir.SetOp(kind=kind, columns=columns, lefts=lefts, rights=rights):
                return kind.value, [
                    self._assigned(c, f"{self.columns[a]}, {self.columns[b]}")
                    for c, a, b in zip(columns, lefts, rights, strict=True)
                ]
            case ir.Context(renaming=renaming):
                return "context", self._renamed(renaming)
            case ir.RecursiveRef(variable=variable, is_current=is_current):
                when = "same round" if is_current else "round before"
                return f"{when} of {self._variable(variable, operator.name)}", []
        raise TypeError(f"{type(operator).__name__} cannot be shown")

    def _windowed(self, item: ir.WindowItem) -> str:
        given = [self.columns[a] if isinstance(a, int) else shown_literal(a) for a in item.given]
        frame = item.frame.text([self.columns[a] for a in item.distances if isinstance(a, int)])
        if isinstance(item.function, ir.GeneralAggregate):
            return self._assigned(item.attribute, item.function.text(given, f" over {frame}"))
        arguments = ", ".join(given) or ("*" if item.function is Function.COUNT else "")
        call = f"{item.function.value}({'DISTINCT ' if item.distinct else ''}{arguments})"
        nulls = " ignore nulls" if item.ignores_nulls else ""
        return self._assigned(item.attribute, f"{call}{nulls} over {frame}")

    def _elements(self, elements: ir.UnnestedList) -> str:
        return elements_text([self.columns[id] for id in elements.arguments], elements.exclusive)

    def _shared(self, reference: ir.SharedRef) -> str:
        definition = self._visit(self.program.definitions[reference.number])
        self._name(reference.columns)
        return self._add("reuse", self._renamed(reference.renaming), (definition,), reference.columns)

    def _fixpoint(self, fixpoint: ir.Fixpoint) -> str:
        names = [self._variable(b.variable, b.name) for b in fixpoint.bindings]
        inputs = tuple(self._visit(b.value) for b in fixpoint.bindings)
        self._name(fixpoint.columns)
        details = [
            f"{name} := {step} ({', '.join(self.columns[id] for id in b.outputs)})"
            for name, step, b in zip(names, inputs, fixpoint.bindings, strict=True)
        ]
        if fixpoint.limit is not None:
            action = "return" if fixpoint.on_limit is OnLimit.RETURN else "error"
            details.append(f"{action} at recursion limit {fixpoint.limit}")
        return self._add(f"fixpoint {names[fixpoint.result]}", details, inputs, fixpoint.columns)

    def _variable(self, number: int, name: str) -> str:
        if number not in self.variables:
            taken = Counter(n.split("#")[0] for n in self.variables.values())
            self.variables[number] = name if not taken[name] else f"{name}#{taken[name] + 1}"
        return self.variables[number]

    def _renamed(self, renaming: ir.Renaming) -> list[str]:
        return [self._assigned(a, self.columns[old]) for a, old in renaming]

    def _assigned(self, attribute: ir.Attribute, value: str) -> str:
        return f"{self.columns[attribute.id].split('.', 1)[1]} := {value}"

    def _ask(self, expressions: tuple) -> None:
        """List the queries inside expressions before the step that uses them."""
        for expression in expressions:
            for subquery in ir.subqueries(expression):
                self._visit(subquery.query)

    def _name(self, columns: tuple[ir.Attribute, ...] | list[ir.Attribute]) -> None:
        """Give names to the columns that the next step produces."""
        taken: Counter[str] = Counter()
        for column in columns:
            taken[column.name] += 1
            suffix = f"#{taken[column.name]}" if taken[column.name] > 1 else ""
            self.columns[column.id] = f"r{len(self.steps)}.{column.name}{suffix}"

    def _add(
        self, operator: str, details: list[str], inputs: tuple[str, ...], columns: tuple[ir.Attribute, ...]
    ) -> str:
        name = f"r{len(self.steps)}"
        shown = tuple(Column(c.name, c.type, c.nullable) for c in columns)
        self.steps.append(ListingStep(name, operator, tuple(details), inputs, shown))
        return name
