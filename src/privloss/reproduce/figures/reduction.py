"""How loose the reduction of k picks to one pick in each of k blocks is: samples of the true scheme against it."""

from __future__ import annotations

from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

SETTINGS = [(10, 2), (10, 5), (10, 8), (40, 2), (40, 5), (40, 10), (40, 20)]  # steps, picks
BY = ("sigma", "steps", "picks", "epsilon")


def _parts(quick: bool) -> list[Part]:
    names = ("steps", "picks")
    points = [dict(zip(names, row, strict=True)) for row in (SETTINGS[1::3] if quick else SETTINGS)]
    asked = {
        "question": "delta",
        "scheme": "Gaussian({sigma}).allocate({steps}, picks={picks})",
        "points": points,
        "direction": "remove",
    }
    epsilons = [1.0] if quick else [0.25, 0.5, 1.0, 1.5, 2.0]
    ours = {**asked, "parameters": {"sigma": 2}, "epsilon": epsilons, "rtol": 1e-4, "seconds": 20}
    samples = 50_000 if quick else 400_000
    drawn = {**asked, "parameters": {"sigma": 2, "samples": samples}, "epsilon": epsilons, "method": ["monte_carlo"]}
    return [Part({**ours, "method": ["engine", "poisson"]}), Part(drawn)]


def _pairs(data: Data) -> list[tuple[float, float, Any]]:
    """The reduction's delta over the scheme's: the least and the largest that samples leave possible."""
    pairs = data.pairs({"method": "engine"}, {"method": "monte_carlo"}, BY)
    return [
        (ours["lower"] / drawn["upper"], ours["upper"] / drawn["lower"] if drawn["lower"] > 0 else float("inf"), ours)
        for ours, drawn in pairs
    ]


def _above(data: Data) -> Verdict:
    """Each at 95 %: of many, one in twenty may fall on the wrong side, but by a hair."""
    found = _pairs(data)
    wrong = sum(high < 1 for _, high, _ in found)
    said = f"samples contradict it at {wrong} of {len(found)} points, each at 95 %"
    return Verdict(wrong <= max(0.1 * len(found), 0) and bool(found), said)


def _loose(data: Data) -> Verdict:
    found = _pairs(data)
    count = sum(low > 1 for low, _, _ in found)
    worst, high, row = max(found, key=lambda each: each[0])
    said = (
        f"shown to be loose at {count} of {len(found)} points; the most at t={row['steps']}, k={row['picks']}, epsilon "
        f"{row['epsilon']:g}: by a factor of {worst:.3f} to {high:.3f}"
    )
    return Verdict(count > 0, said)


def _draw(data: Data, canvas: Any) -> None:
    steps = data.values("steps")
    panels = canvas.subplots(1, len(steps), sharey=True, squeeze=False)[0]
    colors = (_style.BLUE, _style.GREEN, _style.RED, _style.PINK)
    for axes, count in zip(panels, steps, strict=True):
        shown = data.where(steps=count)
        for picks, color in zip(shown.values("picks"), colors, strict=False):
            every = _pairs(shown.where(picks=picks))
            told = [each for each in every if each[1] < 1.3 * each[0]]  # of the others samples say next to nothing
            found = [(row["epsilon"], low, high) for low, high, row in told]
            along = [epsilon for epsilon, *_ in found]
            middle = [(low * high) ** 0.5 for _, low, high in found]
            off = [
                [m - low for m, (_, low, _) in zip(middle, found, strict=True)],
                [high - m for m, (_, _, high) in zip(middle, found, strict=True)],
            ]
            axes.errorbar(along, middle, off, color=color, marker=".", capsize=2, linewidth=1)
            last = (along[-1], middle[-1]) if along else (1.0, 1.0)
            lift = 0 if len(along) == len(every) else 7
            beside = {"xytext": (4, lift), "textcoords": "offset points", "va": "center"}
            axes.annotate(f" $k$ = {picks}", last, color=color, **beside)
        axes.axhline(1, color=_style.GREY, linewidth=0.8)
        axes.set(title=f"$t$ = {count} steps", xlabel="privacy $\\varepsilon$")
        axes.margins(x=0.18)
    panels[0].set_ylabel("$\\delta$ of the reduction over the scheme's\n(bars: 95 % by sampling)")


FIGURE = Figure(
    name="reduction",
    title="How loose the reduction to one pick a block is",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("the reduction bounds the true scheme from above", _above, ours=True),
        Claim("it is not tight: samples of the true scheme show how loose it is", _loose, ours=True),
    ),
    seconds=(2, 60),
    place=21,
    further=True,
    note="k of t steps, sigma 2, remove; importance samples of the true scheme, bounds at 95 %.",
    size=(6.8, 3.0),
)
