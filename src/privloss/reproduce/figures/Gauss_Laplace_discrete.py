"""The discrete kin of Gaussian and Laplace noise, by the noise."""

from __future__ import annotations

from privloss.reproduce._figure import Figure
from privloss.reproduce.figures.Gauss_Laplace_by_sigma import BY_NOISE, NOISES, STEPS, claims, parts

BOTH = ["DiscreteGaussian", "DiscreteLaplace"]

FIGURE = Figure(
    name="Gauss_Laplace_discrete",
    title="Discrete Gaussian and Laplace noise, by the noise",
    parts=lambda quick: parts(BOTH, NOISES[:: 4 if quick else 1] + [4] * quick, STEPS),
    draw=BY_NOISE,
    claims=claims(BOTH[0], BOTH[1], limit=1.25, ours=True),
    seconds=(4, 40),
    place=11,
    further=True,
    note="Noise on the integers, sensitivity 1; delta 1e-6, to a relative gap of 1e-4.",
    size=(7.2, 4.4),
)
