"""Gaussians by integrals of their densities, with Gauss and Legendre's rule on panels.

With y normal and m = mu sqrt(rounds), a step and a composition have the densities f(y) without and f(y - m) with
the person; delta is the integral of the positive part of p - k q, from where it changes its sign.

Of an allocation, delta is P(out) - k Q(out), out where the mean of ratios z_i is above k (remove), and Q(in) - k
P(in), in where it is below 1/k (add). Let C be the bound on the sum of the z_i. In `in` some z_i is below C/t, and
all may be, so by inclusion and exclusion

    t = 2   in = 2 [z_1 < C/2] - [z_1, z_2 < C/2]
    t = 3   in = 3 [z_1 < C/3] - 3 [z_1, z_2 < C/3] + [z_1, z_2, z_3 < C/3]

each also inside `in`. What is left to integrate is smooth up to the ends. P is Q times the mean of the z_i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth.closed import exactly
from truth.nodes import Node

METHOD = (
    "densities integrated by Gauss-Legendre on panels (mpmath, 70 to 90 digits; 1-out-of-3: 45 digits);"
    " allocation as P(out) - k Q(out), by inclusion and exclusion"
)
NODES = 40
Two = tuple[Any, Any]


def curve(scheme: Node, k: Any, direction: str) -> Two:
    if scheme["kind"] == "allocate":
        steps, mu = scheme["steps"], 1 / exactly(scheme["of"]["sigma"])
        with mp.workdps(70 if steps == 2 else 45):
            return allocated(steps, mu, +k, direction)
    with mp.workdps(90):
        rate, inner = mpf(1), scheme
        if inner["kind"] == "subsample":
            rate, inner = exactly(inner["rate"]), inner["of"]
        rounds, inner = (inner["rounds"], inner["of"]) if inner["kind"] == "repeat" else (1, inner)
        m = exactly(inner["sensitivity"]) / exactly(inner["sigma"]) * mpmath.sqrt(rounds)
        return integrated(m, rate, +k, direction)


def integrated(m: Any, rate: Any, k: Any, direction: str) -> Two:
    """p = rate f(y - m) + (1 - rate) f(y); the ratio p/q is 1 - rate + rate e^(m y - m^2/2)."""
    level = k if direction == "remove" else 1 / k
    if level <= 1 - rate:  # never below: everything counts, or nothing
        return (1 - k, mpf(1)) if direction == "remove" else (mpf(0), mpf(0))
    edge = mpmath.log((level - (1 - rate)) / rate) / m + m / 2

    def density(y: Any) -> Two:
        q = mpmath.npdf(y)
        p = rate * mpmath.npdf(y - m) + (1 - rate) * q
        return (p - k * q, q) if direction == "remove" else (q - k * p, p)

    sign = 1 if direction == "remove" else -1
    far = max(sign * (m - edge), -sign * edge, mpf(0)) + 18  # beyond both means by far
    cuts = [edge + sign * far * mpf(i) / mpmath.ceil(far) for i in range(int(mpmath.ceil(far)) + 1)]
    delta, slope = panels(density, cuts)
    return sign * delta, sign * slope


def allocated(steps: int, mu: Any, k: Any, direction: str) -> Two:
    size = steps * (k if direction == "remove" else 1 / k)
    q, moment = (inside_two if steps == 2 else inside_three)(size, mu)
    p = moment / steps
    if direction == "remove":
        return (1 - p) - k * (1 - q), 1 - q
    return q - k * p, p


def inside_two(size: Any, mu: Any, more: Any = 0) -> Two:
    """Q(z_1 + z_2 < size), and the mean of more + z_1 + z_2 there."""

    def density(y: Any) -> Two:
        z = ratio(y, mu)
        q, p = below(size - z, mu)
        weight = mpmath.npdf(y)
        return weight * q, weight * ((more + z) * q + p)

    a, b = panels(density, cuts(place(size / 2, mu), mu))
    q, p = below(size / 2, mu)
    return 2 * a - q * q, 2 * b - (more * q * q + 2 * p * q)


def inside_three(size: Any, mu: Any) -> Two:
    end = cuts(place(size / 3, mu), mu)

    def one(y: Any) -> Two:
        z, weight = ratio(y, mu), mpmath.npdf(y)
        a, b = inside_two(size - z, mu, z)
        return weight * a, weight * b

    def two(y: Any) -> Two:
        first, weight = ratio(y, mu), mpmath.npdf(y)

        def density(y: Any) -> Two:
            z = first + ratio(y, mu)
            q, p = below(size - z, mu)
            return mpmath.npdf(y) * q, mpmath.npdf(y) * (z * q + p)

        a, b = panels(density, end)
        return weight * a, weight * b

    (a, b), (c, d) = panels(one, end), panels(two, end)
    q, p = below(size / 3, mu)
    return 3 * a - 3 * c + q**3, 3 * b - 3 * d + 3 * q * q * p


def ratio(y: Any, mu: Any) -> Any:
    return mpmath.exp(mu * y - mu * mu / 2)


def place(z: Any, mu: Any) -> Any:
    return mpmath.log(z) / mu + mu / 2


def below(c: Any, mu: Any) -> Two:
    """Q(z < c), and the mean of z there, which is P(z < c)."""
    y = place(c, mu)
    return mpmath.ncdf(y), mpmath.ncdf(y - mu)


def cuts(end: Any, mu: Any) -> list[Any]:
    """From far below to `end`, in panels of about 1, or 2 where fewer digits are asked for."""
    low = -mpmath.sqrt(2 * mpmath.log(10) * min(mp.dps - 4, 55))
    if low >= end:
        return []
    count = int(mpmath.ceil((end - low) / (1 if mp.dps > 50 else 2) * max(mpf(1), mu)))
    return [low + (end - low) * i / count for i in range(count + 1)]


def panels(density: Callable[[Any], Two], cuts: list[Any]) -> Two:
    first = second = mpf(0)
    for low, high in pairwise(cuts):
        middle, half = (low + high) / 2, (high - low) / 2
        for node, weight in legendre(NODES if mp.dps > 50 else 34, mp.dps):
            a, b = density(middle + half * node)
            first, second = first + half * weight * a, second + half * weight * b
    return first, second


@lru_cache
def legendre(count: int, digits: int) -> list[Two]:
    """Nodes and weights on [-1, 1]: the roots of the polynomial by Newton's method."""
    return list(_legendre(count))


def _legendre(count: int) -> Iterator[Two]:
    for i in range(count):
        x = mpmath.cos(mpmath.pi * (i + mpf(3) / 4) / (count + mpf(1) / 2))
        for _ in range(8):
            value, slope = _polynomial(count, x)
            x -= value / slope
        yield x, 2 / ((1 - x * x) * _polynomial(count, x)[1] ** 2)


def _polynomial(count: int, x: Any) -> Two:
    """Legendre's polynomial of degree `count`, and its derivative, by their recursion."""
    before, value = mpf(1), x
    for n in range(2, count + 1):
        before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
    return value, count * (x * value - before) / (x * x - 1)
