"""Identifiers as PostgreSQL reads them."""

from __future__ import annotations

import pytest

from service.errors import Invalid
from service.names import check_columns, fold_name


@pytest.mark.parametrize(
    ("written", "name"),
    [("Orders", "orders"), ("_a1", "_a1"), ('"Orders"', "Orders"), ('"a ""b"""', 'a "b"'), ('"ü"', "ü")],
)
def test_fold(written: str, name: str) -> None:
    assert fold_name(written) == name


@pytest.mark.parametrize(
    "written", ["", "1a", "a-b", "a b", '""', '"a', 'a"', '"a"b"', "ü", "x" * 64, '"a\0"', "a;", "a\n"]
)
def test_what_is_not_a_name(written: str) -> None:
    with pytest.raises(Invalid) as caught:
        fold_name(written)
    assert caught.value.code == "invalid_name"


@pytest.mark.parametrize(
    ("names", "code"),
    [([], "no_columns"), (["a", "a"], "duplicate_column"), (["_op"], "invalid_name"), ([""], "invalid_name")],
)
def test_check_columns(names: list[str], code: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_columns(names)
    assert caught.value.code == code
