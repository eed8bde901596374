"""What a query's conditions demand of each of its tables."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from engine.schema import BIGINT, DATE, INTEGER, TEXT, Column, Schema
from planner.adhoc.adhoc_query import adhoc_query
from planner.parsing.script import split


@dataclass(frozen=True)
class Table:
    schema: Schema
    period: None = None


def table(**columns: object) -> Table:
    return Table(Schema(tuple(Column(name, type) for name, type in columns.items())))


TABLES = {
    "o": table(id=BIGINT, day=DATE, who=TEXT),
    "l": table(order_id=INTEGER, n=BIGINT, who=TEXT),
    "p": table(id=BIGINT, n=BIGINT),
}


def demanded(sql: str) -> str:
    """The demands on each reference: columns with values, with bounds, and those that equal others."""
    (piece,) = split(sql)
    found = []
    for reference in adhoc_query(piece.parse(), TABLES).references:
        names = TABLES[reference.relation].schema.names
        told = []
        for equation in reference.demanded.equations:
            values = " ".join(str(term.value) for term in equation.terms)
            told.append(f"{names[equation.column]}={values}")
        for bound in reference.demanded.bounds:
            told.append(f"{names[bound.column]}{'<' if bound.is_upper else '>'}{bound.term.value}")
        for link in reference.demanded.links:
            source = str(link.source).split("#")[0]
            told.append(f"{names[link.column]}~{source}.{TABLES[source].schema.names[link.other]}")
        if told:
            found.append(f"{reference.relation}: {', '.join(told)}")
    return "; ".join(found)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT * FROM o WHERE id = 5 AND who IN ('a', 'b')", "o: id=5, who=a b"),
        ("SELECT * FROM o WHERE 5 < id AND id <= 9 OR id = 3", ""),
        ("SELECT * FROM o WHERE 5 < id AND id <= 9", "o: id>5, id<9"),
        (
            "SELECT * FROM o WHERE day BETWEEN 'x' AND 'y'",
            "o: day>x, day<y",
        ),
        ("SELECT * FROM o WHERE id = ANY(ARRAY[1, 2]) AND day = NULL", "o: id=1 2, day=None"),
        ("SELECT * FROM o WHERE id BETWEEN SYMMETRIC 9 AND 5", ""),
        ("SELECT * FROM o WHERE id NOT BETWEEN 5 AND 9 AND NOT id = 5 AND id <> 4", ""),
        ("SELECT * FROM o WHERE id = length(who)", ""),
        (
            "SELECT * FROM o JOIN l ON l.order_id = o.id WHERE o.id = 5",
            "o: id=5, id~l.order_id; l: order_id=5, order_id~o.id",
        ),
        ("SELECT * FROM o, l WHERE o.id = n AND o.id > 5", "o: id>5, id~l.n; l: n>5, n~o.id"),
        ("SELECT * FROM o LEFT JOIN l ON l.order_id = o.id AND o.id = 5", "l: order_id~o.id"),
        (
            "SELECT * FROM o LEFT JOIN l ON l.order_id = o.id AND l.n = 2 WHERE o.id = 5",
            "o: id=5; l: order_id=5, n=2, order_id~o.id",
        ),
        ("SELECT * FROM o LEFT JOIN l ON l.order_id = o.id WHERE l.n = 5", "l: n=5, order_id~o.id"),
        ("SELECT * FROM o RIGHT JOIN l ON l.order_id = o.id WHERE o.id = 5", "o: id=5"),
        ("SELECT * FROM o FULL JOIN l ON l.order_id = o.id AND o.id = 5", ""),
        ("SELECT * FROM o JOIN l ON l.n = o.id AND l.n = 5 FULL JOIN p ON p.id = o.id", ""),
        ("SELECT * FROM o JOIN p USING (id) WHERE id = 5", "o: id=5, id~p.id; p: id=5, id~o.id"),
        ("SELECT * FROM o LEFT JOIN p USING (id) WHERE id = 5", "o: id=5; p: id=5, id~o.id"),
        ("SELECT * FROM o FULL JOIN p USING (id) WHERE id = 5", ""),
        ("SELECT * FROM o NATURAL JOIN p WHERE o.id = 5", ""),
        ("SELECT * FROM o JOIN l ON l.who = o.id::text WHERE o.id = 5", "o: id=5"),
        (
            "SELECT * FROM o JOIN (SELECT 5 AS id) AS s ON true WHERE id = 5 AND o.who = 'a'",
            "o: who=a",
        ),
        ("WITH l AS (SELECT 1 AS n) SELECT * FROM o, l WHERE o.id = l.n AND l.n = 5", ""),
        ("SELECT * FROM o WHERE EXISTS (SELECT 1 FROM l WHERE l.order_id = o.id AND l.n = 5)", "l: n=5"),
        ("SELECT * FROM o AS x (a) WHERE a = 5", ""),
        (
            "SELECT * FROM o AS a JOIN o AS b ON b.who = a.who WHERE a.id = 5 AND b.id = 6",
            "o: id=5, who~o.who; o: id=6, who~o.who",
        ),
    ],
)
def test_conditions_demand_rows(sql: str, wanted: str) -> None:
    assert demanded(sql) == wanted


def test_places_that_demand_nothing_share_a_snapshot() -> None:
    (piece,) = split("SELECT * FROM o AS a, o AS b WHERE a.day > b.day")
    assert len(adhoc_query(piece.parse(), TABLES).references) == 1
