"""Epsilon against sigma where several steps are chosen."""

from __future__ import annotations

from privloss.reproduce._figure import Figure
from privloss.reproduce.figures.epsilon_vs_sigma_by_t import claims, drawing, parts

SCHEME = "Gaussian({sigma}).allocate(1000, picks={picks})"

FIGURE = Figure(
    name="epsilon_vs_sigma_by_k",
    title="Epsilon against sigma where several steps are chosen",
    parts=lambda quick: parts(SCHEME, "picks", [10, 100], 3 if quick else 10),
    draw=drawing("picks", lambda picks: f"$k$ = {picks} of 1,000 steps"),
    claims=claims("picks", "lower (of the reduction)"),
    seconds=(2, 12),
    place=8,
    note="k of 1,000 steps; delta 1e-6. The lower end is one of the reduction to one pick in each of k blocks.",
    size=(6.4, 2.9),
)
