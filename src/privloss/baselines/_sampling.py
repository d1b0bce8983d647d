"""Unbiased estimators of delta by sampling a scheme itself, several picks included, and bounds on their means.

Write z_i for the ratio of step i, X for the mean over sets of ``picks`` steps of the product of their ratios, and
K = e^epsilon. By symmetry the person may be put into the first ``picks`` steps. Then

    remove: delta = E_P (1 - K/X)_+ = E_Q (X - K)_+        add: delta = E_Q (1 - K X)_+

Every estimator has independent values in [0, most] whose mean is delta, so that ``chernoff`` and ``bernstein`` hold for
every sample size. Gaussian steps, z = exp(mu y - mu^2/2) with mu = 1/sigma, may be drawn from another law:

* ``leaning_right``, remove: the first ``picks`` steps with mean m >= mu, counted only where they are the largest of
  all, times the number of sets, since each set is as often the largest. There X is at most their product e^A, A = mu Y
  - picks mu^2/2 with Y their sum, so a value is at most C(t, k) e^(-m Y + picks m^2/2) (e^A - K)_+, which has one
  maximum over Y.
* ``leaning_left``, add: all steps with mean -h. By Maclaurin's inequality X >= (product of all z)^(picks/t), so X < 1/K
  only where the mean of the y_i is below -c, c = epsilon/(picks mu) - mu/2, and the weight is at most
  e^(t (h^2/2 - h c)).
* ``above``, remove, one pick [CGHLKKMSZ24]: only outputs whose largest y is above c = epsilon/mu + mu/2 count, since X
  is at most the largest ratio; so those are drawn, and values are scaled by their probability.

``above`` may draw order statistics instead of all steps [CGHLKKMSZ24]: of those sorted downward the ranks in a list,
each standing for the ones after it until the next, which raises X and so delta: its mean bounds delta from above.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from math import comb, erfc, exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ranks = NDArray[np.int64]
CHUNK = 2 * 10**6


class Estimator(NamedTuple):
    """``draw(generator, n)`` gives n independent values in [0, most] whose mean is delta, or ``biased`` above it."""

    draw: Callable[[np.random.Generator, int], Array]
    most: float
    biased: bool = False

    def sample(self, seed: int, samples: int, steps: int) -> Array:
        generator, chunk = np.random.default_rng(seed), max(1, CHUNK // steps)
        sizes = [min(chunk, samples - start) for start in range(0, samples, chunk)]
        return np.concatenate([self.draw(generator, size) for size in sizes])


def mean_product(z: Array, picks: int) -> Array:
    """The mean over sets of ``picks`` columns of their product, row by row: an elementary symmetric polynomial.

    e_j/C(i+1, j) from e_j/C(i, j) and e_(j-1)/C(i, j-1), one column after another: steps * picks products a row.
    """
    if picks == 1:
        return np.asarray(z.mean(axis=1))
    steps = z.shape[1]
    means = np.zeros((picks + 1, z.shape[0]))
    means[0] = 1.0
    for i in range(steps):
        top = min(picks, i + 1)
        shares = np.arange(1, top + 1)[:, None] / (i + 1)
        means[1 : top + 1] += shares * (z[:, i] * means[:top] - means[1 : top + 1])
    return np.asarray(means[picks])


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

    def draw(generator: np.random.Generator, n: int) -> Array:
        y = generator.standard_normal((n, steps))
        y[:, :picks] += m
        first = y[:, :picks]
        largest = np.ones(n, bool) if picks == steps else first.min(axis=1) > y[:, picks:].max(axis=1)
        weight = sets * np.exp(picks * m * m / 2 - m * first.sum(axis=1))
        x = mean_product(np.exp(mu * y - mu * mu / 2), picks)
        return np.where(largest, weight * np.maximum(x - k, 0.0), 0.0)

    return Estimator(draw, sets * shrink)


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


def above(sigma: float, steps: int, epsilon: float, ranks: Ranks | None = None) -> Estimator:
    """For remove and one pick: given that the largest of all is above c; all steps, or those of certain ``ranks``."""
    mu, k, others = 1 / sigma, exp(epsilon), steps - 1
    c = epsilon / mu + mu / 2
    own, beyond = 0.5 * erfc((c - mu) / sqrt(2)), 0.5 * erfc(c / sqrt(2))  # above c: the person's step, another
    none = exp(others * log1p(-beyond)) if others else 1.0
    any_other = -expm1(others * log1p(-beyond)) if others else 0.0
    most = own + (1 - own) * any_other

    def draw(generator: np.random.Generator, n: int) -> Array:
        mine = generator.random(n) * most < own
        first = mu + from_above(np.where(mine, own * _open(generator, n), own + (1 - own) * _open(generator, n)))
        # The largest of the others: free where the person's step is above c, else above c too.
        levels = np.where(mine, _open(generator, n), none + (1 - none) * _open(generator, n))
        if not others:
            return most * gain(np.exp(mu * first - mu * mu / 2), k, "remove")
        below = np.log(levels) / others  # log of the probability that one other is below the largest
        if ranks is None:
            tops = -np.expm1(below)
            rest = tops[:, None] + (1 - tops[:, None]) * generator.random((n, others - 1))
            total = np.exp(mu * from_above(tops)) + np.exp(mu * from_above(rest)).sum(axis=1)
        else:
            total = _ranked(generator, below, ranks, others, mu)
        x = (np.exp(mu * first) + total) * exp(-mu * mu / 2) / steps
        return most * gain(x, k, "remove")

    return Estimator(draw, most, biased=ranks is not None)


def _ranked(generator: np.random.Generator, below: Array, ranks: Ranks, others: int, mu: float) -> Array:
    """An upper bound on the sum of e^(mu y): each of the ``ranks``, from the top, stands for those up to the next."""
    total, place = np.zeros(below.size), 1
    for rank, following in zip(ranks.tolist(), [*ranks[1:].tolist(), others + 1], strict=True):
        left = others - rank + 1
        if rank == place + 1:  # the ratio of neighbouring order statistics of uniforms: a root of a uniform one
            below = below - generator.standard_exponential(below.size) / left
        elif rank > place:  # of others: a beta variable
            below = below + np.log(generator.beta(left, rank - place, below.size))
        place = rank
        total += (following - rank) * np.exp(mu * _looked_up(-np.expm1(below)))
    return total


@lru_cache(maxsize=1)
def _table() -> tuple[Array, Array]:
    levels = np.concatenate((np.linspace(-700.0, -8.0, 8000), np.linspace(-8.0, 0.0, 12000)[1:]))
    return levels, from_above(np.exp(levels))


def _looked_up(tail: Array) -> Array:
    """``from_above`` by a table, to about 1e-6; upper tails only, as order statistics from the top are."""
    found: Array = np.interp(np.log(np.maximum(tail, 1e-300)), *_table())
    return np.where(tail < 0.99, found, from_above(tail))


def ranks_for(others: int) -> Ranks:
    """One by one at first, then ever further apart: a few hundred of any number."""
    near = np.arange(1, min(others, 100) + 1)
    far = np.unique(np.geomspace(100, max(others, 100), 150).astype(np.int64))
    return np.unique(np.concatenate((near, far[far <= others]))).astype(np.int64)


def _open(generator: np.random.Generator, n: int) -> Array:
    """Uniform in (0, 1]."""
    return 1.0 - generator.random(n)


def from_above(tail: Array) -> Array:
    """The normal point with ``tail`` above it, by Wichura's AS241 (1988), whose relative error is about 1e-16."""
    tail = np.clip(np.asarray(tail, np.float64), 1e-300, 1.0 - 1e-16)
    middle = 0.5 - tail
    smaller = np.minimum(tail, 1.0 - tail)
    r = np.sqrt(-np.log(smaller))
    inner = 0.180625 - middle * middle
    central = middle * _ratio(inner, _CENTRAL)
    outer = np.where(r <= 5.0, _ratio(r - 1.6, _OUTER), _ratio(r - 5.0, _FAR))
    found: Array = np.where(np.abs(middle) <= 0.425, central, np.copysign(outer, middle))
    return found


