"""The plots of docs/benchmarks.md, from results.json: ``python bench/peers/plots.py [--png FOLDER]``."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import costs
import matplotlib.pyplot as plt
from costs import Cost
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

IMAGES = costs.ROOT / "docs" / "images"
PLD = ("pld_geom", "pld_fft", "pld_adaptive", "pld_nested")
# Colours of Okabe and Ito, told apart by marker and dash too.
OURS = {"color": "#0072B2", "marker": "o", "label": "privloss, bracket"}
BOTH = {"color": "#D55E00", "marker": "s", "label": "PLD-accounting, bracket"}
ALONE = {"color": "#E69F00", "marker": "^", "linestyle": "--", "label": "PLD-accounting, upper bound alone"}
DOTS = {"color": "#D55E00", "marker": "s", "label": "dp-accounting, bracket"}
DOT = {"color": "#E69F00", "marker": "^", "linestyle": "--", "label": "dp-accounting, upper bound alone"}
PRV = {"color": "#009E73", "marker": "D", "linestyle": "-.", "label": "prv-accountant, bracket"}
STYLE = {"markersize": 4, "linewidth": 1.4}


def line(axes: Axes, found: list[Cost], style: dict[str, Any]) -> None:
    axes.plot([each.gap for each in found], [each.seconds for each in found], **{**STYLE, **style})


def frame(axes: Axes, title: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(title, fontsize=9)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.minorticks_off()


def short(row: dict[str, Any]) -> str:
    given = row["given"]
    if "rate" in given and "picks" not in given:
        return f"$\\sigma$={given['sigma']:g}, rate 1/{given['rounds']}, $\\delta$={costs.short(given['delta'])}"
    said = f"$\\sigma$={given['sigma']:g}, t={given['steps']}"
    if "rate" in given:
        return "PREAMBLE"
    said += f", k={given['picks']}" if "picks" in given else ""
    said += f", {given['rounds']} rounds" if "rounds" in given else ""
    return said + f", $\\delta$={costs.short(given['delta'])}"


def legend(figure: Figure, styles: list[dict[str, Any]], columns: int) -> None:
    handles = [Line2D([], [], **{**STYLE, **style}) for style in styles]
    figure.legend(handles=handles, loc="upper center", ncol=columns, fontsize=9, frameon=False)


def panels(rows: list[dict[str, Any]], columns: int) -> tuple[Figure, list[Axes]]:
    lines = -(-len(rows) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(3.1 * columns, 2.5 * lines + 0.6), sharex=True, sharey=True, squeeze=False
    )
    axes = list(grid.flat)
    for n, each in enumerate(axes):
        each.set_visible(n < len(rows))
        if n % columns == 0:
            each.set_ylabel("seconds", fontsize=9)
        if n + columns >= len(rows):
            each.set_xlabel("relative gap", fontsize=9)
            each.tick_params(labelbottom=True)
    axes[0].set_xlim(2, 4e-7)  # finer to the right
    figure.subplots_adjust(left=0.07, right=0.985, top=1 - 0.75 / (2.5 * lines + 0.6), hspace=0.28, wspace=0.1)
    figure.subplots_adjust(bottom=0.5 / (2.5 * lines + 0.6))
    return figure, axes


def cost(rows: list[dict[str, Any]]) -> Figure:
    """Seconds against gap: allocations."""
    figure, axes = panels(rows, 4)
    for row, each in zip(rows, axes, strict=False):
        frame(each, short(row))
        line(each, costs.ours(row), OURS)
        for found, style in ((costs.brackets(row, *PLD), BOTH), (costs.uppers(row, *PLD), ALONE)):
            line(each, found, style)
            power = costs.slope(found)
            later = costs.extrapolated(found, 1e-4)
            if power is not None and later is not None and found[-1].gap > 1e-4:
                ends = ([found[-1].gap, 1e-4], [found[-1].seconds, later])
                each.plot(*ends, color=style["color"], linewidth=1.0, linestyle=":")
    dotted = {"color": "#777777", "linestyle": ":", "label": "extrapolated to a gap of 1e-4"}
    legend(figure, [OURS, BOTH, ALONE, dotted], 4)
    return figure


def poisson(rows: list[dict[str, Any]]) -> Figure:
    figure, axes = panels(rows, 4)
    for row, each in zip(rows, axes, strict=False):
        frame(each, short(row))
        line(each, costs.ours(row), OURS)
        line(each, costs.brackets(row, "dp"), DOTS)
        line(each, costs.uppers(row, "dp"), DOT)
        line(each, costs.brackets(row, "prv"), PRV)
    legend(figure, [OURS, DOTS, DOT, PRV], 4)
    return figure


def place(axis: str, value: float) -> float:
    """delta from 0.9 to 1e-100 by the digits that it has."""
    return -math.log10(value) if axis == "delta" else value


def ticks(axes: Axes, axis: str) -> None:
    if axis == "delta":
        shown: tuple[float, ...] = (0.9, 0.1, 1e-4, 1e-15, 1e-100)
        axes.set_xticks(
            [place(axis, each) for each in shown],
            [f"{each:g}" if each >= 0.1 else f"{each:.0e}".replace("e-0", "e-") for each in shown],
        )
    elif axis == "sigma":
        shown = (0.1, 1.0, 10.0, 100.0)
        axes.set_xticks(shown, [f"{each:g}" for each in shown])


def scale(rows: list[dict[str, Any]]) -> Figure:
    """Time above, memory below."""
    figure, grid = plt.subplots(2, len(rows), figsize=(3.0 * len(rows), 5.8), sharex="col", sharey="row", squeeze=False)
    for n, row in enumerate(rows):
        axis = row["given"]["axis"]
        asked = costs.peers(row)
        for height, (key, unit) in enumerate((("seconds", 1.0), ("memory", 2.0**20))):
            each = grid[height][n]
            frame(each, axis if height == 0 else "")
            for call, style in (("privloss", OURS), ("pld_adaptive", BOTH)):
                said = sorted(costs.answered(row, call), key=lambda a: float(a["value"]))
                at = [place(axis, a["value"]) for a in said]
                each.plot(at, [a[key] / unit for a in said], **{**STYLE, **style})
            for outcomes, style in ((("no answer", "crash"), _LATE), (("error",), _WRONG)):
                silent = [a for a in asked if a["outcome"] in outcomes]
                at = [place(axis, a["value"]) for a in silent]
                each.plot(at, [a["limit"] if key == "seconds" else a[key] / unit for a in silent], **style)
        ticks(grid[1][n], axis)
        if axis == "tolerance":
            grid[1][n].invert_xaxis()  # the finer to the right
        grid[1][n].set_xlabel(axis, fontsize=9)
    grid[0][0].set_ylabel("seconds", fontsize=9)
    grid[1][0].set_ylabel("peak memory, MB", fontsize=9)
    sizes = [20, 50, 100, 200, 500, 1000]
    grid[1][0].set_yticks(sizes, [str(each) for each in sizes])
    handles = [
        Line2D([], [], **{**STYLE, **OURS, "label": "privloss, tolerance 1e-3"}),
        Line2D([], [], **{**STYLE, **BOTH, "label": "PLD-accounting, its adaptive default (0.1)"}),
        Line2D([], [], **_LATE, label="PLD-accounting: no answer within the limit"),
        Line2D([], [], **_WRONG, label="PLD-accounting: an error"),
    ]
    figure.legend(handles=handles, loc="upper center", ncol=4, fontsize=9, frameon=False)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.87, bottom=0.09, hspace=0.08, wspace=0.08)
    return figure


_LATE: dict[str, Any] = {
    "color": "#D55E00",
    "marker": "s",
    "markerfacecolor": "none",
    "markersize": 6,
    "linestyle": "none",
}
_WRONG: dict[str, Any] = {"color": "#D55E00", "marker": "x", "linestyle": "none"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", metavar="FOLDER", help="as PNG, into another folder, to look at")
    folder = parser.parse_args().png
    matplotlib.rcParams["svg.hashsalt"] = "privloss"
    rows = costs.load()["rows"].values()
    IMAGES.mkdir(parents=True, exist_ok=True)
    for kind, draw, name in (("allocation", cost, "cost"), ("poisson", poisson, "poisson"), ("scale", scale, "scale")):
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            figure = draw(of_kind)
            if folder:
                figure.savefig(Path(folder) / f"{name}.png", dpi=110)
            else:
                figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
