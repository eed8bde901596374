"""ALTER TYPE ... ADD VALUE: a label more for a named type, and for all that has its labels.

A column does not know the name of its type, only its labels. So the tables with these labels get the new
ones, in one transaction with the type, and the views over them, or whose queries have the labels, are planned
again. History changes with a table, as in every alteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.errors import NameInUse
from engine.schema import Schema, Type, enumeration, relabelled
from planner.parsing.respelled_enums import respelled
from planner.statements.table_rules import Text
from planner.suggestions import did_you_mean
from service.catalog.records import Definer
from service.definitions.altering import Alterations, retired
from service.definitions.definition import Definition, table_relation
from service.definitions.definitions import Definitions
from service.definitions.known_relations import in_order
from service.definitions.layouts import History, Shift
from service.definitions.named_functions import NamedFunctions
from service.definitions.named_types import NamedTypes
from service.errors import Conflict, NotFound


@dataclass(frozen=True)
class NewLabel:
    """A label behind all labels of a type, or `before` or after its `neighbour`."""

    label: str
    neighbour: str | None = None
    before: bool = False

    def added(self, name: str, type: Type) -> Type:
        """The type with the label. Raises NotFound if it has no such neighbour."""
        labels = list(type.labels)
        if self.neighbour is not None and self.neighbour not in labels:
            hint = did_you_mean(self.neighbour, labels)
            raise NotFound(f"type {name} has no label '{self.neighbour}'", hint, code="unknown_label")
        place = len(labels) if self.neighbour is None else labels.index(self.neighbour) + (not self.before)
        return enumeration(*labels[:place], self.label, *labels[place:])


@dataclass(frozen=True)
class _Relabelling:
    old: Type
    new: Type

    def schema(self, schema: Schema) -> Schema:
        columns = (replace(c, type=relabelled(c.type, self.old, self.new)) for c in schema.columns)
        return Schema(tuple(columns))

    def text(self, text: Text) -> Text:
        return Text(respelled(text.sql, text.dialect, self.old, self.new), text.dialect)

    def view(self, view: Definition) -> Definition:
        """The view with its text; it is not planned again."""
        return replace(view, sql=respelled(view.sql, view.dialect, self.old, self.new))

    def shift(self, schema: Schema) -> Shift:
        """From rows with the old labels to rows with the new ones."""
        pairs = enumerate(zip(schema.types, self.schema(schema).types, strict=True))
        is_moved = self.new.labels[: len(self.old.labels)] != self.old.labels
        retyped = {place: types for place, types in pairs if is_moved and types[0] != types[1]}
        return Shift(tuple(range(len(schema))), retyped=retyped)


def add_label(
    alterations: Alterations,
    types: NamedTypes,
    functions: NamedFunctions,
    name: str,
    added: NewLabel,
    exists_ok: bool = False,
    building: Iterable[Definition] = (),
) -> list[str]:
    """Adds a label to a type. Returns the views that are computed anew. Raises NotFound, NameInUse and
    Conflict, and then has changed nothing: if it cannot be told whose labels they are, or if a view that is
    `building` would keep them."""
    of, old = alterations.definitions, types.get(name)
    if added.label in old.labels:
        if exists_ok:
            return []
        raise NameInUse(f"type {name} has the label '{added.label}' already")
    change = _Relabelling(old, added.added(name, old))
    olds = _with_labels(of, change)
    for view in building:
        if change.view(view) != view:
            raise Conflict(f"view {view.name}, which is being built, has labels of {name}", code="in_use")
    twins = sorted(other for other, type in types.all.items() if type == old and other != name)
    if olds and twins:
        raise Conflict(
            f"types {name} and {twins[0]} have the same labels, so {olds[0].name} may be of either",
            f"drop type {twins[0]} first, whose name nothing needs",
            code="in_use",
        )
    changed = functions.respelled(change.old, change.new)

    def write(changing: Definer) -> Sequence[Definition]:
        types.change(changing, name, change.new)
        functions.change(changing, changed)
        tables = [(a, b) for a, b in zip(olds, news, strict=True) if not a.is_view]
        for view in news:
            if view.is_view:
                changing.change(view.record())
        return [retired(changing, before, after, shifts[after.name]) for before, after in tables]

    with of.engine.dictionary.holding():
        news, histories, shifts = _changed(alterations, olds, change, name)
        alterations.exchange(olds, news, histories, write)
    types.put({name: change.new})
    functions.put(changed)
    return [view.name for view in news if view.is_view]


def _with_labels(of: Definitions, change: _Relabelling) -> list[Definition]:
    """The tables and views that have the labels, or read what has, each after what it reads."""
    found: dict[str, Definition] = {}
    for definition in of.all.values():
        rules = definition.details.rules
        has = change.schema(definition.schema) != definition.schema or change.view(definition) != definition
        if has or rules.with_texts(change.text) != rules:
            found |= {d.name: d for d in (definition, *of.known.dependants(definition.name))}
    return in_order(found.values())


def _changed(
    alterations: Alterations, olds: Sequence[Definition], change: _Relabelling, name: str
) -> tuple[list[Definition], dict[str, History], Mapping[str, Shift]]:
    """The definitions with the new labels, the histories of tables, and how their rows become those."""
    of = alterations.definitions
    relations = dict(of.relations)
    news, histories, shifts = [], {}, {}
    for old in olds:
        columns = change.schema(old.schema)
        if old.is_view:
            news.append(alterations.again(change.view(old), columns, relations, f"type {name}"))
            continue
        relation = table_relation(old.name, columns, old.relation.key, old.details.rules)
        relations[old.name] = relation
        details = replace(old.details, rules=old.details.rules.with_texts(change.text))
        new = of.table_like(old, relation, details)
        shift = change.shift(old.schema)
        delta, since = of.engine.history_of(old.name)
        shifted = shift.apply(delta, of.engine.dictionary)
        histories[old.name] = (new.filling.recomputed(shifted) if new.filling else shifted), since
        shifts[old.name] = shift
        news.append(new)
    return news, histories, shifts
