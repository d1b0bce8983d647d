"""Rows as text and as a picture: lines over one number, or maps where two numbers vary."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

from privloss._bracket import outward
from privloss.sweep._grid import Grid

FORMATS = (".png", ".svg", ".pdf")
MAP = 4  # values of either number, from which on a map says more than lines
LINES = 12  # in one picture
PANELS = 16
WIDE = 90  # characters of a scheme in a title
ACROSS = 14  # characters of a title in an inch

Rows = Sequence[Mapping[str, Any]]


def check(path: str) -> Path:
    found = Path(path)
    if found.suffix.lower() not in FORMATS:
        raise ValueError(f"plot must end in one of {', '.join(FORMATS)}, got {path!r}")
    if not found.parent.is_dir():
        raise ValueError(f"plot must be in a folder that is there, got {path!r}")
    if find_spec("matplotlib") is None:
        raise ImportError("plots need the extra plot: pip install privloss[plot]")
    return found


def text(grid: Grid, rows: Rows) -> list[str]:
    """A table, its head first. Both ends are rounded away from each other."""
    names = [*grid.parameters, "lower", "upper", "gap", "seconds", "reason"]
    lines = [names, *([*(_cell(row[name]) for name in grid.parameters), *_answer(row)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def summary(grid: Grid, rows: Rows) -> str:
    """How many points there are, why they stopped, and what no row says by itself."""
    counts: dict[str, int] = {}
    for row in rows:
        said = "failed" if row["error"] is not None else row["reason"] or "not computed"
        counts[said] = counts.get(said, 0) + 1
    parts = [f"{count:,} {said.partition(':')[0]}" for said, count in sorted(counts.items(), key=lambda it: -it[1])]
    some = any(row["exact"] is False for row in rows)
    note = f"; not exact: {_other(grid)} of the reduction only, where picks > 1" if some else ""
    adjacency = f"; add/remove (one person present or absent), direction {grid.recipe.options['direction']}"
    return f"{grid.question}: {len(rows):,} point{'s' if len(rows) != 1 else ''}: {', '.join(parts)}{note}{adjacency}"


def safe(grid: Grid) -> str:
    """The end to rely on: the lower one for a false negative rate."""
    return "lower" if grid.question == "tradeoff" else "upper"


def _other(grid: Grid) -> str:
    return "upper" if safe(grid) == "lower" else "lower"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _answer(row: Mapping[str, Any]) -> list[str]:
    if row["error"] is not None:
        return ["", "", "", f"{row['seconds']:.3f}", f"error: {row['error']}"]
    if row["lower"] is None:
        return ["", "", "", "", "not computed"]
    ends = outward(row["lower"], row["upper"])
    said = row["reason"] if row["exact"] else f"{row['reason']}; not exact"
    return [*ends, _upward(row["gap"]), f"{row['seconds']:.3f}", said]


def _upward(value: float) -> str:
    """To two digits, rounded up."""
    if math.isinf(value):
        return "inf"
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(value)):g}"


# Pictures.


@dataclass(frozen=True)
class Layout:
    """``x`` and, for maps, ``y`` are numbers that vary; what else varies tells lines or panels apart."""

    x: str
    y: str | None
    others: tuple[str, ...]


def layout(grid: Grid, rows: Rows) -> Layout:
    """The number with the most values goes along; a second one with enough of them makes a map."""
    seen = {name: {row[name] for row in rows} for name in grid.parameters}
    numbers = {
        name: len(values)
        for name, values in seen.items()
        if len(values) > 1 and all(isinstance(value, int | float) for value in values)
    }
    if not numbers:
        raise ValueError("a plot needs a number that varies: the grid has none")
    ranked = sorted(numbers, key=lambda name: -numbers[name])
    x, y = ranked[0], None
    if len(ranked) > 1 and numbers[ranked[1]] >= MAP:
        y = ranked[1]
    others = tuple(name for name, values in seen.items() if name not in (x, y) and len(values) > 1)
    return Layout(x, y, others)


def draw(grid: Grid, rows: Rows, path: str) -> None:
    """Write a picture of what there is so far."""
    goal = check(path)
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "privloss", "font.size": 9}):
        from matplotlib.figure import Figure

        plan = layout(grid, rows)
        groups = _groups(plan, rows)
        figure = Figure(layout="constrained")
        (_lines if plan.y is None else _maps)(figure, grid, plan, groups)
        said = [*_fixed(grid, plan, rows), summary(grid, rows)]
        room = int(ACROSS * figure.get_figwidth())
        figure.suptitle("\n".join(line for each in said for line in wrap(each, room)), fontsize=9)
        figure.savefig(goal, dpi=150, metadata={"Date": None} if goal.suffix.lower() == ".svg" else None)


def _groups(plan: Layout, rows: Rows) -> dict[str, list[Mapping[str, Any]]]:
    """The rows that have an answer, by what tells them apart."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        name = ", ".join(_label(name, row[name]) for name in plan.others)
        groups.setdefault(name, [])
        if row["lower"] is not None and math.isfinite(row["upper"]):
            groups[name].append(row)
    most = LINES if plan.y is None else PANELS
    if len(groups) > most:
        raise ValueError(f"a plot must have at most {most} {'lines' if plan.y is None else 'maps'}, got {len(groups)}")
    return groups