def _ratio(x: Array, table: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    top, bottom = (np.polynomial.polynomial.polyval(x, row) for row in table)
    ratio: Array = top / bottom
    return ratio


# AS241, PPND16: numerators and denominators, from the constant term up.
_CENTRAL = (
    (3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
     21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610),
)  # fmt: skip
_OUTER = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
     0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
     0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


def estimators(kind: str, noise: float, steps: int, picks: int, epsilon: float, direction: str) -> list[Estimator]:
    """Every unbiased way of drawing that suits."""
    found = [plain(kind, noise, steps, picks, epsilon, direction)]
    if kind != "Gaussian":
        return found
    more: list[Estimator] = []
    with suppress(OverflowError):  # weights that no double holds: what was made before them, and ``plain``, remain
        if direction == "remove":
            if picks == 1:
                more.append(above(noise, steps, epsilon))
            for a in (0.0, 0.25, 0.5, 1.0, 2.0):
                more.append(leaning_right(noise, steps, picks, epsilon, (1 + a) / noise))
        else:
            far = max(epsilon * noise / picks - 0.5 / noise, 0.0)
            for a in (0.5, 1.0, 1.5):
                more.append(leaning_left(noise, steps, picks, epsilon, a * far))
    return found + [each for each in more if 0 < each.most < 1e6]


# Bounds on a mean.


def bounds(values: Array, most: float, confidence: float) -> tuple[float, float]:
    """An interval that contains the mean with probability ``confidence``: the meet of two."""
    if values.max() > most * (1 + 1e-9):
        raise AssertionError(f"a value of {values.max()} is above {most}")
    half, part = (1 + confidence) / 2, np.minimum(values / most, 1.0)
    first, second = chernoff(part, half), bernstein(part, half)
    return most * max(first[0], second[0]), most * min(first[1], second[1])


def chernoff(sample: Array, confidence: float) -> tuple[float, float]:
    """Bounds on the mean of values in [0, 1] by the Chernoff-Hoeffding inequality.

    P(the mean of n is away from m on one side) <= exp(-n KL(mean, m)), for every n and every such law.
    """
    level = log(2 / (1 - confidence)) / sample.size
    mean = float(sample.mean())
    return _edge(mean, 0.0, level), _edge(mean, 1.0, level)


def _edge(mean: float, end: float, level: float) -> float:
    """Between the mean and 0 or 1, the farthest m with KL(mean, m) <= level (rounded outward)."""
    inside, outside = mean, end
    for _ in range(100):
        middle = (inside + outside) / 2
        if _divergence(mean, middle) <= level:
            inside = middle
        else:
            outside = middle
    return outside


def _divergence(a: float, b: float) -> float:
    """KL divergence of a coin with probability a from one with probability b."""
    if not 0 < b < 1:
        return 0.0 if a == b else inf
    left = a * log(a / b) if a else 0.0
    return left + ((1 - a) * log((1 - a) / (1 - b)) if a < 1 else 0.0)


def bernstein(sample: Array, confidence: float) -> tuple[float, float]:
    """Bounds on the mean of values in [0, 1] by the empirical Bernstein inequality (Maurer and Pontil 2009)."""
    n, level = sample.size, log(4 / (1 - confidence))
    mean, variance = float(sample.mean()), float(sample.var(ddof=1))
    reach = sqrt(2 * variance * level / n) + 7 * level / (3 * (n - 1))
    return max(0.0, mean - reach), min(1.0, mean + reach)
