"""The squared error of a noisy mean, with the noise that each scheme and each analysis asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privloss.reproduce import _style
from privloss.reproduce._data import Data, Row
from privloss.reproduce._figure import Claim, Figure, Part, Verdict

P, STEPS, DELTA, TRIALS = 0.9, 1000, 1e-10, 10_000
SETTINGS = [(1.0, 1), (0.1, 1), (0.1, 1000)]  # epsilon, dimensions
SIZES = [round(10 ** (2 + 0.25 * i)) for i in range(13)]
KINDS = {
    "allocation": ("engine", _style.BLUE, "-", "allocation, this package"),
    "Poisson": ("engine", _style.ORANGE, "--", "Poisson"),
    "allocation, FS25": ("fs25", _style.RED, "-.", "allocation, FS25"),
}


def _parts(quick: bool) -> list[Part]:
    epoch = f"Gaussian({{sigma}}).allocate({STEPS})"
    asked = {"question": "sigma", "delta": DELTA, "epsilon": [0.1, 1.0], "rtol": 1e-3, "seconds": 60}
    ours = {**asked, "scheme": {"allocation": epoch, "Poisson": f"{epoch}.poisson()"}}
    theirs = {**asked, "scheme": {"allocation, FS25": epoch}, "method": "fs25"}
    return [Part(ours), Part(theirs)]


def error(scheme: str, size: int, sigma: float) -> float:
    """Of the mean of ``size`` Bernoulli variables: their own, that of the noise, and that of who takes part."""
    sampled = P * (1 - 1 / STEPS) / size if scheme == "Poisson" else 0.0
    return P * (1 - P) / size + STEPS * sigma**2 / size**2 + sampled


def trials(scheme: str, size: int, sigma: float) -> tuple[float, float]:
    """The mean over trials, and its standard error.

    Everyone takes part once under allocation, Binomial(t, 1/t) times under Poisson: the ones that do so X times are
    Binomial(t X, 1/t) in all. The noise of t steps is one of t times the variance.
    """
    generator = np.random.default_rng(1)
    ones = generator.binomial(size, P, TRIALS)
    if scheme == "Poisson":
        ones = generator.binomial(STEPS * ones, 1 / STEPS)
    noise = generator.normal(0.0, math.sqrt(STEPS) * sigma, TRIALS)
    squares = ((ones + noise) / size - P) ** 2
    return float(squares.mean()), float(squares.std() / math.sqrt(TRIALS))


def derive(rows: list[Row]) -> list[Row]:
    found: list[Row] = []
    for epsilon, dimensions in SETTINGS:
        for row in Data(rows).where(epsilon=epsilon).answered():
            scale = math.sqrt(dimensions)  # all coordinates may change by 1
            for size in SIZES:
                where = {
                    "scheme": row["scheme"],
                    "epsilon": epsilon,
                    "delta": DELTA,
                    "dimensions": dimensions,
                    "n": size,
                }
                ends = [error(row["scheme"], size, scale * row[end]) for end in ("lower", "upper")]
                found.append({"question": "square error", **where, "lower": ends[0], "upper": ends[1]})
                mean, off = trials(row["scheme"], size, scale * row["upper"])
                sampled = {"question": "square error of trials", **where}
                found.append({**sampled, "lower": mean - 3 * off, "upper": mean + 3 * off})
    return found


def _pairs(data: Data, scheme: str, question: str = "square error") -> list[tuple[Row, Row]]:
    by = ("epsilon", "dimensions", "n")
    return data.where(question=question).pairs({"scheme": scheme}, {"scheme": "Poisson"}, by)


def _accurate(data: Data) -> Verdict:
    found = [ours["upper"] / theirs["lower"] for ours, theirs in _pairs(data, "allocation")]
    said = f"its error is {min(found):.3f} to {max(found):.4f} times Poisson's, at {len(found)} points"
    return Verdict(max(found) <= 1, said)


def _traded(data: Data) -> Verdict:
    found = [ours["lower"] / theirs["upper"] for ours, theirs in _pairs(data, "allocation, FS25")]
    said = f"with FS25's noise the error is {min(found):.3f} to {max(found):.3f} times Poisson's"
    return Verdict(min(found) < 1 < max(found), said)


def _empirical(data: Data) -> Verdict:
    by = ("scheme", "epsilon", "dimensions", "n")
    pairs = data.pairs({"question": "square error of trials"}, {"question": "square error"}, by)
    inside = sum(trial["lower"] <= row["upper"] and row["lower"] <= trial["upper"] for trial, row in pairs)
    said = f"within three standard errors at {inside} of {len(pairs)} points"
    return Verdict(inside >= 0.98 * len(pairs) > 0, said)


def _less(data: Data) -> Verdict:
    pairs = data.where(question="sigma").pairs({"scheme": "allocation"}, {"scheme": "Poisson"}, ("epsilon",))
    said = ", ".join(f"{a['lower']:.4f} against {b['upper']:.4f} at epsilon {a['epsilon']:g}" for a, b in pairs)
    return Verdict(all(a["upper"] <= b["upper"] for a, b in pairs) and bool(pairs), f"sigma {said}")


def _draw(data: Data, canvas: Any) -> None:
    panels = canvas.subplots(1, 3, sharex=True)
    for axes, (epsilon, dimensions) in zip(panels, SETTINGS, strict=True):
        shown, lines = data.where(epsilon=epsilon, dimensions=dimensions), []
        for scheme, (_, color, dashes, label) in KINDS.items():
            found = shown.where(scheme=scheme)
            lines.append((_style.band(axes, found.where(question="square error"), "n", color, dashes), label))
            rows = found.where(question="square error of trials").sorted("n")
            middle = [(row["lower"] + row["upper"]) / 2 for row in rows]
            axes.plot(rows["n"], middle, ".", color=color, markersize=4)
        axes.set(xscale="log", yscale="log", xlabel="people $n$")
        axes.set_title(f"$\\varepsilon$ = {epsilon:g}, $d$ = {_style.short(dimensions)}")
        if axes is panels[-1]:
            _style.names(axes, lines)
    panels[0].set_ylabel("squared error (dots: 10,000 trials)")


FIGURE = Figure(
    name="utility_comparison",
    title="The squared error of a noisy mean",
    parts=_parts,
    derive=derive,
    draw=_draw,
    claims=(
        Claim("allocation is at least as accurate as Poisson in every setting", _accurate),
        Claim("it needs no more noise", _less),
        Claim("with FS25's analysis it was not: each scheme wins somewhere", _traded),
        Claim("the trials agree with the formula", _empirical),
    ),
    seconds=(10, 10),
    place=9,
    note="p=0.9, t=1,000, delta 1e-10; d dimensions enter as a sensitivity of sqrt(d), and only one coordinate varies.",
    size=(7.6, 2.8),
)
