"""Confidence bounds on delta of k-out-of-t allocation itself, for any picks, by importance sampling.

Write z_i for the ratio of step i, X for the mean over sets of `picks` steps of the product of their ratios, and
K = e^epsilon.

    remove: delta = E_Q (X - K)_+ = E_P (1 - K/X)_+        add: delta = E_Q (1 - K X)_+

Every estimator below has values in [0, most], so that `montecarlo.chernoff` and `montecarlo.bernstein` hold for every
sample size. Gaussian steps, z = exp(mu y - mu^2/2) with mu = 1/sigma, may be drawn from another law:

* remove: the first `picks` steps with mean m >= mu, counted only where they are the largest of all, times the number
  of sets, since each set is as often the largest. There X is at most their product e^A, A = mu Y - picks mu^2/2 with
  Y their sum, so a value is at most C(t, k) e^(-m Y + picks m^2/2) (e^A - K)_+, which has one maximum over Y.
* add: all steps with mean -h. By Maclaurin's inequality X >= (product of all z)^(picks/t), so X < 1/K only where the
  mean of the y_i is below -c, c = epsilon/(picks mu) - mu/2, and the weight there is at most e^(t (h^2/2 - h c)).

The law drawn from is chosen on a pilot sample of its own; whichever it is, the bounds hold.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truth.montecarlo import _elementary as mean_product
from truth.montecarlo import bernstein, chernoff

Array = NDArray[np.float64]
CHUNK = 2 * 10**6


class Estimator(NamedTuple):
    """``draw(generator, n)`` gives n independent values in [0, most] whose mean is delta."""

    draw: Callable[[np.random.Generator, int], Array]
    most: float

    def sample(self, seed: int, samples: int, steps: int) -> Array:
        generator, chunk = np.random.default_rng(seed), max(1, CHUNK // steps)
        sizes = [min(chunk, samples - start) for start in range(0, samples, chunk)]
        return np.concatenate([self.draw(generator, size) for size in sizes])


def gain(x: Array, k: float, direction: str) -> Array:
    """Values whose mean is delta: under P for remove, under Q for add."""
    return np.maximum(0.0, 1 - k / x if direction == "remove" else 1 - k * x)


def plain(kind: str, noise: float, steps: int, picks: int, epsilon: float, direction: str) -> Estimator:
    """From the scheme itself: the person in the first ``picks`` steps, or in none."""

    def draw(generator: np.random.Generator, n: int) -> Array:
        if kind == "Gaussian":
            y = generator.standard_normal((n, steps)) * noise
        else:
            y = generator.laplace(0.0, noise, (n, steps))
        if direction == "remove":
            y[:, :picks] += 1.0
        z = np.exp((y - 0.5) / noise**2) if kind == "Gaussian" else np.exp((np.abs(y) - np.abs(y - 1.0)) / noise)
        return gain(mean_product(z, picks), exp(epsilon), direction)

    return Estimator(draw, 1.0)


def leaning_right(sigma: float, steps: int, picks: int, epsilon: float, m: float) -> Estimator:
    """For remove, ``m`` >= 1/sigma."""
    mu, k, sets = 1 / sigma, exp(epsilon), comb(steps, picks)
    at = mu * mu * picks / 2 + (log(m * k / (m - mu)) if m > mu else inf)  # mu Y at the maximum
    shrink = exp(picks * m * m / 2 - (m / mu) * at + at - picks * mu * mu / 2) * (mu / m) if m > mu else 1.0
    most = sets * shrink

    def draw(generator: np.random.Generator, n: int) -> Array:
        y = generator.standard_normal((n, steps))
        y[:, :picks] += m
        first = y[:, :picks]
        largest = np.ones(n, bool) if picks == steps else first.min(axis=1) > y[:, picks:].max(axis=1)
        weight = sets * np.exp(picks * m * m / 2 - m * first.sum(axis=1))
        x = mean_product(np.exp(mu * y - mu * mu / 2), picks)
        return np.where(largest, weight * np.maximum(x - k, 0.0), 0.0)

    return Estimator(draw, most)


def leaning_left(sigma: float, steps: int, picks: int, epsilon: float, h: float) -> Estimator:
    """For add, ``h`` >= 0."""
    mu, k = 1 / sigma, exp(epsilon)
    c = epsilon / (picks * mu) - mu / 2

    def draw(generator: np.random.Generator, n: int) -> Array:
        y = generator.standard_normal((n, steps)) - h
        weight = np.exp(h * y.sum(axis=1) + steps * h * h / 2)
        values: Array = weight * gain(mean_product(np.exp(mu * y - mu * mu / 2), picks), k, "add")
        return values

    return Estimator(draw, exp(steps * (h * h / 2 - h * c)))


def estimators(kind: str, noise: float, steps: int, picks: int, epsilon: float, direction: str) -> list[Estimator]:
    found = [plain(kind, noise, steps, picks, epsilon, direction)]
    if kind != "Gaussian":
        return found
    if direction == "remove":
        more = (leaning_right(noise, steps, picks, epsilon, (1 + a) / noise) for a in (0.0, 0.25, 0.5, 1.0, 2.0))
    else:
        far = max(epsilon * noise / picks - 0.5 / noise, 0.0)
        more = (leaning_left(noise, steps, picks, epsilon, a * far) for a in (0.5, 1.0, 1.5))
    return found + [each for each in more if each.most < 1e6]


def bounds(values: Array, most: float, confidence: float) -> tuple[float, float]:
    """An interval that contains the mean with probability ``confidence``: the meet of two."""
    if values.max() > most * (1 + 1e-9):
        raise AssertionError(f"a value of {values.max()} is above {most}")
    half, part = (1 + confidence) / 2, np.minimum(values / most, 1.0)
    first, second = chernoff(part, half), bernstein(part, half)
    return most * max(first[0], second[0]), most * min(first[1], second[1])


def delta(
    kind: str,
    noise: float,
    steps: int,
    picks: int,
    epsilon: float,
    direction: str,
    *,
    samples: int = 10**5,
    seed: int = 0,
    confidence: float = 1 - 1e-6,
) -> tuple[float, float]:
    """Bounds on delta of ``kind(noise).allocate(steps, picks)``, the scheme and not its reduction."""
    choices = estimators(kind, noise, steps, picks, epsilon, direction)
    pilots = [bounds(each.sample(seed + 1, 5000, steps), each.most, 0.9) for each in choices]
    best = choices[min(range(len(choices)), key=lambda i: pilots[i][1] - pilots[i][0])]
    return bounds(best.sample(seed, samples, steps), best.most, confidence)
