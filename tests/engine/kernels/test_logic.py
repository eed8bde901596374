"""Three-valued logic, comparison and choice: every combination of small operands, by their definitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from engine.kernels import logic
from engine.kernels.words import NULL

Word = int | None
TRUTHS: tuple[Word, ...] = (0, 1, None)
VALUES: tuple[Word, ...] = (-1, 0, 2, None)


def words(values: list[Word]) -> np.ndarray:
    return np.array([NULL if value is None else value for value in values], np.int64)


def shown(found: np.ndarray) -> list[Word]:
    return [None if word == NULL else word for word in found.tolist()]


def check(op: int, kernel: Callable[..., None], values: tuple[Word, ...], meant: Callable[..., Word]) -> None:
    """Each pair of operands, as columns and with one of them a constant."""
    pairs = list(itertools.product(values, repeat=2))
    out = np.empty(len(pairs), np.int64)
    kernel(op, words([a for a, _ in pairs]), words([b for _, b in pairs]), out)
    assert shown(out) == [meant(a, b) for a, b in pairs]
    column, out = words(list(values)), np.empty(len(values), np.int64)
    for constant in values:
        kernel(op, words([constant]), column, out)
        assert shown(out) == [meant(constant, b) for b in values]
        kernel(op, column, words([constant]), out)
        assert shown(out) == [meant(a, constant) for a in values]


def conjunction(a: Word, b: Word) -> Word:
    return 0 if 0 in (a, b) else None if None in (a, b) else 1


def disjunction(a: Word, b: Word) -> Word:
    return 1 if 1 in (a, b) else None if None in (a, b) else 0


def unless_null(meant: Callable[[int, int], bool]) -> Callable[[Word, Word], Word]:
    return lambda a, b: None if a is None or b is None else int(meant(a, b))


def best(choose: Callable[[list[int]], int]) -> Callable[[Word, Word], Word]:
    return lambda a, b: choose(known) if (known := [word for word in (a, b) if word is not None]) else None


def test_and_or_not() -> None:
    check(logic.AND, logic.connect, TRUTHS, conjunction)
    check(logic.OR, logic.connect, TRUTHS, disjunction)
    out = np.empty(len(TRUTHS), np.int64)
    logic.negate(words(list(TRUTHS)), out)
    assert shown(out) == [1, 0, None]


@pytest.mark.parametrize(
    ("op", "meant"),
    [
        (logic.EQ, unless_null(lambda a, b: a == b)),
        (logic.NE, unless_null(lambda a, b: a != b)),
        (logic.LT, unless_null(lambda a, b: a < b)),
        (logic.LE, unless_null(lambda a, b: a <= b)),
        (logic.GT, unless_null(lambda a, b: a > b)),
        (logic.GE, unless_null(lambda a, b: a >= b)),
        (logic.DISTINCT, lambda a, b: int(a != b)),
        (logic.NOT_DISTINCT, lambda a, b: int(a == b)),
    ],
)
def test_comparisons(op: int, meant: Callable[[Word, Word], Word]) -> None:
    check(op, logic.compare, VALUES, meant)


@pytest.mark.parametrize(
    ("op", "meant"),
    [
        (logic.COALESCE, lambda a, b: b if a is None else a),
        (logic.GREATEST, best(max)),
        (logic.LEAST, best(min)),
    ],
)
def test_choices_skip_nulls(op: int, meant: Callable[[Word, Word], Word]) -> None:
    check(op, logic.pick, VALUES, meant)


@pytest.mark.parametrize("found", [0, 1])
def test_membership(found: int) -> None:
    members = np.array([-3, 0, 2, 7], np.int64)
    values = [-4, -3, -1, 0, 1, 2, 6, 7, 8, None]
    out = np.empty(len(values), np.int64)
    logic.contains(words(values), members, found, out)
    meant = [None if value is None else found if value in (-3, 0, 2, 7) else 1 - found for value in values]
    assert shown(out) == meant


def test_a_condition_that_is_null_chooses_what_is_otherwise() -> None:
    out = np.empty(3, np.int64)
    logic.choose(words(list(TRUTHS)), words([10, 11, 12]), words([5]), out)
    assert shown(out) == [5, 11, 5]
