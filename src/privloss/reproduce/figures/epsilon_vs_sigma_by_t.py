"""Epsilon against sigma for three numbers of steps, beside earlier bounds and Poisson subsampling."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, below, narrow, never_above_poisson

METHODS = ("engine", "poisson", "fs25", "dco25")
BY = ("sigma", "steps")


def _parts(quick: bool) -> list[Part]:
    grid = {
        "question": "epsilon",
        "scheme": "Gaussian({sigma}).allocate({steps})",
        "method": METHODS,
        "delta": 1e-6,
        "parameters": {"steps": [10, 100, 1000], "sigma": {"from": 1, "to": 4, "points": 4 if quick else 10}},
    }
    return [Part(grid)]


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(1, 3, sharex=True)
    for axes, steps in zip(panels, data.values("steps"), strict=True):
        lines = []
        for name in reversed(METHODS):
            color, dashes, label = _style.METHODS[name]
            line = _style.band(axes, data.where(steps=steps, method=name), "sigma", color, dashes)
            lines.append((line, label))
        axes.set(yscale="log", title=f"$t$ = {_style.short(steps)} steps", xlabel="noise $\\sigma$")
        _style.decades(axes)
        if axes is panels[-1]:
            _style.names(axes, lines)
    panels[0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")


FIGURE = Figure(
    name="epsilon_vs_sigma_by_t",
    title="Epsilon against sigma, by the number of steps",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("our upper bound is below every earlier bound on allocation", below(("fs25", "dco25"), BY)),
        Claim("it is never above Poisson's", never_above_poisson(BY)),
        Claim("lower and upper bound cannot be told apart", narrow(1e-3, method="engine")),
    ),
    seconds=(15, 40),
    place=1,
    note="One of t steps; delta 1e-6. FS25 is the least of the bounds of that paper.",
    size=(7.4, 2.7),
)