def _fixed(grid: Grid, plan: Layout, rows: Rows) -> list[str]:
    """What all of the picture shares, and no axis or legend says: the scheme, if it has one line, and single values."""
    shown = {plan.x, plan.y, *plan.others}
    scheme = [] if grid.named else [str(source) for source in grid.recipe.sources]
    single = [_label(name, rows[0][name]) for name in grid.parameters if name not in shown]
    said = ", ".join([*(text for text in scheme if len(text) <= WIDE), *single])
    return [said] if said else []


def _label(name: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{name}={_cell(value)}"


def _lines(figure: Any, grid: Grid, plan: Layout, groups: Mapping[str, Rows]) -> None:
    axes, end = figure.subplots(), safe(grid)
    for name, found in groups.items():
        points = sorted(found, key=lambda row: row[plan.x])
        along = [row[plan.x] for row in points]
        ends = {side: [row[side] for row in points] for side in ("lower", "upper")}
        (line,) = axes.plot(along, ends[end], marker=".", label=name)
        axes.fill_between(along, *ends.values(), color=line.get_color(), alpha=0.3, linewidth=0)
    every = [row for found in groups.values() for row in found]
    axes.set(xlabel=plan.x, ylabel=f"{grid.question} (line: {end}; shaded: to {_other(grid)})")
    axes.set(xscale=_scale([row[plan.x] for row in every]), yscale=_scale([row[end] for row in every]))
    _plainly(axes)
    axes.grid(alpha=0.3)
    if len(groups) > 1:
        axes.legend(fontsize=8)


def _maps(figure: Any, grid: Grid, plan: Layout, groups: Mapping[str, Rows]) -> None:
    from matplotlib.colors import LogNorm, Normalize

    assert plan.y is not None
    across = min(len(groups), 4)
    down = -(-len(groups) // across)
    figure.set_size_inches(3.2 * across + 1, 2.7 * down + 0.6)
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    end = safe(grid)
    values = [row[end] for found in groups.values() for row in found]
    span = (min(values, default=0.0), max(values, default=1.0))
    norm = (LogNorm if _scale(values) == "log" else Normalize)(*span)
    mesh = None
    for axes, (name, found) in zip(panels, groups.items(), strict=False):
        xs, ys = (sorted({row[side] for each in groups.values() for row in each}) for side in (plan.x, plan.y))
        table = {(row[plan.x], row[plan.y]): row[end] for row in found}
        cells = [[table.get((x, y), math.nan) for x in xs] for y in ys]
        if xs and ys:
            mesh = axes.pcolormesh(_edges(xs), _edges(ys), cells, norm=norm)
        axes.set(title=name, xscale=_scale(xs), yscale=_scale(ys))
        axes.title.set_fontsize(8)
        _plainly(axes)
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    figure.supxlabel(plan.x)
    figure.supylabel(plan.y)
    if mesh is not None:
        figure.colorbar(mesh, ax=list(panels), label=f"{grid.question} ({end})")


def _plainly(axes: Any) -> None:
    """Numbers as they are said, on logarithmic axes too, and few enough of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, scale in ((axes.xaxis, axes.get_xscale()), (axes.yaxis, axes.get_yscale())):
        if scale == "log":
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())


def _scale(values: Sequence[float]) -> str:
    """Logarithmic for positive numbers over a decade and more."""
    positive = [value for value in values if value > 0]
    return "log" if positive and len(positive) == len(values) and max(values) >= 10 * min(values) else "linear"


def _edges(centers: Sequence[float]) -> list[float]:
    """Between neighbours, on the scale on which they are drawn."""
    into: Callable[[float], float] = math.log if _scale(centers) == "log" else float
    back: Callable[[float], float] = math.exp if into is math.log else float
    places = [into(center) for center in centers]
    if len(places) == 1:
        return [back(places[0] - 0.5), back(places[0] + 0.5)]
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    ends = (2 * places[0] - middles[0], 2 * places[-1] - middles[-1])
    return [back(place) for place in (ends[0], *middles, ends[1])]
