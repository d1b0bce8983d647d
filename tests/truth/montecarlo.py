"""Two numerical checks of the k-out-of-t Gaussian, both from its definition and from NumPy alone.

The bounds on means and the mean over sets are those of ``privloss.baselines``, which use nothing of the engine.

**Sampling.** With mu = 1/sigma, y_1..y_t normal and z_i = exp(mu y_i - mu^2/2), the ratio is X = mean of
prod_{i in S} z_i over the sets S of `picks` steps. By symmetry the person may be put into the first `picks`
steps, so with the person y_i has mean mu there. Then

    remove: delta = E_P (1 - k/X)_+        add: delta = E_Q (1 - k X)_+

are means of values in [0, 1], and are bounded with probability `confidence` by the Chernoff-Hoeffding bound
P(mean of n away from m on one side) <= exp(-n KL(mean, m)), which holds for every n and every such law, or
by the empirical Bernstein bound of Maurer and Pontil (2009), which gains where the variance is small.

**Transform.** For picks = 1 X is a mean of t independent z_i without the person. Each z is split between its
two neighbours on a fine linear grid, its mean kept, with the person's masses z times the others; the t-fold
sum is one power of one transform. That is a spread, so an upper bound up to what window and arithmetic lose;
its error is of second order in the grid step, so two grids give the value (`extrapolated`). A tilt of the
grid masses keeps the digits of a small delta.
"""

from __future__ import annotations

from math import erfc, exp, expm1, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from privloss.baselines._sampling import bernstein, chernoff, mean_product

Array = NDArray[np.float64]


def values(
    sigma: float,
    steps: int,
    epsilon: float,
    direction: str,
    *,
    picks: int = 1,
    samples: int = 10**5,
    seed: int = 0,
) -> Array:
    """Independent values in [0, 1] whose mean is delta(epsilon)."""
    generator = np.random.default_rng(seed)
    mu, k = 1 / sigma, exp(epsilon)
    chunk = max(1, 4 * 10**6 // steps)
    found = []
    for start in range(0, samples, chunk):
        y = generator.standard_normal((min(chunk, samples - start), steps))
        if direction == "remove":
            y[:, :picks] += mu
        x = mean_product(np.exp(mu * y - mu * mu / 2), picks)
        found.append(np.maximum(0.0, 1 - k / x if direction == "remove" else 1 - k * x))
    return np.concatenate(found)


__all__ = ["bernstein", "chernoff", "delta", "extrapolated", "transform", "transform_epsilon", "values"]


def delta(
    sigma: float,
    steps: int,
    epsilon: float,
    direction: str,
    *,
    picks: int = 1,
    samples: int = 10**5,
    seed: int = 0,
    confidence: float = 1 - 1e-9,
) -> tuple[float, float]:
    """An interval that contains delta(epsilon) with probability `confidence`: the meet of both bounds."""
    sample = values(sigma, steps, epsilon, direction, picks=picks, samples=samples, seed=seed)
    half = (1 + confidence) / 2
    first, second = chernoff(sample, half), bernstein(sample, half)
    return max(first[0], second[0]), min(first[1], second[1])


def transform(
    sigma: float,
    steps: int,
    epsilons: Array,
    direction: str,
    *,
    points: int,
    window: float,
    cut: float,
    tilt: float = 0.0,
) -> Array:
    """delta(epsilons) of the 1-out-of-steps Gaussian on a grid of `points` over sums in [0, window].

    `cut` must be at least steps*k (remove) or steps/k (add): a single z above it decides on which side of
    the threshold the sum lies. Sums beyond the window wrap: it must be so wide that this does not matter.
    """
    mu, h = 1 / sigma, window / points
    grid = np.arange(int(cut / h) + 2, dtype=np.float64) * h
    q = _split(grid, mu)
    p = q * grid
    # One of the two laws of the sum is enough, as the other is s/steps times it: with the person for remove.
    scale = np.exp(tilt * grid)
    total = float(np.sum(q * scale))
    last = p if direction == "remove" else q
    spectrum, other = (np.fft.rfft(mass * scale / total, points) for mass in (q, last))
    sums = h * np.arange(points)
    mass = np.fft.irfft(spectrum ** (steps - 1) * other, points) * np.exp(steps * log(total) - tilt * sums)
    # What has some z above the grid: on the far side of every threshold.
    top = (log(grid[-1]) + mu * mu / 2) / mu
    q_tail, p_tail = 0.5 * erfc(top / sqrt(2)), 0.5 * erfc((top - mu) / sqrt(2))
    q_lump = -expm1(steps * log1p(-q_tail))
    p_lump = -expm1((steps - 1) * log1p(-q_tail) + log1p(-p_tail))
    answers = []
    for epsilon in np.atleast_1d(epsilons):
        k = exp(epsilon)
        if direction == "remove":
            counted = sums > steps * k
            found = float(np.sum(mass[counted] * (1 - steps * k / sums[counted])))
            answers.append(p_lump - k * q_lump + found)
        else:
            counted = sums < steps / k
            answers.append(float(np.sum(mass[counted] * (1 - k * sums[counted] / steps))))
    return np.array(answers)


def _split(grid: Array, mu: float) -> Array:
    """Masses on the grid of z without the person, each z split between its neighbours, the mean kept."""
    h = grid[1]
    with np.errstate(divide="ignore"):
        y = (np.log(grid) + mu * mu / 2) / mu
    inside, moment = _normal(y), _normal(y - mu)  # E[1] and E[z] of each cell
    right = np.clip((moment - grid[:-1] * inside) / h, 0.0, inside)
    mass = np.zeros_like(grid)
    mass[:-1] += inside - right
    mass[1:] += right
    return mass


def _normal(y: Array) -> Array:
    """The normal mass between neighbouring points, from the nearer tail, so that tails keep their digits."""
    near = np.array([0.5 * erfc(abs(v) / sqrt(2)) for v in y])
    below, above = np.where(y < 0, near, 1 - near), np.where(y > 0, near, 1 - near)
    return np.where(y[1:] <= 0, np.diff(below), -np.diff(above))


def extrapolated(sigma: float, steps: int, epsilons: Array, direction: str, *, points: int, **settings: float) -> Array:
    """The limit of `transform` as the grid is refined, from the grid asked for and one twice as coarse."""
    fine = transform(sigma, steps, epsilons, direction, points=points, **settings)
    coarse = transform(sigma, steps, epsilons, direction, points=points // 2, **settings)
    return fine + (fine - coarse) / 3


def transform_epsilon(
    sigma: float, steps: int, target: float, direction: str, around: float, *, points: int, **settings: float
) -> float:
    """epsilon(target) from `extrapolated`, near a known value, by a parabola through log delta."""
    epsilons = around * np.array([0.998, 1.0, 1.002])
    deltas = extrapolated(sigma, steps, epsilons, direction, points=points, **settings)
    curve = np.polyfit(np.log(deltas), epsilons, 2)
    return float(np.polyval(curve, log(target)))
