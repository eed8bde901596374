"""docs/curves.md: every curve's plots, how to read them, and their figures as tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.curves.base import Axis, Curve, Plot
from bench.curves.draw import draw
from bench.table import NOTHING, Row, duration, markdown

TEXT = """\
# Cost curves

These curves show how the cost of the engine's work grows, with the quantities that it should depend on and
those that it should not. `make bench` (`python -m bench curves`) measures them and writes this page;
`python -m bench --quick curves` only shows that it works. The clock runs from `advance` until every output
shows the change; making the change and handing it over as an Arrow table are not timed. Each curve is
measured in a process of its own, after a small run. M = 10⁶, k = 10³, m = 10⁻³, µ = 10⁻⁶, n = 10⁻⁹.

{facts}

{curves}
"""
NAME = "curves.md"
FOLDER = "curves"


def write(about: str, curves: Mapping[str, Curve], page: Path) -> None:
    """Write the page, and its plots into a folder beside it; `about` comes from `bench.report.facts`."""
    folder = page.parent / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, curve in curves.items():
        draw(curve, folder / f"{name}.svg")
    sections = (_section(name, curve) for name, curve in curves.items())
    page.write_text(TEXT.format(facts=about, curves="\n\n".join(sections)))


def tables(curve: Curve) -> str:
    """The curve's figures in Markdown."""
    return "\n\n".join(f"**{plot.title}**\n\n{_table(plot)}" for plot in curve.plots)


def _section(name: str, curve: Curve) -> str:
    picture = f"![{curve.title}]({FOLDER}/{name}.svg)"
    return "\n\n".join((f"## {curve.title}", curve.reading, picture, tables(curve)))


def _table(plot: Plot) -> str:
    """A table with a row for each x and a column for each line."""
    lines = [dict(points) for points in plot.lines.values()]
    header = (plot.x.label, *plot.lines)
    xs = sorted({x for line in lines for x in line})
    return markdown([_row(plot, x, lines) for x in xs], header)


def _row(plot: Plot, x: float, lines: list[dict[float, float]]) -> Row:
    cells = (_shown(line[x], plot.y) if x in line else NOTHING for line in lines)
    return (_shown(x, plot.x), *cells)


def _shown(value: float, axis: Axis) -> str:
    if axis.unit == "s":
        return duration(value)
    if axis.unit == "×":
        return f"{value:,.1f}×"
    return f"{value / 1e6:,.1f} MB" if axis.unit == "B" else f"{value:,.0f}"
