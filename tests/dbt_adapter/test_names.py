"""Names of dbt's relations in Freshet. They need no dbt."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "examples/dbt/adapter/dbt/adapters/freshet/naming.py"
_spec = spec_from_file_location("naming", PATH)
assert _spec is not None and _spec.loader is not None
naming = module_from_spec(_spec)
_spec.loader.exec_module(naming)


@pytest.mark.parametrize(
    ("schema", "identifier", "name"),
    [
        ("public", "orders", "orders"),
        ("raw", "orders", "raw.orders"),
        ("public", "stg_shop__orders", "stg_shop__orders"),
        (None, "__dbt__cte__orders", "__dbt__cte__orders"),
        ("public", "x" * 63, "x" * 63),
    ],
)
def test_a_relation_has_one_name(schema: str | None, identifier: str, name: str):
    assert naming.stored_name(schema, identifier) == name
    if schema is not None:
        assert naming.split_name(name) == (schema, identifier)


def test_long_names_stay_apart_and_fit():
    names = {naming.stored_name("alerts", "é" * 40 + end) for end in ("a", "b", "ab")}
    assert len(names) == 3 and all(len(name.encode()) <= naming.LONGEST for name in names)
    assert {naming.split_name(name)[0] for name in names} == {"alerts"}


@pytest.mark.parametrize(("schema", "identifier"), [("a.b", "c"), ("a", "b.c"), ("public", "a.b")])
def test_two_relations_never_share_a_name(schema: str, identifier: str):
    with pytest.raises(ValueError, match="has a dot"):
        naming.stored_name(schema, identifier)
