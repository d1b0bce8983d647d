"""Epsilon against sigma where several steps are chosen."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, below, narrow, never_above_poisson

METHODS = ("engine", "poisson", "fs25", "dco25")
BY = ("sigma", "picks")


def _parts(quick: bool) -> list[Part]:
    grid = {
        "question": "epsilon",
        "scheme": "Gaussian({sigma}).allocate(1000, picks={picks})",
        "method": METHODS,
        "delta": 1e-6,
        "parameters": {"picks": [10, 100], "sigma": {"from": 1, "to": 4, "points": 3 if quick else 10}},
    }
    return [Part(grid)]


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(1, 2, sharex=True)
    for axes, picks in zip(panels, data.values("picks"), strict=True):
        lines = []
        for name in reversed(METHODS):
            color, dashes, label = _style.METHODS[name]
            lines.append((_style.band(axes, data.where(picks=picks, method=name), "sigma", color, dashes), label))
        axes.set(yscale="log", title=f"$k$ = {picks} of 1,000 steps", xlabel="noise $\\sigma$")
        _style.decades(axes)
        if axes is panels[-1]:
            _style.names(axes, lines)
    panels[0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")


FIGURE = Figure(
    name="epsilon_vs_sigma_by_k",
    title="Epsilon against sigma where several steps are chosen",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("our upper bound is below every earlier bound on allocation", below(("fs25", "dco25"), BY)),
        Claim("it is never above Poisson's", never_above_poisson(BY)),
        Claim("lower (of the reduction) and upper bound cannot be told apart", narrow(1e-3, method="engine")),
    ),
    seconds=(15, 40),
    place=8,
    note="k of 1,000 steps; delta 1e-6. The lower end is one of the reduction to one pick in each of k blocks.",
    size=(6.4, 2.9),
)
