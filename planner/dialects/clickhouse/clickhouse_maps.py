"""ClickHouse's functions of maps; a lambda takes the keys and the values."""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.clickhouse.clickhouse_arrays import mapped
from planner.errors import InvalidQuery
from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import fail

_KEPT = "list_filter(map_entries({0}), lambda entry, place: list_extract({1}, place))"
_KEYS = "list_distinct(list_concat(map_keys({0}), map_keys({1})))"
_MAP_SUM = (
    f"map({_KEYS}, list_transform({_KEYS}, lambda key:"
    " coalesce(map_extract_value({0}, key), 0) + coalesce(map_extract_value({1}, key), 0)))"
)


def _map(args: Args) -> exp.Expression:
    """MAP('a', 1, 'b', 2)."""
    if len(args) % 2:
        fail(InvalidQuery("map takes keys and values in turn"), args[0])
    keys = exp.Array(expressions=[key.copy() for key in args[::2]])
    values = exp.Array(expressions=[value.copy() for value in args[1::2]])
    return sql("map({0}, {1})", [keys, values]) if args else sql("map([], [])", [])


def of_entries(wrapper: str) -> Made:
    """A lambda over the keys and values of a map: MAPFILTER((k, v) -> v > 1, m)."""

    def made(args: Args) -> exp.Expression:
        function, entries = args
        arrays = [sql("map_keys({0})", [entries]), sql("map_values({0})", [entries])]
        return sql(wrapper, [entries, mapped([function, *arrays])])

    return made


MAPS: Meanings = {
    "MAP(...)": _map,
    "MAPKEYS(map)": "map_keys({0})",
    "MAPVALUES(map)": "map_values({0})",
    "MAPCONTAINS | MAPCONTAINSKEY(map, key)": "list_contains(map_keys({0}), {1})",
    "MAPCONTAINSVALUE(map, value)": "list_contains(map_values({0}), {1})",
    "MAPFROMARRAYS(keys, values)": "map({0}, {1})",
    "MAPFILTER(function, map)": of_entries(f"map_from_entries({_KEPT})"),
    "MAPAPPLY(function, map)": of_entries(
        "map(list_transform({1}, lambda pair: pair[1]), list_transform({1}, lambda pair: pair[2]))"
    ),
    "MAPEXISTS(function, map)": of_entries(
        "coalesce(list_contains(list_transform({1}, lambda each: CAST(each AS BOOLEAN)), true), false)"
    ),
    "MAPALL(function, map)": of_entries(
        "NOT coalesce(list_contains(list_transform({1}, lambda each: CAST(each AS BOOLEAN)), false), false)"
    ),
    "MAPADD(a, b)": _MAP_SUM,
    "MAPUPDATE | MAPCONCAT(a, b)": "map_concat({0}, {1})",
}
