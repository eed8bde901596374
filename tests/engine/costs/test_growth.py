"""Growth: figures that grow as known functions of the share are found again at the share 1."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import pytest

from engine.costs.growth import grown

SHARES = (1 / 32, 1 / 16, 1 / 8)


def seen(figure: Callable[[float], float], shares: tuple[float, ...] = SHARES) -> float:
    return grown(shares, [figure(share) for share in shares])


@pytest.mark.parametrize("begin", [0.0, 50_000.0])
def test_what_grows_with_the_rows(begin: float) -> None:
    assert seen(lambda share: begin + 1_000_000 * share) == pytest.approx(begin + 1_000_000)


def test_what_reads_whole_sources_only() -> None:
    assert seen(lambda share: 777) == 777


def test_groups_that_have_all_been_seen() -> None:
    assert seen(lambda share: 10_000 * (1 - exp(-share * 80))) == pytest.approx(10_000, rel=0.01)


def test_groups_of_which_many_have_not_been_seen() -> None:
    groups = 1_000_000
    assert seen(lambda share: groups * (1 - exp(-share * 8))) == pytest.approx(groups, rel=0.01)


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_joins_of_samples(power: float) -> None:
    assert seen(lambda share: 4_000_000 * share**power) == pytest.approx(4_000_000, rel=0.01)


def test_shares_may_quadruple() -> None:
    shares = (1 / 64, 1 / 16, 1 / 4)
    assert seen(lambda share: 900_000 * share, shares) == pytest.approx(900_000)
    assert seen(lambda share: 10_000 * (1 - exp(-share * 8)), shares) == pytest.approx(9_997, rel=0.01)


def test_chance_is_not_taken_for_saturation() -> None:
    """Of a million rows in proportion to the share, a few more or less are seen."""
    assert grown(SHARES, [31_100, 62_600, 125_100]) == pytest.approx(1_000_000, rel=0.02)
    assert grown(SHARES, [12, 20, 36]) == pytest.approx(36 + 16 * 14, rel=0.01), "a line through the last two"


@pytest.mark.parametrize(
    ("shares", "figures", "expected"), [((0.25,), (10,), 40), ((0.25, 0.5), (10, 20), 40)]
)
def test_fewer_shares(shares: tuple[float, ...], figures: tuple[float, ...], expected: float) -> None:
    assert grown(shares, figures) == expected


def test_the_whole_is_what_it_is() -> None:
    assert grown((0.25, 0.5, 1.0), (1, 2, 17)) == 17


def test_nothing_stays_nothing() -> None:
    assert grown(SHARES, (0, 0, 0)) == 0
