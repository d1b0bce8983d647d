"""Epsilon against the number of chosen steps: no zigzag where the number of steps is no multiple of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from privloss.reproduce import _style
from privloss.reproduce._data import Data
from privloss.reproduce._figure import Claim, Figure, Part, Verdict, below, never_above_poisson

METHODS = ("engine", "poisson", "fs25", "dco25")
BY = ("sigma", "picks")
LIST = [1, 28, 56, 84, 111, 139, 166, 194, 222, 250]  # ten values from 1 to 250
NEAR = range(140, 176)  # around 1000/7 = 142.9 and 1000/6 = 166.7


def _parts(quick: bool) -> list[Part]:
    wide = {
        "question": "epsilon",
        "scheme": "Gaussian({sigma}).allocate(1000, picks={picks})",
        "method": METHODS,
        "delta": 1e-6,
        "parameters": {"sigma": [5] if quick else [1, 5], "picks": LIST[::3] if quick else LIST},
    }
    near = {**wide, "method": ["engine", "fs25"], "parameters": {"sigma": 5, "picks": list(NEAR)[:: 3 if quick else 1]}}
    return [Part(wide, {"part": "wide"}), Part(near, {"part": "near"})]


def jumps(data: Data, method: str) -> float:
    """The largest rise from one number of picks to the next, over the median one: 1 where it is a straight line."""
    ends: list[float] = [row["upper"] for row in data.where(part="near", method=method).sorted("picks")]
    rises = [(b - a) for a, b in pairwise(ends)]
    middle = sorted(map(abs, rises))[len(rises) // 2]
    return max(map(abs, rises)) / middle


def _zigzag(data: Data) -> Verdict:
    ours, theirs = jumps(data, "engine"), jumps(data, "fs25")
    ends = [row["upper"] for row in data.where(part="near", method="engine").sorted("picks")]
    said = f"largest rise over the median one: {ours:.2f} here, {theirs:.2f} for FS25, k from {NEAR[0]} to {NEAR[-1]}"
    return Verdict(ours < 1.5 and 2 * ours < theirs and ends == sorted(ends), said)


def _draw(data: Data, canvas: Any) -> None:
    wide, near = canvas.subplots(1, 2, width_ratios=(3, 2))
    sigma = max(data.values("sigma"))
    lines = []
    for name in reversed(METHODS):
        color, dashes, label = _style.METHODS[name]
        found = data.where(part="wide", method=name, sigma=sigma)
        lines.append((_style.band(wide, found, "picks", color, dashes), label))
    wide.set(xlabel="chosen steps $k$ of 1,000", ylabel="privacy $\\varepsilon$ at $\\delta=10^{-6}$")
    wide.set_title(f"$\\sigma$ = {sigma}")
    _style.names(wide, lines)
    for name in ("fs25", "engine"):
        color, dashes, _ = _style.METHODS[name]
        _style.band(near, data.where(part="near", method=name), "picks", color, "-", marker=".")
    near.set(xlabel="chosen steps $k$", title="every $k$, near 1000/7 and 1000/6")


FIGURE = Figure(
    name="epsilon_vs_k",
    title="Epsilon against the number of chosen steps",
    parts=_parts,
    draw=_draw,
    claims=(
        Claim("FS25's zigzag is absent: epsilon grows evenly with k, remainder or not", _zigzag),
        Claim("our upper bound is below every earlier bound on allocation", below(("fs25", "dco25"), BY)),
        Claim("it is never above Poisson's", never_above_poisson(BY)),
    ),
    seconds=(5, 25),
    place=6,
    note="k of 1,000 steps; sigma 5 (drawn) and 1; delta 1e-6. On the right every k, where the remainder matters.",
    size=(7.4, 3.0),
)
