"""ALTER SCHEMA ... RENAME TO: all that is in a schema gets another full name, in one transaction and one
epoch. Views keep the names of their queries, and see under them what has other names now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from planner.parsing.sql_functions import SqlFunction
from planner.relation_names import PUBLIC, full_name, own_name, schema_of
from planner.statements.table_rules import ForeignKey, TableRules
from service.catalog.records import Definer
from service.definitions.altering import Alterations, retired
from service.definitions.definition import Definition, table_relation
from service.definitions.known_relations import in_order
from service.definitions.layouts import History, Shift
from service.definitions.named_functions import NamedFunctions
from service.definitions.named_types import NamedTypes
from service.errors import Conflict


def rename_schema(
    alterations: Alterations, types: NamedTypes, functions: NamedFunctions, name: str, to: str
) -> list[str]:
    """Renames a schema. Returns the views that are computed anew. Raises NotFound, NameInUse, Invalid, and
    Conflict for `public`; then nothing has changed."""
    of = alterations.definitions
    schemas, sequences = of.schemas, of.sequences
    schemas.require(name)
    if name == PUBLIC:
        raise Conflict("schema public cannot be renamed", "make another schema", code="in_use")
    schemas.check_new(to)
    members = [d.name for d in of.all.values() if schema_of(d.name) == name]
    names = _moved(members, to)
    moved = [_moved(kind.of(name), to) for kind in (types, sequences)]
    called = _moved(functions.of(name), to)
    renamed = {new: _called(functions.all[old], new) for old, new in called.items()}
    sequences.put({new: sequences.get(old) for old, new in moved[1].items()})
    try:
        olds, news, others, histories = _changed(alterations, names, moved[1], name)

        def write(changing: Definer) -> Sequence[Definition]:
            schemas.move(changing, {name: to})
            types.move(changing, moved[0])
            sequences.move(changing, moved[1])
            functions.move(changing, called)
            for definition in (*others, *(d for d in news if d.is_view)):
                changing.change(definition.record())
            tables = [(old, new) for old, new in zip(olds, news, strict=True) if not old.is_view]
            same = [Shift(tuple(range(len(old.schema)))) for old, _ in tables]
            pairs = zip(tables, same, strict=True)
            return [*others, *(retired(changing, old, new, shift) for (old, new), shift in pairs)]

        alterations.exchange(olds, news, histories, write)
    except BaseException:
        sequences.forget(list(moved[1].values()))
        raise
    for new in moved[1].values():
        sequences.get(new).name = new
    sequences.forget(list(moved[1]))
    types.put({new: types.get(old) for old, new in moved[0].items()})
    types.forget(list(moved[0]))
    functions.rename(renamed, called)
    schemas.put({to: schemas.get(name)})
    schemas.forget([name])
    return [view.name for view in news if view.is_view]


def _changed(
    alterations: Alterations, names: Mapping[str, str], sequences: Mapping[str, str], schema: str
) -> tuple[list[Definition], list[Definition], list[Definition], dict[str, History]]:
    """The relations of a schema and the views that read them, as they are and as they will be; other tables
    that refer to them; and the histories of the tables."""
    of = alterations.definitions

    def follow(rules: TableRules) -> TableRules:
        rules = rules.with_targets(lambda key: _following(key, names))
        return rules.with_sequences(lambda full: sequences.get(full, full))

    found = {name: of.all[name] for name in names}
    for name in names:
        found |= {view.name: view for view in of.known.dependants(name)}
    olds = in_order(found.values())
    relations = {name: relation for name, relation in of.relations.items() if name not in names}
    news, histories = [], {}
    for old in olds:
        called = names.get(old.name, old.name)
        relation = replace(old.relation, name=called)
        if old.is_view:
            details = old.details.seeing(
                lambda seen: replace(seen, relation=names.get(seen.relation, seen.relation))
            )
            view = replace(old, relation=relation, details=details)
            news.append(alterations.again(view, view.schema, relations, f"schema {schema}"))
            continue
        relation = table_relation(called, old.schema, old.relation.key, old.details.rules)
        relations[called] = relation
        details = replace(old.details, rules=follow(old.details.rules))
        news.append(of.table_like(old, relation, details))
        histories[called] = of.engine.history_of(old.name)
    others = [
        replace(d, details=replace(d.details, rules=follow(d.details.rules)))
        for d in of.all.values()
        if d.name not in found and not d.is_view and follow(d.details.rules) != d.details.rules
    ]
    return olds, news, others, histories


def _following(key: ForeignKey, names: Mapping[str, str]) -> ForeignKey:
    return replace(key, table=names.get(key.table, key.table))


def _moved(names: Iterable[str], to: str) -> dict[str, str]:
    """The full names in another schema, by those that they have."""
    return {full: full_name(to, own_name(full)) for full in names}


def _called(overloads: Sequence[SqlFunction], name: str) -> tuple[SqlFunction, ...]:
    return tuple(replace(function, name=name) for function in overloads)
