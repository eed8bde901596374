"""Curves as SVG: plots side by side, and the same bytes for the same figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from bench.curves.base import Curve, Plot

STYLE: dict[Any, object] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.facecolor": "white",
    "font.size": 9,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.markersize": 3,
    "svg.fonttype": "none",
    "svg.hashsalt": "freshet",
}
WIDTH, HEIGHT = 5.2, 3.6
"""The size of a plot, in inches."""


def draw(curve: Curve, path: Path) -> None:
    """Write the curve's plots, side by side, to `path`."""
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH * len(curve.plots), HEIGHT), layout="constrained")
        for place, plot in enumerate(curve.plots, 1):
            _plot(figure.add_subplot(1, len(curve.plots), place), plot)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _plot(axes: Axes, plot: Plot) -> None:
    axes.set_title(plot.title)
    for name, points in plot.lines.items():
        x, y = zip(*points, strict=True)
        axes.plot(x, y, marker="o", label=name)
    axes.set_xlabel(plot.x.label)
    axes.set_ylabel(plot.y.label)
    axes.set_xscale("log" if plot.x.log else "linear")
    axes.set_yscale("log" if plot.y.log else "linear")
    if not plot.y.log:
        axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(EngFormatter(plot.x.unit))
    axes.yaxis.set_major_formatter(EngFormatter(plot.y.unit))
    axes.legend()
