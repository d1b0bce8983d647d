"""Mechanisms of two outcomes: their allocations and compositions count how often the likelier one came.

Let a mechanism have outcomes with masses (p, 1-p) with the person and (q, 1-q) without, and let n be the
number of steps with the first outcome: n is Bin(t, q) without the person, and the ratio depends on n alone:

    1-out-of-t allocation   x_n = (n * p/q + (t - n) * (1-p)/(1-q)) / t
    t-fold composition      x_n = (p/q)^n * ((1-p)/(1-q))^(t-n)

Legend: B_n the mass of n without the person, x_n the ratio (made to increase with n), k = e^epsilon;

    remove  delta = sum B_n (x_n - k)_+  =  1 - k + sum B_n (k - x_n)_+
    add     delta = sum B_n (1 - k x_n)_+  =  1 - k + sum B_n (k x_n - 1)_+

Of the two forms the one whose sum is over a tail is taken (k >= 1: the first), so nothing cancels. A tail is
summed until a geometric series bounds what is left: beyond n, B_n x_n falls at least as fast as its next
step, because both factors of the step fall. All numbers are kept to DIGITS digits, the sums to KEPT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
from mpmath import mp, mpf

DIGITS = 80
KEPT = mpf(10) ** -55
Number: TypeAlias = Any  # int, float, Fraction or mpf


def exactly(value: Number) -> mpf:
    """The number itself (a float is the dyadic fraction it holds), to DIGITS digits."""
    with mp.workdps(DIGITS):
        if isinstance(value, Fraction):
            return mpf(value.numerator) / mpf(value.denominator)
        return mpf(value)


@dataclass(frozen=True)
class Counting:
    """The pair of `steps` steps of a mechanism of two outcomes; p and q are the masses of one of them."""

    p: mpf
    q: mpf
    steps: int
    composed: bool

    def __post_init__(self) -> None:
        p, q = exactly(self.p), exactly(self.q)
        if not (0 < q < 1 and 0 <= p <= 1):
            raise ValueError(f"q must be inside (0, 1) and p in [0, 1], got p={p}, q={q}")
        if p < q:  # make the ratio increase with the count
            with mp.workdps(DIGITS):
                p, q = 1 - p, 1 - q
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)

    def ratio(self, n: int) -> mpf:
        first, second = self.p / self.q, (1 - self.p) / (1 - self.q)
        if self.composed:
            return first**n * second ** (self.steps - n)
        return (n * first + (self.steps - n) * second) / self.steps

    def mass(self, n: int) -> mpf:
        """B_n, the mass of the count n without the person."""
        t = self.steps
        choose = mpmath.loggamma(t + 1) - mpmath.loggamma(n + 1) - mpmath.loggamma(t - n + 1)
        return mpmath.exp(choose + n * mpmath.log(self.q) + (t - n) * mpmath.log1p(-self.q))

    def upwards(self, n: int) -> Iterator[tuple[mpf, mpf, mpf]]:
        """(B, x, bound on the sum of B*x beyond) for n, n+1, ..., steps; inf where no bound is known."""
        if n > self.steps:
            return
        mass, odds = self.mass(n), self.q / (1 - self.q)
        ratio = self.ratio(n)
        while True:
            if n == self.steps:
                yield mass, ratio, mpf(0)
                return
            following_mass = mass * odds * (self.steps - n) / (n + 1)
            following_ratio = self.ratio(n + 1)
            fall = following_mass * following_ratio / (mass * ratio) if ratio else mpmath.inf
            yield mass, ratio, (mass * ratio * fall / (1 - fall) if fall < 1 else mpmath.inf)
            mass, ratio, n = following_mass, following_ratio, n + 1

    def downwards(self, n: int) -> Iterator[tuple[mpf, mpf, mpf]]:
        """(B, x, bound on the sum of B beyond) for n, n-1, ..., 0."""
        if n < 0:
            return
        mass, odds = self.mass(n), (1 - self.q) / self.q
        while True:
            if n == 0:
                yield mass, self.ratio(0), mpf(0)
                return
            fall = odds * n / (self.steps - n + 1)
            yield mass, self.ratio(n), (mass * fall / (1 - fall) if fall < 1 else mpmath.inf)
            mass, n = mass * fall, n - 1

    def first_above(self, ratio: mpf) -> int:
        """The smallest n with x_n > ratio, or steps + 1."""
        low, high = 0, self.steps + 1
        while low < high:
            middle = (low + high) // 2
            if self.ratio(middle) > ratio:
                high = middle
            else:
                low = middle + 1
        return low


def allocation(p: Number, q: Number, steps: int) -> Counting:
    """1-out-of-steps allocation of the mechanism with masses (p, 1-p) against (q, 1-q)."""
    return Counting(exactly(p), exactly(q), steps, composed=False)


def composition(p: Number, q: Number, rounds: int) -> Counting:
    """rounds-fold composition of the mechanism with masses (p, 1-p) against (q, 1-q)."""
    return Counting(exactly(p), exactly(q), rounds, composed=True)


def pure(epsilon: Number) -> tuple[mpf, mpf]:
    """(p, q) of one outcome of the worst pair of epsilon-differential privacy."""
    with mp.workdps(DIGITS):
        e = mpmath.exp(exactly(epsilon))
        return e / (1 + e), 1 / (1 + e)


def subsampled(p: Number, q: Number, rate: Number) -> tuple[mpf, mpf]:
    """(p, q) of the mechanism in which the person takes part with probability `rate`."""
    with mp.workdps(DIGITS):
        rate, p, q = exactly(rate), exactly(p), exactly(q)
        return rate * p + (1 - rate) * q, q


def _above(pair: Counting, level: mpf) -> tuple[mpf, mpf]:
    """Sums of B and of B*x over x > level."""
    masses = moments = mpf(0)
    excess = mpf(0)
    for mass, ratio, rest in pair.upwards(pair.first_above(level)):
        masses += mass
        moments += mass * ratio
        excess += mass * (ratio - level)
        if rest <= KEPT * excess:
            break
    return masses, moments


def _below(pair: Counting, level: mpf) -> tuple[mpf, mpf]:
    """Sums of B and of B*x over x <= level."""
    masses = moments = mpf(0)
    lack = mpf(0)
    for mass, ratio, rest in pair.downwards(pair.first_above(level) - 1):
        masses += mass
        moments += mass * ratio
        lack += mass * (level - ratio) / level
        if rest <= KEPT * lack:
            break
    return masses, moments


def delta(pair: Counting, epsilon: Number, direction: str) -> mpf:
    """delta(epsilon), any real epsilon, direction "remove", "add" or "both"."""
    if direction == "both":
        return max(delta(pair, epsilon, "remove"), delta(pair, epsilon, "add"))
    with mp.workdps(DIGITS):
        return delta_at(pair, mpmath.exp(exactly(epsilon)), direction)


def delta_at(pair: Counting, k: Number, direction: str) -> mpf:
    """delta at e^epsilon = k > 0."""
    with mp.workdps(DIGITS):
        k = exactly(k)
        tail = _above if (direction == "remove") == (k >= 1) else _below
        masses, moments = tail(pair, k if direction == "remove" else 1 / k)
        if direction == "remove":
            return moments - k * masses if k >= 1 else 1 - k + k * masses - moments
        return masses - k * moments if k >= 1 else 1 - k + k * moments - masses


def epsilon(pair: Counting, delta: Number, direction: str) -> mpf:
    """The smallest epsilon >= 0 with delta(epsilon) <= delta, for 0 < delta < 1."""
    if direction == "both":
        return max(epsilon(pair, delta, "remove"), epsilon(pair, delta, "add"))
    with mp.workdps(DIGITS):
        delta = exactly(delta)
        if delta_at(pair, 1, direction) <= delta:
            return mpf(0)
        return _epsilon_remove(pair, delta) if direction == "remove" else _epsilon_add(pair, delta)


def _epsilon_remove(pair: Counting, delta: mpf) -> mpf:
    # From where the tail is negligible, downwards, until the curve at the next kink reaches delta.
    n = _far(pair, pair.first_above(mpf(1)), 1, lambda m: next(pair.upwards(m))[2] <= KEPT * delta)
    masses = moments = mpf(0)
    for mass, ratio, _ in pair.downwards(n):
        if moments - ratio * masses >= delta:
            break
        masses += mass
        moments += mass * ratio
    return mpmath.log((moments - delta) / masses)


def _epsilon_add(pair: Counting, delta: mpf) -> mpf:
    n = _far(pair, pair.first_above(mpf(1)) - 1, -1, lambda m: next(pair.downwards(m))[2] <= KEPT * delta)
    masses = moments = mpf(0)
    for mass, ratio, _ in pair.upwards(n):
        if ratio and masses - moments / ratio >= delta:
            break
        masses += mass
        moments += mass * ratio
    return mpmath.log((masses - delta) / moments) if moments else mpmath.inf


def _far(pair: Counting, start: int, sign: int, negligible: Callable[[int], bool]) -> int:
    """A count from `start` in the direction of `sign` with a negligible rest, by doubling and halving."""
    end = pair.steps if sign > 0 else 0
    low, stride = start, 1
    while 0 <= start + sign * stride <= pair.steps and not negligible(start + sign * stride):
        low, stride = start + sign * stride, 2 * stride
    high = start + sign * stride if 0 <= start + sign * stride <= pair.steps else end
    while abs(high - low) > 1:
        middle = (low + high) // 2
        if negligible(middle):
            high = middle
        else:
            low = middle
    return high
