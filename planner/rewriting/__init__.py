"""Constructs of other systems as the queries that they stand for, before names are resolved.

A tree that the parser has made comes back without them, so that views and ad-hoc queries know one form. What
is added is written in DuckDB's SQL, and is not translated from the dialect again.
"""

from __future__ import annotations

from sqlglot import exp

from planner.rewriting.approximate_percentiles import exact_percentile
from planner.rewriting.array_queries import array_query
from planner.rewriting.bit_strings import bit_string
from planner.rewriting.clickhouse_queries import clickhouse_query
from planner.rewriting.combined_aggregates import combined_aggregate
from planner.rewriting.dialect_queries import dialect_query
from planner.rewriting.dual_table import dual_table
from planner.rewriting.flattened import flattened
from planner.rewriting.frame_texts import frame_text
from planner.rewriting.generated_rows import generated_rows
from planner.rewriting.hierarchies import hierarchy
from planner.rewriting.hypothetical_rows import hypothetical_rank
from planner.rewriting.join_marks import joined_by_marks
from planner.rewriting.json_calls import json_call, with_row_names
from planner.rewriting.json_members import json_members
from planner.rewriting.json_tables import json_table
from planner.rewriting.kept_groups import kept_groups
from planner.rewriting.lax_calls import lax_call
from planner.rewriting.named_arguments import named_arguments
from planner.rewriting.open_json import open_json
from planner.rewriting.ordered_arguments import ordered_argument
from planner.rewriting.ordered_values import ordered_value
from planner.rewriting.percent_limits import percent_limit
from planner.rewriting.query_hints import without_hints
from planner.rewriting.row_counts import counted_rows
from planner.rewriting.row_samples import row_sample
from planner.rewriting.series_texts import series_text
from planner.rewriting.spark_windows import spark_window
from planner.rewriting.table_calls import row_call, table_call
from planner.rewriting.unequal_constructs import unequal
from planner.rewriting.value_rows import value_rows
from planner.rewriting.warehouse_windows import warehouse_window
from planner.rewriting.window_tables import window_table
from planner.rewriting.zone_names import zone_name
from planner.rewriting.zone_offsets import zone_offset

_RULES = (
    bit_string,
    zone_name,
    zone_offset,
    frame_text,
    series_text,
    hypothetical_rank,
    exact_percentile,
    without_hints,
    unequal,
    named_arguments,
    value_rows,
    row_call,
    array_query,
    combined_aggregate,
    clickhouse_query,
    ordered_value,
    ordered_argument,
    warehouse_window,
    window_table,
    spark_window,
    flattened,
    generated_rows,
    json_call,
    lax_call,
    json_table,
    open_json,
    json_members,
    table_call,
    dual_table,
    row_sample,
    hierarchy,
    kept_groups,
    counted_rows,
    percent_limit,
    joined_by_marks,
    dialect_query,
)
_CHANGED = (
    *(
        exp.All,
        exp.Any,
        exp.Array,
        exp.Window,
        exp.Table,
        exp.Lateral,
        exp.Query,
        exp.With,
        exp.Values,
        exp.DataType,
        exp.Group,
    ),
    *(
        exp.Pivot,
        exp.Ordered,
        exp.Column,
        exp.TableFromRows,
        exp.Anonymous,
        exp.BitString,
        exp.Join,
        exp.AtTimeZone,
    ),
    *(exp.AnonymousAggFunc, exp.CombinedAggFunc, exp.ParameterizedAgg, exp.Filter, exp.Apply),
    *(exp.WithinGroup, exp.GenerateSeries, exp.ExplodingGenerateSeries),
    *(exp.TimeFromParts, exp.TimestampFromParts),
)

_AT_PATHS = (exp.JSONValue, exp.JSONExtract, exp.JSONExists)
"""Nodes that only the rule of paths changes."""


def rewritten(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree with every construct replaced, inner ones first. Raises Unsupported with the place of
    one that has no equal query."""
    with_row_names(tree, dialect)
    for place in reversed(list(tree.find_all(*_CHANGED, *_AT_PATHS))):
        node: exp.Expression = place  # type: ignore[assignment]
        for rule in (lax_call,) if isinstance(node, _AT_PATHS) else _RULES:
            found = rule(node, dialect)
            if found is None:
                continue
            if node is tree:
                tree = found
            else:
                node.replace(found)
            node = found
    return tree
