"""The paper's algorithms word for word, in fractions, with 0-based arrays and plain double loops.

A variable is a pair (values, masses) as in the paper's appendix: increasing values with the first 0 (or -inf) and the
last inf, and their masses. Values are those of the exp-PLD, so that everything stays rational: a loss l is e^l, an even
grid of losses is a geometric one, and a shift of losses by alpha is a factor e^alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf
from typing import NamedTuple

Value = Fraction | float  # the infinities are floats


class Listed(NamedTuple):
    values: Sequence[Value]
    masses: Sequence[Fraction]


def range_renorm(x: Listed, y: Listed) -> list[Value]:
    n = len(x.values) - 2
    least = x.values[1] + y.values[1]
    ratio = x.values[2] / x.values[1]
    return [x.values[0], *(least * ratio ** (i - 1) for i in range(1, n + 1)), x.values[n + 1]]


def conv(x: Listed, y: Listed, direction: str) -> Listed:
    grid = range_renorm(x, y)
    n = len(grid) - 2
    masses = [Fraction(0)] * (n + 2)
    for a, p in zip(x.values, x.masses, strict=True):
        for b, q in zip(y.values, y.masses, strict=True):
            if p == 0 or q == 0:
                continue
            total = a + b
            if direction == "upper":
                spot = next(i for i in range(n + 2) if total <= grid[i])
            else:
                spot = next(i for i in reversed(range(n + 2)) if grid[i] <= total)
            masses[spot] += p * q
    return Listed(grid, masses)


def self_conv(x: Listed, t: int, convolve: Callable[[Listed, Listed], Listed]) -> Listed:
    base, acc = x, None
    while t > 0:
        if t % 2 == 1:
            acc = base if acc is None else convolve(base, acc)
        t //= 2
        if t > 0:
            base = convolve(base, base)
    assert acc is not None
    return acc


def disc_dist(x: Listed, ratio: Fraction, beta: Fraction, direction: str) -> Listed:
    """``ratio`` is e^alpha. Quantiles are q(b) = inf{v : F(v) >= b}."""

    def quantile(level: Fraction) -> Value:
        total = Fraction(0)
        for value, mass in zip(x.values, x.masses, strict=True):
            total += mass
            if total >= level:
                return value
        raise AssertionError

    least, most = quantile(beta), quantile(1 - beta)
    inner = [least]
    while inner[-1] < most:
        inner.append(inner[-1] * ratio)
    grid = [Fraction(0), *inner, inf]
    masses = [Fraction(0)] * len(grid)
    for value, mass in zip(x.values, x.masses, strict=True):
        if direction == "upper":
            spot = max(next(i for i in range(len(grid)) if value <= grid[i]), 1)
        else:
            spot = next(i for i in reversed(range(len(grid))) if grid[i] <= value)
        masses[spot] += mass
    return Listed(grid, masses)


def ccdf(x: Listed, value: Value) -> Fraction:
    return sum((m for v, m in zip(x.values, x.masses, strict=True) if v > value), Fraction(0))


def hockey_stick(x: Listed, k: Fraction) -> Fraction:
    """E[(1 - k/X)_+], k = e^eps."""
    above = ((v, m) for v, m in zip(x.values, x.masses, strict=True) if v > k)
    return sum((m if v == inf else m * (1 - k / Fraction(v)) for v, m in above), Fraction(0))


def dual(x: Listed) -> Listed:
    """Algorithm alg:PLD_dual: the value v of mass m becomes 1/v of mass m/v, the rest goes to inf."""
    pairs = [(Fraction(v), m) for v, m in zip(x.values, x.masses, strict=True) if v != inf]
    masses = [m / v for v, m in reversed(pairs)]
    return Listed([*(1 / v for v, _ in reversed(pairs)), inf], [*masses, 1 - sum(masses, Fraction(0))])


def combined(x: Listed, y: Listed, join: Callable[[Value, Value], Value]) -> Listed:
    """The law of join(X, Y) for independent X and Y."""
    found: dict[Value, Fraction] = {}
    for a, p in zip(x.values, x.masses, strict=True):
        for b, q in zip(y.values, y.masses, strict=True):
            found[join(a, b)] = found.get(join(a, b), Fraction(0)) + p * q
    values = sorted(found)
    return Listed(values, [found[v] for v in values])


def beta_for(low: Listed, up: Listed, shift: Fraction) -> Fraction:
    """The least beta with low <=_(alpha, beta) up, for e^alpha = shift: over the points where either CCDF jumps."""
    points = [*low.values, *(v * shift for v in up.values)]
    # CCDFs are right-continuous and constant between jumps, so the points where they jump are enough.
    gaps = [ccdf(low, v) - ccdf(up, v / shift) for v in points]
    return max(*gaps, Fraction(0))
