"""Epsilon of allocation and of Poisson subsampling against the number of steps, for Gaussian and Laplace noise."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Figure
from privloss.reproduce.figures.Gauss_Laplace_by_sigma import BOTH, claims, pairs, parts

NOISES = [0.5, 1, 3]
STEPS = [2, 5, 10, 22, 46, 100, 215, 464, 1000, 2154, 4642, 10_000]


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(2, 2, sharex=True, height_ratios=(3, 2))
    shades = dict(zip(data.values("noise"), (_style.SKY, _style.BLUE, _style.BLACK), strict=False))
    for (top, bottom), mechanism in zip(panels.T, ("Gaussian", "Laplace"), strict=True):
        lines = []
        for noise, color in shades.items():
            shown = data.where(mechanism=mechanism, noise=noise)
            for scheme, (_, dashes) in BOTH.items():
                line = _style.band(top, shown.where(scheme=scheme), "steps", color, dashes)
                if scheme == "allocation":
                    lines.append((line, f"noise {noise:g}"))
            over = Data(
                {"steps": a["steps"], "lower": a["lower"] / b["upper"], "upper": a["upper"] / b["lower"]}
                for a, b in pairs(shown, mechanism)
            )
            _style.band(bottom, over, "steps", color)
        bottom.axhline(1, color=_style.GREY, linewidth=0.8)
        top.set(yscale="log", title=f"{mechanism} (dashes: Poisson)")
        bottom.set(xscale="log", xlabel="steps $t$")
        if mechanism == "Laplace":
            _style.names(top, lines)
    panels[0][0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")
    panels[1][0].set_ylabel("allocation\nover Poisson")


FIGURE = Figure(
    name="Gauss_Laplace_by_t",
    title="Gaussian and Laplace noise, by the number of steps",
    parts=lambda quick: parts(["Gaussian", "Laplace"], NOISES, [*STEPS[::5], 1000] if quick else STEPS),
    draw=_draw,
    claims=claims("Gaussian", "Laplace"),
    seconds=(15, 40),
    place=12,
    note="Laplace noise has the scale that Gaussian noise has as sigma. delta 1e-6, to a relative gap of 1e-4.",
    size=(7.2, 4.4),
)
