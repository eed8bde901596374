"""What a view sees: relations with the names and columns that they had when the view was made.

A column that was added later is not visible, so `SELECT *` stays what it was. A renamed column, or a column
of a renamed table, is visible under its old name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import log10

from engine.plan.nodes import project
from engine.schema import Schema
from planner.parsing.renamed_relations import Renamed, renamed_text
from planner.relation import Relation
from service.catalog.details import Seen
from service.definitions.definition import Definition

FEW = 100
"""A relation with fewer rows counts as one that is not filled yet."""


def seen_now(names: Iterable[str], relations: Mapping[str, Relation]) -> dict[str, Seen]:
    """How a view that is made now sees the relations that it reads."""
    return {name: _as_it_is(relations[name]) for name in sorted(names)}


def _as_it_is(relation: Relation) -> Seen:
    return Seen(relation.name, {c: c for c in relation.schema.names}, relation.rows)


def sized(relations: Mapping[str, Relation], rows: Callable[[str], int]) -> dict[str, Relation]:
    """The relations with their row counts rounded to powers of ten, None for few rows. Rounding lets views
    that are made one after another get equal plans and share operators."""
    return {name: replace(relation, rows=_power(rows(name))) for name, relation in relations.items()}


def _power(rows: int) -> int | None:
    return None if rows < FEW else 10 ** round(log10(rows))


def relations_of(sees: Mapping[str, Seen], relations: Mapping[str, Relation]) -> dict[str, Relation]:
    """The relations that a view sees, by the names in its query, without those that are gone."""
    return {
        name: _seen(name, seen, relations[seen.relation])
        for name, seen in sees.items()
        if seen.relation in relations
    }


def text_now(view: Definition) -> str:
    """The query of a view in the names that relations and columns have now."""
    renamed = {name: it for name, seen in view.details.sees.items() if (it := _renamed(name, seen))}
    return renamed_text(view.sql, view.dialect, renamed) if renamed else view.sql


def _renamed(name: str, seen: Seen) -> Renamed | None:
    """How a relation is called now, if anything of it is called otherwise."""
    columns = seen.columns if any(old != now for old, now in seen.columns.items()) else {}
    return (seen.relation, columns) if columns or seen.relation != name else None


def _seen(name: str, seen: Seen, relation: Relation) -> Relation:
    now = relation.schema
    shown = [(old, now.index(new)) for old, new in seen.columns.items() if new in now.names]
    if name == relation.name and [(n, i) for i, n in enumerate(now.names)] == shown:
        return replace(relation, rows=seen.rows)
    places = tuple(place for _, place in shown)
    columns = tuple(
        type(column)(old, column.type, column.nullable)
        for (old, _), column in zip(shown, (now.columns[i] for i in places), strict=True)
    )
    key = None
    if relation.key is not None and set(relation.key) <= set(places):
        key = tuple(places.index(i) for i in relation.key)
    mark = relation.watermark
    shown_as = {new: old for old, new in seen.columns.items()}
    if mark is not None:
        mark = replace(mark, column=shown_as[mark.column]) if mark.column in shown_as else None
    period = None
    if relation.period is not None and set(relation.period) <= set(places):
        since, until = (places.index(i) for i in relation.period)
        period = (since, until)
    plan = project(relation.plan, places)
    return Relation(name, Schema(columns), plan, key, relation.is_view, seen.rows, mark, period)
