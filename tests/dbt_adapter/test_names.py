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


@pytest.mark.parametrize("name", ["orders", "stg_shop__orders", "a.b", "x" * 63, "é" * 31])
def test_a_name_that_fits_stays(name: str):
    assert naming.short_name(name) == name


def test_long_names_stay_apart_and_fit():
    names = {naming.short_name("é" * 40 + end) for end in ("a", "b", "ab")}
    assert len(names) == 3 and all(len(name.encode()) <= naming.LONGEST for name in names)
    assert {naming.short_name(name) for name in names} == names
