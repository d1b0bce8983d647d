"""Epsilon of allocation and of Poisson subsampling against the number of steps, for Gaussian and Laplace noise."""

from __future__ import annotations

from privloss.reproduce._figure import Figure
from privloss.reproduce.figures.Gauss_Laplace_by_sigma import claims, drawing, parts

NOISES = [0.5, 1, 3]
STEPS = [2, 5, 10, 22, 46, 100, 215, 464, 1000, 2154, 4642, 10_000]

FIGURE = Figure(
    name="Gauss_Laplace_by_t",
    title="Gaussian and Laplace noise, by the number of steps",
    parts=lambda quick: parts(["Gaussian", "Laplace"], NOISES, [*STEPS[::5], 1000] if quick else STEPS),
    draw=drawing("steps", "steps $t$", "noise", lambda noise: f"noise {noise:g}"),
    claims=claims("Gaussian", "Laplace"),
    seconds=(4, 25),
    place=12,
    note="Laplace noise has the scale that Gaussian noise has as sigma. delta 1e-6, to a relative gap of 1e-4.",
    size=(7.2, 4.4),
)
