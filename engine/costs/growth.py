"""Growth: what a figure will be for all rows, from what it was for one, two or three shares of them.

The shares are geometric: each is `ratio` times the one before it. Let `q` be by how much more the figure grew
from the second share to the last than from the first to the second. If q is the ratio, the figure grows with
the rows, besides what it was without any (what reads whole sources only). If q is greater, the figure is a
power of the share, as that of a join of two samples which were not drawn by the columns that they meet in. If
q is less, the figure saturates: groups that most rows fall into have all been seen, as in

    y(s) = c + d * (1 - exp(-s * k))

where q = w + w^2 + ... + w^ratio for some w < 1. Chance makes q uncertain, by about the square roots of the
increments of the figure or of the rows, if these are fewer; a q that is the ratio, or a power of it, as far
as one can tell is taken for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt

_DOUBTS = 2.0
"""So many deviations may lie between q and the ratio."""
_STEEPEST = 3.0
"""The greatest power."""
_BISECTIONS = 60


def grown(shares: Sequence[float], figures: Sequence[float], drawn: float = inf) -> float:
    """The figure for the share 1, if so many rows were `drawn` for the last share."""
    shares, figures = shares[-3:], figures[-3:]
    share, last = shares[-1], figures[-1]
    if share >= 1.0:
        return float(last)
    if len(shares) == 1:
        return last / share
    slope = max(last - figures[-2], 0.0) / (share - shares[-2])
    linear = last + slope * (1.0 - share)
    if len(shares) == 2:
        return linear
    first, second = figures[1] - figures[0], last - figures[1]
    if first <= 0 or second <= 0:
        return linear
    ratio, q = share / shares[1], second / first
    known = [drawn * (more - less) / share for less, more in ((shares[0], shares[1]), (shares[1], share))]
    doubt = _DOUBTS * q * sqrt(1 / min(first, known[0]) + 1 / min(second, known[1]))
    if abs(q - ratio) <= doubt:
        return linear
    if q > ratio:
        power = min(log(q) / log(ratio), _STEEPEST)
        if abs(q - ratio ** round(power)) <= doubt:
            power = round(power)
        unit = second / (ratio**power - 1.0)  # what it is at the second share, without the constant
        return figures[1] - unit + unit * (1.0 / shares[1]) ** power
    return _saturated(shares, figures, ratio, q)


def _saturated(shares: Sequence[float], figures: Sequence[float], ratio: float, q: float) -> float:
    """The figure that a saturating one has at the share 1."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        w = (low + high) / 2
        total = sum(w**power for power in range(1, round(ratio) + 1))
        low, high = (w, high) if total < q else (low, w)
    z = low ** (1.0 / (ratio - 1.0))  # exp(-k * the first share)
    if z <= 0.0:
        return float(figures[-1])
    most = (figures[1] - figures[0]) / (z - z**ratio)
    begin = figures[0] - most * (1.0 - z)
    return begin + most * (1.0 - float(z) ** (1.0 / shares[0]))
