"""Nestings three deep: all eight."""

from __future__ import annotations

from itertools import product

from privloss.reproduce._figure import Claim, Figure
from privloss.reproduce.figures.double_DPSGD import draw, parts, spread

LEVELS = [(20, 2), (10, 1), (5, 2)]
EVERY = ["".join(kinds) for kinds in product("ap", repeat=3)]

FIGURE = Figure(
    name="triple_DPSGD",
    title="Three consecutive samplings, Poisson or allocation",
    parts=lambda quick: parts(EVERY, LEVELS, [1, 4] if quick else [0.7, 1, 1.5, 2, 2.5, 3, 4]),
    draw=draw,
    claims=(
        Claim(
            "the eight nestings are close: within a factor of 1.25 where epsilon is at most 1",
            spread(1.25),
            ours=True,
            known="what sets the two samplings apart adds up, level by level",
        ),
    ),
    seconds=(2, 12),
    place=14,
    further=True,
    note="Named from the inside out: 2 of 20, 1 of 10, 2 of 5; delta 1e-8. All expect 4 steps of 1,000.",
    size=(7.6, 3.2),
)
