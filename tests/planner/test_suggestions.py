"""Which names are taken for the ones that were meant."""

from __future__ import annotations

import pytest

from planner.suggestions import did_you_mean, distance, nearest, of_columns


@pytest.mark.parametrize(
    ("left", "right", "steps"),
    [
        ("", "", 0),
        ("orders", "orders", 0),
        ("orders", "order", 1),
        ("ordres", "orders", 1),
        ("ordesr", "orders", 1),
        ("xrders", "orders", 1),
        ("abc", "", 3),
        ("kitten", "sitting", 3),
    ],
)
def test_distance(left: str, right: str, steps: int) -> None:
    assert distance(left, right) == distance(right, left) == steps


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("custmer", ("customer",)),
        ("CUSTOMERS", ("customer",)),
        ("customerid", ("customer_id",)),
        ("lins", ("lines",)),
        ("tine", ("line", "time")),
        ("supplier", ()),
        ("a", ()),
        ("", ()),
    ],
)
def test_nearest(name: str, found: tuple[str, ...]) -> None:
    names = ["customer", "customer_id", "lines", "b"] + (["line", "time"] if name == "tine" else [])
    assert nearest(name, names) == found


def test_at_most_two_are_named() -> None:
    assert nearest("cats", ["bats", "hats", "rats"]) == ("bats", "hats")


def test_hints() -> None:
    assert did_you_mean("tabel", ["table", "view"]) == "did you mean table?"
    assert did_you_mean("x", ["table"], "there is table") == "there is table"
    assert of_columns("totl", [("o", ["total", "id"]), ("", ["other"])]) == "did you mean o.total?"
    assert of_columns("othr", [("o", ["total", "id"]), ("", ["other"])]) == "did you mean other?"
