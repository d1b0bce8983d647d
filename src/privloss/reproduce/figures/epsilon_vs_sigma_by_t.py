"""Epsilon against sigma for three numbers of steps, beside earlier bounds and Poisson subsampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, below, narrow, never_above_poisson

METHODS = ("engine", "poisson", "fs25", "dco25")


def parts(scheme: str, panel: str, values: list[int], points: int) -> list[Part]:
    """Sigma goes along, and what the ``panel`` is for takes each of the values."""
    parameters = {panel: values, "sigma": {"from": 1, "to": 4, "points": points}}
    grid = {"question": "epsilon", "scheme": scheme, "method": METHODS, "delta": 1e-6, "parameters": parameters}
    return [Part(grid)]


def drawing(panel: str, title: Callable[[int], str]) -> Callable[[Data, Any], None]:
    def draw(data: Data, canvas: Any) -> None:
        values = data.values(panel)
        panels = canvas.subplots(1, len(values), sharex=True)
        for axes, value in zip(panels, values, strict=True):
            lines = []
            for name in reversed(METHODS):
                color, dashes, label = _style.METHODS[name]
                found = data.where(method=name, **{panel: value})
                lines.append((_style.band(axes, found, "sigma", color, dashes), label))
            axes.set(yscale="log", title=title(value), xlabel="noise $\\sigma$")
            _style.decades(axes)
            if axes is panels[-1]:
                _style.names(axes, lines)
        panels[0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")

    return draw


def claims(panel: str, lower: str = "lower") -> tuple[Claim, ...]:
    by = ("sigma", panel)
    return (
        Claim("our upper bound is below every earlier bound on allocation", below(("fs25", "dco25"), by)),
        Claim("it is never above Poisson's", never_above_poisson(by)),
        Claim(f"{lower} and upper bound cannot be told apart", narrow(1e-3, method="engine")),
    )


SCHEME = "Gaussian({sigma}).allocate({steps})"

FIGURE = Figure(
    name="epsilon_vs_sigma_by_t",
    title="Epsilon against sigma, by the number of steps",
    parts=lambda quick: parts(SCHEME, "steps", [10, 100, 1000], 4 if quick else 10),
    draw=drawing("steps", lambda steps: f"$t$ = {_style.short(steps)} steps"),
    claims=claims("steps"),
    seconds=(5, 30),
    place=1,
    note="One of t steps; delta 1e-6. FS25 is the least of the bounds of that paper.",
    size=(7.4, 2.7),
)
