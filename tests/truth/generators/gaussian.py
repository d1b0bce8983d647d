"""The Gaussian mechanism: closed forms, and 1-out-of-2 and 1-out-of-3 allocation by quadrature.

One step, n composed steps, and either of them subsampled have a closed form (`truth.closed`). For allocation, with
z = exp(mu y - mu^2/2) for y normal and mu = sensitivity/sigma, everything follows from

    put(c) = E (c - z_1 - .. - z_t)_+        remove  1 - k + put(t k)/t        add  k put(t/k)/t

(k = e^epsilon; for remove, E (x - k)_+ = 1 - k + E (k - x)_+, and the digits lost to that are added). For t = 1
put is a difference of normal masses. Further,

    put_t(c) = integral of put_{t-1}(c - z) over the law of z,   z = c/(1 + e^-s)

In s the integrand is analytic about the real line and falls off like a normal density at both ends: at the left
end z is small, at the right end what z leaves of c. So the trapezoidal rule converges faster than any power of
its step, which is halved until two results agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth import closed, nodes
from truth.closed import Number, exactly
from truth.vectors import Vector, asked

METHOD = "closed forms (mpmath, 80 digits); allocation by the trapezoidal rule in the share of a step, until it settles"
DIGITS = 32  # of the allocations; closed forms have more
CLOSED = 40


def vectors() -> Iterator[Vector]:
    for sigma in (0.05, 0.3, 1.0, 2.5, 100.0):
        truth = closed.gaussian(sigma)
        scheme = nodes.gaussian(sigma)
        yield from asked(scheme, truth, CLOSED, (0.3, 1e-6, 1e-40, 1e-100), (1e-3, 1e-20, 1e-100), (-0.25, 0.0))
    scaled = nodes.gaussian(3.0, 2.0)
    yield from asked(scaled, closed.gaussian(3.0, 2), CLOSED, (1e-6, 1e-100), (1e-12,))
    for sigma, rounds in ((1.0, 10), (4.0, 9), (0.5, 3), (100.0, 10_000), (1000.0, 1_000_000)):
        truth = closed.gaussian(sigma, rounds=rounds)
        scheme = nodes.repeat(nodes.gaussian(sigma), rounds)
        yield from asked(scheme, truth, CLOSED, (0.1, 1e-10, 1e-100), (1e-5, 1e-100), (0.0,))
    for sigma, rate in ((1.0, 0.125), (0.5, 0.01), (2.0, 1e-3), (0.3, 1e-6), (5.0, 0.75)):
        truth = closed.gaussian(sigma).subsample(rate)
        scheme = nodes.subsample(nodes.gaussian(sigma), rate)
        yield from asked(scheme, truth, CLOSED, (1e-3, 1e-8, 1e-100), (1e-5, 1e-100), (0.0,))
    truth = closed.gaussian(1.0, rounds=5).subsample(0.01)
    scheme = nodes.subsample(nodes.repeat(nodes.gaussian(1.0), 5), 0.01)
    yield from asked(scheme, truth, CLOSED, (1e-3, 1e-30), (1e-6,), (0.0,))
    yield from allocations()


def allocations() -> Iterator[Vector]:
    for sigma in (0.5, 1.0, 2.0, 10.0):
        scheme = nodes.allocate(nodes.gaussian(sigma), 2)
        yield from asked(scheme, Allocation(sigma, 2), DIGITS, (0.01, 1e-6, 1e-15), (1e-9, 1e-15), (-0.1, 0.0))
    for sigma, epsilons in ((0.8, (1.0, 4.0)), (1.0, (0.0,)), (3.0, (0.5,))):
        scheme = nodes.allocate(nodes.gaussian(sigma), 3)
        yield from asked(scheme, Allocation(sigma, 3), DIGITS, (), (), epsilons)
    yield from asked(nodes.allocate(nodes.gaussian(2.0), 3), Allocation(2.0, 3), DIGITS, (1e-6,))


@dataclass(frozen=True)
class Allocation:
    """1-out-of-t allocation."""

    sigma: float
    steps: int

    def delta(self, epsilon: Number, direction: str) -> Any:
        with mp.workdps(self.digits + 5):
            return self.curve(mpmath.exp(exactly(epsilon)), direction, self.digits)[0]

    @property
    def digits(self) -> int:
        """More than are asked for: delta may be 1e-15 (t = 2) or 1e-8 (t = 3) of what it is a difference of."""
        return DIGITS + (20 if self.steps == 2 else 12)

    def epsilon(self, delta: Number, direction: str) -> Any:
        """Newton's method for log delta, which is concave, in short steps; first with fewer digits."""
        place = mpf(0)
        for digits, least in ((22 - math.floor(math.log10(delta)), 1e-9), (self.digits, 1e-17)):
            with mp.workdps(digits + 5):
                change = mpf(1)
                while abs(change) > least:
                    k = mpmath.exp(place)
                    found, slope = self.curve(k, direction, digits)
                    change = mpmath.log(found / exactly(delta)) * found / (slope * k)
                    place += min(change, mpf(0.5) / self.sigma)
        return place

    def curve(self, k: Any, direction: str, digits: int) -> tuple[Any, Any]:
        """delta at k, and its slope, downwards."""
        t, mu = self.steps, 1 / exactly(self.sigma)
        if direction == "remove":
            value, slope = put(t * k, mu, t, digits)
            return 1 - k + value / t, 1 - slope
        value, slope = put(t / k, mu, t, digits)
        return k * value / t, slope / k - value / t


