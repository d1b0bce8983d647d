"""What keeping one bin through all epochs costs: kept, fresh in each epoch, and Poisson subsampling."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

EPOCHS = [1, 2, 3, 5, 10, 20, 30, 50, 100]
SIGMAS = [1, 2, 4]
SCHEMES = {
    "kept": "Gaussian({sigma}).repeat({rounds}).allocate(1000)",
    "fresh": "Gaussian({sigma}).allocate(1000).repeat({rounds})",
    "Poisson": "Gaussian({sigma}).allocate(1000).repeat({rounds}).poisson()",
}
LOOK = {"kept": (_style.RED, "-"), "fresh": (_style.BLUE, "-"), "Poisson": (_style.ORANGE, "--")}
BY = ("sigma", "rounds")


def _parts(quick: bool) -> list[Part]:
    parameters = {"sigma": SIGMAS, "rounds": EPOCHS[::4] if quick else EPOCHS}
    asked = {"question": "epsilon", "scheme": SCHEMES, "parameters": parameters, "delta": 1e-6, "seconds": 30}
    return [Part(asked)]


def _costs(data: Data) -> Verdict:
    pairs = data.pairs({"scheme": "kept"}, {"scheme": "fresh"}, BY)
    later = [(kept["lower"] / fresh["upper"], kept) for kept, fresh in pairs if kept["rounds"] > 1]
    once = [(kept["upper"] / fresh["lower"]) for kept, fresh in pairs if kept["rounds"] == 1]
    worst, row = max(later, key=lambda each: each[0])
    said = (
        f"kept is proven more at {sum(ratio > 1 for ratio, _ in later)} of {len(later)} points, by at least a factor "
        f"of {worst:.2f} at sigma={row['sigma']:g} and {row['rounds']} epochs; one epoch: within {max(once) - 1:.1e}"
    )
    return Verdict(all(ratio > 1 for ratio, _ in later) and bool(later), said)


def _grows(data: Data) -> Verdict:
    """At the most noise, kept bins cost about a factor that grows with the epochs."""
    sigma = max(data.values("sigma"))
    pairs = data.where(sigma=sigma).pairs({"scheme": "kept"}, {"scheme": "fresh"}, BY)
    pairs.sort(key=lambda pair: pair[0]["rounds"])
    found = [(kept["lower"] / fresh["upper"], kept["upper"] / fresh["lower"]) for kept, fresh in pairs]
    said = ", ".join(f"{low:.2f} after {kept['rounds']}" for (low, _), (kept, _) in zip(found, pairs, strict=True))
    rising = all(low > before for (low, _), (_, before) in zip(found[1:], found[:-1], strict=True))
    return Verdict(rising, f"at sigma={sigma:g} kept over fresh is at least {said} epochs")


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(1, len(SIGMAS), sharex=True)
    for axes, sigma in zip(panels, data.values("sigma"), strict=True):
        lines = []
        for name, (color, dashes) in LOOK.items():
            found = data.where(sigma=sigma, scheme=name)
            lines.append((_style.band(axes, found, "rounds", color, dashes, marker="."), name))
        axes.set(xscale="log", yscale="log", title=f"$\\sigma$ = {sigma:g}", xlabel="epochs")
        _style.decades(axes, "x")
        _style.decades(axes)
        if axes is panels[-1]:
            _style.names(axes, lines)
    panels[0].set_ylabel("privacy $\\varepsilon$ at $\\delta=10^{-6}$")


FIGURE = Figure(
    name="kept_bin",
    title="What a fixed bin for all epochs costs",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("a bin kept through all epochs costs more than a fresh one in each", _costs, ours=True),
        Claim("and the more, the more epochs", _grows, ours=True),
    ),
    seconds=(2, 12),
    place=20,
    further=True,
    note="One of 1,000 steps in each epoch: the same in all, a fresh one in each, or each step at rate 1/1000.",
    size=(7.4, 2.8),
)
