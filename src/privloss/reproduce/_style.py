"""One look for all pictures: readable in print and for the colour-blind, brackets as bands, names beside their lines.

The colours are those of Okabe and Ito. Matplotlib is imported by those who draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from privloss.reproduce._data import Data

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#777777"
SIZE = 8.5  # of letters, in points
_LOOK: dict[Any, Any] = {
    "font.size": SIZE,
    "axes.titlesize": SIZE + 0.5,
    "axes.labelsize": SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "xtick.labelsize": SIZE - 1,
    "ytick.labelsize": SIZE - 1,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.2,
    "svg.hashsalt": "privloss",
    "path.simplify": True,
}
METHODS: Mapping[str, tuple[str, str, str]] = {
    "engine": (BLUE, "-", "this package"),
    "poisson": (ORANGE, "--", "Poisson"),
    "fs25": (RED, "-.", "FS25"),
    "dco25": (GREEN, ":", "DCO25"),
    "cghlkkmsz24": (BLACK, ":", "CGHLKKMSZ24, lower"),
    "monte_carlo": (PINK, "-", "Monte Carlo"),
    "paper": (RED, "-", "the paper's algorithm"),
}
"""The colour, dashes and name of each method, the same in all pictures."""


def look() -> AbstractContextManager[None]:
    import matplotlib

    manager: AbstractContextManager[None] = matplotlib.rc_context(_LOOK)
    return manager


def band(
    axes: Any,
    data: Data,
    x: str,
    color: str,
    dashes: str = "-",
    *,
    marker: str = "",
    end: str = "upper",
    shade: bool = True,
) -> Any:
    """A bracket as a line at its safe end and a shade to the other one."""
    rows = [row for row in data.answered().sorted(x) if math.isfinite(row[end])]
    along, ends = [row[x] for row in rows], [row[end] for row in rows]
    (line,) = axes.plot(along, ends, color=color, linestyle=dashes, marker=marker)
    both = [row for row in rows if row["lower"] > 0 and math.isfinite(row["upper"])]
    if both and shade and end == "upper":  # a bound from below alone has nothing above it
        lows, highs = [row["lower"] for row in both], [row["upper"] for row in both]
        axes.fill_between([row[x] for row in both], lows, highs, color=color, alpha=0.25, linewidth=0)
    return line


def names(axes: Any, lines: Sequence[tuple[Any, str]], *, gap: float = 1.15) -> None:
    """The name of each line at its right end, in its colour, pushed apart where they would overlap."""
    axes.figure.canvas.draw()
    placed = []
    for line, text in lines:
        xs, ys = line.get_data()
        if len(xs):
            at = axes.transData.transform((float(xs[-1]), float(ys[-1])))
            placed.append([float(at[1]), text, line.get_color()])
    placed.sort(key=lambda each: each[0])
    box = axes.get_window_extent()
    apart = gap * SIZE * axes.figure.dpi / 72
    spots = [min(max(each[0], box.y0), box.y1) for each in placed]
    for _ in range(200):
        for i in range(len(spots) - 1):
            short = apart - (spots[i + 1] - spots[i])
            if short > 1e-9:
                spots[i] -= short / 2
                spots[i + 1] += short / 2
        if spots:
            spots[0], spots[-1] = max(spots[0], box.y0), min(spots[-1], box.y1)
    for (_, text, color), y in zip(placed, spots, strict=True):
        share = (y - box.y0) / box.height
        axes.annotate(
            f"{text} ",
            (1.0, share),
            xycoords="axes fraction",
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=color,
            annotation_clip=False,
        )


def heat(axes: Any, xs: Sequence[float], ys: Sequence[float], cells: Sequence[Sequence[float]], **options: Any) -> Any:
    """A map with its cells around the values, evenly, whatever the values are; the labels are the values."""
    mesh = axes.pcolormesh(range(len(xs) + 1), range(len(ys) + 1), cells, rasterized=False, linewidth=0, **options)
    axes.set_xticks([i + 0.5 for i in range(len(xs))], [short(x) for x in xs], rotation=45 if len(xs) > 8 else 0)
    axes.set_yticks([i + 0.5 for i in range(len(ys))], [short(y) for y in ys])
    axes.grid(False)
    return mesh


def short(value: float) -> str:
    """A number as it stands on an axis."""
    if value >= 1e4 and float(value).is_integer():
        power = math.log10(value)
        if abs(power - round(power)) < 1e-9:
            return f"$10^{{{round(power)}}}$"
    return f"{value:,.3g}" if value < 1e3 else f"{value:,.0f}"


def save(figure: Any, stem: Path) -> tuple[Path, Path]:
    """As SVG and as PNG."""
    vector, raster = (stem.parent / f"{stem.name}{ending}" for ending in (".svg", ".png"))
    figure.savefig(vector, metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(raster, dpi=150, bbox_inches="tight")
    return vector, raster


def decades(axes: Any, which: str = "y") -> None:
    """Plain numbers along a logarithmic axis that spans few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    low, high = axis.get_view_interval()
    subs = (1, 2, 5) if high < 30 * low else (1, 3) if high < 300 * low else (1,)
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def power(value: float) -> str:
    """A power of ten."""
    return f"$10^{{{round(math.log10(value))}}}$"