def put(c: Any, mu: Any, steps: int, digits: int) -> tuple[Any, Any]:
    """E (c - sum z)_+ and its derivative, the probability of sum z < c."""
    if steps == 1:
        y = mpmath.log(c) / mu + mu / 2
        inside = mpmath.ncdf(y)
        return c * inside - mpmath.ncdf(y - mu), inside
    low, high = ends(c, mu, digits)
    if low >= high:
        return mpf(0), mpf(0)
    count = int((high - low) / min(mpf("0.4") * mu, mpf("0.3"))) + 1
    value, slope = rule(low, high, count, mpf(0), c, mu, steps, digits)
    while True:
        more = rule(low, high, count, mpf(1) / 2, c, mu, steps, digits)
        value, slope, known = (value + more[0]) / 2, (slope + more[1]) / 2, value
        half = mpf(10) ** (-digits / 2 - 2)
        if abs(value - known) <= half * max(value, half):  # the error is squared by halving
            return value, slope
        count *= 2


def ends(c: Any, mu: Any, digits: int) -> tuple[Any, Any]:
    """Where z, and where what z leaves of c, is so small that it never is, and z is not too large either."""
    reach = mpmath.sqrt(2 * mpmath.log(10) * (digits + 5))
    least, most = (mpmath.exp(side * reach * mu - mu * mu / 2) for side in (-1, 1))
    if 2 * least >= c:
        return mpf(0), mpf(0)
    high = mpmath.log(c / least - 1)
    return -high, min(high, mpmath.log(most / (c - most))) if most < c else high


def rule(low: Any, high: Any, count: int, shift: Any, c: Any, mu: Any, steps: int, digits: int) -> tuple[Any, Any]:
    """The trapezoidal rule, all points moved by `shift` of a step; the ends do not matter."""
    value = slope = mpf(0)
    width = (high - low) / count
    for i in range(count):
        share = 1 / (1 + mpmath.exp(-low - (i + shift) * width))
        y = mpmath.log(c * share) / mu + mu / 2
        weight = width * mpmath.npdf(y) * (1 - share) / mu  # dz/z = (1 - share) ds
        if weight > mpf(10) ** (-digits - 10):
            inner, chance = put(c * (1 - share), mu, steps - 1, digits)
            value, slope = value + weight * inner, slope + weight * chance
    return value, slope
