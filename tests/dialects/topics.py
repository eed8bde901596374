"""What each dialect is asked: the topics of the bars."""

from __future__ import annotations

from collections.abc import Mapping

REQUIRED: Mapping[str, str] = {
    "types": "types, and the limits of their values",
    "integer-division": "the division of whole numbers",
    "nulls-in-texts": "NULL in a concatenation",
    "nulls-in-comparisons": "NULL in a comparison",
    "empty-texts": "the empty text",
    "implicit-casts": "values of two types in an operation",
    "escapes": "escapes in a text's literal",
    "collation": "which texts are equal, and which comes first",
    "division-by-zero": "division by zero",
    "rounding": "rounding",
    "weeks": "numbers of weeks and their first days",
    "months-ends": "the ends of months",
    "time-zones": "time zones",
    "names": "the case of names, and quotes around them",
    "column-names": "names of columns that the query does not name",
    "null-order": "the place of NULL in an order",
    "patterns": "the flavour of regular expressions, and LIKE",
    "json-paths": "JSON and its paths",
    "arrays": "arrays, and the number of the first element",
    "group-by": "aliases and numbers in GROUP BY",
    "limit": "the forms of LIMIT",
    "qualify": "QUALIFY",
    "pivot": "PIVOT",
}
"""Topics that every proven dialect is asked. What it lacks, it refuses: that is a fact too."""
OTHERS: Mapping[str, str] = {
    "numbers": "other functions of numbers",
    "texts": "other functions of texts",
    "bytes": "bits and bytes",
    "dates": "other functions of dates and times",
    "formats": "formats of numbers, dates and times",
    "conditions": "choices and comparisons",
    "maps": "maps, structures and rows",
    "aggregates": "aggregates",
    "windows": "window functions",
    "select": "the select list, DISTINCT and WHERE",
    "joins": "joins, and functions in FROM",
    "sets": "UNION, INTERSECT, EXCEPT and VALUES",
    "subqueries": "subqueries and CTEs",
    "recursion": "recursive queries",
}
TOPICS = {**REQUIRED, **OTHERS}
LEAST_EXPRESSIONS, LEAST_QUERIES = 200, 60
"""How many of each a proven dialect has been asked."""
