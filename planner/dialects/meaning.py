"""Translates a node, or all nodes of an ad-hoc query."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from planner.dialects.absent_members import member_in_query
from planner.dialects.as_written import dialect_of
from planner.dialects.byte_strings import byte_meaning
from planner.dialects.dates import date_call, interval_sum
from planner.dialects.operator_rules import rule
from planner.dialects.own_calls import own_meaning
from planner.dialects.postgres_values import float_text_in_query, subscript_in_query
from planner.dialects.renamed_functions import function
from planner.dialects.row_comparisons import expanded_comparison
from planner.dialects.systems.postgres_bits import bit_meaning
from planner.dialects.text_lengths import cast_to_length
from planner.dialects.traits import Trait, has
from planner.dialects.variants import variant_in_query
from planner.dialects.whole_numbers import whole_in_query
from planner.formats import formatted
from planner.native import templates
from planner.native.document_paths import path_in_query
from planner.native.joined_documents import joined_in_query
from planner.native.subscripts import is_counted_from_zero, set_place
from planner.native.templates import is_native

_FROM_ONE = "{0} + CAST(typeof({1}) <> 'JSON' AS INTEGER)"
"""A place counted from 0 as DuckDB counts: arrays from 1, and JSON, like everyone, from 0."""
Told = Callable[[exp.Expression, exp.Expression], None]
_TRANSLATIONS = (formatted, cast_to_length, own_meaning, date_call, interval_sum, function, rule)


def translated(node: exp.Expression, dialect: str) -> exp.Expression:
    """A node with the same meaning made of DuckDB's functions or overloads, or the node itself."""
    if is_native(node):
        return node
    for translation in _TRANSLATIONS:
        found = translation(node, dialect)
        if found is not node:
            _place(found, node)
            return translated(found, dialect)
    return node


def _place(found: exp.Expression, node: exp.Expression) -> None:
    """Give the new node the place where the user wrote the old one, for errors."""
    keys = ("line", "col", "start", "end")
    mark: dict[str, object] = {key: node.meta[key] for key in keys if key in node.meta}
    for new in (found, found.this):
        if mark and isinstance(new, exp.Paren | exp.Func) and "line" not in new.meta:
            new.meta.update(mark)


def in_duckdb(query: exp.Expression, told: Told | None = None) -> exp.Expression:
    """The query with every marked node translated from its dialect, outer nodes first. `told` gets each node
    that another takes the place of, and that one, before its inner nodes are translated."""
    waiting = [query]
    while waiting:
        node = waiting.pop()
        dialect = dialect_of(node)
        found = node
        if dialect is not None:
            found = expanded_comparison(node, dialect)
            found = byte_meaning(node, dialect, lambda column: False) if found is node else found
            if found is node and dialect == "postgres":
                found = bit_meaning(node, lambda column: False)
            found = translated(found, dialect) if found is node else found
            found = whole_in_query(variant_in_query(found, dialect), dialect)
            found = float_text_in_query(subscript_in_query(found, dialect), dialect)
            found = member_in_query(found, dialect)
            found = path_in_query(found)
            found = joined_in_query(found) if has(dialect, Trait.EDITS_DOCUMENTS) else found
        if found is not node and told is not None:
            told(node, found)
        if node is query:
            query = found
        elif found is not node:
            node.replace(found)
        waiting += found.iter_expressions()
    for subscript in list(query.find_all(exp.Bracket)):
        if is_counted_from_zero(subscript):
            set_place(subscript, templates.sql(_FROM_ONE, (*subscript.expressions, subscript.this)))
    return query
