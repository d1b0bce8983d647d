"""The first two of the four settings of ``delta_comparison``."""

from __future__ import annotations

from typing import Any

from privloss.reproduce._data import Data
from privloss.reproduce._figure import Figure
from privloss.reproduce.figures.delta_comparison import CLAIMS, SETTINGS, panel, parts

SHOWN = SETTINGS[:2]


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, (steps, sigma) in zip(panels, SHOWN, strict=True):
        panel(axes, data.where(steps=steps), named=axes is panels[-1])
        axes.set(title=f"$t$ = {steps:,}, $\\sigma$ = {sigma}", xlabel="privacy $\\varepsilon$")
    panels[0].set_ylabel("$\\delta(\\varepsilon)$")


FIGURE = Figure(
    name="delta_comparison_partial",
    title="Privacy profiles in two settings of training",
    parts=lambda quick: parts(SHOWN, quick),
    draw=_draw,
    claims=CLAIMS,
    seconds=(10, 750),
    place=1.5,
    note="As delta_comparison, whose points it shares.",
    size=(7.4, 2.9),
)
