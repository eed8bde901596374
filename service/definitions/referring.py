"""Foreign keys of a new or altered table, checked against the tables that they refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.schema import Type
from planner.errors import InvalidQuery, TypeMismatch, UnknownColumn, UnknownTable
from planner.relation import Relation
from planner.relation_names import is_temporary
from planner.statements.table_rules import Action, ForeignKey, TableRules, Unique
from planner.suggestions import did_you_mean
from service.definitions.definition import Definition


def resolved(rules: TableRules, relation: Relation, definitions: Mapping[str, Definition]) -> TableRules:
    """The rules with the columns that each foreign key refers to filled in. Raises a PlannerError."""
    return rules.with_targets(lambda foreign: _resolved(foreign, rules, relation, definitions))


def _resolved(
    foreign: ForeignKey, rules: TableRules, relation: Relation, definitions: Mapping[str, Definition]
) -> ForeignKey:
    if rules.append_only and foreign.actions:
        raise InvalidQuery(
            f"constraint {foreign.name} has{foreign.actions}, but the table is append only",
            f"leave{foreign.actions} or APPEND ONLY out",
        )
    if foreign.table == relation.name:
        target, its = relation, rules
    else:
        found = definitions.get(foreign.table)
        if found is None or found.is_view:
            raise UnknownTable(
                f"constraint {foreign.name} refers to {foreign.table}, which is not a table",
                did_you_mean(foreign.table, definitions, "create it first"),
            )
        if is_temporary(found.name) != is_temporary(relation.name):
            raise InvalidQuery(f"constraint {foreign.name} is between a temporary table and one that stays")
        target, its = found.relation, found.details.rules
    names = target.schema.names
    key = tuple(names[i] for i in target.key or ())
    columns = foreign.target or key
    if len(columns) != len(foreign.columns):
        raise InvalidQuery(
            f"constraint {foreign.name}: {len(foreign.columns)} columns refer to {len(columns)}",
            f"write REFERENCES {foreign.table} (column, ...)",
        )
    for name in columns:
        if name not in names:
            raise UnknownColumn(
                f'constraint {foreign.name}: table "{target.name}" has no column "{name}"',
                did_you_mean(name, names, f"it has {', '.join(names)}"),
            )
    _check_target(foreign, columns, target, its)
    _check_types(foreign, columns, relation, target)
    _check_actions(foreign, rules, relation)
    return replace(foreign, target=columns)


def _check_actions(foreign: ForeignKey, rules: TableRules, relation: Relation) -> None:
    """Raises InvalidQuery if an action sets columns that cannot take its values."""
    actions = (foreign.on_delete, foreign.on_update)
    for name in foreign.columns:
        nullable = relation.schema.columns[relation.schema.index(name)].nullable
        if Action.SET_NULL in actions and not (nullable and name not in rules.required):
            raise InvalidQuery(f"constraint {foreign.name} sets column {name} to NULL, which is NOT NULL")
        if (Action.SET_NULL in actions or foreign.on_update is Action.CASCADE) and name in rules.generated:
            raise InvalidQuery(f"constraint {foreign.name} sets column {name}, which is generated")


def _check_target(foreign: ForeignKey, columns: tuple[str, ...], target: Relation, rules: TableRules) -> None:
    key = {target.schema.names[i] for i in target.key or ()}
    uniques = [set(unique.columns) for unique in rules.of(Unique)]
    if set(columns) != key and set(columns) not in uniques:
        raise InvalidQuery(
            f"constraint {foreign.name} refers to {', '.join(columns)} of table {target.name}, "
            "which is neither its primary key nor UNIQUE",
            f"ALTER TABLE {target.name} ADD UNIQUE ({', '.join(columns)})",
        )


def _check_types(foreign: ForeignKey, columns: tuple[str, ...], relation: Relation, target: Relation) -> None:
    for own, other in zip(foreign.columns, columns, strict=True):
        mine = relation.schema.types[relation.schema.index(own)]
        theirs = target.schema.types[target.schema.index(other)]
        if not _compares(mine, theirs):
            raise TypeMismatch(
                f"constraint {foreign.name}: column {own} is {mine}, column {other} of table "
                f"{target.name} is {theirs}",
                "give both columns the same type",
            )


def _compares(left: Type, right: Type) -> bool:
    """Whether equal values of the types are equal words."""
    return left == right or (left.is_integer and right.is_integer)
