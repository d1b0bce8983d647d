"""Two privacy profiles that cross: neither scheme is always the more private."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

SCHEMES = {
    "allocation": "Gaussian({sigma}).allocate({steps})",
    "Poisson": "Gaussian({sigma}).allocate({steps}).poisson()",
}
COLORS = {"allocation": _style.BLUE, "Poisson": _style.ORANGE}


def _parts(quick: bool) -> list[Part]:
    along = [0, 0.1, 0.2, 0.3, 1] if quick else [round(0.05 * i, 2) for i in range(41)]
    grid = {
        "question": "delta",
        "scheme": SCHEMES,
        "parameters": {"sigma": 1, "steps": 10},
        "epsilon": along,
        "rtol": 1e-4,
    }
    return [Part(grid)]


def ratio(data: Data, epsilon: float) -> tuple[float, float]:
    """Certified ends of allocation's delta over Poisson's."""
    (ours, theirs), *_ = data.where(epsilon=epsilon).pairs({"scheme": "allocation"}, {"scheme": "Poisson"}, ["epsilon"])
    return ours["lower"] / theirs["upper"], ours["upper"] / theirs["lower"]


def _cross(data: Data) -> Verdict:
    first, later = ratio(data, 0.0), ratio(data, 0.3)
    said = (
        f"allocation over Poisson: {first[0]:.4f} to {first[1]:.4f} at epsilon 0, "
        f"{later[0]:.4f} to {later[1]:.4f} at 0.3"
    )
    return Verdict(first[0] > 1 > later[1], said)


def _draw(data: Data, canvas: Any) -> None:
    profile, quotient = canvas.subplots(1, 2)
    lines = [
        (_style.band(profile, data.where(scheme=name), "epsilon", color, "-" if name == "allocation" else "--"), name)
        for name, color in COLORS.items()
    ]
    profile.set(yscale="log", xlabel="privacy $\\varepsilon$", ylabel="$\\delta(\\varepsilon)$")
    _style.names(profile, lines)
    along = data.values("epsilon")
    ends = [ratio(data, each) for each in along]
    quotient.plot(along, [high for _, high in ends], color=_style.BLUE)
    quotient.fill_between(along, *zip(*ends, strict=True), color=_style.BLUE, alpha=0.25, linewidth=0)
    quotient.axhline(1, color=_style.GREY, linewidth=0.8)
    quotient.set(xlabel="privacy $\\varepsilon$", ylabel="$\\delta$ of allocation over that of Poisson")


FIGURE = Figure(
    name="no-domination",
    title="Two privacy profiles that cross",
    parts=_parts,
    draw=_draw,
    claims=(Claim("the profiles of allocation and Poisson cross, so neither dominates the other", _cross),),
    seconds=(2, 8),
    place=10,
    note="Gaussian, sigma 1, one of 10 steps, delta to a relative gap of 1e-4.",
    size=(6.8, 2.8),
)
